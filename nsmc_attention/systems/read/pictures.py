"""Drawing of a Reading: a figure or page with each line and the attention weights of its letters."""

from pathlib import Path
from typing import Any, Union

from ...drawing.figure import SUFFIXES, check_suffix, new_figure, save_figure
from ...drawing.matrices import Matrix
from ...errors import DataError, check_kind
from ...views.heatmap import WIDEST_ROW, draw_weights, name_queries
from ...views.page import PAGE as PAGE_SUFFIX
from ...views.page import write_page
from .reading import PAGE, Reading, reading_html
from .strips import cut_out

MOST_LINES = 12  # Lines of a reading in one picture


def save_reading(reading: Reading, path: Union[str, Path], language: str = "en") -> None:
    """Draw the attention weights of each letter of a Reading into a .png, .svg, .pdf or .html file.

    A page has all lines, a figure the first MOST_LINES, each with a row of weights per letter below it. DataError if
    the Reading has no lines; ConfigError if the file has another suffix.
    """
    path = check_suffix(path, (*SUFFIXES, PAGE_SUFFIX))
    check_kind("reading", reading, Reading, advice="; get one from read()")
    if not reading.lines:
        raise DataError(f"{path}: expected lines of text to draw, found none in the picture")
    if path.suffix.lower() != PAGE_SUFFIX:
        return save_figure(draw_reading(reading), path)
    write_page(path, reading_html(reading), *PAGE[language], language)


def draw_reading(reading: Reading) -> Any:
    """Draw the first MOST_LINES lines of a reading as a matplotlib Figure, each with a matrix of weights below it.

    Rows of the matrix are letters, columns strips of the line; larger weights are darker.
    """
    lines = reading.lines[:MOST_LINES]
    widest = max((line.box.right - line.box.left) / (line.box.bottom - line.box.top) for line in lines)
    heights = [side for line in lines for side in (1, max(2, 0.55 * len(line.text)))]
    size = (min(WIDEST_ROW, 1.5 + 0.36 * widest), 0.36 * sum(heights) + 0.5 * len(lines))
    with new_figure(size, len(heights), 1, height_ratios=heights) as (figure, grid):
        largest = max(float(line.weights.max()) for line in lines)
        for line, picture, plot in zip(lines, grid[::2, 0], grid[1::2, 0]):
            crop, left = cut_out(reading.pixels, line.box)
            span = (left, left + crop.shape[1])
            picture.imshow(crop, cmap="gray", vmin=0, vmax=255, aspect="auto", extent=(*span, 1, 0))
            picture.axis("off")
            letters = list(line.text.replace(" ", "␣"))
            panel = Matrix(line.weights, letters, [], "")
            image = draw_weights(plot, panel, largest)
            image.set_extent((line.edges[0], line.edges[-1], len(letters) - 0.5, -0.5))
            plot.set(aspect="auto", xlim=span, xticks=[])
            name_queries(plot, panel, 0.2)
    return figure
