"""The additive score computed by products is GluonNLP's additive score, and so are its gradients."""

import numpy
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.model.attention import Additive

import_mxnet()

from gluonnlp.model import MLPAttentionCell  # noqa: E402
from mxnet import autograd, gluon, nd  # noqa: E402

WIDTH, UNITS = 12, 5


@pytest.fixture(params=[False, True], ids=["imperative", "hybridized"])
def cells(request):
    """Ours and GluonNLP's, with equal parameters."""
    ours = Additive(units=UNITS).cell(WIDTH)
    theirs = MLPAttentionCell(UNITS, act=gluon.nn.Activation("tanh"))
    for cell in (ours, theirs):
        cell.initialize()
        cell(nd.ones((1, 2, WIDTH)), nd.ones((1, 2, WIDTH)))
    for one, other in zip(values(ours), values(theirs)):
        one.set_data(nd.random.normal(shape=one.shape))
        other.set_data(one.data())
    if request.param:
        ours.hybridize(static_alloc=True)
    return ours, theirs


def values(cell):
    return cell._collect_params_with_prefix().values()


def run(cell, states, mask):
    """Return contexts, weights and the gradients of a fixed function of both."""
    states.attach_grad()
    with autograd.record():
        contexts, weights = cell(states, states, states, mask)
        loss = (contexts * contexts).sum() + (weights * weights * weights).sum()
    loss.backward()
    gradients = [parameter.grad() for parameter in values(cell)]
    return [array.asnumpy() for array in (contexts, weights, states.grad, *gradients)]


@pytest.mark.parametrize("lengths", [(1, 1), (7, 7), (2, 5, 1)])
def test_additive_score_and_its_gradients_are_those_of_the_cell_of_gluonnlp(cells, lengths):
    longest = max(lengths)
    inside = (numpy.arange(longest) < numpy.array(lengths)[:, None]).astype("float32")
    mask = nd.array(inside[:, :, None] * inside[:, None, :])
    states = nd.random.normal(shape=(len(lengths), longest, WIDTH))
    for one, other in zip(*(run(cell, states, mask) for cell in cells)):
        assert one.shape == other.shape
        numpy.testing.assert_allclose(one, other, atol=2e-5, rtol=2e-5)
