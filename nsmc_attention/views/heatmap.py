"""Attributions as pictures, and statistics of attention over many reviews; `page` draws them for browsers."""

from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

import numpy
from numpy.typing import ArrayLike

from ..classifier.attribution import Attribution
from ..classifier.prediction import Prediction
from ..drawing.figure import drawing, families, new_figure, printable, save_figure
from ..drawing.html import LIGHT, as_hex
from ..drawing.matrices import Matrix, matrices
from ..errors import DataError, check_kind
from ..machine.aliases import Numbers, Record
from ..machine.messages import translated, word
from ..network.graphs import AXES

if TYPE_CHECKING:
    from pandas import DataFrame

# Ramp of a matrix, monotonic in lightness; without text on it, it may be darker than LIGHT.strongest
RAMP = ("#ffffff", as_hex(LIGHT.attention), "#0a2b28")
# Inches: height of a line of words, space between words, widest line
LINE, WORD_SPACE, LINE_WIDTH = 0.36, 0.10, 9.0
# Inches: a cell of a matrix, shortest and longest side of a matrix, which fits a screen, and widest row of matrices
CELL, SHORTEST_SIDE, LONGEST_SIDE, WIDEST_ROW = 0.34, 3.2, 10.0, 13
# Inches: a cell in a grid of heads, shortest side of a matrix there, longest side of the grid
SMALL_CELL, SMALLEST_SIDE, GRID = 0.15, 1.5, 40.0
# Points: words, legends, smallest and largest names of cells, and the smallest distance between names
WORD_SIZE, LEGEND_SIZE, NAME_SIZES, PITCH = 12, 8, (7.0, 10.0), 8.5
# Style of the labels of a matrix's axes
AXIS: Record = {"fontsize": 8, "color": "0.4"}


def draw_heatmap(
    weights: Union[ArrayLike, Prediction],
    tokens: Optional[Sequence[str]] = None,
    title: Optional[str] = None,
    queries: Optional[Sequence[str]] = None,
    axes: Sequence[str] = AXES,
) -> Any:
    """Draw attention weights as a matplotlib Figure: one matrix, or a grid of one for each head, hop, layer or step.

    The weights are (T, T), or have `axes`, as those of a Prediction: row i holds the attention of query i, 0..1, to each
    of the T tokens, the keys. `queries` None are the tokens too. A Prediction is drawn with its own tokens and axes.
    DataError if the weights do not fit the tokens, or there is no token.
    """
    if isinstance(weights, Prediction):
        if weights.error or weights.score is None:
            raise DataError(f"heatmap: {weights.error}")
        title = title or f"{word(str(weights.label))} {100 * weights.score:.1f} %"
        if tokens is queries is None:
            return draw_matrices(weights.matrices(title))
        return draw_heatmap(weights.weights, tokens or weights.tokens, title, queries, weights.axes)
    if tokens is None:
        raise DataError("heatmap: expected the tokens of the weights, found none; give them, or a Prediction alone")
    return draw_matrices(matrices(weights, tokens, queries, axes, title))


