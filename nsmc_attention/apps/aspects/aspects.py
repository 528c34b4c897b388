"""What a review praises and blames, by a clause with an aspect alone, what it contributes, and what is beside it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Optional, Union

import numpy

from ...classifier.explain import Explainer
from ...classifier.prediction import Prediction
from ...classifier.predictor import Classifier, packaged
from ...classifier.settings import LABELS
from ...machine.aliases import Record
from ...measure.metrics import log_odds
from ...scoring.reference import AddedColumns, Row, check_text, or_packaged
from ...text.encoding import Encoded, clean
from .clauses import FILM_WORDS, NONE, PATTERNS, Clause, Morphemes, Pairs, Words, clauses, read_words, words_of

# Log-odds up to which what is beside a clause counts, of a word that says something else of a part than of a whole, and
# nearer to 0 than which a name alone (발연기) has no side; weight of the rest of a clause with a word of GOODS
ODDS_LIMIT, OF_A_PART, SURE_ODDS, REST_SHARE = 3.0, 2.0, 1.0, 0.25
# Weights of what is beside a clause and of what it contributes, and log-odds nearer to 0 than which it has no side: of
# goods those from which on nine in ten short comments from elsewhere are right (benchmarks.classification.aspects)
FILM_WEIGHTS, GOODS_WEIGHTS = (0.7, 0.5, 0.02), (0.35, 0.0, 2.0)


class Aspect(NamedTuple):
    """An aspect that a clause names, characters start to end, its label or None, and its part of what that adds."""

    name: str
    label: Optional[str]
    contribution: float
    start: int
    end: int


@dataclass(frozen=True)
class AspectReader(AddedColumns):
    """The aspects of texts with the log-odds of praise, by words of films or a user's, of a scorer of contributions."""

    own: Pairs = ()

    @cached_property
    def words(self) -> Words:
        return words_of(self.own, self.classifier.bundle.packaged) if self.own else FILM_WORDS

    @cached_property
    def classifier(self) -> Any:
        return getattr(self.scorer, "classifier", self.scorer)

    @cached_property
    def added(self) -> dict[str, str]:
        return {name: "string" for name in (dict(self.own) or FILM_WORDS.aspects).values() if name != NONE}

    def values(self, records: Sequence[Record]) -> list[Row]:
        return [*map(self.columns, self([str(record.get("restored", record["text"])) for record in records]))]

    def columns(self, found: Iterable[tuple[Aspect, float]]) -> Row:
        return tuple(map({name: LABELS[odds > 0] for name, odds in by_name(found).items()}.get, self.added))

    def __call__(self, texts: Iterable[str]) -> list[list[tuple[Aspect, float]]]:
        """Return the aspects of each text, in its order; none of one that the classifier cannot judge."""
        naming = (text if self.words.pattern.search(text) else "" for text in map(clean, texts))
        return [found for reviews in self.classifier.windows(naming) for found in self.read(reviews)]

    def read(
        self, reviews: Sequence[Encoded], placed: Sequence[Optional[Morphemes]] = ()
    ) -> list[list[tuple[Aspect, float]]]:
        """Return the aspects of reviews, with their `placed_morphemes` if these are known."""
        found: list[list[tuple[Aspect, float]]] = [[] for _ in reviews]
        naming = [place for place, review in enumerate(reviews) if self.words.pattern.search(review.text)]
        known = [place for place in naming if not self.classifier.abstention.reason(reviews[place])]
        both = ((place, clauses(reviews[place].text, self.words, placed[place] if placed else None)) for place in known)
        cut = [(place, parts) for place, parts in both if parts]
        probabilities, added = Explainer(self.classifier).scored([reviews[place] for place, _ in cut])
        tokens = [[start for start, _ in reviews[place].offsets] for place, _ in cut]
        pairs = [(k, part) for k, (_, parts) in enumerate(cut) for part in parts if part.names]
        alone = [self.alone(reviews[cut[k][0]], tokens[k], part) for k, part in pairs]
        odds = iter(numpy.nan_to_num(log_odds(self.classifier.score(alone))).tolist())  # 0 for an aspect and no word
        for (place, parts), starts, whole, own in zip(cut, tokens, log_odds(probabilities).tolist(), added):
            owners = numpy.searchsorted([part.start for part in parts], starts, side="right") - 1
            sums = numpy.bincount(owners, own, len(parts)).tolist()
            found[place] = [*self.judged(reviews[place].text, parts, sums, whole, odds)]
        return found

    def alone(self, review: Encoded, starts: Sequence[int], part: Clause) -> Encoded:
        """Return a clause as a review of its own."""
        kept = [k for k, at in enumerate(starts) if part.start <= at < part.end and at not in part.left_out]
        taken, tail = review.take(kept), self.classifier.encoder.encode_words(part.tail)
        return Encoded("", taken.tokens + tail.tokens, taken.ids + tail.ids)

    def judged(
        self, text: str, parts: Sequence[Clause], sums: list[float], whole: float, alone: Iterator[float]
    ) -> Iterator[tuple[Aspect, float]]:
        """Yield the aspects of clauses, by what each contributes and the log-odds by themselves of those with one."""
        beside, contributed, least = GOODS_WEIGHTS if self.words.goods else FILM_WEIGHTS
        said = [text[part.start : part.end] for part in parts]
        odds = [
            of_a_part(words, next(alone), part.worth) + contributed * added if part.names else ODDS_LIMIT * added
            for words, part, added in zip(said, parts, sums)
        ]
        for words, part, added, side in zip(said, parts, sums, sides_of(parts, odds, whole, beside)):
            sure = abs(side) > (max(SURE_ODDS, least) if words.lower() in self.words.aspects else least)
            label, share = LABELS[side > 0] if sure else None, added / max(1, len(part.names))
            yield from ((Aspect(name, label, share, part.start, part.end), side) for name in part.names)


