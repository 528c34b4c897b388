"""Engines of a language model: (N, T) ids, (N,) lengths, (N,) places of a hidden token -> (N, V) probabilities, and heads."""

from typing import Optional

from ...inference.engines import chosen_engine
from ...inference.sessions import PIECE, RunnableGraph, load_graphs
from ...model.graphs import AXES, Sizes
from .system import LanguageBundle


def sizes_of(vocabulary: int, max_length: int) -> Sizes:
    lengths = {1: 2, 3: 7, PIECE: max_length}
    batches = [{"N": texts, **dict.fromkeys(("T", *AXES), length)} for texts, length in lengths.items()]
    return Sizes({"token_ids": vocabulary}, {"V": vocabulary}, batches)


def load_language_engine(
    bundle: LanguageBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> RunnableGraph:
    """Load the engine called name for a language model's bundle; "auto" is onnx, on a GPU gluon. One thread is used."""
    sizes = sizes_of(len(bundle.codec), bundle.config.text.max_length)
    return load_graphs(bundle, chosen_engine(name, device), device, sizes)["model.onnx"]
