"""Encoders: embedded tokens in, states out. Imports MXNet."""

from typing import Any

from .._runtime.mxnet_shim import import_mxnet

import_mxnet()

from mxnet.gluon import HybridBlock, rnn  # noqa: E402


class BidirectionalGRU(HybridBlock):
    """A GRU in each direction, neither of which reads padding before a token.

    Cho et al. 2014 (arXiv:1406.1078). MXNet's `bidirectional=True` starts the backward direction in the
    padding (apache/mxnet#19323), so the backward GRU reads each review reversed within its own length.
    """

    def __init__(self, hidden_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.forward_gru = rnn.GRU(hidden_size, layout="TNC")
            self.backward_gru = rnn.GRU(hidden_size, layout="TNC")

    def hybrid_forward(self, F: Any, embedded: Any, valid_length: Any) -> Any:
        """(T, N, E), (N,) -> (T, N, 2H); states at padding are not zero, mask them."""
        rows = reverse_indices(F, embedded, valid_length)
        forward = self.forward_gru(embedded)
        backward = gather_rows(F, self.backward_gru(gather_rows(F, embedded, rows)), rows)
        return concat_directions(F, forward, backward)


def reverse_indices(F: Any, sequences: Any, valid_length: Any) -> Any:
    """Return (T * N,): the rows of (T, N, ...) in the order in which every sequence is reversed within its length.

    Reversing twice gives the first order back.
    """
    positions = F.contrib.arange_like(F.slice_axis(sequences, axis=2, begin=0, end=1))  # (T, N, 1)
    return F.reshape(F.SequenceReverse(positions, valid_length, use_sequence_length=True), shape=(-1,))


def gather_rows(F: Any, sequences: Any, rows: Any) -> Any:
    """Pick rows of (T, N, E). SequenceReverse takes three times as long (docs/performance.md)."""
    flat = F.take(F.reshape(sequences, shape=(-3, 0)), rows)
    return F.reshape_like(flat, sequences, lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2)


def concat_directions(F: Any, forward: Any, backward: Any) -> Any:
    """Two (T, N, H) -> (T, N, 2H). Concatenated they take six times as long (docs/performance.md).

    As matrices twice as long, and on a CPU each backward pass keeps 1.8 kB for good.
    """
    return F.reshape(F.stack(forward, backward, axis=2), shape=(0, 0, -1))
