"""From a table of reviews to a report: score it, count it, draw it, write the page."""

import html
import json
import math
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Optional, Union

import pandas

from ...classifier.domain_shift import domain_shift, domain_warning
from ...classifier.explain import Explainer
from ...classifier.prediction import Prediction
from ...classifier.predictor import Classifier
from ...classifier.settings import ClassifierBundle
from ...corpora.data import File, open_file
from ...corpora.labelled import WholeTable
from ...corpora.stars import Stars, star_columns, stars_of
from ...errors import ConfigError, DataError, did_you_mean, list_names
from ...machine.files import require_place, write_text
from ...machine.progress import progress_bar
from ...scoring.columns import as_csv
from ...scoring.files import tally_of
from ...systems.film.rater import rater_of
from ...tables.columns import require_column
from ...tables.parts import as_text, cells_of
from ...views.page import OWN_CHARACTERS, file, filled, font_of, in_base64, in_script, panel, with_words
from ..aspects.aspects import AspectReader, by_name
from ..aspects.clauses import Pairs, read_words
from .content import Content, Example, Section, rate_groups
from .statistics import Tables, count, dates_of

# The csv files of --tables: those of every report, and all
ALWAYS = ("words_by_log_odds", "words_by_attention", "reviews")
TABLES = (*ALWAYS, "sentiments", "groups", "months", "agreement", "aspects", "aspects_by_group")
LANGUAGES = ("ko", "en")
PathLike = Union[str, Path]


def report(
    classifier: Classifier,
    source: File,
    output: PathLike,
    group_by: Optional[str] = None,
    date_column: Optional[str] = None,
    tables_to: Optional[PathLike] = None,
    title: Optional[str] = None,
    language: str = "ko",
    film_bundle: Optional[PathLike] = None,
    stars_column: Optional[str] = None,
    aspects_file: Optional[PathLike] = None,
) -> Tables:
    """Write the report of a table of reviews as an .html page, whole or not at all; return its tables by name.

    Shares are estimated (`measure.share`), by group and by month where `group_by` and `date_column` name columns.
    `stars_column` has the table's own stars, whose share leads; None finds it. Groups have predicted stars where the film
    network reads the classifier. `tables_to` is a folder for the tables as csv, which the page offers too.
    DataError if the table or `aspects_file` cannot be read, lacks a column, or has no review with a word;
    ConfigError if the output is no .html, the language is unknown, or the folder for the tables holds other files.
    """
    if Path(output).suffix.lower() != ".html":
        raise ConfigError(f"{output}: expected a page that ends in .html")
    if language not in LANGUAGES:
        raise ConfigError(f"unknown language {language!r}{did_you_mean(language, LANGUAGES)}")
    require_place(Path(output))
    if tables_to:
        check_folder(Path(tables_to))
    words, rater = read_words(aspects_file), rater_of(classifier.bundle, film_bundle) if group_by else None
    path, frame, stars = read(source, group_by, date_column, stars_column)
    predictions = predict(classifier, frame, path)
    texts = frame["text"].tolist()
    tally = tally_of(classifier, texts, frame["probability"].tolist())
    unlike = domain_shift(classifier, texts)
    if found := domain_warning(classifier, texts):
        print(f"{path}: {found}", file=sys.stderr)
    explainer = Explainer(classifier)
    # the words of films say nothing of other texts
    mentions = mentions_of(explainer, [] if unlike and not words else texts, words)
    tables = count(frame, predictions, mentions, classifier.prior, tally.evidence)
    # trained on films alone
    rater = None if unlike else rater
    ratings = rate_groups(rater, frame, tables["groups"]) if rater else None
    say, own = phrases(language), Path(aspects_file).name if aspects_file else None
    values = (frame, tables, say, explainer, tally, mentions, own, group_by, rater, ratings, unlike, stars)
    write_text(output, report_page(Content(*values), title or say["title"], path.name, classifier.bundle, language))
    if tables_to:
        write_tables(Path(tables_to), tables)
    print(f"{path}: {tally.in_words()}", file=sys.stderr)
    return tables


