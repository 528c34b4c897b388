"""A film network as ONNX graphs, whose inputs and outputs are those of `interfaces`: its reviews one by one, and the film."""

import onnx

from ..model.onnx.graph import Graph, with_sizes
from ..model.tracing import trace
from .interface import FILM


def lower_film(network: object) -> dict[str, onnx.ModelProto]:
    """Write a FilmNetwork as ONNX models: {name of the file in a bundle: model}."""
    return {name: lower_part(network, part, name) for name, part in zip(FILM, network.parts)}  # type: ignore[attr-defined]


def lower_part(network: object, part: object, name: str) -> onnx.ModelProto:
    (*values,), _ = trace(part)
    graph = Graph(network, part)
    return graph.model(map(graph.value, values), with_sizes(FILM[name].outputs, values))
