"""A network's function as an ONNX graph: each MXNet operator of the traced HybridBlock through one table.

The graph is built from its outputs backwards, so operators whose result a rewrite does not need are never written.
Written with `onnx.helper`: MXNet's own exporter does not work with today's onnx package.
"""

from typing import Any

import onnx

from ..model.interfaces import AXES, Axes
from ..model.onnx.graph import Graph
from ..model.tracing import trace


def lower(network: Any) -> onnx.ModelProto:
    """Write a network that returns logits (N, 2) and weights as an ONNX model of int32 inputs and float32 outputs.

    `network.inputs` is {name: dimensions} of its arguments and `network.axes` the names of the weights' axes after the
    first, as ("queries", "keys"); one that is not as long as the reviews, as "hops", is written as its size. The
    outputs are probability (N,) of positive and weights (N, *axes), and of an encoder that attends its own weights,
    heads (N, L, K, T, T).
    """
    (logits, *weights), _ = trace(network)
    graph = Graph(network)
    outputs = [graph.second_probability(logits), *(graph.tensor(graph.value(each)) for each in weights)]
    axes = (axis if axis in AXES else size for axis, size in zip(network.axes, weights[0].shape[1:]))
    names: dict[str, Axes] = {"probability": ("N",), "weights": ("N", *axes)}
    for heads in weights[1:]:
        names["heads"] = ("N", *heads.shape[1:3], "T", "T")
    return graph.model(outputs, names)
