"""From a table of reviews to a report: score it, count it, draw it, write the page."""

import sys
from pathlib import Path
from typing import Iterator, Optional, Union

import numpy
import pandas

from .._io.atomic import refuse_links, require_place, vacant, write_text
from .._io.spreadsheets import as_csv
from .._runtime.progress import progress_bar
from ..classification.attribution import Attribution
from ..classification.layout import LAYOUT
from ..classification.prediction import Prediction
from ..classification.predictor import Classifier
from ..errors import ConfigError, DataError, did_you_mean, listed
from ..evaluation.attention_statistics import by_word, token_table
from ..films.rater import rater_of
from ..reviews.pieces import STDIN
from ..reviews.tables import as_text, open_table, require_column
from ..text.tokenizers import content_words
from ..version import __version__
from .charts import bars, histogram, interval_columns, interval_rows, pair
from .films import FilmSection, films_section, rate_groups
from .page import Example, ExampleList, Figure, Report, Section, report_page
from .phrases import LANGUAGES, phrases
from .statistics import ORDERS, Z95, date_of, distinctive_words, extreme_reviews, share, shares_by

# The csv files of --tables: those of every report, and all
ALWAYS = ("words_by_log_odds", "words_by_attention", "reviews")
TABLES = (*ALWAYS, "groups", "months")
# Groups and words of a figure; the tables have all. More months than these are drawn as years
GROUPS, WORDS, MONTHS, BINS = 20, 12, 48, 20
PathLike = Union[str, Path]
Tables = dict[str, pandas.DataFrame]


def report(
    classifier: Classifier,
    source: PathLike,
    output: PathLike,
    group_by: Optional[str] = None,
    date_column: Optional[str] = None,
    text_column: Optional[str] = None,
    tables_to: Optional[PathLike] = None,
    kind: Optional[str] = None,
    encoding: Optional[str] = None,
    title: Optional[str] = None,
    language: str = "ko",
    date_format: str = "ymd",
    film_bundle: Optional[PathLike] = None,
    sheet: Optional[str] = None,
) -> Tables:
    """Write the report of a table of reviews as an .html page, whole or not at all; return its tables by name.

    See `reviews.tables.open_table` for source, text_column, kind, encoding and sheet. Shares are by group and by month where
    `group_by` and `date_column` name columns; `tables_to` is a folder for the tables as csv, which the page offers too.
    Groups have stars by a film network, see `films.rater.rater_of`; None is the packaged one.
    `language` is ko or en, also where `title` is None; `date_format` is the order of numeric dates: ymd, dmy or mdy.
    DataError if the table cannot be read, lacks a column, has dates of another order, or no review with a word;
    ConfigError if the output is no .html, language or date format is unknown, or the folder for the tables holds other
    files.
    """
    if Path(output).suffix.lower() != ".html":
        raise ConfigError(f"{output}: expected a page that ends in .html")
    for name, value, known in (("language", language, LANGUAGES), ("date format", date_format, ORDERS)):
        if value not in known:
            raise ConfigError(f"unknown {name} {value!r}{did_you_mean(value, known)}")
    require_place(Path(output))
    if tables_to:
        check_folder(Path(tables_to))
    rater = rater_of(classifier.bundle, film_bundle) if group_by else None
    frame = read(source, text_column, group_by, date_column, kind, encoding, date_format, sheet)
    stream = classifier.predict_stream(frame["text"])
    bar = progress_bar(stream, total=len(frame), desc="scoring", unit=" reviews")
    # averaged: the weights of all reviews would be gigabytes
    predictions = [each.averaged() for each in bar]
    frame["probability"] = [each.probability for each in predictions]
    frame["label"] = [each.label for each in predictions]
    if frame["label"].notna().sum() < 1:
        raise DataError(f"{source}: expected reviews, found none with a word")
    tables, say = count(frame, predictions), phrases(language)
    films = rate_groups(rater, frame, tables["groups"], GROUPS) if rater else None
    content = Report(
        title or say["title"],
        str(STDIN) if str(source) == "-" else Path(source).name,
        key_figures(frame, tables, group_by, say),
        findings(tables, say),
        [
            *sections(frame[frame["label"].notna()], tables, group_by, films, say),
            Section("reviews", "", reviews=example_reviews(tables, predictions, say)),
        ],
        remarks(frame, tables, classifier, group_by, films, say),
    )
    write_text(output, report_page(content, tables, language, say))
    if tables_to:
        write_tables(Path(tables_to), tables)
    return tables


def check_folder(folder: Path) -> None:
    """Refuse a folder unless it is new, empty, or holds only the tables of a report."""
    if not folder.exists():
        # a dangling link "exists" to nobody and can be neither read nor made
        refuse_links([folder])
        require_place(folder)
        return
    own, always = ({f"{name}.csv" for name in names} for names in (TABLES, ALWAYS))
    present = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
    if not vacant(folder) and not always <= present <= own:
        raise ConfigError(
            f"{folder}: expected a new or empty folder for the tables, or those of a report, found "
            f"{listed(sorted(present))}; name another --tables"
        )
    refuse_links(folder.iterdir())


