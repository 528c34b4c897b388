"""The report as one self-contained HTML page: key figures, sections with what they show, reviews, tables to download."""

import html
from typing import Any, NamedTuple, Sequence

import pandas

from .._io.spreadsheets import as_csv
from ..classification.attribution import Attribution
from ..visualization.page import OWN_CHARACTERS, file, filled, font_of, in_base64, in_script, panel, with_words


class Figure(NamedTuple):
    """A key figure: what, how much, and a line that says more."""

    name: str
    value: str
    more: str


class Example(NamedTuple):
    """A review to show, and where it is from: its group and date."""

    attribution: Attribution
    origin: str


class ExampleList(NamedTuple):
    """Reviews below a heading, `folded` ones to unfold."""

    heading: str
    examples: Sequence[Example]
    folded: bool = False


class Section(NamedTuple):
    """The key of a section's phrases, its chart (HTML), what fills the heading and the legend, and its reviews."""

    key: str
    chart: str
    values: dict[str, Any] = {}
    reviews: Sequence[ExampleList] = ()


class Report(NamedTuple):
    """All of a page but its tables. `findings` are pairs of a heading and a line."""

    title: str
    source: str
    figures: Sequence[Figure]
    findings: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    method: Sequence[str]


def report_page(content: Report, tables: dict[str, pandas.DataFrame], language: str, say: dict[str, str]) -> str:
    """Return the page in one language, `say` its `phrases`, with the tables as csv."""
    links = "".join(link(name, table) for name, table in tables.items())
    body = "\n".join(
        [
            f"<header><h1>{html.escape(content.title)}</h1><p>{html.escape(content.source)}</p></header><main>",
            f'<dl class="figures">{"".join(map(tile, content.figures))}</dl>',
            f'<dl class="findings">{"".join(map(finding, content.findings))}</dl>',
            *(section(each, say) for each in content.sections),
            f"<section><h2>{say['method']}</h2><ul>",
            *(f"<li>{html.escape(each)}</li>" for each in content.method),
            f'</ul></section><section class="tables"><h2>{say["tables"]}</h2><p>{links}</p></section></main>',
        ]
    )
    lists = [group.examples for part in content.sections for group in part.reviews]
    data = in_script([[in_language(example, say) for example in examples] for examples in lists])
    font = in_base64(font_of(OWN_CHARACTERS + body + data))
    fillings = {"LANGUAGE": language, "TITLE": html.escape(content.title), "FONT_AS_BASE64": font}
    return filled(with_words(file("report.html", __package__)), **fillings, REVIEWS_AS_JSON=data, BODY=body)


def tile(figure: Figure) -> str:
    name, value, more = map(html.escape, figure)
    return f"<div><dt>{name}</dt><dd>{value}</dd><dd>{more}</dd></div>"


def finding(pair: tuple[str, str]) -> str:
    name, text = map(html.escape, pair)
    return f'<div><dt>{name}</dt><dd lang="ko">{text}</dd></div>'


def section(each: Section, say: dict[str, str]) -> str:
    heading, legend = (html.escape(say[key].format(**each.values)) for key in (each.key, f"{each.key}_legend"))
    notes = "".join(
        f"<div><dt>{say[kind]}</dt><dd>{html.escape(say[f'{each.key}_{kind}'])}</dd></div>"
        for kind in ("can", "cannot")
    )
    reviews = "".join(map(example_list, each.reviews))
    return f'<section><h2>{heading}</h2><p>{legend}</p>{each.chart}{reviews}<dl class="notes">{notes}</dl></section>'


def example_list(group: ExampleList) -> str:
    """Return reviews as plain text, which the page's script replaces by ones with shaded words."""
    items = "".join(f'<li lang="ko">{html.escape(each.attribution.text)}</li>' for each in group.examples)
    shown, heading = f'<ul class="examples">{items or "<li>–</li>"}</ul>', html.escape(group.heading)
    return f"<details><summary>{heading}</summary>{shown}</details>" if group.folded else f"<h3>{heading}</h3>{shown}"


def in_language(each: Example, say: dict[str, str]) -> dict[str, Any]:
    """Return a `panel` with the words of a language, and the review's origin in place of the model."""
    shown = panel(each.attribution)
    words = {"label": say[shown["label"]], "positive": say["positive"], "method": "", "meaning": say["meaning"]}
    return {**shown, **words, "source": each.origin}


def link(name: str, table: pandas.DataFrame) -> str:
    """Return a link to a table as csv within the page itself."""
    content = in_base64(as_csv(table).encode(errors="replace"))
    return f'<a download="{name}.csv" href="data:text/csv;base64,{content}">{name}.csv</a>'
