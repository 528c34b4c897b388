"""Charts as HTML: lengths are percentages, so that they fit a phone, follow light and dark, and print sharply.

Their styles are in report.html. Names are escaped here; numbers come as numbers.
"""

import html
from typing import Iterable, Sequence

import pandas

# Labels that fit below a chart on a phone
LABELS = 6
# Percent from which on a label ends at the edge
LAST = 94


def style(**lengths: float) -> str:
    return 'style="' + ";".join(f"{name}:{value:.2f}%" for name, value in lengths.items()) + '"'


def interval_rows(rows: pandas.DataFrame, whole: float, unknown: str, stars: str = "") -> str:
    """Return one line a row of `shares_by`: name, share with its interval, number of reviews.

    `unknown` stands for a share that is not known, `whole` is NaN if that of all is not. With `stars`, a phrase, the mean
    of the table's own stars follows.
    """
    lines = []
    for name, row in rows.iterrows():
        at, low, high = (100 * row[column] for column in ("share", "low", "high"))
        known = at == at
        value = (f"{at:.0f} % <small>({low:.0f}–{high:.0f})</small>" if known else unknown) + f" · {row['count']:,}"
        if stars and row["mean_stars"] == row["mean_stars"]:
            value += " · " + html.escape(stars.format(stars=row["mean_stars"]))
        lines.append(line(str(name), value, mean(whole) + (interval(at, low, high, row["outlier"]) if known else "")))
    return wide(lines, "0", "50", "100 %")


def mean(whole: float, side: str = "left") -> str:
    """Return the mark of the share of all reviews, none where it is unknown."""
    return f'<i class="mean" {style(**{side: 100 * whole})}></i>' if whole == whole else ""


def star_rows(rows: pandas.DataFrame, lowest: float, highest: float) -> str:
    """Return one line a row: name, stars with their interval between the ends of the scale, number of reviews."""
    lines, span = [], max(highest - lowest, 1e-9)
    for name, row in rows.iterrows():
        marks = interval(*(100 * (row[column] - lowest) / span for column in ("stars", "stars_low", "stars_high")))
        low_high = f"({row['stars_low']:.1f}–{row['stars_high']:.1f})"
        lines.append(line(str(name), f"{row['stars']:.2f} <small>{low_high}</small> · {row['count']:,}", marks))
    return wide(lines, *(f"{end:g}" for end in (lowest, (lowest + highest) / 2, highest)))


def interval(at: float, low: float, high: float, far: bool = False) -> str:
    """Return a dot on the bar of its interval, in percent of a line."""
    bar = f'<i class="range" {style(left=low, width=high - low)}></i>'
    return bar + dot(far, left=at)


def dot(far: bool, **place: float) -> str:
    return f'<i class="{"dot far" if far else "dot"}" {style(**place)}></i>'


def wide(lines: Sequence[str], *ends: str) -> str:
    axis = "".join(f"<b>{end}</b>" for end in ends)
    return f'<ol class="lines wide">{"".join(lines)}</ol><div class="axis">{axis}</div>'


def line(name: str, value: str, marks: str) -> str:
    name = f'<span class="name" lang="ko">{html.escape(name)}</span>'
    return f'<li>{name}<span class="value">{value}</span><span class="track">{marks}</span></li>'


def bars(title: str, items: Iterable[tuple[str, float, str, str]]) -> str:
    """Return a list of bars; an item is name, length (the longest fills the line), value and class of the bar."""
    items = list(items)
    longest = max((length for _, length, *_ in items), default=1) or 1
    lines = [
        line(name, html.escape(value), f'<i class="fill {kind}" {style(width=100 * length / longest)}></i>')
        for name, length, value, kind in items
    ]
    return f'<div><h3>{html.escape(title)}</h3><ol class="lines">{"".join(lines) or "<li>–</li>"}</ol></div>'


def parts(items: Sequence[tuple[str, float, str, str]]) -> str:
    """Return one bar of parts, and below it what they are; an item is as of `bars`, with its share as the length."""
    marks = names = ""
    for name, share, value, kind in items:
        marks += f'<i class="{kind}" {style(width=100 * share)}></i>'
        names += f'<div><dt><i class="{kind}"></i>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>'
    return f'<div class="parts" aria-hidden="true">{marks}</div><dl class="parts">{names}</dl>' if names else ""


def pair(left: str, right: str) -> str:
    """Return two charts beside each other, on a phone below each other."""
    return f'<div class="pair">{left}{right}</div>'


def interval_columns(rows: pandas.DataFrame, whole: float, label: str) -> str:
    """Return `shares_by` over time, one column a row, at most LABELS of them with their name below.

    A share that is not known has its interval alone.
    """
    width, step = 100 / len(rows), -(-len(rows) // LABELS)
    drawn = ticks = ""
    for number, (name, row) in enumerate(rows.iterrows()):
        mark = f'<i class="range" {style(bottom=100 * row["low"], height=100 * (row["high"] - row["low"]))}></i>'
        if row["share"] == row["share"]:
            mark += dot(row["outlier"], bottom=100 * row["share"])
        drawn += f'<i class="column" {style(left=width * number, width=width)}>{mark}</i>'
        if number % step == 0:
            middle = width * (number + 0.5)
            # the last may be at the edge
            ticks += f"<b {f'{style(left=100)} class=end' if middle > LAST else style(left=middle)}>{name}</b>"
    scale = "".join(f'<b class="scale" {style(bottom=at)}>{at}</b>' for at in (0, 50, 100))
    columns = scale + mean(whole, "bottom") + drawn
    axis = f'<div class="ticks" aria-hidden="true">{ticks}</div>'
    return f'<div class="columns" role="img" aria-label="{html.escape(label)}">{columns}</div>{axis}'
