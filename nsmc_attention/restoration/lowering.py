"""The networks of `restore` as ONNX graphs: an editor is one, a writer two, its encoder and one step of its decoder.

Their inputs and outputs are those of `interfaces`.
"""

from typing import Any

import onnx
from onnx import TensorProto

from ..model.onnx.graph import Graph, with_sizes
from ..model.tracing import trace
from .interface import EDITOR


def lower_restorer(network: Any) -> dict[str, onnx.ModelProto]:
    """Write an Editor or a Writer as ONNX models: {name of the file in a bundle: model}.

    The models compute what the network does if its parameters are rounded to what files hold
    (`parameters.round_tables`).
    """
    return lower_writer(network) if hasattr(network, "parts") else {"model.onnx": lower_editor(network)}


def lower_editor(network: Any) -> onnx.ModelProto:
    (tags, spaces), _ = trace(network)
    graph = Graph(network)
    logits = graph.value(tags)
    best = graph.add("ArgMax", logits, axis=2, keepdims=0)
    outputs = [
        graph.add("Cast", best, to=TensorProto.INT32),
        graph.add("ReduceMax", graph.add("Softmax", logits, axis=2), axes=[2], keepdims=0),
        graph.second_probability(spaces),
    ]
    return graph.model(outputs, EDITOR["model.onnx"].outputs)


def lower_writer(network: Any) -> dict[str, onnx.ModelProto]:
    source, step = (Graph(network, part) for part in network.parts)
    encoded, _ = trace(network.source)
    written, _ = trace(network.step)
    log_probability = step.add("LogSoftmax", step.value(written[0]), axis=1)
    return {
        "source.onnx": source.model(
            map(source.value, encoded), with_sizes(network.graphs["source.onnx"].outputs, encoded)
        ),
        "step.onnx": step.model(
            [log_probability, *map(step.value, written[1:])], with_sizes(network.graphs["step.onnx"].outputs, written)
        ),
    }
