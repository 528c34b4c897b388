"""A language model as an ONNX graph, whose inputs and outputs are those of `interfaces`: one hidden token a review."""

import onnx

from ..model.interfaces import Axes
from ..model.onnx.graph import Graph
from ..model.tracing import trace


def lower_language(network: object) -> onnx.ModelProto:
    """Write a MaskedLanguageModel as an ONNX model; it computes what the network does once its tables are rounded."""
    (logits, *heads), _ = trace(network)
    graph = Graph(network)
    outputs: dict[str, Axes] = {"probability": ("N", logits.shape[1])}
    for each in heads:
        outputs["heads"] = ("N", *each.shape[1:3], "T", "T")
    probability = graph.add("Softmax", graph.value(logits), axis=1)
    return graph.model([probability, *map(graph.value, heads)], outputs)
