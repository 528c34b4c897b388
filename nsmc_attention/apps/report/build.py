"""From a table of reviews to a report: score it, count it, draw it, write the page."""

import html
import json
import math
import sys
from collections.abc import Collection, Sequence
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
from ...measure.share import Evidence
from ...scoring.columns import as_csv
from ...scoring.files import tally_of
from ...systems.film.rater import rater_of
from ...tables.columns import require_column
from ...tables.parts import as_text, cells_of
from ...views.heatmap import by_word, token_table
from ...views.page import OWN_CHARACTERS, file, filled, font_of, in_base64, in_script, panel, with_words
from ..aspects.aspects import AspectReader, by_name
from ..aspects.clauses import Pairs, read_words
from .content import SENTIMENTS, Content, Example, ExampleList, Section, Tables, rate_groups
from .statistics import content_words, date_of, distinctive_words, extreme_reviews, shares_by

# The csv files of --tables: those of every report, and all
ALWAYS = ("words_by_log_odds", "words_by_attention", "reviews")
TABLES = (*ALWAYS, "sentiments", "groups", "months", "aspects", "aspects_by_group")
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

    Shares are by group and by month where `group_by` and `date_column` name columns; `tables_to` is a folder for the
    tables as csv, which the page offers too. Groups have stars where the film network reads the classifier.
    Shares are estimated (`measure.share`). `stars_column` has the table's own stars, shown beside them; None finds it.
    `language` is ko or en, also where `title` is None.
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
    bar = progress_bar(classifier.predict_stream(frame["text"]), total=len(frame), desc="scoring", unit=" reviews")
    # averaged: the weights of all reviews would be gigabytes
    predictions = [prediction.averaged() for prediction in bar]
    # one without a label is counted with the blank ones
    frame["probability"] = [prediction.probability if prediction.label else None for prediction in predictions]
    frame["label"] = [prediction.label for prediction in predictions]
    if classifier.heads:
        frame["sentiment"] = [each.label and (each.sentiment or "no_opinion") for each in predictions]
        frame["expected_stars"] = pandas.Series([each.stars for each in predictions], dtype="float64")
    if frame["label"].notna().sum() < 1:
        raise DataError(f"{path}: expected reviews, found none with a word")
    texts = frame["text"].tolist()
    tally = tally_of(classifier, texts, frame["probability"].tolist())
    other = domain_shift(classifier, texts)
    if found := domain_warning(classifier, texts):
        print(f"{path}: {found}", file=sys.stderr)
    tables, say = count(frame, predictions, classifier.prior, tally.evidence), phrases(language)
    # trained on films alone
    rater = None if other else rater
    ratings = rate_groups(rater, frame, tables["groups"]) if rater else None
    explainer = Explainer(classifier)
    named = mentions_of(explainer, [each.text for each in predictions], words)
    if len(named):
        tables["aspects"] = shares_by(named["aspect"], named, classifier.prior).sort_values("count", ascending=False)
        if group_by:
            keys = [named["row"].map(frame["group"]).rename("group"), named["aspect"]]
            tables["aspects_by_group"] = shares_by(keys, named, classifier.prior)
    content = Content(frame, predictions, tables, say, explainer, group_by, rater, ratings, other, tally, stars, named)
    write_text(output, report_page(content, title or say["title"], path.name, classifier.bundle, language))
    if tables_to:
        write_tables(Path(tables_to), tables)
    print(f"{path}: {tally.in_words()}", file=sys.stderr)
    return tables


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
        if name in tables:
            write_text(folder / f"{name}.csv", as_csv(tables[name]))
        else:
            (folder / f"{name}.csv").unlink(missing_ok=True)


