"""The report as one self-contained HTML page: figures, tables to download, reviews with their words shaded."""

import html
import io

from .._io.spreadsheets import as_csv
from ..visualization.heatmap import SETTINGS, add_hangul_font, boxes_for_what_no_font_has, printable
from ..visualization.page import OWN_CHARACTERS, file, filled, font_of, in_base64, in_script, panel, with_words

# Groups and words that are drawn; the tables have all
GROUPS, WORDS = 20, 15


def report_page(title, summary, tables, figures, reviews):
    """Answer the page.

    Parameters
    ----------
    title : str
    summary : list of str
        Sentences at its head.
    tables : dict of name to DataFrame
        Offered as csv.
    figures : list of (heading, explanation, matplotlib Figure)
    reviews : list of (heading, list of attribution.Attribution)

    Returns
    -------
    str
    """
    parts = [f"<h1>{html.escape(title)}</h1>"] + [f"<p>{html.escape(line)}</p>" for line in summary]
    for heading, explanation, figure in figures:
        parts.append(
            f"<h2>{html.escape(heading)}</h2><p>{html.escape(explanation)}</p>"
            f'<img alt="{html.escape(heading)}" src="data:image/png;base64,{as_png(figure)}">'
        )
    parts += [
        f'<h2>{html.escape(heading)}</h2><div id="reviews-{number}"></div>'
        for number, (heading, _) in enumerate(reviews)
    ]
    parts.append(
        "<h2>표 받기 · Tables</h2><p>" + " ".join(link(name, table) for name, table in tables.items()) + "</p>"
    )
    data = [[panel(each) for each in attributions] for _, attributions in reviews]
    content, body = in_script(data), "\n".join(parts)
    font = in_base64(font_of(OWN_CHARACTERS + body + content))
    return filled(
        with_words(file("report.html", __package__)),
        TITLE=html.escape(title),
        FONT_AS_BASE64=font,
        REVIEWS_AS_JSON=content,
        BODY=body,
    )


def link(name, table):
    """A table as csv in the page itself; Excel wants the mark at its head."""
    content = in_base64(as_csv(table).encode(errors="replace"))
    return f'<a class="more" download="{name}.csv" href="data:text/csv;base64,{content}">{name}.csv</a>'


def as_png(figure):
    content = io.BytesIO()
    with boxes_for_what_no_font_has():
        figure.savefig(content, format="png", dpi=120)
    return in_base64(content.getvalue())


def figure_of(size):
    """Answer a Figure and its only axes, with Hangul."""
    import matplotlib
    from matplotlib.figure import Figure

    add_hangul_font()
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        # texts take their font when they are made: names that Hangul may be in are set here
        axes.set_xlabel("")
    return figure, axes


def draw_shares(rows, whole, across=False):
    """Draw `report.shares_by`: each share with its interval, the share of all as a line, outliers filled.

    across puts the keys, in their order, along the horizontal axis: months.
    """
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        size = (max(6.0, min(14.0, 0.2 * len(rows))), 3.4) if across else (8.0, 1.0 + 0.3 * len(rows))
        figure, axes = figure_of(size)
        shares, low, high = (100 * rows[name].to_numpy() for name in ("share", "low", "high"))
        places, errors = range(len(rows)), [shares - low, high - shares]
        style = {"fmt": "none", "ecolor": "0.6", "capsize": 2}
        marked = {
            "c": ["#0953a0" if each else "white" for each in rows["outlier"]],
            "edgecolors": "#0953a0",
            "zorder": 3,
        }
        if across:
            axes.errorbar(places, shares, yerr=errors, **style)
            axes.scatter(places, shares, **marked)
            axes.axhline(100 * whole, color="0.7", linewidth=1)
            step = -(-len(rows) // 24)
            axes.set_xticks(places[::step], rows.index[::step], rotation=60, ha="right", fontsize=8)
            axes.set_ylabel("긍정 % positive")
        else:
            axes.errorbar(shares, places, xerr=errors, **style)
            axes.scatter(shares, places, **marked)
            axes.axvline(100 * whole, color="0.7", linewidth=1)
            names = [f"{printable(str(key))[:28]} ({count:,})" for key, count in zip(rows.index, rows["count"])]
            axes.set_yticks(places, names, fontsize=9)
            axes.invert_yaxis()
            axes.set_xlabel("긍정 % positive")
        axes.grid(alpha=0.3)
    return figure


def draw_words(praise, blame, column, label):
    """Draw the words of praise and of blame beside each other; rows have `word` and `column`."""
    import matplotlib
    from matplotlib.figure import Figure

    add_hangul_font()
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(9, 4), layout="constrained")
        for axes, rows, color, title in zip(
            figure.subplots(1, 2), (praise, blame), ("#0953a0", "#a64400"), ("칭찬 praise", "비판 blame")
        ):
            axes.barh(range(len(rows)), rows[column].abs(), color=color)
            axes.set_yticks(range(len(rows)), [printable(word) for word in rows["word"]])
            axes.invert_yaxis()
            axes.set(title=title, xlabel=label)
    return figure


def draw_histogram(probability):
    """Draw how sure the answers are: the probability of positive of all reviews."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        figure, axes = figure_of((8, 2.6))
        axes.hist(probability, bins=50, range=(0, 1), color="#0953a0")
        axes.set(xlabel="긍정일 확률 probability of positive", ylabel="리뷰 reviews")
    return figure
