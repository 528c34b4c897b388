"""What a review praises and what it blames, by contributions that add up.

Clauses with aspects -> the side of each: the clause by itself, what it contributes to the review, and what is beside it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy

from ..._runtime.aliases import Record
from ...classification.explain import Explainer
from ...classification.prediction import Prediction
from ...classification.predictor import Classifier, packaged
from ...classification.settings import LABELS
from ...evaluation.calibration import log_odds
from ...inference.reference import AddedColumns, Row, check_text
from ...text.encoding import Encoded
from .clauses import FILMS, NONE, PATTERNS, Clause, Words, clauses, read_words

# Weights of what a clause contributes and of what is beside it, which counts up to LIMIT; log-odds for a word that says
# something else of a part than of a whole; nearer to 0 than NOTHING there is no side, of an aspect's name alone than SURE
CONTRIBUTED, BESIDE, LIMIT, OF_A_PART, NOTHING, SURE = 0.5, 0.7, 3.0, 2.0, 0.02, 1.0


class Aspect(NamedTuple):
    """An aspect that a clause names, characters start to end, its label, which may be None, and its part of what that adds."""

    name: str
    label: Optional[str]
    contribution: float
    start: int
    end: int


@dataclass(frozen=True)
class AspectReader(AddedColumns):
    """The aspects of texts, each with the log-odds that it is praised, by words and a scorer whose log-odds are a sum."""

    path: Optional[Union[str, Path]] = None

    @cached_property
    def words(self) -> Words:
        return read_words(self.path) if self.path else FILMS

    @cached_property
    def classifier(self) -> Any:
        return getattr(self.scorer, "classifier", self.scorer)

    @cached_property
    def bias(self) -> float:
        """The log-odds of a review whose words contribute nothing."""
        review = self.classifier.encoder.encode_many(["영화"])
        (added,) = Explainer(self.classifier).contributions(review)
        return float(log_odds(self.classifier.score(review))[0] - added.sum())

    @property
    def added(self) -> dict[str, str]:
        return {name: "string" for name in self.words.aspects.values() if name != NONE}

    def values(self, records: Sequence[Record]) -> list[Row]:
        return self.columns(self([str(record.get("restored", record["text"])) for record in records]))

    def columns(self, found: Iterable[Iterable[tuple[Aspect, float]]]) -> list[Row]:
        names, sides = tuple(self.added), map(by_name, found)
        return [tuple(LABELS[odds[name] > 0] if name in odds else None for name in names) for odds in sides]

    def rows(self, texts: Iterable[str]) -> list[Row]:
        if self.scorer is not self.classifier:
            return super().rows(texts)
        reviews = self.classifier.encoder.encode_many(list(texts))  # once for both
        found = zip(self.classifier.rows_of(reviews), self.columns(self.read(reviews)))
        return [(*row[:-1], *own, row[-1]) for row, own in found]

    def __call__(self, texts: Iterable[str]) -> list[list[tuple[Aspect, float]]]:
        """Return the aspects of each text, in its order; none of one that the classifier cannot judge."""
        return self.read(self.classifier.encoder.encode_many(list(texts)))

    def read(self, reviews: Sequence[Encoded]) -> list[list[tuple[Aspect, float]]]:
        found: list[list[tuple[Aspect, float]]] = [[] for _ in reviews]
        naming = [pair for pair in enumerate(reviews) if self.words.pattern.search(pair[1].text)]
        known = [pair for pair in naming if not self.classifier.evidence.reason(pair[1])]
        cut = [(*pair, parts) for pair in known if (parts := clauses(pair[1].text, self.words))]
        tokens = [[start for start, _ in review.offsets] for _, review, _ in cut]
        pairs = [(k, part) for k, (*_, parts) in enumerate(cut) for part in parts if part.names]
        alone = [self.alone(cut[k][1], tokens[k], part) for k, part in pairs]
        odds = iter(log_odds(self.classifier.score(alone)).tolist())
        added = Explainer(self.classifier).contributions([review for _, review, _ in cut])
        for (place, review, parts), starts, values in zip(cut, tokens, added):
            owners = numpy.searchsorted([part.start for part in parts], starts, side="right") - 1
            sums = numpy.bincount(owners, values, len(parts)).tolist()
            found[place] = [*self.judged(review.text, parts, sums, odds)]
        return found

    def alone(self, review: Encoded, starts: Sequence[int], part: Clause) -> Encoded:
        """Return a clause as a review of its own."""
        kept = [k for k, at in enumerate(starts) if part.start <= at < part.end and at not in part.left_out]
        taken, tail = review.take(kept), self.classifier.encoder.encode_words(part.tail)
        return Encoded("", taken.tokens + tail.tokens, taken.ids + tail.ids)

    def judged(
        self, text: str, parts: Sequence[Clause], sums: list[float], alone: Iterator[float]
    ) -> Iterator[tuple[Aspect, float]]:
        """Yield the aspects of clauses, by what each contributes and the log-odds by themselves of those with one."""
        said = [text[part.start : part.end] for part in parts]
        odds = [
            of_a_part(words, next(alone)) + CONTRIBUTED * added if part.names else LIMIT * added
            for words, part, added in zip(said, parts, sums)
        ]
        for words, part, added, side in zip(said, parts, sums, sides_of(parts, odds, self.bias + sum(sums))):
            # the name alone says something if it is a word like 발연기
            sure = abs(side) > (SURE if words.lower() in self.words.aspects else NOTHING)
            label, share = LABELS[side > 0] if sure else None, added / max(1, len(part.names))
            yield from ((Aspect(name, label, share, part.start, part.end), side) for name in part.names)


def of_a_part(said: str, odds: float) -> float:
    """Return the log-odds of a clause for a part of a film: 화려하다 praises one and 아쉽다 blames it, unlike a whole film."""
    kinds = {kind for kind in ("praise", "blame", "wish", "waste", "not") if PATTERNS[kind].search(said)}
    turned = 0 if "not" in kinds else ("praise" in kinds) - ("blame" in kinds)
    return -LIMIT if "wish" in kinds else LIMIT if "waste" in kinds else odds + OF_A_PART * turned


def sides_of(parts: Sequence[Clause], odds: Sequence[float], whole: float) -> Iterator[float]:
    """Yield the log-odds of praise of each clause, by its own and those beside it, which 빼고 and "but" turn round."""
    for place, part in enumerate(parts):
        before, after = (-odds[k] if 0 <= k < len(parts) else 0.0 for k in (place - 1, place + 1))
        behind = before if place and parts[place - 1].kind == "b" else whole if len(parts) > 1 else 0.0
        beside = {"b": after or before, "o": -whole}.get(part.kind, behind)
        yield after if part.kind == "x" else odds[place] + BESIDE * min(max(beside, -LIMIT), LIMIT)


def by_name(found: Iterable[tuple[Aspect, float]]) -> dict[str, float]:
    """Return {aspect: log-odds that the review praises it}, the sum over its clauses, of those with a side."""
    known = [(aspect.name, odds) for aspect, odds in found if aspect.label]
    return {name: sum(odds for other, odds in known if other == name) for name, _ in known}


def aspects(
    review: Union[str, Prediction], words: Union[str, Path, None] = None, classifier: Optional[Classifier] = None
) -> list[Aspect]:
    """Return what a review praises and what it blames, in the order of its clean text; [] where it names no aspect.

    `words` is a table for `read_words`, which may raise DataError; ConfigError if the log-odds are no sum over the words.
    """
    text = review.text if isinstance(review, Prediction) else check_text(review)
    return [aspect for aspect, _ in AspectReader(classifier or packaged(), words)([text])[0]]


def mentions(explainer: Explainer, texts: Sequence[str], path: Optional[Path] = None) -> Any:
    """Return a DataFrame, a row for each aspect of each text, with the place of its clearest clause; none without contributions."""
    import pandas

    reader, rows = AspectReader(explainer.classifier, path), []
    for row, judged in enumerate(reader(texts) if explainer.has_contributions else []):
        for name, odds in by_name(judged).items():
            best, _ = max((pair for pair in judged if pair[0].name == name), key=lambda pair: pair[1] * odds)
            rows.append((row, name, odds, LABELS[odds > 0], 1 / (1 + numpy.exp(-odds)), best.start, best.end))
    return pandas.DataFrame(rows, columns=["row", "aspect", "odds", "label", "probability", "start", "end"])
