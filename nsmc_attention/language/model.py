"""`fill`: a text with a hidden word in, the words that it may be out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy
from numpy.typing import NDArray

from ..bundle.format import load_bundle
from ..errors import BundleError, ConfigError, DataError
from ..inference.reference import Predictor, check_text
from ..inference.sessions import PIECE, chosen_engine, gluon_network, import_check, run, session_of
from ..model.interfaces import AXES, Interface
from ..text.encoding import clean
from ..text.tokenizers import tokenizer
from .interface import MASKED
from .layout import LAYOUT, LanguageBundle
from .masking import MASK
from .settings import MaskedConfig

Array = NDArray[Any]


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
        values: dict[str, Any] = {"text": self.text, "candidates": [each._asdict() for each in self.candidates]}
        values.update({"tokens": list(self.tokens), "place": self.place})
        return values if self.attended is None else {**values, "attended": self.attended.tolist()}


class LanguageModel(Predictor):
    """A bundle of the task `language` and the engine that runs it."""

    layout, types = LAYOUT, {}

    def __init__(self, bundle: LanguageBundle, engine: Any):
        self.bundle, self.engine, self.encoder = bundle, engine, bundle.codec
        self.entries = sorted(self.encoder.token_to_idx, key=self.encoder.token_to_idx.__getitem__)
        self.no_words = [self.encoder.unknown, self.encoder.padding, self.encoder.token_to_idx[MASK]]

    @classmethod
    def from_bundle(
        cls,
        bundle: LanguageBundle,
        engine: str = "auto",
        device: str = "auto",
        threads: Optional[int] = None,
        **options: Any,
    ) -> "LanguageModel":
        if MASK not in bundle.codec.token_to_idx:
            raise BundleError(f"{bundle.file('vocab.json')}: expected the entry {MASK} of a language model, found none")
        return cls(bundle, load_language_engine(bundle, engine, device))

    def __repr__(self) -> str:
        return f"LanguageModel(bundle={self.bundle.name!r}, engine={self.engine.name!r})"

    def __call__(self, text: str, top: int = 5) -> Filling:
        """Return the Filling of a text with one [MASK], with its `top` candidates; DataError at none or several."""
        if top < 1:
            raise ConfigError(f"--top: expected at least 1, found {top}")
        text = clean(check_text(text))
        before, after = sides(text)
        ids, place, tokens = self.window(before, after)
        arrays = (numpy.array(each, dtype="int32") for each in ([ids], [len(ids)], [place]))
        probability, heads = self.engine(*arrays)
        probability = probability[0].copy()
        probability[self.no_words] = -1
        best = numpy.argsort(-probability, kind="stable")[: min(top, len(probability) - len(self.no_words))].tolist()
        candidates = (
            Candidate(self.entries[number], text.replace(MASK, self.entries[number]), float(probability[number]))
            for number in best
        )
        return Filling(text, tokens, place, tuple(candidates), None if heads is None else heads[0])

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
    found = text.count(MASK)
    if found != 1:
        raise DataError(
            f"fill: expected one {MASK} in the text, found {found}; write it in place of the word, as in "
            f"'주인공의 {MASK}에 소름이 돋았다'"
        )
    before, _, after = text.partition(MASK)
    return before, after


class OnnxLanguage:
    """Runs a language model's model.onnx of `vocabulary` tokens: (N, T), (N,), (N,) -> (N, V), heads or None."""

    name = "onnx"

    def __init__(self, model: bytes, vocabulary: int):
        self.session, self.vocabulary = session_of(model), vocabulary

    def __call__(self, token_ids: Array, valid_length: Array, places: Array) -> tuple[Array, Optional[Array]]:
        given = {"token_ids": token_ids, "valid_length": valid_length, "places": places}
        probability, *heads = run(self.session, given)
        if probability.shape != (len(token_ids), self.vocabulary) or not numpy.isfinite(probability).all():
            raise BundleError(
                "expected the probability of each token from the bundle's model.onnx, found something else: its "
                "parameters are too large, or it is another model; train again, or take another bundle"
            )
        return probability, heads[0] if heads else None


class GluonLanguage:
    """Runs a language model on MXNet."""

    name = "gluon"

    def __init__(self, network: Any, device: Any):
        from .._runtime.mxnet_shim import import_mxnet

        self.nd, self.network, self.device = import_mxnet().nd, network, device

    def __call__(self, token_ids: Array, valid_length: Array, places: Array) -> tuple[Array, Optional[Array]]:
        given = (token_ids.astype("int32"), valid_length.astype("float32"), places.astype("int32"))
        logits, *heads = self.network(*(self.nd.array(each, ctx=self.device, dtype=each.dtype) for each in given))
        return logits.softmax().asnumpy(), heads[0].asnumpy() if heads else None


def load_language_engine(
    bundle: LanguageBundle, name: str = "auto", device: str = "auto"
) -> Union[OnnxLanguage, GluonLanguage]:
    """Load the engine called name for a language model's bundle; "auto" is onnx, on a GPU gluon."""
    if chosen_engine(name, device) == "gluon":
        network, context = gluon_network(bundle, device)
        network.hybridize()
        return GluonLanguage(network, context)
    content, vocabulary = bundle.read("model.onnx"), len(bundle.codec)
    if not bundle.packaged:
        batches = [(1, 2), (3, 7), (PIECE, bundle.config.text.max_length)]
        content = check_language(content, bundle.config.model, vocabulary, batches, bundle.file("model.onnx"))
    return OnnxLanguage(content, vocabulary)


def check_language(
    content: bytes, settings: MaskedConfig, vocabulary: int, batches: Sequence[tuple[int, int]], where: Union[str, Path]
) -> bytes:
    """Return the serialized graph of a language model as `onnx.check.check_graph` does; `batches` are sizes (N, T)."""
    interface = Interface(MASKED, settings.outputs)
    places = [{"N": texts, **dict.fromkeys(("T", *AXES), length)} for texts, length in batches]
    rows, sizes = {"token_ids": vocabulary}, {"V": vocabulary}
    return bytes(import_check().check_graph(content, rows, interface, sizes, places, where))


def load_language_model(
    bundle: Optional[Union[str, Path]] = None, engine: str = "auto", device: str = "auto"
) -> LanguageModel:
    """Load a language model from a bundle folder, None for the one that ships with the package.

    Engine, device and errors are those of `load_classifier`.
    """
    return LanguageModel.from_bundle(load_bundle(bundle, LAYOUT), engine, device)


@lru_cache(maxsize=1)
def packaged_language_model() -> LanguageModel:
    return load_language_model()


def fill(text: str, top: int = 5) -> list[Candidate]:
    """Return the likeliest words at the [MASK] of a text, by the packaged language model, which is loaded once.

    DataError where the text has no [MASK] or several.
    """
    return list(packaged_language_model()(text, top).candidates)
