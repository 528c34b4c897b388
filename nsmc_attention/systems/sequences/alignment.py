"""A decoder's attention: scores of its state against the source, and the weights from them. Imports MXNet.

Shapes: N reviews, S source length, D units of a source state, H units of the decoder, A units of the additive score.
"""

from collections.abc import Callable
from typing import Any, Optional

from ..._runtime.aliases import Array, Arrays, Operators
from ..._runtime.gluon import HybridBlock, nn
from ...model.blocks import MASKED_SCORE


class Alignment(HybridBlock):
    """Base: weights (N, S) of a query (N, H), which sum to 1 over the source and are 0 on its padding.

    It is called at each step of the decoder; the keys are projected once a source, to `key_units` (None: they are the
    states themselves).
    """

    # whether the query is the state before the step (Bahdanau) or after it (Luong)
    before_step = False
    # whether it is given the place of the last step too, and returns the new one beside the weights
    carries_place = False
    key_units: Optional[int] = None
    key_bias = False

    def hybrid_forward(self, F: Operators, query: Array, keys: Array, mask: Array, *place: Array) -> Arrays:
        """(N, H), (N, S, K), (N, S) of 0 and 1 -> (N, S)."""
        return masked_softmax(F, self.score(F, query, keys), mask)

    def score(self, F: Operators, query: Array, keys: Array) -> Arrays:
        raise NotImplementedError


class NoAlignment(Alignment):
    """No attention: the decoder knows the source by its first state alone (Sutskever et al. 2014, arXiv:1409.3215)."""

    def hybrid_forward(self, F: Operators, query: Array, keys: Array, mask: Array, *place: Array) -> Arrays:
        """Return weights of 0."""
        return mask * 0


class DotAlignment(Alignment):
    """score(s, h) = s . h, Luong et al. 2015 (arXiv:1508.04025), section 3.1; H and D are the same."""

    def score(self, F: Operators, query: Array, keys: Array) -> Arrays:
        return F.reshape(F.batch_dot(keys, F.expand_dims(query, axis=2)), shape=(0, 0))


class GeneralAlignment(DotAlignment):
    """score(s, h) = s . W h, Luong et al. 2015, section 3.1."""

    def __init__(self, decoder_size: int) -> None:
        super().__init__()
        self.key_units = decoder_size


class ConcatAlignment(Alignment):
    """score(s, h) = v . tanh(W [s; h]), Luong et al. 2015, section 3.1, W being divided into its two parts."""

    key_bias = True

    def __init__(self, decoder_size: int, units: int) -> None:
        super().__init__()
        self.key_units = units
        with self.name_scope():
            self.query = nn.Dense(units, in_units=decoder_size, use_bias=False)
            self.value = nn.Dense(1, in_units=units, use_bias=False, flatten=False)

    def score(self, F: Operators, query: Array, keys: Array) -> Arrays:
        # a product with a column of 1, not a broadcast, whose gradient MXNet reduces slowly; a third of a step's time
        ones = F.ones_like(F.slice_axis(keys, axis=2, begin=0, end=1))  # (N, S, 1)
        queries = F.batch_dot(ones, F.expand_dims(self.query(query), axis=1))
        pairs = F.Activation(keys + queries, act_type="tanh")  # (N, S, A)
        return F.reshape(self.value(pairs), shape=(0, 0))


class AdditiveAlignment(ConcatAlignment):
    """The same score with the state before the step as query, Bahdanau et al. 2015 (arXiv:1409.0473), appendix A.1.2."""

    before_step = True


class LocalAlignment(GeneralAlignment):
    """Base: the general score within a window of 2 W + 1 places around p, counted from 1; Luong et al. 2015, section 3.2."""

    def __init__(self, decoder_size: int, window: int) -> None:
        super().__init__(decoder_size)
        self.window = window

    def around(self, F: Operators, query: Array, keys: Array, mask: Array, center: Array) -> tuple[Any, Any]:
        """Return the weights within the window around p (N, 1), and the distances of all places from it, (N, S) both."""
        places = F.expand_dims(F.contrib.arange_like(mask, axis=1), axis=0) + 1
        distances = F.broadcast_sub(places, center)
        return masked_softmax(F, self.score(F, query, keys), mask * (F.abs(distances) <= self.window)), distances


class MonotonicAlignment(LocalAlignment):
    """local-m: p = t, as far as the source goes. p is part of the decoder's state, 0 at first."""

    carries_place = True

    def hybrid_forward(self, F: Operators, query: Array, keys: Array, mask: Array, *place: Array) -> Arrays:
        """(N, H), (N, S, K), (N, S) of 0 and 1, the last place (N, 1) -> (N, S), the new place (N, 1)."""
        center = F.minimum(place[0] + 1, F.sum(mask, axis=1, keepdims=True))
        weights, _ = self.around(F, query, keys, mask, center)
        return weights, center


class PredictiveAlignment(LocalAlignment):
    """local-p: p = S sigmoid(v . tanh(W_p s)), equation 9, and a Gaussian around p, equation 10.

    Its standard deviation is W / 2; the weights sum to at most 1. It learns late, as do other ways to p; local-m
    learns soon (benchmarks/restoration/README.md).
    """

    def __init__(self, decoder_size: int, window: int) -> None:
        super().__init__(decoder_size, window)
        with self.name_scope():
            self.place_units = nn.Dense(decoder_size, in_units=decoder_size, use_bias=False)
            self.place = nn.Dense(1, in_units=decoder_size, use_bias=False)

    def hybrid_forward(self, F: Operators, query: Array, keys: Array, mask: Array, *place: Array) -> Arrays:
        length = F.sum(mask, axis=1, keepdims=True)  # (N, 1)
        center = length * F.sigmoid(self.place(F.tanh(self.place_units(query))))
        weights, distances = self.around(F, query, keys, mask, center)
        return weights * F.exp(-F.square(distances) / (2 * (self.window / 2) ** 2))


def build_alignment(attention: Any, decoder_size: int) -> Alignment:
    """Build what a decoder of `decoder_size` units attends with, for one of `settings.ALIGNMENTS`."""
    build: Callable[[], Alignment] = {
        "none": NoAlignment,
        "dot": DotAlignment,
        "general": lambda: GeneralAlignment(decoder_size),
        "local-m": lambda: MonotonicAlignment(decoder_size, attention.window),
        "local-p": lambda: PredictiveAlignment(decoder_size, attention.window),
        "additive": lambda: AdditiveAlignment(decoder_size, attention.units),
        "concat": lambda: ConcatAlignment(decoder_size, attention.units),
    }[attention.kind]
    return build()


def masked_softmax(F: Operators, scores: Array, mask: Array) -> Array:
    """Return the softmax of scores (N, S) over the places whose mask is 1; 0 elsewhere."""
    return F.softmax(F.where(mask, scores, MASKED_SCORE * F.ones_like(scores)), axis=1) * mask
