"""The additive score of the compiled operator is GluonNLP's additive score, and so are its gradients; hops are Lin's."""

import numpy
import pytest

from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.network.attention import Additive, Structured

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


@pytest.mark.parametrize("hops", [1, 3])
def test_hops_are_those_of_the_paper(hops):
    """Lin et al. 2017, equations 6 and 7: A = softmax(W2 tanh(W1 H^T)), M = A H."""
    cell = Structured(units=UNITS, hops=hops).cell(WIDTH)
    cell.initialize()
    first, second = (each.data() for each in values(cell))
    for each in (first, second):
        each[:] = nd.random.normal(shape=each.shape)
    states, lengths = nd.random.normal(shape=(2, 6, WIDTH)), (6, 4)
    mask = nd.array([[[place < length for place in range(6)]] for length in lengths])
    contexts, weights = (each.asnumpy() for each in cell(states, states, mask))
    for number, length in enumerate(lengths):
        own = states.asnumpy()[number, :length]
        scores = second.asnumpy() @ numpy.tanh(first.asnumpy() @ own.T)
        expected = numpy.exp(scores) / numpy.exp(scores).sum(axis=1, keepdims=True)
        numpy.testing.assert_allclose(weights[number, :, :length], expected, atol=1e-5)
        numpy.testing.assert_allclose(contexts[number], expected @ own, atol=1e-5)
        assert not weights[number, :, length:].any()
