"""The rows of a table to adapt a classifier to: a column of labels or stars is found, and what is neither left out.

    Labelled -> columns -> labels or stars (`labels`, `stars`) -> LabelledRows, with what is left out and why

A column that is named wins, then one whose name is known, then one whose cells are labels or stars.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Callable, Optional, Union

import pandas

from ..errors import ColumnError, ConfigError, DataError, list_names, nearest
from ..text.encoding import clean
from . import labels, stars
from .columns import LABEL_COLUMNS, find_column, require_column
from .corpus import Reviews, read_bytes, sha256
from .data import Labelled
from .parts import as_text, cells_of
from .source import announce, find_source
from .table import columns_of, open_table

CORPORA = ("nsmc", "sample")
LABEL_HINT = "; name the one of the labels by label_column (--label-column)"
Columns = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class LabelledRows:
    """Reviews that differ, each with a label; {why: how many rows are left out}; and `notes`, which columns were taken."""

    reviews: Reviews
    left_out: dict[str, int]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class LabelColumn:
    """The column that is taken: whether it has stars, and how it was found, "" where it was named or has a known name."""

    name: str
    of_stars: bool
    how: str = ""


def labelled_rows(source: Labelled, stars_column: Optional[str] = None) -> LabelledRows:
    """Return the rows with text and a label, or stars not in the middle, each text once."""
    table, path = source.open(), Path(source.data)
    parts = list(table.parts)
    names = list(dict.fromkeys(chain.from_iterable(parts)))
    cells = {name: list(map(as_text, cells_of(parts, name))) for name in names}
    others = {name: cells[name] for name in names if name != table.text_column}
    choice = choose(others, names, source.label_column, stars_column, path)
    read = read_stars if choice.of_stars else read_labels
    numbers, without, middle, note = read(cells[choice.name], choice, path, source.positive, others)
    frame = pandas.DataFrame({"document": cells[table.text_column], "label": numbers})
    frame.insert(0, "row", range(1, len(frame) + 1))
    kept, left_out = usable(frame)
    if kept.empty:
        raise no_labels(path, choice, others)
    reasons = {"without_a_label": without, ("of_middle_stars" if choice.of_stars else "neutral"): middle, **left_out}
    kind = "stars" if choice.of_stars else "label"
    columns = {"text": table.text_column, kind: choice.name, "positive": source.positive, "sheet": source.sheet}
    named = {name: value for name, value in columns.items() if value is not None}
    kept = kept.astype({"label": int}).reset_index(drop=True)
    return LabelledRows(Reviews(kept, path.name, sha256(read_bytes(path)), named), reasons, note)


def choose(
    others: Columns, names: Sequence[str], label_column: Optional[str], stars_column: Optional[str], path: Path
) -> LabelColumn:
    """Return the column that has the labels or stars; DataError, with what to do, where that is not clear."""
    if label_column is not None and stars_column is not None:
        found = f"{label_column!r} and {stars_column!r}"
        raise ConfigError(f"{path}: expected a column of labels or one of stars, found {found}; leave one of them out")
    for name, hint in ((label_column, LABEL_HINT), (stars_column, STARS_HINT)):
        if name is not None:
            require_column(names, name, path, hint)
            return LabelColumn(name, of_stars=name == stars_column)
    for columns, of_stars, how in candidates(others):
        if columns:
            return LabelColumn(only(columns, others, path, of_stars), of_stars, how)
    empty = [name for name in others if is_called_label(name)]
    if len(empty) == 1:
        return LabelColumn(empty[0], of_stars=False)
    raise ColumnError(f"{path}: {EXPECTED}, found {list_names(others)}{hints(others)}", names)


def candidates(others: Columns) -> Iterator[tuple[list[str], bool, str]]:
    """Yield (columns that may be the one, whether they have stars, how they were found), the surest first."""
    yield [name for name in others if is_called_label(name) and filled(others[name])], False, ""
    yield [name for name in others if labels.is_labels(others[name], opinions=True)], False, FOUND
    starred, known_by = stars.star_columns(others)
    if known_by == "name":
        yield starred, True, ""
    yield [name for name in others if may_be_called_label(name) and labels.is_labels(others[name])], False, FOUND
    yield starred, True, FOUND


FOUND = ", which was found by its cells"
STARS_HINT = "; name the one of the stars by stars_column (--stars-column)"
EXPECTED = "expected a column of labels or stars, as label, sentiment, 라벨, stars, rating or 별점"


def filled(cells: Sequence[str]) -> bool:
    return any(not stars.is_blank(cell) for cell in cells)


def is_called_label(name: str) -> bool:
    return name.strip().lower() in LABEL_COLUMNS or stars.plain_name(name) in labels.NAMES


def may_be_called_label(name: str) -> bool:
    """Return whether a column of 0 and 1 may be the one of the labels: not where its name says something else."""
    plain = stars.plain_name(name)
    return plain in labels.WEAK_NAMES or not (labels.FLAG.search(plain) or stars.OTHERS.search(plain))


def only(names: Sequence[str], columns: Columns, path: Path, of_stars: bool) -> str:
    """Return the only name; ColumnError, with all and the option that chooses one, where there are more."""
    if len(names) == 1:
        return names[0]
    kind, option = ("stars", "stars") if of_stars else ("labels", "label")
    advice = f"choose by {option}_column (--{option}-column {names[0]!r})"
    raise ColumnError(f"{path}: expected one column of {kind}, found {list_names(names)}; {advice}", columns)


def hints(others: Columns, taken: Collection[str] = ()) -> str:
    """Return the options that name a column of labels or stars, with those that it may be; "" for none beside `taken`."""
    rest = {name: cells for name, cells in others.items() if name not in taken}
    coded = [name for name in rest if labels.is_labels(rest[name])]
    called_otherwise = [name for name in rest if stars.OTHERS.search(stars.plain_name(name))]
    starred = [name for name in rest if name not in [*coded, *called_otherwise] and stars.has_stars(rest[name])]
    options = [f"--label-column {name!r}" for name in coded[:3]] + [f"--stars-column {name!r}" for name in starred[:3]]
    if not options and not taken:
        options = ["--label-column", "--stars-column"]
    return f"; name the column of labels or stars by {' or '.join(options)}" if options else ""


def no_labels(path: Path, choice: LabelColumn, others: Columns) -> DataError:
    kind = "stars" if choice.of_stars else "labels"
    advice = hints(others, [choice.name]) or "; fill it for 100 rows"
    return DataError(f"{path}: expected {kind} in column {choice.name}, found none with text{advice}")


Read = tuple[list[Optional[int]], int, int, list[str]]


def read_stars(cells: Sequence[str], choice: LabelColumn, path: Path, positive: Optional[str], others: Columns) -> Read:
    """Return the labels of stars, how many cells are blank and how many in the middle, and what was taken for what."""
    if positive is not None:
        raise ConfigError(f"{path}: expected no --positive for column {choice.name}, which has stars; leave it out")
    column = stars.stars_of(cells, f"{path}: column {choice.name}", choice.name)
    numbers = [int(label) if label else None for label in column.labels]
    note = f"labels are the stars in column {choice.name}{choice.how}: {column.in_words()}"
    return numbers, column.blank, numbers.count(None) - column.blank, [note]


def read_labels(
    cells: Sequence[str], choice: LabelColumn, path: Path, positive: Optional[str], others: Columns
) -> Read:
    """Return the labels, how many cells have none and how many a neutral one, and which column it is."""
    try:
        numbers, neutral = labels.polarities(cells, positive)
    except DataError as problem:
        stars_there = hints(others, [choice.name]) or hint_of_stars(cells, choice.name)
        raise DataError(
            f"{path}: column {choice.name}{first_odd_row(cells, positive)}: {problem}{stars_there}"
        ) from problem
    notes = [f"labels are in column {choice.name}{choice.how}"] if choice.how else []
    return numbers, numbers.count(None) - neutral, neutral, notes


def first_odd_row(cells: Sequence[str], positive: Optional[str]) -> str:
    """Return the row of the first label that does not go with those before it."""
    plain = map(labels.plain_label, cells)
    neither = [stars.is_blank(cell) or cell in labels.NEUTRAL for cell in plain]
    rows = [(row, cell) for row, cell in enumerate(cells, start=1) if not neither[row - 1]]
    sides = [labels.side_of(labels.plain_label(cell)) for _, cell in rows]
    if positive is not None or not rows:
        return ""
    # after words that say it by themselves, the first that does not
    first = sides.index(None) if sides[0] is not None else labels.first_unknown([cell for _, cell in rows]) - 1
    return f" row {rows[first][0]}"


def hint_of_stars(cells: Sequence[str], name: str) -> str:
    numbers = {cell for cell in map(labels.plain_label, cells) if cell}
    rated = stars.has_stars(cells) and not numbers <= {"0", "1", "2"} and not re.search("[-]", "".join(numbers))
    return f"; if these are stars, name it by stars_column (--stars-column {name!r})" if rated else ""


def usable(frame: pandas.DataFrame) -> tuple[pandas.DataFrame, dict[str, int]]:
    """Return the rows (`document`, `label`, NaN for none) to learn from, and why others with a label are left out."""
    labelled = frame[frame["label"].notna()]
    written = labelled[labelled["document"].map(clean) != ""]
    kept = written.drop_duplicates("document")
    return kept, {"without_text": len(labelled) - len(written), "repeated": len(written) - len(kept)}


def read_pairs(path: Path, columns: Sequence[str], clean: Callable[[str], str]) -> dict[str, str]:
    """Return {key in small letters: value} of two columns of clean cells; DataError, with the row, for a blank or repeated one."""
    pairs: dict[str, str] = {}
    for row, cells in enumerate(zip(*columns_of(path, columns)), start=1):
        key, value = map(clean, cells)
        if not (key and value) or key.lower() in pairs:
            found = f"{key!r} again" if key and value else f"{key or value!r} alone"
            raise DataError(
                f"{path} row {row}: expected {' and '.join(columns)}, each {columns[0]} once, found {found}"
            )
        pairs[key.lower()] = value
    return pairs


def label_numbers(labels: list[str], path: Path, positive: Optional[str] = None) -> list[int]:
    """Return 1 for each positive label and 0 for each other one; DataError, with the row, as `labels.positive_of`."""
    from .labels import first_unknown, plain_label, positive_of

    try:
        chosen = plain_label(positive_of(labels, positive))
    except DataError as problem:
        row = "" if positive else f" row {first_unknown(labels)}"
        raise DataError(f"{path}{row}: {problem}") from problem
    return [int(plain_label(label) == chosen) for label in labels]


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
) -> "Reviews":
    """Load labelled reviews: the `part` "train" or "test" of "nsmc" or "sample", or a file.

    Columns that are not named are found; `positive` is the positive label where `labels.positive_of` does not know it. A
    file with the NSMC header is read by the strict reader of `nsmc`. DataError as `open_table`, and for other labels,
    with their row; ConfigError for other columns of NSMC's.
    """
    import pandas

    from . import nsmc
    from .corpus import Reviews, read_bytes, sha256

    if data in CORPORA:
        refuse_columns(data, text_column, label_column, positive, sheet)
        return nsmc.load(data, part, data_dir)
    path = Path(data)
    if not path.is_file():
        raise DataError(f"{path}: {'is a folder' if path.is_dir() else 'no such file' + nearest(data, CORPORA)}")
    source = find_source(path, kind, encoding=encoding, sheet=sheet, header=header)
    if source.kind == "nsmc":
        announce(source)
        refuse_columns(path, text_column, label_column, positive)
        return nsmc.read(path, encoding=source.encoding)
    table = open_table(source, text_column)
    parts = list(table.parts)
    names = dict.fromkeys(chain.from_iterable(parts))
    require_column(names, table.text_column, path)
    label_column = find_column(names, label_column, path, LABEL_COLUMNS, LABEL_HINT)
    labels, documents = (list(map(as_text, cells_of(parts, name))) for name in (label_column, table.text_column))
    if not documents:
        raise DataError(f"{path}: the file has no reviews")
    frame = pandas.DataFrame({"document": documents, "label": label_numbers(labels, path, positive)})
    options = {"text": table.text_column, "label": label_column, "positive": positive}
    options.update(encoding=encoding, sheet=sheet, header=header)
    named = {name: value for name, value in options.items() if value is not None}
    return Reviews(frame, path.name, sha256(read_bytes(path)), named)


def refuse_columns(
    where: object,
    text_column: Optional[str],
    label_column: Optional[str] = None,
    positive: Optional[str] = None,
    sheet: Optional[str] = None,
) -> None:
    """Raise ConfigError where other names are given for the columns or labels of the NSMC files, or a sheet."""
    if sheet is not None:
        raise ConfigError(f"{where}: has no sheets; leave --sheet out, found {sheet!r}")
    options = [("--text-column", text_column, "document"), ("--label-column", label_column, "label")]
    for option, name, official in [*options, ("--positive", positive, "1")]:
        if name not in (None, official):
            expected = f"expected {option} {official}, found {name!r}"
            raise ConfigError(f"{where}: has the columns of the NSMC files; {expected}")
