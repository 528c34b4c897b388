"""C++ operators of MXNet for training and the gluon engine on a CPU (native/mxnet_operators.cpp).

If they were not compiled, do not load or are switched off (NSMC_ATTENTION_NATIVE=0), blocks compute the same with MXNet's
own operators; so do traces, from which ONNX graphs are lowered. Each operator overwrites its outputs, so a parameter's
grad_req must not be "add". Imports MXNet.
"""

import ctypes
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, Optional

from ..machine.aliases import Array, Network, Operators
from ..machine.mxnet_shim import import_mxnet
from ..native import switched_on

mxnet = import_mxnet()

from mxnet.base import _LIB, OpHandle, c_str, check_call  # noqa: E402
from mxnet.gluon import nn  # noqa: E402
from mxnet.ndarray.register import _make_ndarray_function  # noqa: E402
from mxnet.optimizer import Adam, register  # noqa: E402
from mxnet.symbol.register import _make_symbol_function  # noqa: E402

NAMES = ("nsmc_additive_weights", "nsmc_dropout", "nsmc_pool", "nsmc_gru")
GRU_PARAMETERS = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
ALLOWED: ContextVar[bool] = ContextVar("ALLOWED", default=True)


def load() -> Optional[ctypes.CDLL]:
    """Register the operators of NAMES with MXNet, as `F.name` for arrays and symbols; return the library, or None.

    `mxnet.library.load` would create the functions of all operators again, which takes as long as importing MXNet.
    """
    folder = Path(__file__).parents[1] / "native"
    paths = [path for suffix in EXTENSION_SUFFIXES if (path := folder / f"_mxnet_operators{suffix}").is_file()]
    # they do not run on a GPU; below its default of 8, MXNet adds the gradients of an array with few uses in place
    adds_in_place = int(os.environ.get("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "8")) < 8
    if not paths or adds_in_place or not switched_on() or mxnet.runtime.Features().is_enabled("CUDA"):
        return None
    try:
        check_call(_LIB.MXLoadLib(c_str(str(paths[0])), 0))
    except mxnet.MXNetError:
        return None
    for name in NAMES:
        handle = OpHandle()
        check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
        setattr(mxnet.nd, name, _make_ndarray_function(handle, name, name))
        setattr(mxnet.sym, name, _make_symbol_function(handle, name, name))
    return ctypes.CDLL(str(paths[0]))


LIBRARY = load()


def in_use() -> bool:
    return LIBRARY is not None and ALLOWED.get()


@contextmanager
def unused() -> Iterator[None]:
    """Compute with MXNet's own operators within a `with` block."""
    token = ALLOWED.set(False)
    try:
        yield
    finally:
        ALLOWED.reset(token)


def pool(F: Operators, shares: Array, weights: Array, states: Array) -> Array:
    """Average the contexts: shares (N, T, 1) of the queries, weights (N, T, S), states (N, S, D) -> (N, 1, D).

    mean_i sum_j w_ij v_j = sum_j (mean_i w_ij) v_j: the (N, T, D) contexts are never built.
    """
    if in_use():
        return F.nsmc_pool(shares, weights, states)
    return F.batch_dot(F.batch_dot(shares, weights, transpose_a=True), states)


def value(F: Operators, parameter: Any, like: Array) -> Array:
    """Return a child block's parameter as a symbol, or as an array on the device of `like`, for `hybrid_forward`."""
    return parameter.var() if F is mxnet.sym else parameter.data(like.context)


def gru(F: Operators, embedded: Array, valid_length: Array, layers: Sequence[Network]) -> Array:
    """Return the states (T, N, 2H) of two rnn.GRU layers, one a direction; neither reads padding before a token.

    embedded is (T, N, E) float32, valid_length (N,) float32. The layers' input size must have been inferred.
    """
    parameters = [value(F, getattr(layer, f"l0_{name}"), embedded) for layer in layers for name in GRU_PARAMETERS]
    return F.nsmc_gru(embedded, valid_length, *parameters, threads=os.environ.get("OMP_NUM_THREADS", "1"))


class Dropout(nn.Dropout):
    """Gluon's Dropout with random numbers at a tenth of the cost: a hash, seeded by MXNet's own dropout of 64 ones.

    In an array (T, N, E), the share `rows` of the rows (E) is also dropped as a whole.
    """

    def __init__(self, rate: float, rows: float = 0.0) -> None:
        super().__init__(rate)
        self.rows = rows

    def hybrid_forward(self, F: Operators, x: Array) -> Array:
        if not in_use():
            return super().hybrid_forward(F, F.Dropout(x, p=self.rows, axes=(2,)) if self.rows else x)
        if not self._rate and not self.rows:
            # MXNet cannot differentiate a block that returns its input
            return F.identity(x)
        seed = F.BlockGrad(F.Dropout(F.ones(shape=(64,)), p=0.5))
        return F.nsmc_dropout(x, seed, p=self._rate, rows=self.rows)


@register
class FastAdam(Adam):
    """MXNet's Adam in a loop that the compiler vectorizes; a row-sparse gradient updates only its rows."""

    def update(self, index: int, weight: Array, grad: Array, state: Array) -> None:
        if LIBRARY is None:
            super().update(index, weight, grad, state)
            return
        self._update_count(index)
        steps = self._index_update_count[index]
        rate = self._get_lr(index) * math.sqrt(1 - self.beta2**steps) / (1 - self.beta1**steps)
        sparse = grad.stype == "row_sparse"
        # a dense array is one row
        rows = grad.indices if sparse else FIRST_ROW
        LIBRARY.nsmc_adam(
            ctypes.c_int64(rows.size),
            address(rows),
            ctypes.c_int64(weight.size // weight.shape[0] if sparse else weight.size),
            *(address(array) for array in (weight, grad, *state)),
            *map(ctypes.c_float, (rate, self.rescale_grad, self.beta1, self.beta2, self.epsilon)),
        )


FIRST_ROW = mxnet.nd.zeros((1,), dtype="int64")


def address(array: Array) -> ctypes.c_void_p:
    """Return the address of an array's numbers, after all pending operators on the array."""
    array.wait_to_read()
    pointer = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayGetData(array.handle, ctypes.byref(pointer)))
    return pointer
