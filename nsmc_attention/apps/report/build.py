"""From a table of reviews to a report: score it, count it, draw it, write the page."""

import html
import json
import math
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, islice
from pathlib import Path
from typing import Any, Optional

import pandas

from ...classifier.domain_shift import domain_shift, domain_warning
from ...classifier.explain import Explainer
from ...classifier.predictor import TEXT, WINDOW, Classifier
from ...classifier.settings import ClassifierBundle
from ...corpora.data import File, open_file
from ...corpora.labelled import WholeTable
from ...corpora.stars import Stars, star_columns, stars_of
from ...errors import ConfigError, DataError, did_you_mean, list_names
from ...machine.files import require_place, write_text
from ...machine.progress import progress_bar
from ...measure.share import Tally
from ...scoring.columns import as_csv
from ...scoring.files import PathLike, row_stream, tally_of
from ...scoring.reference import Row
from ...systems.film.rater import FilmRater, Pools, ReviewReader, rater_of
from ...tables.columns import require_column
from ...tables.parts import cut
from ...views.page import OWN_CHARACTERS, entry, file, filled, font_of, in_base64, in_script, panel, with_words
from ..aspects.aspects import Aspect, AspectReader, by_name
from ..aspects.clauses import placed_morphemes, read_words
from ..words import words_of
from .content import SHOWN, Content, Example, Section, rate_groups
from .statistics import Tables, clearest, count, count_words, dates_of, extreme_reviews

# The csv files of --tables: those of every report, and all
ALWAYS = ("words_by_log_odds", "words_by_attention", "reviews")
TABLES = (*ALWAYS, "sentiments", "groups", "months", "agreement", "aspects", "aspects_by_group")
LANGUAGES = ("ko", "en")
# What is predicted of a text, of one without a label as of a blank one; and what is known of a mention
PREDICTED: dict[str, Any] = {"probability": math.nan, "label": None, "sentiment": None, "expected_stars": math.nan}
MENTION = "row aspect odds label probability start end".split()


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

    Shares are estimated (`measure.share`). `stars_column` has the table's own stars, which lead; None finds it. Groups have
    predicted stars where the film network reads the classifier. DataError if a table cannot be read, lacks a column, or has
    no review with a word; ConfigError if the output is no .html, or the folder for the tables holds other files.
    """
    if Path(output).suffix.lower() != ".html":
        raise ConfigError(f"{output}: expected a page that ends in .html")
    if language not in LANGUAGES:
        raise ConfigError(f"unknown language {language!r}{did_you_mean(language, LANGUAGES)}")
    require_place(Path(output))
    if tables_to:
        check_folder(Path(tables_to))
    words, rater = read_words(aspects_file), rater_of(classifier.bundle, film_bundle) if group_by else None
    table, frame, stars = read(source, group_by, date_column, stars_column)
    path, first = table.path, list(islice(table.cells(table.text_column), WINDOW))
    if warning := domain_warning(classifier, first):
        print(f"{path}: {warning}", file=sys.stderr)
    # the stars and the words of films say nothing of other texts
    rater = None if (unlike := domain_shift(classifier, first)) else rater
    reader = TextReader(classifier, words, bool(rater))
    frame, tally, counts, mentions, pools, shown = read_texts(reader, table, frame, rater)
    del table
    mentions = mentions[:0] if unlike and not words else mentions
    tables = count(frame, shown, counts, mentions, classifier.prior, tally.evidence)
    ratings = rate_groups(rater, pools, tables["groups"]) if rater else None
    say, own = phrases(language), Path(aspects_file).name if aspects_file else None
    explainer, more = Explainer(classifier), (own, group_by, rater, ratings, unlike, stars)
    content = Content(frame, shown, tables, say, explainer, tally, mentions, *more)
    write_text(output, report_page(content, title or say["title"], path.name, classifier.bundle, language))
    if tables_to:
        write_tables(Path(tables_to), tables)
    print(f"{path}: {tally.in_words()}", file=sys.stderr)
    return tables


@dataclass(frozen=True)
class TextReader(AspectReader):
    """Reads of texts what a report counts, small enough to come from a worker process; for `films` their vectors too."""

    films: bool = False

    @cached_property
    def review_reader(self) -> ReviewReader:
        return ReviewReader(self.scorer.bundle, threads=1)

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return one row of all texts: the clean ones, PREDICTED, MENTION, their `count_words`, and their vectors."""
        scorer, reviews = self.scorer, self.scorer.encoder.encode_many([*texts])
        probabilities, weights, said = scorer.score.read(reviews, scorer.heads)
        labelled = scorer.labels_of(reviews, probabilities)
        predicted = [
            (probability, label, sentiment or "no_opinion", stars or math.nan) if label else (*PREDICTED.values(),)
            for (label, _, probability, _), (sentiment, stars) in zip(labelled, scorer.sentiments(labelled, said))
        ]
        placed = [placed_morphemes(review.text) for review in reviews]
        read = zip(predicted, reviews, placed, weights)
        words = count_words((label, *words_of(*each)) for (_, label, *_), *each in read if label)
        judged = self.read(reviews, placed) if Explainer(scorer).has_contributions else []
        mentions = [(row, *each) for row, found in enumerate(judged) for each in mentions_of(found)]
        vectors = self.review_reader.read(reviews) if self.films else None
        return [([review.text for review in reviews], predicted, mentions, words, vectors)]


def mentions_of(judged: Sequence[tuple[Aspect, float]]) -> Iterator[Row]:
    """Yield each aspect, its odds, label (None: undecided) and probability, and the place of its clearest clause."""
    for name, odds in {**by_name(judged, decided=False), **by_name(judged)}.items():
        best, _ = max((pair for pair in judged if pair[0].name == name), key=lambda pair: pair[1] * odds)
        yield name, odds, best.label, (1 + math.tanh(odds / 2)) / 2, best.start, best.end


