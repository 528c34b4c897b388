"""Scored rows, counted: how many, how many with an error, and the estimated share of positive reviews."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional

from ..evaluation.share import UNKNOWN, Evidence, Share
from ..text.hangul import HANGUL

# Shared by tallies of no probability
NOTHING = Evidence.of()


@dataclass(frozen=True)
class Tally:
    """Numbers of rows, of those with an error, of positive labels and of texts with Hangul; `evidence` of the share.

    Tallies of parts add up to that of the whole, in any order.
    """

    rows: int = 0
    errors: int = 0
    positive: int = 0
    korean: int = 0
    evidence: Evidence = field(default=NOTHING)

    @classmethod
    def of(
        cls, texts: Sequence[str], probabilities: Sequence[Optional[float]], errors: int = 0, prior: float = 0.0
    ) -> "Tally":
        """Count texts with their probabilities of positive, None or NaN for a blank one; `prior` as in Evidence."""
        known = [value for value in probabilities if value is not None and value == value]
        korean = sum(1 for text in texts if HANGUL.search(text))
        return cls(len(texts), errors, sum(value >= 0.5 for value in known), korean, Evidence.of(known, prior))

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, name) + getattr(other, name) for name in FIELDS))

    @property
    def share(self) -> Share:
        """The estimated share of positive reviews; unknown where most texts have no Hangul."""
        if 2 * self.korean < self.evidence.n:
            return UNKNOWN._replace(n=self.evidence.n)
        return self.evidence.share

    def in_words(self) -> str:
        """Return a line about the share, beside that of the labels, which is biased."""
        labels = f"; {100 * self.positive / self.evidence.n:.0f} % of the labels" if self.evidence.n else ""
        return f"positive reviews: {self.share}{labels}"


FIELDS = tuple(Tally.__dataclass_fields__)
