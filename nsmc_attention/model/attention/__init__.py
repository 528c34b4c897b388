"""The scoring functions of the attention: each kind is one file with its settings and the cell that they build.

A new one is a file like `dot` and a line in ATTENTIONS. Settings are read without MXNet; `cell(width)` imports it.
"""

from .additive import Additive
from .base import Attention
from .dot import Dot, General, Scaled
from .multihead import Multihead
from .uniform import Uniform

ATTENTIONS: dict[str, type[Attention]] = {
    "additive": Additive,
    "dot": Dot,
    "scaled": Scaled,
    "general": General,
    "multihead": Multihead,
    "uniform": Uniform,
}
