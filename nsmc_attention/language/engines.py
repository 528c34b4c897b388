"""What runs a language model: (N, T) ids, (N,) lengths, (N,) places of a hidden token -> (N, V) probabilities, and heads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy
from numpy.typing import NDArray

from ..errors import BundleError
from ..inference.sessions import PIECE, chosen_engine, gluon_network, import_check, run, session_of
from ..model.interfaces import AXES, Interface
from .interface import MASKED
from .layout import LanguageBundle
from .settings import MaskedConfig

Array = NDArray[Any]


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
    bundle: LanguageBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> Union[OnnxLanguage, GluonLanguage]:
    """Load the engine called name for a language model's bundle; "auto" is onnx, on a GPU gluon. One thread is used."""
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
