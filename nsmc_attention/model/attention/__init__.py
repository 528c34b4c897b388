"""The scoring functions of the attention: each kind is a file with its settings and the cell that they build.

A new one is a file like `dot` and a line in REGISTRY. Settings are read without MXNet; `cell(width)` imports it.
"""

from importlib import import_module

from .base import Attention

__all__ = ["ATTENTIONS", "Attention"]

# module.class; the kind's name is the class's `kind`
REGISTRY = ("additive.Additive", "dot.Dot", "dot.Scaled", "dot.General", "multihead.Multihead", "uniform.Uniform")


def imported(name: str) -> type[Attention]:
    module, cls = name.split(".")
    found: type[Attention] = getattr(import_module(f".{module}", __name__), cls)
    return found


ATTENTIONS: dict[str, type[Attention]] = {each.kind: each for each in map(imported, REGISTRY)}
