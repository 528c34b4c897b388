"""The report as one self-contained HTML page: figures, tables to download, reviews with their words shaded."""

import html
import io
from typing import Any, Sequence

import pandas

from .._io.spreadsheets import as_csv
from ..inference.attribution import Attribution
from ..visualization.heatmap import draw_bars, drawing, new_figure, printable
from ..visualization.page import OWN_CHARACTERS, file, filled, font_of, in_base64, in_script, panel, with_words

# Groups and words that are drawn; the tables have all
GROUPS, WORDS = 20, 15
BLUE, RED = "#0953a0", "#a64400"


# Heading, explanation and figure
Section = tuple[str, str, Any]


def report_page(
    title: str,
    summary: Sequence[str],
    tables: dict[str, pandas.DataFrame],
    sections: Sequence[Section],
    reviews: dict[str, list[Attribution]],
) -> str:
    """Return the page: the sentences of the summary, figures, reviews by heading, and the tables as csv."""
    parts = [f"<h1>{html.escape(title)}</h1>", *(f"<p>{html.escape(line)}</p>" for line in summary)]
    parts += [as_html(*section) for section in sections]
    parts += [f'<h2>{html.escape(each)}</h2><div id="reviews-{i}"></div>' for i, each in enumerate(reviews)]
    links = " ".join(link(name, table) for name, table in tables.items())
    body = "\n".join([*parts, f"<h2>표 내려받기 · Tables</h2><p>{links}</p>"])
    data = in_script([[panel(each) for each in attributions] for attributions in reviews.values()])
    font = in_base64(font_of(OWN_CHARACTERS + body + data))
    template = with_words(file("report.html", __package__))
    return filled(template, TITLE=html.escape(title), FONT_AS_BASE64=font, REVIEWS_AS_JSON=data, BODY=body)


def link(name: str, table: pandas.DataFrame) -> str:
    """Return a link to a table as csv within the page itself."""
    content = in_base64(as_csv(table).encode(errors="replace"))
    return f'<a class="more" download="{name}.csv" href="data:text/csv;base64,{content}">{name}.csv</a>'


def as_html(heading: str, explanation: str, figure: Any) -> str:
    content = io.BytesIO()
    with drawing():
        figure.savefig(content, format="png", dpi=120)
    heading, image = html.escape(heading), in_base64(content.getvalue())
    picture = f'<img alt="{heading}" src="data:image/png;base64,{image}">'
    return f"<h2>{heading}</h2><p>{html.escape(explanation)}</p>{picture}"


def draw_months(rows: pandas.DataFrame, whole: float) -> Any:
    """Draw `shares_by` over the months, in their order along the horizontal axis."""
    with new_figure((max(6.0, min(14.0, 0.2 * len(rows))), 3.4)) as (figure, grid):
        axes, places, step = grid[0, 0], range(len(rows)), -(-len(rows) // 24)
        draw_shares(axes, places, 100 * rows["share"], rows, "yerr")
        axes.axhline(100 * whole, color="0.7", linewidth=1)
        axes.set_xticks(places[::step], rows.index[::step], rotation=60, ha="right", fontsize=8)
        axes.set_ylabel("긍정 % positive")
    return figure


def draw_groups(rows: pandas.DataFrame, whole: float) -> Any:
    """Draw `shares_by` over the groups, one below the other."""
    with new_figure((8.0, 1.0 + 0.3 * len(rows))) as (figure, grid):
        axes, places = grid[0, 0], range(len(rows))
        draw_shares(axes, 100 * rows["share"], places, rows, "xerr")
        axes.axvline(100 * whole, color="0.7", linewidth=1)
        names = [f"{printable(str(key))[:28]} ({count:,})" for key, count in zip(rows.index, rows["count"])]
        axes.set_yticks(places, names, fontsize=9)
        axes.invert_yaxis()
        axes.set_xlabel("긍정 % positive")
    return figure


def draw_shares(axes: Any, x: Any, y: Any, rows: pandas.DataFrame, direction: str) -> None:
    """Draw each share with its interval, outliers filled."""
    share, low, high = (100 * rows[name].to_numpy() for name in ("share", "low", "high"))
    axes.errorbar(x, y, **{direction: [share - low, high - share]}, fmt="none", ecolor="0.6", capsize=2)
    colors = [BLUE if each else "white" for each in rows["outlier"]]
    axes.scatter(x, y, c=colors, edgecolors=BLUE, zorder=3)
    axes.grid(alpha=0.3)


def draw_words(praise: pandas.DataFrame, blame: pandas.DataFrame, column: str, label: str) -> Any:
    """Draw the words of praise and of blame beside each other; rows have `word` and `column`."""
    with new_figure((9, 4), columns=2) as (figure, grid):
        draw_bars(grid[0, 0], praise["word"], praise[column].abs(), BLUE, "칭찬 praise")
        draw_bars(grid[0, 1], blame["word"], blame[column].abs(), RED, "비판 blame")
        for axes in grid.flat:
            axes.set_xlabel(label)
    return figure


def draw_histogram(probability: Any) -> Any:
    """Draw the distribution of the probability of positive."""
    with new_figure((8, 2.6)) as (figure, grid):
        grid[0, 0].hist(probability, bins=50, range=(0, 1), color=BLUE)
        grid[0, 0].set(xlabel="긍정일 확률 probability of positive", ylabel="리뷰 reviews")
    return figure