def read_texts(
    reader: TextReader, table: WholeTable, frame: pandas.DataFrame, rater: Optional[FilmRater] = None
) -> tuple[pandas.DataFrame, Tally, pandas.DataFrame, pandas.DataFrame, Pools, pandas.DataFrame]:
    """Return the rows with a label, with PREDICTED, and what is counted; say how far it is where no terminal shows a bar.

    The last are rows that may be examples, with their clean texts: a million texts are more than the rest of a report.
    """
    tally, words, pools, said = Tally(), pandas.DataFrame(), Pools(), time.monotonic()
    mentions, shown, processes = list[pandas.DataFrame](), list[pandas.DataFrame](), 1 if len(frame) <= WINDOW else None
    frame = frame.assign(**(blank := dict(islice(PREDICTED.items(), 4 if reader.scorer.heads else 2))))
    windows = cut(table.cells(table.text_column), WINDOW, sys.getsizeof, TEXT)
    with progress_bar(total=len(frame), desc="scoring", unit=" reviews") as bar:
        for few, ((texts, predicted, named, counts, vectors),) in row_stream(reader, windows, processes):
            index, before = frame.index[tally.rows : tally.rows + len(few)], tally.rows
            frame.loc[index, [*blank]] = pandas.DataFrame(predicted, index, [*PREDICTED])[[*blank]]
            mentions.append(pandas.DataFrame([(k + before, *each) for k, *each in named], columns=MENTION))
            rows = pandas.concat([pandas.Series(texts, index, name="text"), frame.loc[index]], axis="columns")
            extreme = pandas.concat(extreme_reviews(rows)).index.get_level_values(1)
            shown.append(rows.loc[sorted({*extreme, *clearest(mentions[-1])["row"]})])
            groups = rows.get("group", rows["label"]).where(rows["label"].notna())
            mentions[-1]["group"] = groups.to_numpy()[mentions[-1]["row"].astype(int) - before]
            tally += tally_of(reader.scorer, texts, [*rows["probability"]], before=before)
            words = pandas.concat([words, counts]).groupby(level=0, sort=False).sum()
            if rater:
                known = groups.notna()
                rater.add(pools, [*groups[known]], [*rows["text"][known]], vectors[known], SHOWN)
            bar.update(len(few))
            if not sys.stderr.isatty() and time.monotonic() - said > 10:
                print(f"{table.path}: {tally.rows:,} of {len(frame):,} reviews read", file=sys.stderr, flush=True)
                said = time.monotonic()
    if not tally.labels:
        raise DataError(f"{table.path}: expected reviews, found none with a word")
    frame = frame[frame["label"].notna()]
    return frame, tally, words, pandas.concat(mentions, ignore_index=True), pools, pandas.concat(shown)


def check_folder(folder: Path) -> None:
    """Refuse a folder unless it is new, empty, or holds only the tables of a report."""
    present = {path.stem for path in folder.glob("*")}
    if folder.is_file() or (present and not set(ALWAYS) <= present <= set(TABLES)):
        raise ConfigError(f"{folder}: expected a new or empty folder, or the tables of a report; name another --tables")
    if not folder.exists():
        require_place(folder)


def write_tables(folder: Path, tables: Tables) -> None:
    """Write the tables as csv into a folder, and remove those that an earlier report left and this one does not have."""
    folder.mkdir(exist_ok=True)
    for name in TABLES:
        (folder / f"{name}.csv").unlink(missing_ok=True)
    for name, table in tables.items():
        write_text(folder / f"{name}.csv", as_csv(table))


def read(source: File, *columns: Optional[str]) -> tuple[WholeTable, pandas.DataFrame, Optional[Stars]]:
    """Return a table, the group, date and month of each of its rows, by their columns, and its stars."""
    table, (group_by, date_column, stars_column) = WholeTable(open_file(source)), columns
    path, frame = table.path, pandas.DataFrame(index=range(len(table.written)))
    if not table.written:
        raise DataError(f"{path}: expected reviews, found no row")
    for name in filter(None, columns):
        require_column(table.names, name, path, hint="")
    if group_by:
        frame["group"] = [sys.intern(cell.strip()) or None for cell in table.cells(group_by)]
    if date_column:
        frame["date"] = dates_of(table.cells(date_column))
        frame["month"] = frame["date"].map({date: date[:7] for date in frame["date"].dropna().unique()})
        unread = frame["date"].isna().tolist()
        if undated := [*compress(table.cells(date_column), map(all, zip(unread, table.written)))]:
            found = f"{len(undated):,} of {sum(table.written):,} rows have no date that can be read"
            found += f", as {next(filter(str.strip, undated), '')[:20]!r}; they are not in the figure over time"
            print(f"{path}: column {date_column}: {found}", file=sys.stderr)
    if stars := own_stars(table, (group_by, date_column), stars_column):
        frame = frame.join(pandas.DataFrame({"stars": stars.numbers, "star_label": stars.labels}, dtype="float64"))
    return table, frame, stars


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
    files = ((name, in_base64(as_csv(table).encode(errors="replace"))) for name, table in content.tables.items())
    links = "".join(f'<a download="{name}.csv" href="data:text/csv;base64,{csv}">{name}.csv</a>' for name, csv in files)
    body = "\n".join(
        [
            f"<header><h1>{html.escape(title)}</h1><p>{html.escape(source)}</p></header><main>",
            f'<p class="warning">{html.escape(say["unlike"].format(**vars(unlike)))}</p>' if unlike else "",
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
