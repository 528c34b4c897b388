"""The compiled kernels of `_network`, by name and precision, for the `native` of a system."""

import os
from operator import attrgetter
from typing import Any, Optional

import numpy

from ..errors import ConfigError, MissingPackage
from ..machine.aliases import Numbers
from . import SWITCH, switched_on

# Of the compiled part, whose arguments these are: a checkout that was updated may have an older one
VERSION = 10
# Set to the name of a kernel, it is used instead of the fastest one that the processor runs
VARIABLE = "NSMC_ATTENTION_SIMD"
# Texts of a batch for each thread at most: enough that few of the eight that are computed side by side are missing
REVIEWS_A_PIECE = 512
# Bytes of the table of W x of every word, for units in whole blocks
LARGEST_TABLE, BLOCK = 2**30, 16
DIRECTIONS, GATES = ("forward", "backward"), 3


def import_network() -> Any:
    """Import the compiled extension; MissingPackage where it was not built, or is switched off."""
    if not switched_on():
        raise MissingPackage(f"the native engine is switched off: expected {SWITCH} not to be 0, or --engine onnx")
    try:
        from . import _network

        if getattr(_network, "VERSION", 1) != VERSION:
            raise ImportError("it is of another version")
    except ImportError as problem:
        raise MissingPackage(
            f"the native engine needs the compiled part of nsmc_attention ({problem}): install the package again where "
            "there is GCC or Clang, or use --engine onnx"
        ) from problem
    return _network


def is_built() -> bool:
    """Return whether there is the extension."""
    try:
        import_network()
    except MissingPackage:
        return False
    return True


def other_kind(model: object, *expected: str) -> Optional[str]:
    """Return "expected model.encoder.kind gru, found ..." for the first path with its kind that a model lacks."""
    for path, kind in (each.split() for each in expected):
        found = attrgetter(path)(model)
        if found != kind:
            return f"expected model.{path} {kind}, found {found}"
    return None


def in_blocks(size: int, block: int = BLOCK) -> int:
    """Return a size rounded up to whole blocks."""
    return -(-size // block) * block


def kernel_name(precision: str = "float32") -> str:
    """The kernel for a precision: that of NSMC_ATTENTION_SIMD, else the fastest one that the processor runs.

    The precision "bf16" of classifiers has a kernel of its own. ConfigError where the processor does not run it.
    """
    known = import_network().kernels()
    others = [name for name in known if name != "bf16"]
    wanted = os.environ.get(VARIABLE) or others[-1]
    if wanted not in others:
        raise ConfigError(f"{VARIABLE}: expected {' or '.join(others)}, which this processor runs, found {wanted!r}")
    if precision != "bf16":
        return str(wanted)
    if "bf16" not in known or wanted != others[-1]:
        raise ConfigError(
            f"the native-bf16 engine needs a processor with AVX512_BF16: expected bf16, found {wanted}; use --engine native"
        )
    return precision


def gates_of(arrays: "dict[str, Numbers]", name: str) -> "tuple[Numbers, ...]":
    """Return a bidirectional GRU's weights and biases as the kernels take them, `name` having the places of Gluon's.

    input_weights (2, 3, H, D), input_bias (2, 3, H), to whose r and z the other bias is added, recurrent (2, 3, H, H),
    and hidden_bias (2, H) of n.
    """

    def gates(kind: str) -> Numbers:
        both = numpy.stack([arrays[name.format(direction=direction, part=kind)] for direction in DIRECTIONS])
        return both.reshape(2, GATES, -1, *both.shape[2:])

    input_bias, hidden_bias = gates("i2h_bias"), gates("h2h_bias")
    input_bias[:, :2] += hidden_bias[:, :2]
    return gates("i2h_weight"), input_bias, gates("h2h_weight"), hidden_bias[:, 2]
