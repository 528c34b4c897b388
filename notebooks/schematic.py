"""The drawings of the chapters: the schematic at the head of each, curves, matrices of weights."""

from matplotlib.figure import Figure

from nsmc_attention.drawing.figure import new_figure
from nsmc_attention.drawing.matrices import Matrix
from nsmc_attention.views.heatmap import draw_matrices

COLORS = {"data": "#eef1f6", "layer": "#d8e6fb", "attention": "#ffe3b8", "output": "#d9f0dc"}


def schematic(boxes, arrows, size=(8, 3)) -> Figure:
    """Return a figure of boxes, {name: (x, y, text, kind of COLORS)}, and arrows, [(from, to)] or [(from, to, text)]."""
    with new_figure(size) as (figure, ((axes,),)):
        drawn = {}
        for name, (x, y, text, kind) in boxes.items():
            box = {"boxstyle": "round,pad=0.45", "facecolor": COLORS[kind], "edgecolor": "0.55"}
            drawn[name] = axes.text(
                x, y, text, ha="center", va="center", fontsize=10, linespacing=1.5, bbox=box, parse_math=True
            )
        across, up = zip(*((x, y) for x, y, *_ in boxes.values()))
        axes.set(xlim=(min(across) - 0.7, max(across) + 0.7), ylim=(min(up) - 0.6, max(up) + 0.6))
        axes.axis("off")
        # boxes have their sizes once they are drawn
        figure.canvas.draw()
        for start, end, *label in arrows:
            ends = [boxes[name][:2] for name in (start, end)]
            patches = {"patchA": drawn[start].get_bbox_patch(), "patchB": drawn[end].get_bbox_patch()}
            style = {"arrowstyle": "-|>", "color": "0.35", "shrinkA": 2, "shrinkB": 2, **patches}
            axes.annotate("", ends[1], ends[0], arrowprops=style)
            middle = [(one + other) / 2 for one, other in zip(*ends)]
            axes.text(*middle, *label or [""], ha="center", va="center", fontsize=8, backgroundcolor="white")
    return figure


def curves(table, xlabel, ylabel, mark=None) -> Figure:
    """Return a figure with a curve for each column of a DataFrame over its index, and a grey line at `mark`."""
    with new_figure((7, 3.5)) as (figure, ((axes,),)):
        table.plot(ax=axes, marker="o", markersize=4).set(xlabel=xlabel, ylabel=ylabel)
        if mark is not None:
            axes.axvline(mark, color="0.8")
    return figure


def heatmaps(panels) -> Figure:
    """Return a figure of matrices beside each other, [(weights, names of rows, names of columns, title)]."""
    return draw_matrices([Matrix(weights, [*rows], [*columns], title) for weights, rows, columns, title in panels])
