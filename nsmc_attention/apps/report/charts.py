"""Charts as HTML, names escaped: lengths are percentages, to fit a phone, light, dark and paper (styles: report.html)."""

import html
import math
from typing import Any, Iterable, Sequence

import pandas

# Labels that fit below a chart on a phone
LABELS = 6


def style(**lengths: float) -> str:
    """Return lengths, 1 for the whole, as percentages."""
    return 'style="' + ";".join(f"{name}:{100 * value:.2f}%" for name, value in lengths.items()) + '"'


def interval_rows(rows: pandas.DataFrame, values: Iterable[str], ends: Iterable[str], whole: float = math.nan) -> str:
    """Return one line a row of `shares_by`: its name, its marks and a value, which is HTML; below them the scale's ends."""
    items = zip(rows.iterrows(), values)
    lines = [line(str(name), value, mark("mean", whole) + marks_of(row)) for (name, row), value in items]
    axis = "".join(f"<b>{end}</b>" for end in ends)
    return f'<ol class="lines wide">{"".join(lines)}</ol><div class="axis">{axis}</div>'


def marks_of(row: "pandas.Series[Any]", start: str = "left", size: str = "width") -> str:
    """Return the marks of a row of `shares_by`: an interval, its share, and that by the table's own stars, which leads."""
    own, far = row.get("share_by_stars", math.nan), " far" * bool(row.get("outlier"))
    bar = f'<i class="range" {style(**{start: row["low"], size: row["high"] - row["low"]})}></i>'
    return bar + mark("dot" + far * (own != own), row["share"], start) + mark("own" + far, own, start)


def mark(kind: str, at: float, start: str = "left") -> str:
    """Return the mark of a share, none where it is unknown."""
    return f'<i class="{kind}" {style(**{start: at})}></i>' if at == at else ""


def line(name: str, value: str, marks: str) -> str:
    name = f'<span class="name" lang="ko">{html.escape(name)}</span>'
    return f'<li>{name}<span class="value">{value}</span><span class="track">{marks}</span></li>'


def bars(title: str, items: Iterable[tuple[str, float, str, str]]) -> str:
    """Return a list of bars; an item is name, length (the longest fills the line), value and class of the bar."""
    items = list(items)
    longest = max((n for _, n, *_ in items), default=1) or 1
    fill = '<i class="fill {}" {}></i>'.format
    lines = [line(name, html.escape(value), fill(kind, style(width=n / longest))) for name, n, value, kind in items]
    return f'<div><h3>{html.escape(title)}</h3><ol class="lines">{"".join(lines) or "<li>–</li>"}</ol></div>'


def parts(items: Sequence[tuple[str, float, str, str]]) -> str:
    """Return one bar of parts, and below it what they are; an item is as of `bars`, with its share as the length."""
    marks = names = ""
    for name, share, value, kind in items:
        marks += f'<i class="{kind}" {style(width=share)}></i>'
        names += f'<div><dt><i class="{kind}"></i>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>'
    return f'<div class="parts" aria-hidden="true">{marks}</div><dl class="parts">{names}</dl>' if names else ""


def framed(kind: str, *charts: str) -> str:
    """Return a pair of charts, on a phone below each other, or what scrolls where it is wider than the page."""
    return f'<div class="{kind}">{"".join(charts)}</div>'


def interval_columns(rows: pandas.DataFrame, whole: float, label: str) -> str:
    """Return `shares_by` over time, one column a row, at most LABELS of them with their name below."""
    width, step = 1 / len(rows), -(-len(rows) // LABELS)
    drawn = mark("mean", whole, "bottom")
    for number, (name, row) in enumerate(rows.iterrows()):
        marks = marks_of(row, "bottom", "height") + f"<b>{name}</b>" * (number % step == 0)
        drawn += f'<i class="column" {style(left=width * number, width=width)}>{marks}</i>'
    scale = "".join(f'<b class="scale" {style(bottom=at)}>{100 * at:.0f}</b>' for at in (0, 0.5, 1))
    return f'<div class="columns" role="img" aria-label="{html.escape(label)}">{scale}{drawn}</div>'