def read(
    source: File, group_by: Optional[str], date_column: Optional[str], stars_column: Optional[str] = None
) -> tuple[Path, pandas.DataFrame, Optional[Stars]]:
    """Return the path, of each review text and, where asked for, group, date and month, and the table's stars."""
    table = WholeTable(open_file(source))
    path = table.path
    if not table.texts:
        raise DataError(f"{path}: expected reviews, found no row")
    for name in filter(None, (group_by, date_column, stars_column)):
        require_column(table.names, name, path, hint="")
    frame = pandas.DataFrame({"text": table.texts})
    if group_by:
        frame["group"] = [as_text(value).strip() or None for value in cells_of(table.parts, group_by)]
    if date_column:
        frame["date"] = [date_of(value) for value in cells_of(table.parts, date_column)]
        frame["month"] = [date and date[:7] for date in frame["date"]]
        if frame["month"].isna().all():
            print(f"{path}: no date in the column {date_column!r}; there is no figure over time", file=sys.stderr)
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


def count(frame: pandas.DataFrame, predictions: list[Prediction], prior: float, whole: Evidence) -> Tables:
    """Return the report's tables."""
    scored = frame[frame["label"].notna()]
    tables: Tables = {}
    if "sentiment" in scored:
        counts = scored["sentiment"].value_counts().reindex(SENTIMENTS, fill_value=0)
        tables["sentiments"] = pandas.DataFrame({"count": counts, "share": counts / len(scored)})
    if "group" in scored:
        tables["groups"] = shares_by(scored["group"], scored, prior, whole).sort_values("count", ascending=False)
    if "month" in scored:
        tables["months"] = shares_by(scored["month"], scored, prior, whole)
    labelled = [prediction for prediction in predictions if prediction.label]
    texts = list(dict.fromkeys(prediction.text for prediction in labelled))
    words = {text: content_words(text) for text in progress_bar(texts, desc="words", unit=" reviews")}
    lists = [[word for *_, word in words[prediction.text] if word] for prediction in labelled]
    tables["words_by_log_odds"] = distinctive_words(lists, scored["label"])
    table = token_table(labelled, words.__getitem__)
    table = table[table["tag"] != ""].assign(token=table["tag"])
    tables["words_by_attention"] = by_word(table, fewest=max(5, len(labelled) // 500)).rename(columns={"token": "word"})
    tables["reviews"] = pandas.concat(extreme_reviews(frame), names=["kind", "row"])
    return tables


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
    findings = "".join(entry(pair, '<dd lang="ko">') for pair in content.findings())
    links = "".join(link(name, table) for name, table in content.tables.items())
    body = "\n".join(
        [
            f"<header><h1>{html.escape(title)}</h1><p>{html.escape(source)}</p></header><main>",
            *(f'<p class="warning">{html.escape(line)}</p>' for line in content.warnings()),
            f'<dl class="figures">{"".join(map(entry, content.key_figures()))}</dl>{content.sentiments()}',
            f'<dl class="findings">{findings}</dl>',
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


def entry(texts: Sequence[str], start: str = "<dd>") -> str:
    """Return a name and what is said of it, each after a start tag, in a list of these."""
    name, *others = map(html.escape, texts)
    return f"<div><dt>{name}</dt>{''.join(f'{start}{text}</dd>' for text in others)}</div>"


def section_html(section: Section, say: dict[str, str]) -> str:
    key, values = section.key, section.values
    heading, legend = (html.escape(say[name].format(**values)) for name in (key, f"{key}_legend"))
    notes = "".join(entry((say[kind], say[f"{key}_{kind}"])) for kind in ("can", "cannot"))
    reviews = "".join(map(example_list, section.reviews))
    return f'<section><h2>{heading}</h2><p>{legend}</p>{section.chart}{reviews}<dl class="notes">{notes}</dl></section>'


def example_list(group: ExampleList) -> str:
    """Return reviews as plain text, which the page's script replaces by ones with shaded words."""
    items = "".join(f'<li lang="ko">{html.escape(example.attribution.text)}</li>' for example in group.examples)
    shown, heading = f'<ul class="examples">{items or "<li>–</li>"}</ul>', html.escape(group.heading)
    return f"<details><summary>{heading}</summary>{shown}</details>" if group.folded else f"<h3>{heading}</h3>{shown}"


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