def predict(classifier: Classifier, frame: pandas.DataFrame, path: Path) -> list[Prediction]:
    """Add to a frame of texts what is predicted of them, which become clean; DataError where none has a label."""
    bar = progress_bar(classifier.predict_stream(frame["text"]), total=len(frame), desc="scoring", unit=" reviews")
    # averaged: the weights of all reviews would be gigabytes
    predictions = [prediction.averaged() for prediction in bar]
    frame["text"] = [each.text for each in predictions]
    # one without a label is counted with the blank ones
    frame["probability"] = [each.probability if each.label else None for each in predictions]
    frame["label"] = [each.label for each in predictions]
    if classifier.heads:
        frame["sentiment"] = [each.label and (each.sentiment or "no_opinion") for each in predictions]
        frame["expected_stars"] = pandas.Series([each.stars for each in predictions], dtype="float64")
    if frame["label"].isna().all():
        raise DataError(f"{path}: expected reviews, found none with a word")
    return predictions


def mentions_of(explainer: Explainer, texts: list[str], words: Pairs) -> pandas.DataFrame:
    """Return a row for each aspect of each text that has a side, with the place of its clearest clause, if they can be found."""
    rows, read = [], AspectReader(explainer.classifier, words)
    for row, judged in enumerate(read(texts) if explainer.has_contributions else ()):
        for name, odds in by_name(judged).items():
            best, _ = max((pair for pair in judged if pair[0].name == name), key=lambda pair: pair[1] * odds)
            rows.append((row, name, odds, best.label, (1 + math.tanh(odds / 2)) / 2, best.start, best.end))
    return pandas.DataFrame(rows, columns=["row", "aspect", "odds", "label", "probability", "start", "end"])


def check_folder(folder: Path) -> None:
    """Refuse a folder unless it is new, empty, or holds only the tables of a report."""
    present = {path.stem for path in folder.iterdir()} if folder.is_dir() else set[str]()
    if folder.is_file() or (present and not set(ALWAYS) <= present <= set(TABLES)):
        expected = "expected a new or empty folder for the tables, or those of a report"
        raise ConfigError(f"{folder}: {expected}; name another --tables")
    if not folder.exists():
        require_place(folder)


def write_tables(folder: Path, tables: Tables) -> None:
    """Write the tables as csv into a folder, and remove those that an earlier report left and this one does not have."""
    folder.mkdir(exist_ok=True)
    for name in TABLES:
        (folder / f"{name}.csv").unlink(missing_ok=True)
    for name, table in tables.items():
        write_text(folder / f"{name}.csv", as_csv(table))


def read(source: File, *columns: Optional[str]) -> tuple[Path, pandas.DataFrame, Optional[Stars]]:
    """Return the path, of each review text and, by their columns, group, date and month, and the table's stars."""
    table, (group_by, date_column, stars_column) = WholeTable(open_file(source)), columns
    path = table.path
    if not table.texts:
        raise DataError(f"{path}: expected reviews, found no row")
    for name in filter(None, columns):
        require_column(table.names, name, path, hint="")
    frame = pandas.DataFrame({"text": table.texts})
    if group_by:
        frame["group"] = [as_text(value).strip() or None for value in cells_of(table.parts, group_by)]
    if date_column:
        cells = list(map(as_text, cells_of(table.parts, date_column)))
        frame["date"] = dates_of(cells)
        frame["month"] = frame["date"].str[:7]
        if undated := [cell for cell, known in zip(cells, frame["date"].notna()) if not known]:
            found = f"{len(undated):,} of {len(cells):,} rows have no date that can be read"
            example = f"as {next(filter(str.strip, undated), '')[:20]!r}; they are not in the figure over time"
            print(f"{path}: column {date_column}: {found}, {example}", file=sys.stderr)
    if stars := own_stars(table, (group_by, date_column), stars_column):
        frame = frame.join(pandas.DataFrame({"stars": stars.numbers, "star_label": stars.labels}, dtype="float64"))
    return path, frame, stars


def own_stars(table: WholeTable, others: Collection[Optional[str]], named: Optional[str]) -> Optional[Stars]:
    """Return the stars of the column that is named, else of the one that is found and can be read, if there is one."""
    names = [named] if named else star_columns(table, others)[0]
    try:
        if len(names) > 1:
            expected = f"expected one column of stars, found {list_names(names)}"
            raise DataError(f"{table.path}: {expected}; name it by stars_column (--stars-column)")
        for name in names:
            stars = stars_of(table[name], name, table.where(name))
            print(f"{table.path}: stars in column {name!r}, {stars.in_words()}", file=sys.stderr)
            return stars
    except DataError as problem:
        if named:
            raise
        print(f"{problem}; the report goes on without stars", file=sys.stderr)
    return None


