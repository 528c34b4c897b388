"""Aspect-based sentiment: from a clause's own prediction, its contribution to the review, and its neighbors."""

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

# Log-odds: limit for neighboring clauses, value of a word whose side differs between parts and whole films, least value
# of a name alone (발연기); weight of the rest of a clause with a word of GOODS
ODDS_LIMIT, OF_A_PART, SURE_ODDS, REST_SHARE = 3.0, 2.0, 1.0, 0.25
# Weights of neighboring clauses and of a clause's contribution, and its least log-odds; for goods, nine in ten short
# comments from other sources are correct from these log-odds (benchmarks.classification.aspects)
FILM_WEIGHTS, GOODS_WEIGHTS = (0.7, 0.5, 0.02), (0.35, 0.0, 2.0)


class Aspect(NamedTuple):
    """An aspect named by a clause (characters start to end), its label or None, and its share of the contribution."""

    name: str
    label: Optional[str]
    contribution: float
    start: int
    end: int


@dataclass(frozen=True)
class AspectReader(AddedColumns):
    """A reader of aspects with log-odds of praise, for a scorer of contributions; `user_words` replace FILM_WORDS."""

    user_words: Pairs = ()

    @cached_property
    def words(self) -> Words:
        return words_of(self.user_words, self.classifier.bundle.packaged) if self.user_words else FILM_WORDS

    @cached_property
    def classifier(self) -> Any:
        return getattr(self.scorer, "classifier", self.scorer)

    @cached_property
    def added(self) -> dict[str, str]:
        return {name: "string" for name in (dict(self.user_words) or FILM_WORDS.aspects).values() if name != NONE}

    def values(self, records: Sequence[Record]) -> list[Row]:
        return [*map(self.columns, self([str(record.get("restored", record["text"])) for record in records]))]

    def columns(self, mentions: Iterable[tuple[Aspect, float]]) -> Row:
        return tuple(map({name: LABELS[odds > 0] for name, odds in by_name(mentions).items()}.get, self.added))

    def __call__(self, texts: Iterable[str]) -> list[list[tuple[Aspect, float]]]:
        """Return the aspects of each text, in its order; none for a text that the classifier cannot label."""
        candidates = (text if self.words.pattern.search(text) else "" for text in map(clean, texts))
        return [mentions for reviews in self.classifier.windows(candidates) for mentions in self.read(reviews)]

    def read(
        self, reviews: Sequence[Encoded], placed: Sequence[Optional[Morphemes]] = ()
    ) -> list[list[tuple[Aspect, float]]]:
        """Return the aspects of reviews; `placed` are their `placed_morphemes`, if known."""
        mentions: list[list[tuple[Aspect, float]]] = [[] for _ in reviews]
        candidates = [index for index, review in enumerate(reviews) if self.words.pattern.search(review.text)]
        known = [index for index in candidates if not self.classifier.abstention.reason(reviews[index])]
        pairs = ((i, clauses(reviews[i].text, self.words, placed[i] if placed else None)) for i in known)
        divided = [(index, parts) for index, parts in pairs if parts]
        probabilities, added = Explainer(self.classifier).scored([reviews[index] for index, _ in divided])
        tokens = [[start for start, _ in reviews[index].offsets] for index, _ in divided]
        with_aspect = [(k, part) for k, (_, parts) in enumerate(divided) for part in parts if part.names]
        excerpts = [self.excerpt(reviews[divided[k][0]], tokens[k], part) for k, part in with_aspect]
        odds = iter(numpy.nan_to_num(log_odds(self.classifier.score(excerpts))).tolist())  # 0 for no words
        for (index, parts), starts, whole, values in zip(divided, tokens, log_odds(probabilities).tolist(), added):
            owners = numpy.searchsorted([part.start for part in parts], starts, side="right") - 1
            sums = numpy.bincount(owners, values, len(parts)).tolist()
            mentions[index] = [*self.mentions(reviews[index].text, parts, sums, whole, odds)]
        return mentions

    def excerpt(self, review: Encoded, starts: Sequence[int], part: Clause) -> Encoded:
        """Return a clause as a separate review."""
        kept = [k for k, start in enumerate(starts) if part.start <= start < part.end and start not in part.left_out]
        tokens, tail = review.take(kept), self.classifier.encoder.encode_words(part.tail)
        return Encoded("", tokens.tokens + tail.tokens, tokens.ids + tail.ids)

    def mentions(
        self, text: str, parts: Sequence[Clause], sums: list[float], whole: float, excerpt_odds: Iterator[float]
    ) -> Iterator[tuple[Aspect, float]]:
        """Yield the aspects of clauses, from the contributions `sums` and the log-odds of clauses with an aspect."""
        neighbor_weight, sum_weight, least = GOODS_WEIGHTS if self.words.goods else FILM_WEIGHTS
        texts = [text[part.start : part.end] for part in parts]
        odds = [
            of_a_part(words, next(excerpt_odds), part.worth) + sum_weight * added if part.names else ODDS_LIMIT * added
            for words, part, added in zip(texts, parts, sums)
        ]
        for words, part, added, side in zip(texts, parts, sums, sides_of(parts, odds, whole, neighbor_weight)):
            sure = abs(side) > (max(SURE_ODDS, least) if words.lower() in self.words.aspects else least)
            label, share = LABELS[side > 0] if sure else None, added / max(1, len(part.names))
            yield from ((Aspect(name, label, share, part.start, part.end), side) for name in part.names)