def of_a_part(said: str, odds: float, worth: int) -> float:
    """Return the log-odds of a clause for a part of a film: 화려하다 praises one and 아쉽다 blames it, unlike a whole film."""
    odds = (ODDS_LIMIT if worth > 0 else -ODDS_LIMIT) + REST_SHARE * odds if worth else odds
    kinds = {kind for kind in ("praise", "blame", "wish", "waste", "not") if PATTERNS[kind].search(said)}
    turned = 0 if "not" in kinds or worth else ("praise" in kinds) - ("blame" in kinds)
    return -ODDS_LIMIT if "wish" in kinds else ODDS_LIMIT if "waste" in kinds else odds + OF_A_PART * turned


def sides_of(parts: Sequence[Clause], odds: Sequence[float], whole: float, weight: float) -> Iterator[float]:
    """Yield the log-odds of praise of each clause, by its own and those beside it, which 빼고 and "but" turn round."""
    for place, part in enumerate(parts):
        before, after = (-odds[k] if 0 <= k < len(parts) else 0.0 for k in (place - 1, place + 1))
        behind = before if place and parts[place - 1].kind == "b" else whole if len(parts) > 1 else 0.0
        beside = {"b": after or before, "o": -whole}.get(part.kind, behind)
        yield after if part.kind == "x" else odds[place] + weight * min(max(beside, -ODDS_LIMIT), ODDS_LIMIT)


def by_name(found: Iterable[tuple[Aspect, float]], decided: bool = True) -> dict[str, float]:
    """Return {aspect: log-odds that the review praises it}, summed over its clauses, those with a side if `decided`."""
    known = [(aspect.name, odds) for aspect, odds in found if aspect.label or not decided]
    return {name: sum(odds for other, odds in known if other == name) for name, _ in known}


def aspects(review: Union[str, Prediction], words: Any = None, classifier: Optional[Classifier] = None) -> list[Aspect]:
    """Return the aspects that a review praises or blames, in the order of its clean text; [] where it names none.

    `words`: a path or DataFrame with the columns word and aspect; ConfigError if the log-odds are no sum over the words.
    """
    text = review.text if isinstance(review, Prediction) else check_text(review)
    reader = AspectReader(or_packaged(classifier, Classifier, packaged), read_words(words))
    return [aspect for aspect, _ in reader([text])[0]]
