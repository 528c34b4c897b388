"""The operators in C++ compute what MXNet's own do, and so do their gradients; graphs are lowered without them."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.network import operators
from nsmc_attention.network.attention import Additive
from nsmc_attention.network.blocks import Bidirectional

mxnet = import_mxnet()

from mxnet import autograd, nd  # noqa: E402

pytestmark = pytest.mark.skipif(operators.LIBRARY is None, reason="the operators were not compiled")


def with_gradients(function, arrays):
    """Return the result of `function` and the gradients of a sum of its cubes."""
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        result = function(*arrays)
        loss = (result**3).sum()
    loss.backward()
    return [result.asnumpy(), *(array.grad.asnumpy() for array in arrays)]


def assert_same_without(function, arrays, tolerance=1e-5):
    """Compare what `function` returns, and its gradients, with those without the operators; return them."""
    found = with_gradients(function, arrays)
    with operators.unused():
        assert_close(found, with_gradients(function, arrays), tolerance)
    return found


def assert_close(found, expected, tolerance):
    """Compare by norm; an array much smaller than the largest is the difference of larger numbers, rounded."""
    for one, other in zip(found, expected):
        assert one.shape == other.shape
        scale = max(numpy.linalg.norm(each) / each.size**0.5 for each in expected)
        size = max(numpy.linalg.norm(other), 0.1 * scale * other.size**0.5)
        assert numpy.linalg.norm(one - other) <= tolerance * size


sizes = st.integers(1, 20)


@pytest.fixture(params=[0, 1, 2], ids=["baseline", "avx2", "avx512"])
def level(request):
    """A kind of processor that this one can be taken for."""
    if operators.LIBRARY.nsmc_level(request.param) != request.param:
        pytest.skip("this processor has no such instructions")
    yield
    operators.LIBRARY.nsmc_level(2)


@pytest.mark.usefixtures("level")
@given(
    seed=st.integers(0, 2**31), reviews=st.integers(1, 4), units=st.integers(1, 40), far=st.booleans(), data=st.data()
)
def test_weights_and_gradients_are_those_of_the_products(seed, reviews, units, far, data):
    """Also of scores that e^x alone cannot hold, which `far` draws, and of queries that may attend to nothing.

    Far products, of some hundreds, are rounded to some 1e-5, which the exponential then shows.
    """
    lengths = data.draw(st.lists(sizes, min_size=reviews, max_size=reviews))
    draw, longest, width = numpy.random.RandomState(seed), max(lengths), 6
    mask = nd.array((draw.rand(reviews, longest, longest) < 0.8) * (numpy.arange(longest) < numpy.c_[lengths])[:, None])
    cell = Additive(units=units).cell(width)
    cell.initialize()
    states = nd.array(draw.randn(reviews, longest, width))
    cell(states, states, states, mask)
    arrays = [parameter.data() for parameter in cell._collect_params_with_prefix().values()]
    for array in arrays:
        array[:] = draw.randn(*array.shape) * (60 if far and len(array) == units else 0.5)
    tolerance = 1e-3 if far else 1e-5
    found = assert_same_without(lambda *_: cell._compute_weight(nd, states, states, mask), [states, *arrays], tolerance)
    assert not found[0][mask.asnumpy() == 0].any()


@pytest.mark.usefixtures("level")
@given(seed=st.integers(0, 2**31), reviews=st.integers(1, 3), queries=sizes, keys=sizes, width=st.integers(1, 40))
def test_the_mean_of_contexts_and_its_gradients_are_those_of_two_products(seed, reviews, queries, keys, width):
    draw = numpy.random.RandomState(seed)
    shapes = (reviews, queries, 1), (reviews, queries, keys), (reviews, keys, width)
    arrays = [nd.array(draw.randn(*shape)) for shape in shapes]
    # sums of random signs lose digits where they cancel
    assert_same_without(lambda *given: operators.pool(nd, *given), arrays, 1e-4)


@pytest.mark.usefixtures("level")
@given(
    seed=st.integers(0, 2**31),
    reviews=st.integers(1, 20),
    longest=st.integers(1, 6),
    inputs=st.integers(1, 40),
    units=st.integers(1, 40),
    threads=st.sampled_from("12"),
)
def test_states_and_gradients_of_a_bidirectional_gru_are_those_of_two_layers(
    seed, reviews, longest, inputs, units, threads
):
    """Also where inputs are 0 throughout, as those of dropped words are; of padding nothing is asked."""
    draw, layer = numpy.random.RandomState(seed), Bidirectional(units)
    lengths = nd.array(draw.randint(1, longest + 1, reviews))
    embedded = nd.array(draw.randn(longest, reviews, inputs) * (draw.rand(longest, reviews, 1) < 0.7))
    layer.initialize()
    with operators.unused():
        layer(embedded, lengths)
    arrays = [parameter.data() for parameter in layer.collect_params().values()]
    for array in arrays:
        array[:] = draw.randn(*array.shape) * 0.5
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", threads)
        assert_same_without(
            lambda *_: nd.SequenceMask(layer(embedded, lengths), lengths, use_sequence_length=True), [embedded, *arrays]
        )


def test_two_calls_of_a_gru_keep_their_gates_apart():
    layer, lengths = Bidirectional(5), nd.array([3, 2])
    layer.initialize()
    one, other = (nd.random.normal(shape=(3, 2, 4)) for _ in range(2))
    # the first call finds out the sizes by MXNet's own operators
    layer(one, lengths)
    expected = [with_gradients(lambda given: layer(given, lengths), [each])[1] for each in (one, other)]
    with autograd.record():
        loss = sum((layer(each, lengths) ** 3).sum() for each in (one, other))
    loss.backward()
    for each, gradient in zip((one, other), expected):
        numpy.testing.assert_array_equal(each.grad.asnumpy(), gradient)


def test_dropped_words_are_rows_and_numbers_are_dropped_besides():
    layer, ones = operators.Dropout(0.4, rows=0.2), nd.ones((100, 50, 30))
    ones.attach_grad()
    with autograd.record():
        found = layer(ones)
    found.backward()
    kept = found.asnumpy() != 0
    rows = kept.any(axis=2)
    # a row whose numbers are all dropped by themselves is as rare as 0.4 ** 30
    assert abs(rows.mean() - 0.8) < 5 * (0.8 * 0.2 / rows.size) ** 0.5
    assert abs(kept[rows].mean() - 0.6) < 5 * (0.6 * 0.4 / kept[rows].size) ** 0.5
    numpy.testing.assert_allclose(found.asnumpy()[kept], 1 / (0.6 * 0.8), rtol=1e-6)
    assert (ones.grad.asnumpy() == found.asnumpy()).all()
    with operators.unused(), autograd.record():
        plain = layer(ones).asnumpy() != 0
    assert abs(plain.any(axis=2).mean() - 0.8) < 0.03 and abs(plain.mean() - 0.48) < 0.02


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_dropout_drops_its_share_and_scales_the_rest(rate):
    layer, ones = operators.Dropout(rate), nd.ones((400, 250))
    ones.attach_grad()
    mxnet.random.seed(3)
    with autograd.record():
        first = layer(ones)
        second = layer(ones)
    first.backward()
    kept = first.asnumpy() != 0
    spread = (rate * (1 - rate) / kept.size) ** 0.5
    assert abs(kept.mean() - (1 - rate)) < 5 * spread
    # of neighbours and of two masks no more are kept together than of any two
    for one, other in ((kept[:, 1:], kept[:, :-1]), (kept[1:], kept[:-1]), (kept, second.asnumpy() != 0)):
        assert abs((one & other).mean() - (1 - rate) ** 2) < 8 * spread
    numpy.testing.assert_allclose(first.asnumpy()[kept], 1 / (1 - rate), rtol=1e-6)
    assert (ones.grad.asnumpy() == first.asnumpy()).all()


def test_dropout_follows_the_seed_and_rests_outside_training():
    layer, array = operators.Dropout(0.5), nd.random.normal(shape=(20, 30))
    masks = []
    for seed in (1, 1, 2):
        mxnet.random.seed(seed)
        with autograd.record():
            masks.append(layer(array).asnumpy())
    assert (masks[0] == masks[1]).all() and (masks[0] != masks[2]).any()
    assert (layer(array).asnumpy() == array.asnumpy()).all()