def of_a_part(text: str, odds: float, worth: int) -> float:
    """Return a clause's log-odds for a part of a film, which 화려하다 praises and 아쉽다 blames, unlike for a whole film."""
    odds = (ODDS_LIMIT if worth > 0 else -ODDS_LIMIT) + REST_SHARE * odds if worth else odds
    kinds = {kind for kind in ("praise", "blame", "wish", "waste", "not") if PATTERNS[kind].search(text)}
    side = 0 if "not" in kinds or worth else ("praise" in kinds) - ("blame" in kinds)
    return -ODDS_LIMIT if "wish" in kinds else ODDS_LIMIT if "waste" in kinds else odds + OF_A_PART * side


def sides_of(parts: Sequence[Clause], odds: Sequence[float], whole: float, weight: float) -> Iterator[float]:
    """Yield the log-odds of praise of each clause: its own plus weighted neighbors, which 빼고 and "but" negate."""
    for index, part in enumerate(parts):
        before, after = (-odds[k] if 0 <= k < len(parts) else 0.0 for k in (index - 1, index + 1))
        context = before if index and parts[index - 1].kind == "b" else whole if len(parts) > 1 else 0.0
        neighbor = {"b": after or before, "o": -whole}.get(part.kind, context)
        yield after if part.kind == "x" else odds[index] + weight * min(max(neighbor, -ODDS_LIMIT), ODDS_LIMIT)


def by_name(mentions: Iterable[tuple[Aspect, float]], decided: bool = True) -> dict[str, float]:
    """Return {aspect: log-odds of praise}, summed over clauses; `decided` leaves out clauses without a label."""
    known = [(aspect.name, odds) for aspect, odds in mentions if aspect.label or not decided]
    return {name: sum(odds for other, odds in known if other == name) for name, _ in known}


def aspects(review: Union[str, Prediction], words: Any = None, classifier: Optional[Classifier] = None) -> list[Aspect]:
    """Return the aspects that a review praises or blames, in the order of its clean text, [] if it names none.

    `words` is a path or DataFrame with the columns word and aspect. ConfigError if the classifier has no contributions.
    """
    text = review.text if isinstance(review, Prediction) else check_text(review)
    reader = AspectReader(or_packaged(classifier, Classifier, packaged), read_words(words))
    return [aspect for aspect, _ in reader([text])[0]]
