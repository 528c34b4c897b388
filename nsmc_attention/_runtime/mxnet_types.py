"""Names for MXNet's types in annotations.

MXNet declares no types, so a type checker takes each for Any; a reader learns which is meant, and nothing is imported.
"""

from typing import Any

Array = Any  # mxnet.nd.NDArray, or mxnet.sym.Symbol while a block is hybridized
Arrays = Any  # one of them, or a tuple of several
Device = Any  # mxnet.Context
Network = Any  # mxnet.gluon.HybridBlock
Operators = Any  # the module mxnet.nd or mxnet.sym: `F` of hybrid_forward
Trainer = Any  # mxnet.gluon.Trainer
