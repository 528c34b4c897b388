"""Types that stand in many signatures, by names; nothing is imported for them at run time."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # Of any type of numbers; where one is promised, the docstring or a comment says it
    Numbers = NDArray[Any]
else:
    Numbers = Any
# Values of several types by their names: settings, figures, what becomes JSON
Record = dict[str, Any]
# MXNet declares no types, so a type checker takes each for Any; a reader learns which is meant
Array = Any  # mxnet.nd.NDArray, or mxnet.sym.Symbol while a block is hybridized
Arrays = Any  # one of them, or a tuple of several
Device = Any  # mxnet.Context
Network = Any  # mxnet.gluon.HybridBlock
Operators = Any  # the module mxnet.nd or mxnet.sym: `F` of hybrid_forward
Trainer = Any  # mxnet.gluon.Trainer