def write_tables(folder: Path, tables: Tables) -> None:
    folder.mkdir(exist_ok=True)
    for name in TABLES:
        if name in tables:
            write_text(folder / f"{name}.csv", as_csv(tables[name]))
        else:
            (folder / f"{name}.csv").unlink(missing_ok=True)


def read(
    source: PathLike,
    text_column: Optional[str],
    group_by: Optional[str],
    date_column: Optional[str],
    kind: Optional[str] = None,
    encoding: Optional[str] = None,
    date_format: str = "ymd",
    sheet: Optional[str] = None,
) -> pandas.DataFrame:
    """Return text and, where asked for, group, date and month of each review."""
    parts, missing = [], set(filter(None, (group_by, date_column)))
    table = open_table(source, text_column, kind=kind, encoding=encoding, sheet=sheet)
    for frame in table.frames:
        missing -= set(frame.columns)
        kept = pandas.DataFrame({"text": [as_text(value) for value in frame[table.text_column]]})
        # the first rows of jsonl may lack a column
        absent = [None] * len(frame)
        if group_by:
            kept["group"] = [as_text(value).strip() or None for value in frame.get(group_by, absent)]
        if date_column:
            where = f"{source}: column {date_column!r}"
            kept["date"] = [date_of(value, date_format, where) for value in frame.get(date_column, absent)]
            kept["month"] = [date and date[:7] for date in kept["date"]]
        parts.append(kept)
    if not parts:
        raise DataError(f"{source}: expected reviews, found no row")
    for name in missing:
        require_column(frame, name, source, hint="")
    frame = pandas.concat(parts, ignore_index=True)
    if date_column and frame["month"].isna().all():
        print(f"{source}: no date in the column {date_column!r}; there is no figure over time", file=sys.stderr)
    return frame


