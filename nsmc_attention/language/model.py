"""`fill`: a text with a hidden word in, the words that it may be out."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy
from numpy.typing import NDArray

from ..errors import BundleError, ConfigError, DataError
from ..inference.engines import DeviceName, EngineName
from ..inference.reference import Predictor, check_text
from ..text.encoding import clean
from ..text.tokenizers import tokenizer
from .engines import load_language_engine
from .masking import MASK
from .task import LAYOUT, LanguageBundle


class Candidate(NamedTuple):
    """A token that may stand at the mask, the text with it, and its probability, 0 to 1."""

    token: str
    text: str
    probability: float


@dataclass(frozen=True, eq=False)
class Filling:
    """What may stand at the mask of a text.

    Attributes
    ----------
    text : str
        The clean text, [MASK] in it.
    tokens : tuple of str
        What the network read, at most as many as it has places, [MASK] at `place` (0 to T - 1).
    candidates : tuple of Candidate
        The likeliest first.
    heads : (L, K, T, T) float32 or None
        How each token attends to each, by layer and head; None of an encoder that does not attend.
    """

    text: str
    tokens: tuple[str, ...]
    place: int
    candidates: tuple[Candidate, ...]
    heads: Optional[NDArray[numpy.float32]] = None

    @property
    def attended(self) -> Optional[NDArray[numpy.float32]]:
        """(T,) float32, sums to 1: what [MASK] attended to in the last layer, the mean of its heads; None without heads."""
        return None if self.heads is None else numpy.asarray(self.heads[-1, :, self.place].mean(axis=0))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        values: dict[str, Any] = {
            "text": self.text,
            "candidates": [candidate._asdict() for candidate in self.candidates],
        }
        values.update({"tokens": list(self.tokens), "place": self.place})
        return values if self.attended is None else {**values, "attended": self.attended.tolist()}


class LanguageModel(Predictor):
    """A bundle of the task `language` and the engine that runs it."""

    layout, load_engine = LAYOUT, staticmethod(load_language_engine)

    def __init__(self, bundle: LanguageBundle, engine: Any):
        super().__init__(bundle, engine)
        self.encoder = bundle.codec
        if MASK not in self.encoder.token_to_idx:
            raise BundleError(f"{bundle.file('vocab.json')}: expected the entry {MASK} of a language model, found none")
        self.entries = sorted(self.encoder.token_to_idx, key=self.encoder.token_to_idx.__getitem__)
        self.no_words = [self.encoder.unknown, self.encoder.padding, self.encoder.token_to_idx[MASK]]

    def __call__(self, text: str, top: int = 5) -> Filling:
        """Return the Filling of a text with one [MASK], with its `top` candidates; DataError at none or several."""
        if not isinstance(top, (int, numpy.integer)) or top < 1:
            raise ConfigError(f"top: expected a whole number of at least 1, found {top!r}")
        text = clean(check_text(text))
        before, after = sides(text)
        ids, place, tokens = self.window(before, after)
        arrays = (numpy.array(numbers, dtype="int32") for numbers in ([ids], [len(ids)], [place]))
        probability, *heads = self.engine(*arrays)
        probability = probability[0].copy()
        probability[self.no_words] = -1
        best = numpy.argsort(-probability, kind="stable")[: min(top, len(probability) - len(self.no_words))].tolist()
        candidates = (
            Candidate(self.entries[number], text.replace(MASK, self.entries[number]), float(probability[number]))
            for number in best
        )
        return Filling(text, tokens, place, tuple(candidates), heads[0][0] if heads else None)

    def window(self, before: str, after: str) -> tuple[list[int], int, tuple[str, ...]]:
        """Return ids and tokens around the mask, as many as the network has places, and the mask's place among them."""
        split, longest = tokenizer(self.encoder.tokenizer_name), self.encoder.max_length
        left, right = (self.pieces(split(side)) for side in (before, after))
        # half on each side, and what one side leaves to the other
        kept_right = min(len(right), max(longest // 2, longest - 1 - len(left)))
        left, right = left[max(0, len(left) - (longest - 1 - kept_right)) :], right[:kept_right]
        tokens = (*left, MASK, *right)
        find, unknown = self.encoder.token_to_idx.get, self.encoder.unknown
        return [find(token, unknown) for token in tokens], len(left), tokens

    def pieces(self, words: list[str]) -> list[str]:
        return [piece for word in words for piece in self.encoder.units([word])]


def sides(text: str) -> tuple[str, str]:
    """Return what is before and behind the [MASK] of a clean text; DataError unless there is one."""
    if text.count(MASK) != 1:
        raise DataError(
            f"fill: expected one {MASK} in the text, found {text.count(MASK)}; write it in place of the word, as in "
            f"'주인공의 {MASK}에 소름이 돋았다'"
        )
    before, _, after = text.partition(MASK)
    return before, after


def load_language_model(
    bundle: Optional[Union[str, Path]] = None, engine: EngineName = "auto", device: DeviceName = "auto"
) -> LanguageModel:
    """Load a language model from a bundle folder, None for the one that ships with the package.

    Engine, device and errors are those of `load_classifier`.
    """
    return LanguageModel.load(bundle, engine, device)


packaged_language_model = lru_cache(maxsize=1)(load_language_model)


def fill(text: str, top: int = 5) -> list[Candidate]:
    """Return the likeliest words at the [MASK] of a text, by the packaged language model, which is loaded once.

    DataError where the text has no [MASK] or several.
    """
    return list(packaged_language_model()(text, top).candidates)
