"""A writer's graphs; what they compute is in tests/systems/test_networks.py."""

import numpy
import onnx

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.systems.sequences.decoders import GRUDecoder
from nsmc_attention.systems.sequences.settings import Stack, WriterConfig

mxnet = import_mxnet()

from nsmc_attention.model.onnx.graph import lower  # noqa: E402
from nsmc_attention.model.parameters import initialize_from  # noqa: E402
from nsmc_attention.model.tracing import parameter_shapes  # noqa: E402


def test_a_step_projects_its_keys_no_more():
    """Of general attention, the keys are a matrix product of the source: one that a step does not repeat."""
    settings = WriterConfig(embedding_size=6, encoder=Stack(1, 4), output_units=5, decoder=GRUDecoder(8))
    built = settings.network(20, 12, 10)
    initialize_from(built, {name: numpy.ones(each) for name, each in parameter_shapes(built).items()}, mxnet.cpu())
    source, step = (onnx.load_from_string(each).graph for each in lower(built, settings.graphs).values())
    named = [{item.name for item in graph.initializer if ".key." in item.name} for graph in (source, step)]
    assert named == [{"source.key.weight"}, set()]
