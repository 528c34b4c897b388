"""The report as one self-contained HTML page: key figures, sections with what they show, reviews, tables to download."""

import html
import json
from typing import Any

import pandas

from ...classifier.settings import ClassifierBundle
from ...scoring.columns import as_csv
from ...views.page import OWN_CHARACTERS, file, filled, font_of, in_base64, in_script, panel, with_words
from .content import Content, Example, ExampleList, Figure, Section

LANGUAGES = ("ko", "en")


def phrases(language: str) -> dict[str, str]:
    """Return the phrases in one of LANGUAGES by key, with blanks in braces; no line ends before a percent sign.

    Those named _can and _cannot say what may be concluded from a section, and what may not.
    """
    pairs: dict[str, dict[str, str]] = json.loads(file("phrases.json", __package__))
    return {key: texts[language].replace(" %", "\u00a0%") for key, texts in pairs.items()}


def report_page(content: Content, title: str, source: str, bundle: ClassifierBundle, language: str) -> str:
    """Return the page in one language, with the tables as csv; `source` is the name of what was read."""
    say, sections = content.say, list(content.sections())
    links = "".join(link(name, table) for name, table in content.tables.items())
    body = "\n".join(
        [
            f"<header><h1>{html.escape(title)}</h1><p>{html.escape(source)}</p></header><main>",
            *(f'<p class="warning">{html.escape(line)}</p>' for line in content.warnings()),
            f'<dl class="figures">{"".join(map(tile, content.key_figures()))}</dl>',
            f'<dl class="findings">{"".join(map(finding, content.findings()))}</dl>',
            *(section_html(section, say) for section in sections),
            f"<section><h2>{say['method']}</h2><ul>",
            *(f"<li>{html.escape(remark)}</li>" for remark in content.remarks(bundle)),
            f'</ul></section><section class="tables"><h2>{say["tables"]}</h2><p>{links}</p></section></main>',
        ]
    )
    lists = [group.examples for section in sections for group in section.reviews]
    data = in_script([[in_language(example, say) for example in examples] for examples in lists])
    font = in_base64(font_of(OWN_CHARACTERS + body + data))
    fillings = {"LANGUAGE": language, "TITLE": html.escape(title), "FONT_AS_BASE64": font}
    return filled(with_words(file("report.html", __package__)), **fillings, REVIEWS_AS_JSON=data, BODY=body)


def tile(figure: Figure) -> str:
    name, value, more = map(html.escape, figure)
    return f"<div><dt>{name}</dt><dd>{value}</dd><dd>{more}</dd></div>"


def finding(pair: tuple[str, str]) -> str:
    name, text = map(html.escape, pair)
    return f'<div><dt>{name}</dt><dd lang="ko">{text}</dd></div>'


def section_html(section: Section, say: dict[str, str]) -> str:
    key, values = section.key, section.values
    heading, legend = (html.escape(say[name].format(**values)) for name in (key, f"{key}_legend"))
    notes = "".join(
        f"<div><dt>{say[kind]}</dt><dd>{html.escape(say[f'{key}_{kind}'])}</dd></div>" for kind in ("can", "cannot")
    )
    reviews = "".join(map(example_list, section.reviews))
    return f'<section><h2>{heading}</h2><p>{legend}</p>{section.chart}{reviews}<dl class="notes">{notes}</dl></section>'


def example_list(group: ExampleList) -> str:
    """Return reviews as plain text, which the page's script replaces by ones with shaded words."""
    items = "".join(f'<li lang="ko">{html.escape(example.attribution.text)}</li>' for example in group.examples)
    shown, heading = f'<ul class="examples">{items or "<li>–</li>"}</ul>', html.escape(group.heading)
    return f"<details><summary>{heading}</summary>{shown}</details>" if group.folded else f"<h3>{heading}</h3>{shown}"


def in_language(example: Example, say: dict[str, str]) -> dict[str, Any]:
    """Return a `panel` with the words of a language, and the review's origin in place of the model."""
    shown = panel(example.attribution)
    words = {"label": say[shown["label"]], "positive": say["positive"], "method": ""}
    words["meaning"] = say[f"meaning_{shown['method']}"]
    return {**shown, **words, "source": example.origin, "marked": example.marked}


def link(name: str, table: pandas.DataFrame) -> str:
    """Return a link to a table as csv within the page itself."""
    content = in_base64(as_csv(table).encode(errors="replace"))
    return f'<a download="{name}.csv" href="data:text/csv;base64,{content}">{name}.csv</a>'
