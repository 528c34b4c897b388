"""Names of types in many signatures; nothing is imported for them at run time."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # An array of any dtype; docstrings and comments give the dtype where it is fixed
    Numbers = NDArray[Any]
else:
    Numbers = Any
# Values of several types by name: settings, figures, JSON objects
Record = dict[str, Any]
# MXNet declares no types: these are Any to a type checker, and names to a reader
Array = Any  # mxnet.nd.NDArray, or mxnet.sym.Symbol while a block is hybridized
Arrays = Any  # an Array, or a tuple of several
Device = Any  # mxnet.Context
Network = Any  # mxnet.gluon.HybridBlock
Operators = Any  # the module mxnet.nd or mxnet.sym: `F` of hybrid_forward
Trainer = Any  # mxnet.gluon.Trainer