def count(frame: pandas.DataFrame, predictions: list[Prediction]) -> Tables:
    """Return the report's tables."""
    scored = frame[frame["label"].notna()]
    tables: Tables = {}
    if "group" in scored:
        tables["groups"] = shares_by(scored["group"], scored["label"]).sort_values("count", ascending=False)
    if "month" in scored:
        tables["months"] = shares_by(scored["month"], scored["label"])
    labelled = [each for each in predictions if each.label]
    words = {each.text: content_words(each.text) for each in labelled}
    lists = [[word for *_, word in words[each.text] if word] for each in labelled]
    tables["words_by_log_odds"] = distinctive_words(lists, scored["label"])
    table = token_table(labelled, words.__getitem__)
    table = table[table["tag"] != ""].assign(token=table["tag"])
    weights = by_word(table, fewest=max(5, len(labelled) // 500))
    tables["words_by_attention"] = weights.rename(columns={"token": "word"})
    chosen = {kind: frame.loc[places] for kind, places in extreme_reviews(frame["probability"]).items()}
    tables["reviews"] = pandas.concat(chosen, names=["kind", "row"])
    return tables


def praise_and_blame(tables: Tables, count: int) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Return the clearest words of either side."""
    words = tables["words_by_log_odds"]
    return words[words["z"] > 0].head(count), words[words["z"] < 0].tail(count)[::-1]


def key_figures(frame: pandas.DataFrame, tables: Tables, group_by: Optional[str], say: dict[str, str]) -> list[Figure]:
    label = frame["label"].dropna()
    positive = int((label == "positive").sum())
    percent = {name: 100 * value for name, value in share(positive, len(label)).items()}
    figures = [
        Figure(say["key_share"], f"{percent['share']:.1f} %", say["key_interval"].format(**percent)),
        Figure(say["key_count"], f"{len(label):,}", say["key_positive"].format(count=positive)),
    ]
    if "groups" in tables:
        far = say["key_outliers"].format(count=int(tables["groups"]["outlier"].sum()))
        figures.append(Figure(say["key_groups"].format(name=group_by), f"{len(tables['groups']):,}", far))
    if len(tables.get("months", ())):
        months = tables["months"].index
        period = "–".join(dict.fromkeys(month.replace("-", ".") for month in (months[0], months[-1])))
        figures.append(Figure(say["key_period"], period, say["key_months"].format(count=len(months))))
    return figures


def findings(tables: Tables, say: dict[str, str]) -> list[tuple[str, str]]:
    """Return the lines at the page's head: groups and words that differ by more than chance."""
    lines = []
    if "groups" in tables:
        far = tables["groups"][tables["groups"]["outlier"]].sort_values("share", ascending=False)
        whole = tables["groups"]["positive"].sum() / max(1, tables["groups"]["count"].sum())
        above, below = far[far["share"] > whole], far[far["share"] < whole][::-1]
        lines += [("found_above", shares_in_words(above)), ("found_below", shares_in_words(below))]
    clear = (words[words["z"].abs() >= Z95] for words in praise_and_blame(tables, 5))
    praise, blame = (", ".join(words["word"]) for words in clear)
    lines += [("found_praise", praise), ("found_blame", blame)]
    return [(say[key], text) for key, text in lines if text]


def shares_in_words(rows: pandas.DataFrame) -> str:
    return ", ".join(f"{name}\u00a0({100 * value:.0f}\u00a0%)" for name, value in rows["share"].head(5).items())


def sections(
    scored: pandas.DataFrame, tables: Tables, group_by: Optional[str], films: Optional[FilmSection], say: dict[str, str]
) -> list[Section]:
    """Return the figures of the page."""
    whole = float((scored["label"] == "positive").mean())
    drawn = []
    if len(tables.get("groups", ())):
        rows = tables["groups"].head(GROUPS).sort_values("share", ascending=False)
        values = {"name": group_by, "whole": 100 * whole, "shown": len(rows)}
        drawn.append(Section("groups", interval_rows(rows, whole), values))
        drawn += [films_section(films, tables["groups"], str(group_by), say)] if films else []
    if len(tables.get("months", ())):
        months = tables["months"]
        # otherwise each has few reviews and a wide interval
        rows = months if len(months) <= MONTHS else shares_by(scored["month"].dropna().str[:4], scored["label"])
        drawn.append(Section("times", interval_columns(rows, whole, say["times"]), {"whole": 100 * whole}))
    # few reviews have few words of which anything can be said
    most = min(WORDS, 2 + len(scored) // 20)
    drawn.append(Section("words", pair(*words_of(tables, most, say))))
    drawn.append(Section("attention", pair(*attended_words(tables, most, say))))
    counts, _ = numpy.histogram(scored["probability"].astype(float), BINS, (0, 1))
    chart = f'<div class="bins">{histogram(counts.tolist(), say["certainty"])}</div>'
    return [*drawn, Section("certainty", chart, {"top": int(counts.max())})]


def words_of(tables: Tables, most: int, say: dict[str, str]) -> Iterator[str]:
    for side, words in zip(("praise", "blame"), praise_and_blame(tables, most)):
        items = [
            (
                each.word,
                abs(each.z),
                f"{say['positive']} {each.positive:,} · {say['negative']} {each.negative:,}",
                side if abs(each.z) >= Z95 else f"{side} pale",
            )
            for each in words.itertuples()
        ]
        yield bars(say[side], items)


def attended_words(tables: Tables, most: int, say: dict[str, str]) -> Iterator[str]:
    weights = tables["words_by_attention"]
    for label in ("positive", "negative"):
        rows = weights[weights["label"] == label].head(most)
        items = [
            (each.word, each.weight, say["times_average"].format(weight=each.weight, count=each.count), "plain")
            for each in rows.itertuples(index=False, name="Word")
        ]
        yield bars(say[f"attention_{label}"], items)


def example_reviews(tables: Tables, predictions: list[Prediction], say: dict[str, str]) -> list[ExampleList]:
    """Return the most positive, negative and uncertain reviews, each with its group and date."""
    examples: dict[str, list[Example]] = {kind: [] for kind in ("positive", "negative", "uncertain")}
    for (kind, row), review in tables["reviews"].iterrows():
        values = predictions[row].token_weights.astype("float64")
        origin = " · ".join(review[name] for name in ("group", "date") if review.get(name))
        examples[kind].append(Example(Attribution(predictions[row], values, "attention"), origin))
    return [ExampleList(say[f"most_{kind}"], reviews) for kind, reviews in examples.items()]


def remarks(
    frame: pandas.DataFrame,
    tables: Tables,
    classifier: Classifier,
    group_by: Optional[str],
    films: Optional[FilmSection],
    say: dict[str, str],
) -> list[str]:
    """Return how the figures came about: what was left out, what the model and the intervals are."""
    lines = [say["method_model"].format(version=__version__, bundle=classifier.bundle.name)]
    test = classifier.bundle.manifest["metrics"].get("test", {})
    if isinstance(test.get("accuracy"), float) and test.get("data") == "nsmc":
        lines.append(say["method_accuracy"].format(accuracy=100 * test["accuracy"]))
    blank = int(frame["label"].isna().sum())
    undated = int(frame["month"].isna().sum()) if "months" in tables else 0
    nameless = int(frame["group"].isna().sum()) if group_by else 0
    counts = {"left_out": blank, "undated": undated, "nameless": nameless}
    left_out = [say[key].format(count=count, name=group_by) for key, count in counts.items() if count]
    if group_by and not films:
        left_out.append(say["films_other"].format(classifier=LAYOUT.packaged[0].name))
    return [*lines, say["method_intervals"], say["method_viewers"], *left_out]
