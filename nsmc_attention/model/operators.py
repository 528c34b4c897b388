"""Operators in C++ that MXNet is given for training and the gluon engine on a CPU (native/mxnet_operators.cpp).

Where they were not compiled, do not load or are switched off (NSMC_ATTENTION_NATIVE=0), blocks compute the same by MXNet's
own operators. So they do in a trace: an ONNX graph is lowered from those. Imports MXNet.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from .._runtime.mxnet_shim import import_mxnet

mxnet = import_mxnet()

from mxnet.base import _LIB, OpHandle, c_str, check_call  # noqa: E402
from mxnet.ndarray.register import _make_ndarray_function  # noqa: E402
from mxnet.symbol.register import _make_symbol_function  # noqa: E402

NAMES = ("nsmc_additive_weights", "nsmc_dropout")
ALLOWED: ContextVar[bool] = ContextVar("ALLOWED", default=True)


def load() -> bool:
    """Give MXNet the operators of NAMES, as `F.name` of its arrays and symbols; return whether it took them.

    `mxnet.library.load` would make all operators' functions anew, which takes as long as importing MXNet.
    """
    folder = Path(__file__).parents[1] / "native"
    found = [path for suffix in EXTENSION_SUFFIXES if (path := folder / f"_mxnet_operators{suffix}").is_file()]
    # on a GPU they compute nothing
    if not found or os.environ.get("NSMC_ATTENTION_NATIVE") == "0" or mxnet.runtime.Features().is_enabled("CUDA"):
        return False
    try:
        check_call(_LIB.MXLoadLib(c_str(str(found[0])), 0))
    except mxnet.MXNetError:
        return False
    for name in NAMES:
        handle = OpHandle()
        check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
        setattr(mxnet.nd, name, _make_ndarray_function(handle, name, name))
        setattr(mxnet.sym, name, _make_symbol_function(handle, name, name))
    return True


LOADED = load()


def in_use() -> bool:
    return LOADED and ALLOWED.get()


@contextmanager
def unused() -> Iterator[None]:
    """Compute by MXNet's own operators within a `with` block."""
    token = ALLOWED.set(False)
    try:
        yield
    finally:
        ALLOWED.reset(token)
