"""Figures of many reviews seen through their attention: words, parts of speech, positions, distances, sharpness."""

from ..evaluation.attention_statistics import by_distance, by_position, by_tag, by_word, evenness, token_table

# Rows of a figure
WORDS = 15


def draw_corpus(predictions, tag, fewest=20):
    """Draw which words, parts of speech, places and distances take the weight in these reviews.

    Parameters
    ----------
    predictions : list of inference.prediction.Prediction
    tag : callable
        See `token_table`.
    fewest : int
        Times that a word must stand in reviews of a label to be drawn.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib
    from matplotlib.figure import Figure

    from .heatmap import SETTINGS, add_hangul_font

    add_hangul_font()
    table = token_table(predictions, tag)
    words = by_word(table, fewest)
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(12, 8.6), layout="constrained")
        grid = figure.subplots(2, 3)
        for axes, label, color in zip(grid[0], ("positive", "negative"), ("C0", "C1")):
            draw_bars(axes, words[words["label"] == label].head(WORDS), "token", color)
            axes.set_title(f"words in {label} reviews")
        tags = by_tag(table)
        draw_bars(grid[0, 2], tags.head(WORDS), "tag", "C2")
        grid[0, 2].set_title("parts of speech (Mecab's tags)")
        for axes, rows, x in (
            (grid[1, 0], by_position(table), "position"),
            (grid[1, 1], by_distance(predictions), "distance"),
        ):
            axes.plot(rows[x], rows["weight"], "o-", markersize=3)
            axes.axhline(1, color="0.7", linewidth=1)
            axes.set(title=f"by {x}", ylim=(0, None), ylabel="weight x T (1: average)")
            axes.grid(alpha=0.3)
        grid[1, 0].set_xlabel("place in the review: 0 first, 1 last")
        grid[1, 1].set_xlabel("key's place less query's")
        sharpness = [evenness([each.token_weights]) for each in predictions if len(each.tokens) > 1]
        grid[1, 2].hist(sharpness, bins=40, range=(0, 1), color="0.5")
        grid[1, 2].set(
            title="how evenly a review is looked at", xlabel="entropy / log T (1: every word alike)", ylabel="reviews"
        )
    return figure


def draw_bars(axes, rows, names, color):
    axes.barh(range(len(rows)), rows["weight"], color=color)
    axes.set_yticks(range(len(rows)), rows[names], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="0.7", linewidth=1)
    axes.set_xlabel("weight x T (1: average)")
