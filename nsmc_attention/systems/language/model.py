"""`fill`: a text with [MASK] in, candidates for the hidden words out."""

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

# Vocabulary entry for a hidden token
MASK = "[MASK]"
# Shares of the target tokens that become the mask and a random token; the rest stay unchanged
MASKED, REPLACED = 0.8, 0.1
# First id after the unknown token, the padding and the mask
FIRST_WORD = 3


@dataclass(frozen=True)
class Tokens:
    """The concatenated token ids of N reviews, and the length of each review."""

    ids: NDArray[numpy.int32]
    lengths: NDArray[numpy.int64]

    @classmethod
    def of(cls, word_lists: Iterable[Sequence[str]], encoder: ReviewEncoder) -> "Tokens":
        """Encode the words of reviews."""
        reviews = [encoder.encode_words(words).ids for words in word_lists]
        ids = numpy.array([token_id for review in reviews for token_id in review], dtype="int32")
        return cls(ids, numpy.array([len(review) for review in reviews], dtype="int64"))

    def padded(self, values: Numbers, members: Numbers, padding: int) -> Numbers:
        """Return the values, one for each of `ids`, of the reviews `members` (N,) as rows (N, T)."""
        starts, lengths = (numpy.cumsum(self.lengths) - self.lengths)[members], self.lengths[members]
        positions = numpy.arange(lengths.max())
        inside = positions < lengths[:, None]
        rows = numpy.full(inside.shape, padding, dtype=values.dtype)
        rows[inside] = values[(starts[:, None] + positions)[inside]]
        return rows


@dataclass(frozen=True)
class Masker:
    """A masker that hides a share of the tokens of reviews, at least one of each."""

    share: float
    mask: int
    padding: int
    vocabulary: int

    @classmethod
    def of(cls, share: float, encoder: ReviewEncoder) -> "Masker":
        """Create a Masker for the vocabulary of a language model's encoder."""
        return cls(share, encoder.token_to_idx[MASK], encoder.padding, len(encoder))

    def __call__(
        self, tokens: Tokens, members: Numbers, random: numpy.random.RandomState
    ) -> tuple[NDArray[numpy.int32], Numbers, Numbers]:
        """Return token_ids (N, T) after masking, a bool mask (N, T) of the hidden tokens, and their ids (M,) by row."""
        ids = tokens.padded(tokens.ids, members, self.padding)
        inside = numpy.arange(ids.shape[1]) < tokens.lengths[members][:, None]
        draws = random.random_sample(ids.shape)
        draws[~inside] = 2
        hidden = inside & ((draws < self.share) | (draws == draws.min(axis=1, keepdims=True)))
        targets = ids[hidden]
        draws = random.random_sample(len(targets))
        replacements = random.randint(FIRST_WORD, self.vocabulary, len(targets))
        unmasked = numpy.where(draws < MASKED + REPLACED, replacements, targets)
        ids[hidden] = numpy.where(draws < MASKED, self.mask, unmasked)
        return ids, hidden, targets


# With five masks, 50 candidates for a text of 256 tokens take 2.8 s of processor time
MOST_MASKS = 5


class Candidate(NamedTuple):
    """A candidate token for the mask, the text with this token, and its probability, 0 to 1.

    For several masks, `token` has their tokens in the order of the text, separated by spaces, and `probability` is the
    product of their probabilities.
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
        The clean text with its [MASK].
    tokens : tuple of str
        The T tokens that the network read, up to its maximum length.
    places : tuple of int
        Indices of [MASK] in `tokens`, each 0 to T - 1.
    candidates : tuple of Candidate
        Candidates in descending order of probability.
    heads : (L, K, T, T) float32 or None
        Attention of each token (row) to each token, by layer and head; None for an encoder without attention.
    """

    text: str
    tokens: tuple[str, ...]
    places: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    heads: Optional[NDArray[numpy.float32]] = None

    @property
    def attended(self) -> Optional[NDArray[numpy.float32]]:
        """Attention of [MASK] in the last layer, mean over heads and masks: (T,) float32 that sums to 1, or None."""
        return None if self.heads is None else numpy.asarray(self.heads[-1][:, list(self.places)].mean(axis=(0, 1)))

    def to_dict(self) -> Record:
        """Return plain values for JSON."""
        candidates = [candidate._asdict() for candidate in self.candidates]
        values = {"text": self.text, "candidates": candidates, "tokens": list(self.tokens), "places": list(self.places)}
        return values if self.attended is None else {**values, "attended": self.attended.tolist()}


