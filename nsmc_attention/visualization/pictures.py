"""Attributions and heads into a file, by its suffix."""

from pathlib import Path
from typing import Iterable, Optional, Protocol, Sequence, Union, runtime_checkable

from .._io.atomic import write_text
from .._runtime.aliases import Numbers
from ..classification.attribution import Attribution
from ..drawing.figure import SUFFIXES, check_suffix, save_figure
from ..errors import ConfigError, DataError, check_kind
from ..inference.matrices import NO_HEADS, Matrix, matrices
from ..model.graphs import AXES
from .heatmap import caption, draw_heads, draw_matrices, draw_words
from .page import page

PathLike = Union[str, Path]
PAGE = ".html"


def check_picture(path: PathLike, picture: Optional[str] = None, methods: Iterable[str] = ("attention",)) -> Path:
    """Return path as a Path; ConfigError, before any work, if the picture could not be drawn into it."""
    path = check_suffix(path, (*SUFFIXES, PAGE))
    if picture and path.suffix.lower() == PAGE:
        raise ConfigError(f"{path}: a page has words and matrices; leave --picture {picture} out")
    others = dict.fromkeys(method for method in methods if method != "attention")
    if picture == "matrix" and others:
        raise ConfigError(
            f"--picture matrix: only attention has one, found {', '.join(others)}; use --picture words, "
            "or --method attention alone"
        )
    return path


def save_attributions(reviews: Sequence[Sequence[Attribution]], path: PathLike, picture: Optional[str] = None) -> None:
    """Draw one or more reviews into a .png, .svg, .pdf or .html file, completely or not at all.

    Attributions of one list belong to one review: by several methods or models. `picture` is "matrix", "words" or
    None: the matrix of one review's attention, where there is one, and words of anything else.
    """
    panels = [panel for group in reviews for panel in (group if isinstance(group, Sequence) else [group])]
    if not panels:
        raise DataError("picture: expected at least one review, found none")
    for panel in panels:
        check_kind("picture", panel, Attribution, advice="; get one from explain()")
    path = check_picture(path, picture, [panel.method for panel in panels])
    if path.suffix.lower() == PAGE:
        write_text(path, page(reviews))
    # values that are the mean of a matrix say no more than it
    elif picture == "matrix" or not (picture or len(panels) > 1 or panels[0].matrix is None or panels[0].signed):
        matrices = [matrix for panel in panels for matrix in panel.matrices(caption(panel))]
        save_figure(draw_matrices(matrices), path)
    else:
        save_figure(draw_words(panels), path)


@runtime_checkable
class Attending(Protocol):
    """A result with the weights of an encoder's heads (L, K, T, T), None of an encoder without, over its tokens."""

    @property
    def heads(self) -> Optional[Numbers]: ...

    @property
    def tokens(self) -> Sequence[str]: ...


def save_heads(result: object, path: PathLike, layer: Optional[int] = None, head: Optional[int] = None) -> None:
    """Draw the attention heads, one row per layer, into a .png, .svg or .pdf file.

    With `layer` or `head`, counted from 1, that one alone; with both, one head large. ConfigError if the encoder has no
    such layer or head, or the file another suffix; DataError if the encoder does not attend.
    """
    path = check_suffix(path)
    if not isinstance(result, Attending):
        found = f"found {type(result).__name__}; get one from explain() or a LanguageModel"
        raise DataError(f"heads: expected Attribution or Filling, {found}")
    if result.heads is None:
        raise DataError(f"{path}: {NO_HEADS}")
    rows = head_matrices(result.heads, result.tokens, layer, head)
    save_figure(draw_heads(rows) if rows[1:] or rows[0][1:] else draw_matrices(rows[0]), path)


def head_matrices(
    weights: Numbers, tokens: Sequence[str], layer: Optional[int] = None, head: Optional[int] = None
) -> list[list[Matrix]]:
    """Split weights (L, K, T, T) into a row of matrices for each layer; only those of a layer or head, from 1."""
    layers, heads = (selected(*axis) for axis in zip(("layer", "head"), (layer, head), weights.shape))
    panels = matrices(weights, tokens, axes=("layers", "heads", *AXES))
    return [[panels[row * weights.shape[1] + column] for column in heads] for row in layers]


def selected(name: str, number: Optional[int], count: int) -> range:
    """Return the places, from 0, of the layers or heads to draw: of one that is counted from 1, or of all."""
    if number is None:
        return range(count)
    if not 1 <= number <= count:
        raise ConfigError(f"{name}: expected 1 to {count}, found {number}")
    return range(number - 1, number)
