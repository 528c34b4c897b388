"""Graphs of networks that no system has; those of every system are compared in tests/systems/test_networks.py."""

import numpy
import pytest

from nsmc_attention.machine.mxnet_shim import import_mxnet

mxnet = import_mxnet()

from mxnet.gluon import HybridBlock, nn  # noqa: E402

from nsmc_attention.engines.graphs import GluonGraph, OnnxGraph  # noqa: E402
from nsmc_attention.engines.onnx.graph import lower  # noqa: E402
from nsmc_attention.network.graphs import Interface  # noqa: E402


class Unlowerable(HybridBlock):
    inputs = {"token_ids": ("N", "T")}

    def hybrid_forward(self, F, token_ids):
        return F.erfinv(token_ids), F.zeros_like(token_ids)


def test_an_operator_without_a_rule_is_named():
    with pytest.raises(NotImplementedError, match="erfinv .* extend engines/onnx/operators.py"):
        lower(Unlowerable(), {"model.onnx": Interface(Unlowerable.inputs, {"one": ("N", "T"), "other": ("N", "T")})})


class OneDirection(HybridBlock):
    """Another network than the classifiers: a GRU in one direction, of which the last layer reads every state."""

    inputs = {"token_ids": ("N", 4)}

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.table = nn.Embedding(50, 3)
            self.gru = mxnet.gluon.rnn.GRU(5, layout="NTC", input_size=3)
            self.output = nn.Dense(2, in_units=20)

    def hybrid_forward(self, F, token_ids):
        states = self.gru(self.table(token_ids))
        scores = F.batch_dot(states, states, transpose_b=True)
        return self.output(F.Activation(states, act_type="relu") + 1), F.softmax(F.contrib.div_sqrt_dim(scores))


def test_a_network_that_is_none_of_the_package_is_lowered():
    built, ids = OneDirection(), numpy.random.RandomState(0).randint(0, 50, (3, 4))
    built.initialize(mxnet.init.Normal(0.5))
    interface = Interface(built.inputs, {"logits": ("N", 2), "weights": ("N", "queries", "keys")})
    content = lower(built, {"model.onnx": interface})["model.onnx"]
    for one, other in zip(OnnxGraph(content, interface)(ids), GluonGraph(built, interface, mxnet.cpu())(ids)):
        numpy.testing.assert_allclose(one, other, atol=1e-5)
