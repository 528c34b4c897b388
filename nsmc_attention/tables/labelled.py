"""The labelled rows of a table: its column of labels or stars is found, and what is neither is left out and counted.

    Labelled -> LabelColumn -> labels or stars (`labels`, `stars`) -> LabelledRows, with what is left out and why

A column that is named wins, then one whose name is known, then one whose cells are labels or stars. `load_reviews` is for
training and evaluation, `labelled_rows` for adapting, where a text counts once.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Optional, Union

import pandas

from ..errors import ColumnError, ConfigError, DataError, list_names, nearest
from ..text.encoding import clean
from . import labels, nsmc, stars
from .columns import find_column, require_column
from .corpus import Reviews, read_bytes, sha256
from .data import Labelled, cell_in, row_number
from .sources import announce, find_source
from .tables import as_text, cells_of

Columns = Mapping[str, Sequence[str]]
FOUND = ", which was found by its cells"
ADVICE = "name the column of labels or stars by --label-column or --stars-column"
EXPECTED = "expected a column of labels or stars, as label, sentiment, 라벨, stars, rating or 별점"


@dataclass(frozen=True)
class LabelledRows:
    """Reviews with labels; {why: how many rows are left out}; and `notes`, which columns were taken."""

    reviews: Reviews
    left_out: dict[str, int]
    notes: list[str]

    def in_words(self) -> list[str]:
        left_out = ", ".join(
            f"{count:,} {reason.replace('_', ' ')}" for reason, count in self.left_out.items() if count
        )
        return [*([f"left out: {left_out}"] if left_out else []), *self.notes]


@dataclass(frozen=True)
class LabelColumn:
    """The column that is taken: whether it has stars, and how it was found, "" where it was named or has a known name."""

    name: str
    of_stars: bool
    how: str = ""


def load_reviews(
    data: Union[str, Path],
    part: str = "test",
    data_dir: Optional[Union[str, Path]] = None,
    text_column: Optional[str] = None,
    label_column: Optional[str] = None,
    encoding: Optional[str] = None,
    positive: Optional[str] = None,
    sheet: Optional[str] = None,
    kind: Optional[str] = None,
    header: Optional[str] = None,
    stars_column: Optional[str] = None,
) -> Reviews:
    """Load labelled reviews: the `part` "train" or "test" of "nsmc" or "sample", or a file.

    Columns that are not named are found; `positive` is the positive label where it is not known by itself. Rows without a
    label, and neutral ones, are left out, which is said on stderr. A file with the NSMC header is read by the strict reader
    of `nsmc`. DataError as `tables.open_table`, and for other labels, with their row; ConfigError for other columns of
    NSMC's.
    """
    named = {"label_column": label_column, "stars_column": stars_column, "positive": positive}
    return read_reviews(Labelled(data, data_dir, text_column, encoding, sheet, kind, header, **named), part)


def read_reviews(source: Labelled, part: str) -> Reviews:
    """Return the reviews of a file, or of the part "train" or "test" of a corpus, as `load_reviews` does."""
    if source.data in nsmc.CORPORA:
        nsmc.refuse_options(source)
        return nsmc.load(str(source.data), part, source.data_dir)
    path = Path(source.data)
    if not path.is_file():
        raise DataError(
            f"{path}: {'is a folder' if path.is_dir() else 'no such file' + nearest(str(path), nsmc.CORPORA)}"
        )
    file = find_source(path, source.kind, source.encoding, source.sheet, source.header)
    if file.kind == "nsmc":
        announce(file)
        nsmc.refuse_options(source)
        return nsmc.read(path, encoding=file.encoding)
    rows = labelled_rows(replace(source, source=file))
    for line in rows.in_words():
        print(f"{path}: {line}", file=sys.stderr)
    return rows.reviews


def labelled_rows(source: Labelled, once: bool = False) -> LabelledRows:
    """Return the rows with a label that is not neutral, or stars not in the middle; `once` only with text, each text once."""
    table, path = source.open(), Path(source.data)
    parts = list(table.parts)
    names = dict.fromkeys(chain.from_iterable(parts))
    require_column(names, table.text_column, path)
    columns = {name: list(map(as_text, cells_of(parts, name))) for name in names}
    texts = columns.pop(table.text_column)
    if not texts:
        raise DataError(f"{path}: the file has no reviews")
    choice = choose(columns, source, path)
    cells = stars.of_reviews(columns[choice.name], texts)
    numbers, blank, note = read_cells(cells, choice, source)
    kind, middle = ("stars", "of_middle_stars") if choice.of_stars else ("label", "neutral")
    left_out = {"without_a_label": blank, middle: numbers.count(None) - blank}
    frame = pandas.DataFrame({"row": map(row_number, range(len(texts))), "document": texts, "label": numbers})
    kept = frame = frame[frame["label"].notna()].astype({"label": int})
    if once:
        written = frame[frame["document"].map(clean) != ""]
        kept = written.drop_duplicates("document")
        left_out |= {"without_text": len(frame) - len(written), "repeated": len(written) - len(kept)}
    if kept.empty:
        raise DataError(f"{path}: expected {kind} in column {choice.name}, found none with text; fill it, or {ADVICE}")
    given = {name: getattr(source, name) for name in ("positive", "encoding", "sheet", "header")}
    taken = {"text": table.text_column, kind: choice.name, **given}
    taken = {name: value for name, value in taken.items() if value is not None}
    return LabelledRows(
        Reviews(kept.reset_index(drop=True), path.name, sha256(read_bytes(path)), taken), left_out, note
    )


def choose(columns: Columns, source: Labelled, path: Path) -> LabelColumn:
    """Return the column that has the labels or stars; DataError, with what to do, where that is not clear."""
    if source.label_column is not None and source.stars_column is not None:
        found = f"{source.label_column!r} and {source.stars_column!r}"
        raise ConfigError(f"{path}: expected a column of labels or one of stars, found {found}; leave one of them out")
    for kind, name in (("label", source.label_column), ("stars", source.stars_column)):
        if name is not None:
            hint = f"; name the one of the {kind} by {kind}_column (--{kind}-column)"
            return LabelColumn(find_column(columns, name, path, hint=hint), kind == "stars")
    for names, of_stars, how in candidates(columns):
        if len(names) > 1:
            kind, option = ("stars", "stars") if of_stars else ("labels", "label")
            advice = f"choose by {option}_column (--{option}-column {names[0]!r})"
            raise ColumnError(f"{path}: expected one column of {kind}, found {list_names(names)}; {advice}", columns)
        if names:
            return LabelColumn(names[0], of_stars, how)
    raise ColumnError(f"{path}: {EXPECTED}, found {list_names(columns)}; {ADVICE}", columns)


def candidates(columns: Columns) -> Iterator[tuple[list[str], bool, str]]:
    """Yield (columns that may be the one, whether they have stars, how they were found), the surest first."""
    plain = {name: stars.plain_name(name) for name in columns}
    called = [name for name in columns if plain[name] in labels.NAMES]
    yield [name for name in called if any(not stars.is_blank(cell) for cell in columns[name])], False, ""
    yield [name for name in columns if labels.is_labels(columns[name], opinions=True)], False, FOUND
    starred, known_by = stars.star_columns(columns)
    if known_by == "name":
        yield starred, True, ""
    # 0 and 1, unless the name says that they are something else
    unflagged = [name for name in columns if not (labels.FLAG.search(plain[name]) or stars.OTHERS.search(plain[name]))]
    coded = [name for name in columns if plain[name] in labels.WEAK_NAMES or name in unflagged]
    yield [name for name in coded if labels.is_labels(columns[name])], False, FOUND
    yield starred, True, FOUND
    yield called, False, ""


Read = tuple[list[Optional[int]], int, list[str]]


def read_cells(cells: Sequence[str], choice: LabelColumn, source: Labelled) -> Read:
    """Return the labels of cells, None for others, how many of these are blank, and what was taken for what."""
    where = cell_in(Path(source.data), choice.name)
    if not choice.of_stars:
        numbers, neutral = labels.polarities(cells, source.positive, where)
        notes = [f"labels are in column {choice.name}{choice.how}"] if choice.how else []
        return numbers, numbers.count(None) - neutral, notes
    if source.positive is not None:
        advice = "which has stars; leave it out"
        raise ConfigError(f"{source.data}: expected no --positive for column {choice.name}, {advice}")
    found = stars.stars_of(cells, choice.name, where)
    note = f"labels are the stars in column {choice.name}{choice.how}: {found.in_words()}"
    return found.labels, found.numbers.count(None), [note]
