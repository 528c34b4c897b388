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

from ...classifier.domain_shift import MOST_TEXTS, domain_shift, domain_warning
from ...classifier.explain import Explainer
from ...classifier.predictor import WINDOW, WINDOW_BYTES, Classifier
from ...classifier.settings import LABELS, ClassifierBundle
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
from ...tables.writers import encodable
from ...views.page import SCRIPT_CHARACTERS, entry, file, filled, font_of, in_base64, in_script, panel, with_words
from ..aspects.aspects import Aspect, AspectReader, by_name
from ..aspects.clauses import placed_morphemes, read_words
from ..words import words_of
from .content import SHOWN, Content, Example, Section, rate_groups
from .statistics import SENTIMENTS, Tables, clearest, count, count_words, dates_of, extreme_reviews

# The csv files of --tables: those of every report, and all
ALWAYS = ("words_by_log_odds", "words_by_attention", "reviews")
TABLES = (*ALWAYS, "sentiments", "groups", "months", "agreement", "aspects", "aspects_by_group")
LANGUAGES = ("ko", "en")
# What is predicted of a text with a label, the last two where the classifier has heads, and what is known of a mention
LABEL, SENTIMENT = map(pandas.CategoricalDtype, (LABELS, SENTIMENTS))
PREDICTED = {"probability": "f8", "label": LABEL, "sentiment": SENTIMENT, "expected_stars": "f8"}
MENTION = {"row": "int32", "start": "int32", "end": "int32", "odds": "f8", "label": LABEL, "probability": "f8"}


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
    # from all parts of the table, which may be sorted
    path, sample = table.path, [*islice(table.cells(table.text_column), 0, None, 1 + len(frame) // MOST_TEXTS)]
    if warning := domain_warning(classifier, sample):
        print(f"{path}: {warning}", file=sys.stderr)
    # the stars and the words of films say nothing of other texts
    rater = None if (unlike := domain_shift(classifier, sample)) else rater
    reader = TextReader(classifier, words, bool(rater))
    frame, tally, counts, mentions, pools, shown = read_texts(reader, table, frame, rater)
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
    """Reads of texts what a report counts, small enough to come from a worker; for `films` their vectors too."""

    films: bool = False

    @cached_property
    def review_reader(self) -> ReviewReader:
        return ReviewReader(self.scorer.bundle, threads=1)

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return one row of all texts: the clean texts, frames of PREDICTED and MENTION, `count_words`, vectors."""
        scorer, reviews = self.scorer, self.scorer.encoder.encode_many([*texts])
        probabilities, weights, figures = scorer.score.read(reviews, scorer.heads)
        labelled = scorer.labels_of(reviews, probabilities)
        predicted = [
            (probability, label, sentiment or "no_opinion", stars) if label else (None,) * len(PREDICTED)
            for (label, _, probability, _), (sentiment, stars) in zip(labelled, scorer.sentiments(labelled, figures))
        ]
        placed = [placed_morphemes(review.text) for review in reviews]
        read = zip(predicted, reviews, placed, weights)
        words = count_words((label, *words_of(*each)) for (_, label, *_), *each in read if label)
        judged = self.read(reviews, placed) if Explainer(scorer).has_contributions else []
        mentions = [(row, *each) for row, found in enumerate(judged) for each in mentions_of(found)]
        types = {**MENTION, "aspect": pandas.CategoricalDtype(sorted(self.added))}
        vectors = self.review_reader.read(reviews) if self.films else None
        said = pandas.DataFrame(predicted, columns=[*PREDICTED]).astype(PREDICTED).iloc[:, : 4 if scorer.heads else 2]
        said.insert(0, "text", [review.text for review in reviews])
        return [(said, pandas.DataFrame(mentions, columns=[*types]).astype(types), words, vectors)]


def mentions_of(judged: Sequence[tuple[Aspect, float]]) -> Iterator[Row]:
    """Yield the place, odds, label (None: undecided) and probability of each aspect's clearest clause, and its name."""
    for name, odds in {**by_name(judged, decided=False), **by_name(judged)}.items():
        best, _ = max((pair for pair in judged if pair[0].name == name), key=lambda pair: pair[1] * odds)
        yield best.start, best.end, odds, best.label, (1 + math.tanh(odds / 2)) / 2, name


def read_texts(
    reader: TextReader, table: WholeTable, frame: pandas.DataFrame, rater: Optional[FilmRater]
) -> tuple[pandas.DataFrame, Tally, pandas.DataFrame, pandas.DataFrame, Pools, pandas.DataFrame]:
    """Fill a frame with PREDICTED; return its rows with a label, counts of all texts, and those that may be shown."""
    tally, words, pools, kept = Tally(), pandas.DataFrame(), Pools(), [*PREDICTED][: 3 if reader.scorer.heads else 2]
    mentions, shown = list[pandas.DataFrame](), list[pandas.DataFrame]()
    frame[kept] = pandas.DataFrame(index=frame.index, columns=kept).astype({name: PREDICTED[name] for name in kept})
    for said, judged, counts, vectors in windows_read(reader, table):
        said.index, judged["row"] = said.index + tally.rows, judged["row"] + tally.rows
        frame.loc[said.index, kept] = said[kept]
        rows = said[["text"]].join([frame.loc[said.index], said.filter(["expected_stars"])])
        mentions.append(judged.join(rows.dropna(subset=["label"]).filter(["group"]), on="row"))
        extreme = pandas.concat(extreme_reviews(rows)).index.levels[1]
        shown.append(rows.loc[extreme.union(clearest(judged)["row"].unique())])
        tally += tally_of(reader.scorer, [*said["text"]], [*said["probability"]], before=tally.rows)
        words = pandas.concat([words, counts]).groupby(level=0, sort=False).sum()
        if rater:
            named = rows.dropna(subset=["label", "group"])
            rater.add(pools, [*named["group"]], [*named["text"]], vectors[named.index - rows.index[0]], SHOWN)
    if not tally.labels:
        raise DataError(f"{table.path}: expected reviews, found none with a word")
    frame = frame.dropna(subset=["label"], ignore_index=True)
    return frame, tally, words, pandas.concat(mentions, ignore_index=True), pools, pandas.concat(shown)


def windows_read(reader: TextReader, table: WholeTable) -> Iterator[Row]:
    """Yield what the reader finds in each window of texts; say how far it is where no terminal shows a bar."""
    total, done, last_line = len(table.written), 0, time.monotonic()
    windows = cut(table.cells(table.text_column, last=True), WINDOW, sys.getsizeof, WINDOW_BYTES)
    with progress_bar(total=total, desc="scoring", unit=" reviews") as bar:
        for few, (found,) in row_stream(reader, windows, 1 if total <= WINDOW else None):
            yield found
            bar.update(len(few))
            done += len(few)
            if not sys.stderr.isatty() and time.monotonic() - last_line > 10:
                print(f"{table.path}: {done:,} of {total:,} reviews read", file=sys.stderr, flush=True)
                last_line = time.monotonic()


def check_folder(folder: Path) -> None:
    """Refuse a folder unless it is new, empty, or holds only the tables of a report."""
    present = {path.stem for path in folder.glob("*")}
    if folder.is_file() or (present and not set(ALWAYS) <= present <= set(TABLES)):
        raise ConfigError(f"{folder}: expected a new or empty folder, or the tables of a report; name another --tables")
    if not folder.exists():
        require_place(folder)


def write_tables(folder: Path, tables: Tables) -> None:
    """Write the tables as csv into a folder, and remove those of an earlier report that this one does not have."""
    folder.mkdir(exist_ok=True)
    for name in TABLES:
        (folder / f"{name}.csv").unlink(missing_ok=True)
    for name, table in tables.items():
        write_text(folder / f"{name}.csv", as_csv(table))


def read(source: File, *columns: Optional[str]) -> tuple[WholeTable, pandas.DataFrame, Optional[Stars]]:
    """Return a table, the group, date and month of each of its rows, by their columns, and its stars."""
    table, (group_by, date_column, stars_column) = WholeTable(open_file(source)), columns
    path, frame = table.path, pandas.DataFrame(index=range(len(table.written)))
    for name in filter(None, columns):
        require_column(table.names, name, path, hint="")
    if group_by:
        names = map(encodable, map(str.strip, table.cells(group_by)))
        frame["group"] = pandas.Categorical([sys.intern(name) or None for name in names])
    if date_column:
        frame["date"] = dates_of(map(sys.intern, table.cells(date_column)))
        frame["month"] = frame["date"].str[:7].astype("category")
        if undated := [*compress(table.cells(date_column), frame["date"].isna() & table.written)]:
            found = f"{len(undated):,} of {sum(table.written):,} rows have no date that can be read"
            found += "".join(f", as {cell[:20]!r}" for cell in islice(filter(str.strip, undated), 1))
            print(f"{path}: column {date_column}: {found}; they are not in the figure over time", file=sys.stderr)
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
    pairs = json.loads(file("phrases.json", __package__)).items()
    return {key: texts[language].replace(" %", "\u00a0%") for key, texts in pairs}


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
            "</ul></section>",
        ]
    )
    lists = [examples for section in sections for examples in section.reviews.values()]
    data = in_script([[in_language(example, say) for example in examples] for examples in lists])
    font = in_base64(font_of(SCRIPT_CHARACTERS + body + data + say["tables"]))
    head = {"LANGUAGE": language, "TITLE": html.escape(title), "FONT_AS_BASE64": font, "REVIEWS_AS_JSON": data}
    return filled(with_words(file("report.html", __package__)), **head, BODY=body, TABLES=say["tables"], LINKS=links)


def section_html(section: Section, say: dict[str, str]) -> str:
    key, values = section.key, section.values
    heading, legend = (html.escape(say[name].format(**values)) for name in (key, f"{key}_legend"))
    notes = "".join(entry((say[kind], say[f"{key}_{kind}"])) for kind in ("can", "cannot"))
    lists = (example_list(heading, examples, key != "reviews") for heading, examples in section.reviews.items())
    body = f'{section.chart}{"".join(lists)}<dl class="notes">{notes}</dl>'
    return f"<section><h2>{heading}</h2><p>{legend}</p>{body}</section>"


def example_list(heading: str, examples: Sequence[Example], folded: bool) -> str:
    """Return reviews as plain text, which the page's script replaces by one with shaded words; `folded`: to unfold."""
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