class LanguageModel(Predictor):
    """A predictor of hidden words: a bundle of the task `language` and its engine."""

    layout = LAYOUT

    @staticmethod
    def load_engine(
        bundle: LanguageBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
    ) -> RunnableGraph:
        """Load a bundle's engine by name; "auto" is onnx, on a GPU gluon. It uses one thread."""
        return load_graphs(bundle, chosen_engine(name, device), device)["model.onnx"]

    def __init__(self, bundle: LanguageBundle, engine: Any):
        super().__init__(bundle, engine)
        self.encoder = bundle.codec
        self.entries = sorted(self.encoder.token_to_idx, key=self.encoder.token_to_idx.__getitem__)
        self.special_ids = [self.encoder.unknown, self.encoder.padding, self.encoder.token_to_idx[MASK]]

    def __call__(self, text: str, top: int = 5) -> Filling:
        """Return the Filling of a text with 1 to MOST_MASKS [MASK], with its `top` candidates; else DataError.

        The most certain of several masks is filled first, by each of its `top` words, the others by `fill_rest`.
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
        best = numpy.argsort(-probability[first], kind="stable")[: min(top, len(self.entries) - len(self.special_ids))]
        candidates = []
        for token_id in best.tolist():
            words_at = {places[first]: token_id}
            product = float(probability[first, token_id]) * self.fill_rest(ids, places, words_at)
            words = [self.entries[words_at[place]] for place in places]
            filled_text = "".join(string for pair in zip(parts, [*words, ""]) for string in pair)
            candidates.append(Candidate(" ".join(words), filled_text, product))
        candidates.sort(key=lambda candidate: -candidate.probability)
        return Filling(text, tokens, tuple(places), tuple(candidates), heads[0][0] if heads else None)

    def guess(self, ids: list[int], places: list[int], outputs: Optional[tuple[str]] = None) -> list[Numbers]:
        """Return the word probabilities at M masks, (M, V), with -1 for special tokens, and the heads."""
        masks = len(places)
        rows = numpy.tile(numpy.array(ids, dtype="int32"), (masks, 1))
        indices = numpy.array(places, dtype="int32") * masks + numpy.arange(masks, dtype="int32")
        probability, *heads = self.engine(rows, numpy.full(masks, len(ids), dtype="int32"), indices, outputs=outputs)
        probability = probability.copy()
        probability[:, self.special_ids] = -1
        return [probability, *heads]

    def fill_rest(self, ids: list[int], places: list[int], words_at: dict[int, int]) -> float:
        """Add a word for each mask not yet in `words_at`, {place: id}; return the product of their probabilities.

        In each step, the mask whose likeliest word has the highest probability gets this word.
        """
        product = 1.0
        while masked := [place for place in places if place not in words_at]:
            context = [words_at.get(place, token_id) for place, token_id in enumerate(ids)]
            (probability,) = self.guess(context, masked, ("probability",))
            mask, token_id = divmod(int(probability.argmax()), probability.shape[1])
            words_at[masked[mask]] = token_id
            product *= float(probability[mask, token_id])
        return product

    def window(self, parts: list[str]) -> tuple[list[int], list[int], tuple[str, ...]]:
        """Return the ids of tokens around the masks up to the maximum length, the places of the masks, and the tokens.

        `parts` is the text around each mask. DataError if the masks are farther apart than the maximum length.
        """
        split, limit = tokenizer(self.encoder.tokenizer_name), self.encoder.max_length
        left, *between, right = (list(self.encoder.units(split(part))) for part in parts)
        middle = [MASK, *(token for part in between for token in (*part, MASK))]
        if (free := limit - len(middle)) < 0:
            expected = f"expected all {MASK} within {limit} tokens, found them within {len(middle)}"
            raise DataError(f"fill: {expected}; leave out a part of the text between them")
        # half on each side; a side that needs less leaves the rest to the other
        after = min(len(right), max((free + 1) // 2, free - len(left)))
        left = left[max(0, len(left) - (free - after)) :]
        tokens = (*left, *middle, *right[:after])
        id_of, unknown = self.encoder.token_to_idx.get, self.encoder.unknown
        places = [len(left) + place for place, token in enumerate(middle) if token == MASK]
        return [id_of(token, unknown) for token in tokens], places, tokens


def load_language_model(
    bundle: Optional[Union[str, Path]] = None, engine: EngineName = "auto", device: DeviceName = "auto"
) -> LanguageModel:
    """Load a language model from a bundle folder; None is the packaged one.

    `engine`, `device` and errors are as in `load_classifier`.
    """
    return LanguageModel.load(bundle, engine, device)


packaged_language_model = lru_cache(maxsize=1)(load_language_model)


def fill(text: str, top: int = 5) -> list[Candidate]:
    """Return the likeliest words for the [MASK] of a text by the packaged language model, which is loaded once.

    Several masks are filled together. DataError if the text has none, or more than MOST_MASKS.
    """
    return list(packaged_language_model()(text, top).candidates)
