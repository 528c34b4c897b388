"""A restoration's alignment as a picture."""

from pathlib import Path
from typing import Union

from ...drawing.figure import check_suffix, save_figure
from ...drawing.matrices import Matrix
from ...errors import DataError, check_kind
from ...views.heatmap import draw_matrices
from .restoration import Restoration

# Characters on an axis: more cannot be read
LONGEST_AXIS = 140


def save_restoration(restoration: Restoration, path: Union[str, Path]) -> None:
    """Draw a Restoration's weights, text x source, into a .png, .svg or .pdf file; spaces are ␣.

    Of a writer these are its attention, of an editor its tags. DataError if there is no text, the source was returned as it
    was, or one of them has more than LONGEST_AXIS characters; ConfigError if the file has another suffix.
    """
    path = check_suffix(path)
    check_kind("restoration", restoration, Restoration, advice="; get one from restore()")
    source, text = restoration.source, restoration.text
    if not text or restoration.error:
        raise DataError(f"{path}: expected a restored text to draw, found none ({restoration.error or 'all left out'})")
    longest = max(len(source), len(text))
    if longest > LONGEST_AXIS:
        raise DataError(
            f"{path}: expected at most {LONGEST_AXIS} characters, found {longest}; restore one sentence of it"
        )
    rows, columns = (list(line.replace(" ", "␣")) for line in (text, source))
    figure = draw_matrices([Matrix(restoration.weights, rows, columns, "")])
    figure.axes[0].set(xlabel="source", ylabel="restored text")
    if all(chunk.weights is None for chunk in restoration.chunks):
        figure.axes[-1].set(ylabel="tag (1: the character that was kept or replaced)", yticks=[0, 1])
    save_figure(figure, path)
