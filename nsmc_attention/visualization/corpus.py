"""Figures of the attention over many reviews: words, parts of speech, positions, distances, evenness."""

from typing import Any, Sequence

from ..classification.prediction import Prediction
from ..colors import LIGHT, as_hex
from ..drawing.figure import draw_bars, new_figure
from ..evaluation.attention_statistics import Tagger, by_distance, by_position, by_tag, by_word, evenness, token_table

# Rows of a figure
WORDS = 15
ATTENTION, *LABELS = map(as_hex, (LIGHT.attention, LIGHT.positive, LIGHT.negative))


def draw_corpus(predictions: Sequence[Prediction], tag: Tagger, fewest: int = 20) -> Any:
    """Draw which words, parts of speech, positions and distances get the weight in these reviews.

    See `token_table` for tag; words that occur fewer than `fewest` times in reviews of a label are left out.
    """
    table = token_table(predictions, tag)
    words, tags = by_word(table, fewest), by_tag(table).head(WORDS)
    with new_figure((12, 8.6), 2, 3) as (figure, grid):
        for axes, label, color in zip(grid[0], ("positive", "negative"), LABELS):
            rows = words[words["label"] == label].head(WORDS)
            draw_bars(axes, rows["token"], rows["weight"], color, f"words in {label} reviews")
        draw_bars(grid[0, 2], tags["tag"], tags["weight"], ATTENTION, "parts of speech (Mecab's tags)")
        for axes in grid[0]:
            axes.tick_params("y", labelsize=8)
            axes.axvline(1, color="0.7", linewidth=1)
            axes.set_xlabel("weight x T (1: average)")
        draw_line(grid[1, 0], by_position(table), "position", "position in the review: 0 first, 1 last")
        draw_line(grid[1, 1], by_distance(predictions), "distance", "position of the key less that of the query")
        values = [evenness([each.token_weights]) for each in predictions if len(each.tokens) > 1]
        grid[1, 2].hist(values, bins=40, range=(0, 1), color="0.5")
        grid[1, 2].set(title="evenness of the attention", xlabel="entropy / log T (1: uniform)", ylabel="reviews")
    return figure


def draw_line(axes: Any, rows: Any, x: str, label: str) -> None:
    axes.plot(rows[x], rows["weight"], "o-", markersize=3, color=ATTENTION)
    axes.axhline(1, color="0.7", linewidth=1)
    axes.set(title=f"by {x}", xlabel=label, ylim=(0, None), ylabel="weight x T (1: average)")
    axes.grid(alpha=0.3)
