"""Engines of a language model: (N, T) ids, (N,) lengths, (N,) places of a hidden token -> (N, V) probabilities, and heads."""

from typing import Optional

from ...inference.engines import chosen_engine
from ...inference.sessions import RunnableGraph, load_graphs
from .system import LanguageBundle


def load_language_engine(
    bundle: LanguageBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> RunnableGraph:
    """Load the engine called name for a language model's bundle; "auto" is onnx, on a GPU gluon. One thread is used."""
    return load_graphs(bundle, chosen_engine(name, device), device)["model.onnx"]
