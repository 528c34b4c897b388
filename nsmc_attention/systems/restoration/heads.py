"""Attention of a writer with a Transformer's decoder, as matrices for a picture. Imports MXNet."""

from typing import TYPE_CHECKING

from ..._runtime.gluon import mxnet
from ...errors import ConfigError
from ...inference.engines import gluon_network
from ...inference.matrices import Matrix
from ..sequences.characters import BEGIN, END

if TYPE_CHECKING:
    from .restorer import Restorer

TITLES = {"encoder": "encoder self-attention", "decoder": "causal self-attention", "cross": "cross-attention"}


def attention_matrices(restorer: "Restorer", text: str) -> list[Matrix]:
    """Return how a writer attends while it writes, for `visualization.heatmap.draw_matrices`.

    Of the last layers, the mean of the heads (Vaswani et al. 2017, section 3.2.3): how the S characters of the source
    attend to each other (S, S), with a Transformer's encoder; how each of the T that are written attends to those before
    it (T, T); and to the source (T, S). Rows sum to 1. ^ is the beginning of what is written, $ its end.

    Raises
    ------
    ConfigError
        The restorer is no writer with a Transformer's decoder.
    DataError
        The text is blank, or longer than the writer reads at once.
    """
    model = restorer.bundle.config.model
    if model.kind == "editor" or model.decoder.kind != "transformer":
        raise ConfigError(
            "attention_matrices: expected a writer with a Transformer's decoder, found another bundle; train one with "
            "--set model.decoder.kind=transformer"
        )
    piece = restorer.piece(text, "attention_matrices")
    best = restorer.hypotheses([piece])[0][0]
    letters = [restorer.characters.character(number) if number > END else "?" for number in best.ids]
    named = ["␣" if letter == " " else letter for letter in letters]
    source, written, before = list(piece.letters), [*named, "$"], ["^", *named]
    axes = {"encoder": (source, source), "decoder": (written, before), "cross": (written, source)}
    network, device = gluon_network(restorer.bundle, "cpu")
    ids, length = restorer.inputs([piece])
    given = mxnet.nd.array(ids, device, "int32"), mxnet.nd.array(length, device)
    weights = network.attention(*given, mxnet.nd.array([[BEGIN, *best.ids]], device, "int32"))
    return [
        Matrix(weights[name][0, -1].mean(axis=0).asnumpy(), *axes[name], title)
        for name, title in TITLES.items()
        if name in weights
    ]