def phrases(language: str) -> dict[str, str]:
    """Return the phrases in one of LANGUAGES by key, with blanks in braces; no line ends before a percent sign."""
    pairs: dict[str, dict[str, str]] = json.loads(file("phrases.json", __package__))
    return {key: texts[language].replace(" %", "\u00a0%") for key, texts in pairs.items()}


def report_page(content: Content, title: str, source: str, bundle: ClassifierBundle, language: str) -> str:
    """Return the page in one language, with the tables as csv; `source` is the name of what was read."""
    say, unlike, sections = content.say, content.unlike, list(content.sections())
    findings = "".join(entry(pair, '<dd lang="ko">') for pair in content.findings())
    links = "".join(link(name, table) for name, table in content.tables.items())
    body = "\n".join(
        [
            f"<header><h1>{html.escape(title)}</h1><p>{html.escape(source)}</p></header><main>",
            f'<p class="warning">{html.escape(say["unlike"].format(**asdict(unlike)))}</p>' if unlike else "",
            f'<dl class="figures">{"".join(map(entry, content.key_figures()))}</dl>{content.sentiments()}',
            f'<dl class="findings">{findings}</dl>',
            *(section_html(section, say) for section in sections),
            f"<section><h2>{say['method']}</h2><ul>",
            *(f"<li>{html.escape(remark)}</li>" for remark in content.remarks(bundle)),
            f'</ul></section><section class="tables"><h2>{say["tables"]}</h2><p>{links}</p></section></main>',
        ]
    )
    lists = [examples for section in sections for examples in section.reviews.values()]
    data = in_script([[in_language(example, say) for example in examples] for examples in lists])
    font = in_base64(font_of(OWN_CHARACTERS + body + data))
    fillings = {"LANGUAGE": language, "TITLE": html.escape(title), "FONT_AS_BASE64": font}
    return filled(with_words(file("report.html", __package__)), **fillings, REVIEWS_AS_JSON=data, BODY=body)


def entry(texts: Sequence[str], start: str = "<dd>") -> str:
    """Return a name and what is said of it, each after a start tag, in a list of these."""
    name, *others = map(html.escape, texts)
    return f"<div><dt>{name}</dt>{''.join(f'{start}{text}</dd>' for text in others)}</div>"


def section_html(section: Section, say: dict[str, str]) -> str:
    key, values = section.key, section.values
    heading, legend = (html.escape(say[name].format(**values)) for name in (key, f"{key}_legend"))
    notes = "".join(entry((say[kind], say[f"{key}_{kind}"])) for kind in ("can", "cannot"))
    lists = (example_list(heading, examples, key != "reviews") for heading, examples in section.reviews.items())
    body = f'{section.chart}{"".join(lists)}<dl class="notes">{notes}</dl>'
    return f"<section><h2>{heading}</h2><p>{legend}</p>{body}</section>"


def example_list(heading: str, examples: Sequence[Example], folded: bool) -> str:
    """Return reviews as plain text, which the page's script replaces by ones with shaded words; `folded` ones to unfold."""
    items = "".join(f'<li lang="ko">{html.escape(example.attribution.text)}</li>' for example in examples)
    shown, heading = f'<ul class="examples">{items or "<li>–</li>"}</ul>', html.escape(heading)
    return f"<details><summary>{heading}</summary>{shown}</details>" if folded else f"<h3>{heading}</h3>{shown}"


def in_language(example: Example, say: dict[str, str]) -> dict[str, Any]:
    """Return a `panel` with the words of a language; in place of the model what is no side, and the review's origin."""
    shown = panel(example.attribution)
    words = {"label": say[shown["label"]], "positive": say["positive"], "method": "", "opinion": ""}
    neither = {"neutral": say["neutral_stars"].format(stars=shown["stars"] or 0), None: say["no_opinion"]}
    source = " · ".join(filter(None, (neither.get(shown["sentiment"]), example.origin)))
    return {**shown, **words, "meaning": say[f"meaning_{shown['method']}"], "source": source, "marked": example.marked}


def link(name: str, table: pandas.DataFrame) -> str:
    """Return a link to a table as csv within the page itself."""
    content = in_base64(as_csv(table).encode(errors="replace"))
    return f'<a download="{name}.csv" href="data:text/csv;base64,{content}">{name}.csv</a>'
