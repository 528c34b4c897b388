"""Attributions and heads into a file, by its suffix."""

from pathlib import Path
from typing import Iterable, Optional, Protocol, Sequence, Union, runtime_checkable

from ..classifier.attribution import Attribution
from ..drawing.figure import SUFFIXES, check_suffix, save_figure
from ..drawing.matrices import NO_HEADS, matrices
from ..errors import ConfigError, DataError, check_kind
from ..machine.aliases import Numbers
from ..machine.files import write_text
from ..network.graphs import AXES
from .heatmap import caption, draw_matrices, draw_words
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


def save_heads(result: object, path: PathLike) -> None:
    """Draw the attention heads, one row per layer, into a .png, .svg or .pdf file.

    ConfigError if the file has another suffix; DataError if the encoder does not attend.
    """
    path = check_suffix(path)
    if not isinstance(result, Attending):
        found = f"found {type(result).__name__}; get one from explain() or a LanguageModel"
        raise DataError(f"heads: expected Attribution or Filling, {found}")
    if result.heads is None:
        raise DataError(f"{path}: {NO_HEADS}")
    panels = matrices(result.heads, result.tokens, axes=("layers", "heads", *AXES))
    save_figure(draw_matrices(panels, result.heads.shape[1]), path)