def draw_matrices(panels: Sequence[Matrix], heads: int = 0) -> Any:
    """Draw one or more matrices side by side, on one colour scale, as a matplotlib Figure.

    `heads` is the number of matrices in a row, a layer; they share their tokens, which only the outer axes name.
    """
    down, across = max(len(panel.queries) for panel in panels), max(len(panel.keys) for panel in panels)
    if heads:
        columns, rows = heads, len(panels) // heads
        cell = min(max(SMALLEST_SIDE, SMALL_CELL * across), GRID / max(rows, columns)) / across
        size = ((cell * across + 0.1) * columns + 1.9, (cell * down + 0.3) * rows + 0.9)
    else:
        cell = min(LONGEST_SIDE, max(SHORTEST_SIDE, CELL * max(down, across))) / max(down, across)
        columns = min(len(panels), max(1, int(WIDEST_ROW // (cell * across + 1.9))))
        rows = -(-len(panels) // columns)
        size = (cell * across + 1.9) * columns, (cell * down + 1.3) * rows
    with new_figure(size, rows, columns) as (figure, grid):
        largest = max(float(panel.weights.max()) for panel in panels)
        for plot in grid.flat[len(panels) :]:
            plot.axis("off")
        for place, (plot, panel) in enumerate(zip(grid.flat, panels)):
            image = draw_weights(plot, panel, largest)
            plot.set(xticks=[], yticks=[])
            if not heads or place < columns:
                name_keys(plot, panel, cell)
            if not heads or place >= len(panels) - columns:
                plot.set_xlabel(word("key"), **AXIS)
            if not heads or place % columns == 0:
                name_queries(plot, panel, cell)
                plot.set_ylabel(word(panel.rows), **AXIS)
        figure.colorbar(image, ax=[*grid.flat], shrink=min(1.0, 3.2 / (cell * down * rows) + 0.4), label=word("weight"))
    return figure


def draw_weights(plot: Any, panel: Matrix, largest: float) -> Any:
    """Draw the cells and the title of a Matrix, darkest at the weight `largest`; return matplotlib's image."""
    from matplotlib.colors import LinearSegmentedColormap

    ramp = LinearSegmentedColormap.from_list("attention", RAMP)
    if panel.title:
        plot.set_title(printable(panel.title), fontsize=11, wrap=True)
    return plot.imshow(panel.weights, cmap=ramp, vmin=0.0, vmax=max(largest, 1e-6))


def name_keys(plot: Any, panel: Matrix, cell: float) -> None:
    rotation: Record = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
    if max(map(len, panel.keys)) == 1:
        # single letters need no rotation
        rotation = {}
    elif len(panel.keys) > 12 or cell < CELL:
        rotation = {"rotation": 90, "ha": "center"}
    name_cells(plot.xaxis, panel.keys, panel.weights.sum(axis=0), cell, **rotation)
    plot.xaxis.tick_top()
    mark_words(plot.xaxis, panel)


def name_queries(plot: Any, panel: Matrix, cell: float) -> None:
    name_cells(plot.yaxis, panel.queries, panel.weights.max(axis=1), cell)
    if panel.queries == panel.keys:
        mark_words(plot.yaxis, panel)


def mark_words(axis: Any, panel: Matrix) -> None:
    """Draw ticks between words instead of at each of their tokens."""
    if panel.starts:
        axis.set_ticks([start - 0.5 for start in (0, *panel.starts, len(panel.keys))], minor=True)
        axis.set_tick_params(which="major", length=0, pad=6)


def name_cells(axis: Any, names: Sequence[str], weights: Numbers, cell: float, **style: Any) -> None:
    """Name cells of `cell` inches, as many as have room, those with the largest weights first."""
    places: list[int] = []
    for place in numpy.argsort(-weights, kind="stable").tolist():
        if all(72 * cell * abs(place - other) >= PITCH for other in places):
            places.append(place)
    size = min(NAME_SIZES[1], max(NAME_SIZES[0], 0.8 * 72 * cell))
    axis.set_ticks(sorted(places), [printable(names[place]) for place in sorted(places)], fontsize=size, **style)


def draw_words(attributions: Sequence[Attribution]) -> Any:
    """Draw one or more reviews with shaded words, one below the other, as a matplotlib Figure.

    A darker word has a larger share within its review; a legend explains the colours. Words for negative also have a
    hatched band.
    """
    from matplotlib.figure import Figure

    with drawing():
        blocks = [layout(attribution) for attribution in attributions]
        heights = [(max(line for line, *_ in boxes) + 2.1) * LINE for boxes in blocks]
        width = max(4.0, *(left + box_width for boxes in blocks for _, left, box_width in boxes))
        legends = sorted({attribution.signed for attribution in attributions})
        height = sum(heights) + len(legends) * LINE
        figure = Figure(figsize=(width + 0.4, height + 0.2))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-0.2, width + 0.2), ylim=(height + 0.1, -0.1))
        axes.axis("off")
        top = 0.0
        for attribution, boxes, block_height in zip(attributions, blocks, heights):
            axes.text(0, top + 0.5 * LINE, printable(caption(attribution)), fontsize=8.5, color="0.35", va="center")
            draw_tokens(axes, attribution, boxes, top + LINE)
            top += block_height
        for signed in legends:
            draw_legend(axes, signed, top + 0.5 * LINE)
            top += LINE
    return figure


def draw_legend(axes: Any, signed: bool, middle: float) -> None:
    """Draw the shades of unsigned or signed values, an inch wide, between the names of the ends."""
    low, high = map(word, ("for negative", "for positive") if signed else ("0", "largest weight of a review"))
    style: Record = {"fontsize": LEGEND_SIZE, "color": "0.35", "va": "center_baseline"}
    left = 0.06 + widths((low,), LEGEND_SIZE)[0]
    values = numpy.linspace(-1.0 if signed else 0.0, 1, 33)
    shades = [[[channel / 255 for channel in LIGHT.shade(value, 1, signed)] for value in values]]
    axes.text(0, middle, low, **style)
    axes.pcolormesh(numpy.linspace(left, left + 1, 34), [middle - 0.06, middle + 0.06], shades)
    axes.text(left + 1.06, middle, high, **style)


def caption(attribution: Attribution) -> str:
    """Return the title of a picture, as `positive 98.2 % - attention - pretrained`."""
    score = max(attribution.probability, 1 - attribution.probability)
    label = word(str(attribution.label))
    opinion, others = translated(attribution.prediction.opinion), (attribution.method, attribution.source)
    return " - ".join(filter(None, (f"{label} {100 * score:.1f} %", opinion, *map(word, others))))


def layout(attribution: Attribution) -> list[tuple[int, float, float]]:
    """Return (line, left, width) of each token, in lines and inches; lines break between tokens."""
    boxes: list[tuple[int, float, float]] = []
    line, left, end = 0, 0.0, 0
    for width, (start, stop) in zip(widths(attribution.tokens), attribution.offsets):
        left += WORD_SPACE if start > end else 0.0
        if boxes and left + width > LINE_WIDTH:
            line, left = line + 1, 0.0
        boxes.append((line, left if boxes else 0.0, width))
        left, end = boxes[-1][1] + width, stop
    return boxes


def widths(tokens: Sequence[str], size: float = WORD_SIZE) -> list[float]:
    """Return the advance width of each token in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=families(), size=size)
    # between letters: the width of a text alone excludes space at its ends
    width_of = text_to_path.get_text_width_height_descent
    frame, *framed = [width_of(f"가{printable(token)}가", font, False)[0] for token in ("", *tokens)]
    return [(width - frame) / 72 for width in framed]


def draw_tokens(axes: Any, attribution: Attribution, boxes: list[tuple[int, float, float]], top: float) -> None:
    from matplotlib.patches import Rectangle

    largest = float(numpy.abs(attribution.values).max())
    band: Record = {"facecolor": "white", "hatch": "//////", "edgecolor": "0.2"}
    for token, value, (line, left, width) in zip(attribution.tokens, attribution.values, boxes):
        middle, half = top + (line + 0.5) * LINE, LINE / 2 - 0.03
        shade = as_hex(LIGHT.shade(value, largest, attribution.signed))
        axes.add_patch(Rectangle((left, middle - half), width, 2 * half, linewidth=0, facecolor=shade))
        if value < 0:
            axes.add_patch(Rectangle((left, middle + half - 0.05), width, 0.05, linewidth=0, **band))
        style = {"ha": "center", "va": "center_baseline", "color": as_hex(LIGHT.ink)}
        axes.text(left + width / 2, middle, printable(token), fontsize=WORD_SIZE, **style)


def save_heatmap(prediction: Prediction, path: Union[str, Path]) -> None:
    """Save the heatmap of a Prediction as `save_figure` does; DataError if the prediction has no tokens."""
    check_kind("heatmap", prediction, Prediction, advice="; get one from predict()")
    save_figure(draw_heatmap(prediction), path)


def tags_at(offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int, str]]) -> list[str]:
    """Return each token's tag, that of the last span (start, end, tag) of `mecab_tags` that begins no later."""
    begins = [start for start, *_ in spans]
    return [spans[max(0, bisect_right(begins, start) - 1)][2] for start, _ in offsets]


def by_hop(predictions: Iterable[Prediction], fewest: int = 20) -> list["DataFrame"]:
    """Return each hop's words by weight: token, count, weight (mean, times T), the largest first.

    The Predictions have the axes (hops, keys). Words that occur fewer than `fewest` times are left out.
    """
    from pandas import Series

    labelled = [prediction for prediction in predictions if prediction.label is not None]
    tokens = [token for prediction in labelled for token in prediction.tokens]
    scaled, tables = [prediction.weights * len(prediction.tokens) for prediction in labelled], []
    for weights in numpy.concatenate(scaled, axis=1) if scaled else ():
        words = Series(weights).groupby(tokens).agg(count="size", weight="mean").rename_axis("token").reset_index()
        words = words[words["count"] >= fewest]
        tables.append(words.sort_values("weight", ascending=False, ignore_index=True))
    return tables
