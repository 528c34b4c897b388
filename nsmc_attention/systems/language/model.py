"""`fill`: a text with hidden words in, the words that they may be out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy
from numpy.typing import NDArray

from ...engines.graphs import DeviceName, EngineName, RunnableGraph, chosen_engine, load_graphs
from ...errors import ConfigError, DataError
from ...machine.aliases import Numbers, Record
from ...scoring.reference import Predictor, check_text
from ...text.encoding import ReviewEncoder, clean
from ...text.tokenizers import tokenizer
from .settings import LAYOUT, LanguageBundle

# The entry of a vocabulary that stands for a hidden token
MASK = "[MASK]"
# Of the tokens to be guessed, the shares that become the mask and another token; the others stay as they are
MASKED, REPLACED = 0.8, 0.1
# Ids below are the unknown token, the padding and the mask
FIRST_WORD = 3


@dataclass(frozen=True)
class Tokens:
    """The token ids of N reviews, one after the other, with the length of each."""

    ids: NDArray[numpy.int32]
    lengths: NDArray[numpy.int64]

    @classmethod
    def of(cls, word_lists: Iterable[Sequence[str]], encoder: ReviewEncoder) -> "Tokens":
        """Number the words of reviews."""
        reviews = [encoder.encode_words(words).ids for words in word_lists]
        ids = numpy.array([number for review in reviews for number in review], dtype="int32")
        return cls(ids, numpy.array([len(review) for review in reviews], dtype="int64"))

    def padded(self, values: Numbers, members: Numbers, filler: int) -> Numbers:
        """Return (N, T): the values (as many as ids) of some reviews side by side."""
        starts, lengths = (numpy.cumsum(self.lengths) - self.lengths)[members], self.lengths[members]
        places = numpy.arange(lengths.max())
        inside = places < lengths[:, None]
        rows = numpy.full(inside.shape, filler, dtype=values.dtype)
        rows[inside] = values[(starts[:, None] + places)[inside]]
        return rows


@dataclass(frozen=True)
class Masker:
    """Hides a share of the tokens of reviews: at least one word of each."""

    share: float
    mask: int
    padding: int
    vocabulary: int

    @classmethod
    def of(cls, share: float, encoder: ReviewEncoder) -> "Masker":
        """The Masker for the vocabulary of a language model, whose encoder this is."""
        return cls(share, encoder.token_to_idx[MASK], encoder.padding, len(encoder))

    def __call__(
        self, tokens: Tokens, members: Numbers, random: numpy.random.RandomState
    ) -> tuple[NDArray[numpy.int32], Numbers, Numbers]:
        """Return token_ids (N, T) with some hidden, which ones (N, T) bool, and the ids that were there (M,).

        The hidden ones are in the order of their rows.
        """
        ids = tokens.padded(tokens.ids, members, self.padding)
        inside = numpy.arange(ids.shape[1]) < tokens.lengths[members][:, None]
        draws = random.random_sample(ids.shape)
        draws[~inside] = 2
        hidden = inside & ((draws < self.share) | (draws == draws.min(axis=1, keepdims=True)))
        wanted = ids[hidden]
        ways = random.random_sample(len(wanted))
        others = random.randint(FIRST_WORD, self.vocabulary, len(wanted))
        shown = numpy.where(ways < MASKED, self.mask, numpy.where(ways < MASKED + REPLACED, others, wanted))
        ids[hidden] = shown
        return ids, hidden, wanted


# With as many, 50 candidates for a text of 256 tokens take 2.8 s of processor time
MOST_MASKS = 5


class Candidate(NamedTuple):
    """A token that may stand at the mask, the text with it, and its probability, 0 to 1.

    Of several masks: their tokens in the order of the text, a space between, and the product of the probabilities.
    """

    token: str
    text: str
    probability: float


@dataclass(frozen=True, eq=False)
class Filling:
    """Candidates for the masks of a text.

    Attributes
    ----------
    text : str
        The clean text, [MASK] in it.
    tokens : tuple of str
        What the network read, at most as many as it has places, [MASK] at `places` (each 0 to T - 1).
    candidates : tuple of Candidate
        The likeliest first.
    heads : (L, K, T, T) float32 or None
        How each token attends to each, by layer and head; None of an encoder that does not attend.
    """

    text: str
    tokens: tuple[str, ...]
    places: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    heads: Optional[NDArray[numpy.float32]] = None

    @property
    def attended(self) -> Optional[NDArray[numpy.float32]]:
        """(T,) float32, sums to 1: attention of [MASK] in the last layer, the mean over heads and masks; or None."""
        return None if self.heads is None else numpy.asarray(self.heads[-1][:, list(self.places)].mean(axis=(0, 1)))

    def to_dict(self) -> Record:
        """Return plain values for JSON."""
        candidates = [candidate._asdict() for candidate in self.candidates]
        values = {"text": self.text, "candidates": candidates, "tokens": list(self.tokens), "places": list(self.places)}
        return values if self.attended is None else {**values, "attended": self.attended.tolist()}


class LanguageModel(Predictor):
    """A bundle of the task `language` and the engine that runs it."""

    layout = LAYOUT

    @staticmethod
    def load_engine(
        bundle: LanguageBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
    ) -> RunnableGraph:
        """Load the engine called name for a bundle; "auto" is onnx, on a GPU gluon. One thread is used."""
        return load_graphs(bundle, chosen_engine(name, device), device)["model.onnx"]

    def __init__(self, bundle: LanguageBundle, engine: Any):
        super().__init__(bundle, engine)
        self.encoder = bundle.codec
        self.entries = sorted(self.encoder.token_to_idx, key=self.encoder.token_to_idx.__getitem__)
        self.no_words = [self.encoder.unknown, self.encoder.padding, self.encoder.token_to_idx[MASK]]

    def __call__(self, text: str, top: int = 5) -> Filling:
        """Return the Filling of a text with 1 to MOST_MASKS [MASK], with its `top` candidates; DataError at another number.

        Of several masks the most certain is filled first, with each of its `top` likeliest words, the others by `fill_rest`.
        """
        if not isinstance(top, (int, numpy.integer)) or top < 1:
            raise ConfigError(f"top: expected a whole number of at least 1, found {top!r}")
        text = clean(check_text(text))
        parts = text.split(MASK)
        if not 1 < len(parts) <= MOST_MASKS + 1:
            found = f"found {len(parts) - 1}; write one in place of a word, as in '주인공의 {MASK}에 소름이 돋았다'"
            raise DataError(f"fill: expected 1 to {MOST_MASKS} {MASK} in the text, {found}")
        ids, places, tokens = self.window(parts)
        probability, *heads = self.guess(ids, places)
        first = int(probability.max(axis=1).argmax())
        best = numpy.argsort(-probability[first], kind="stable")[: min(top, len(self.entries) - len(self.no_words))]
        candidates = []
        for number in best.tolist():
            filled = {places[first]: number}
            chance = float(probability[first, number]) * self.fill_rest(ids, places, filled)
            words = [self.entries[filled[place]] for place in places]
            whole = "".join(piece for pair in zip(parts, [*words, ""]) for piece in pair)
            candidates.append(Candidate(" ".join(words), whole, chance))
        candidates.sort(key=lambda candidate: -candidate.probability)
        return Filling(text, tokens, tuple(places), tuple(candidates), heads[0][0] if heads else None)

    def guess(self, ids: list[int], places: list[int], outputs: Optional[tuple[str]] = None) -> list[Numbers]:
        """Return the probabilities of the words at M masks, (M, V), negative for non-words, and the heads."""
        masks = len(places)
        rows = numpy.tile(numpy.array(ids, dtype="int32"), (masks, 1))
        at = numpy.array(places, dtype="int32") * masks + numpy.arange(masks, dtype="int32")
        probability, *heads = self.engine(rows, numpy.full(masks, len(ids), dtype="int32"), at, outputs=outputs)
        probability = probability.copy()
        probability[:, self.no_words] = -1
        return [probability, *heads]

    def fill_rest(self, ids: list[int], places: list[int], filled: dict[int, int]) -> float:
        """Fill the masks that are not in `filled`, {place: id}; return the product of the probabilities of their words.

        One mask after another gets its likeliest word, the one whose likeliest word is the most probable first.
        """
        chance = 1.0
        while left := [place for place in places if place not in filled]:
            known = [filled.get(place, number) for place, number in enumerate(ids)]
            (probability,) = self.guess(known, left, ("probability",))
            mask, number = divmod(int(probability.argmax()), probability.shape[1])
            filled[left[mask]] = number
            chance *= float(probability[mask, number])
        return chance

    def window(self, parts: list[str]) -> tuple[list[int], list[int], tuple[str, ...]]:
        """Return ids and tokens around the masks, as many as the network has places, and the masks' places among them.

        `parts` is the text around each mask. DataError where the masks are farther apart than that.
        """
        split, longest = tokenizer(self.encoder.tokenizer_name), self.encoder.max_length
        left, *between, right = (list(self.encoder.units(split(part))) for part in parts)
        middle = [MASK, *(token for part in between for token in (*part, MASK))]
        if (free := longest - len(middle)) < 0:
            expected = f"expected all {MASK} within {longest} tokens, found them within {len(middle)}"
            raise DataError(f"fill: {expected}; leave out a part of the text between them")
        # half on each side, and what one side leaves to the other
        behind = min(len(right), max((free + 1) // 2, free - len(left)))
        left = left[max(0, len(left) - (free - behind)) :]
        tokens = (*left, *middle, *right[:behind])
        find, unknown = self.encoder.token_to_idx.get, self.encoder.unknown
        places = [len(left) + place for place, token in enumerate(middle) if token == MASK]
        return [find(token, unknown) for token in tokens], places, tokens


def load_language_model(
    bundle: Optional[Union[str, Path]] = None, engine: EngineName = "auto", device: DeviceName = "auto"
) -> LanguageModel:
    """Load a language model from a bundle folder; None is the packaged one.

    Engine, device and errors are those of `load_classifier`.
    """
    return LanguageModel.load(bundle, engine, device)


packaged_language_model = lru_cache(maxsize=1)(load_language_model)


def fill(text: str, top: int = 5) -> list[Candidate]:
    """Return the likeliest words at the [MASK] of a text by the packaged language model, loaded once.

    Several masks are filled together. DataError where the text has none or more than MOST_MASKS.
    """
    return list(packaged_language_model()(text, top).candidates)
