"""The labelled rows of a table: its column of labels or stars is found, and what is neither is left out and counted.

    Labelled -> LabelColumn -> labels or stars (`labels`, `stars`) -> LabelledRows, with what is left out and why

A column that is named wins, then one whose name is known, then one whose cells are labels or stars. `load_reviews` is
for training and evaluation, `labelled_rows` for adapting, where a text counts once.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Optional, Union, cast
from zlib import compress, decompress

import pandas

from ..bundle import sha256
from ..errors import ColumnError, ConfigError, DataError, list_names, nearest
from ..tables.columns import find_column
from ..tables.parts import as_text
from ..tables.table import Table
from ..text.encoding import clean
from . import labels, nsmc, stars
from .data import Labelled
from .nsmc import Reviews, read_bytes

Columns = Mapping[str, Sequence[str]]
# {what a column has: in words, and what its rows in the middle are}
KINDS = {"label": ("labels", "neutral"), "stars": ("stars", "of middle stars")}
FOUND = ", which was found by its cells"
ADVICE = "name the column of labels or stars by --label-column or --stars-column"
EXPECTED = "expected a column of labels or stars, as label, sentiment, 라벨, stars, rating or 별점"


class WholeTable(Mapping[str, list[str]]):
    """A table read whole and held packed: a column is unpacked, as text, whenever it is asked for, equal cells as one object.

    `written`: whether a row has a text; cells beside none may be blank (`stars.of_reviews`)."""

    def __init__(self, table: Table):
        self.path, self.text_column, self.parts = table.source.path, table.text_column, list[Any]()
        for part in cast(Any, table.parts):
            texts = {name: json.dumps([*map(as_text, cells)], ensure_ascii=False) for name, cells in part.items()}
            part.update((name, compress(text.encode(errors="surrogatepass"), 1)) for name, text in texts.items())
            self.parts.append(part)
        self.names = list(dict.fromkeys(chain.from_iterable(self.parts)))
        self.numbers = pandas.Index(list(chain.from_iterable(part.numbers for part in self.parts)), dtype="int32")
        self.written = pandas.Series([text.strip() != "" for text in self.cells(self.text_column)], dtype=bool)

    def cells(self, name: str, last: bool = False) -> Iterator[str]:
        """Yield the cells of a column, blank ones in rows that lack it; the `last` time parts are forgotten."""
        for place, part in enumerate(self.parts):
            yield from json.loads(decompress(part[name])) if name in part else [as_text(None)] * len(part.numbers)
            self.parts[place] = None if last else part

    def __getitem__(self, name: str) -> list[str]:
        alike = dict[str, str]()
        return stars.of_reviews([alike.setdefault(cell, cell) for cell in self.cells(name)], self.written)

    def where(self, column: str) -> Callable[[int], str]:
        """Return a function that names the cell of a column at a place: "in.csv: column 별점 row 3"."""
        return lambda place: f"{self.path}: column {column} row {self.numbers[place]}"

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names if name != self.text_column)

    def __len__(self) -> int:
        return len(self.names) - 1


@dataclass(frozen=True)
class LabelledRows:
    """Reviews with labels; {why: how many rows are left out}; and `notes`, which columns were taken."""

    reviews: Reviews
    left_out: dict[str, int]
    notes: list[str]

    def in_words(self) -> list[str]:
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items() if count)
        return [*([f"left out: {left_out}"] if left_out else []), *self.notes]


def load_reviews(
    data: Union[str, Path], part: str = "test", data_dir: Optional[Union[str, Path]] = None, **columns: Optional[str]
) -> Reviews:
    """Load labelled reviews: the `part` "train" or "test" of "nsmc" or "sample", or a file.

    Columns (`text_column`, `label_column`, `stars_column`) that are not named are found, as are `encoding`, `sheet`,
    `kind` and `header`; `positive` is the positive label where it is not known by itself. Rows without a label, and
    neutral ones, are left out, which is said on stderr. DataError as `tables.open_table`, and for other labels, with
    their row; ConfigError for other columns of NSMC's.
    """
    return read_reviews(Labelled(data, data_dir, **columns), part)


def read_reviews(source: Labelled, part: str) -> Reviews:
    """Return the reviews of a file, or of the part "train" or "test" of a corpus, as `load_reviews` does."""
    if source.data in nsmc.CORPORA:
        nsmc.refuse_options(source)
        return nsmc.load(str(source.data), part, source.data_dir)
    path = Path(source.data)
    if not path.is_file():
        found = "is a folder" if path.is_dir() else f"no such file{nearest(path, nsmc.CORPORA)}"
        raise DataError(f"{path}: {found}")
    rows = labelled_rows(source)
    for line in rows.in_words():
        print(f"{path}: {line}", file=sys.stderr)
    return rows.reviews


def labelled_rows(source: Labelled, once: bool = False) -> LabelledRows:
    """Return rows with a label that is not neutral, or stars not in the middle; `once`: with text, each text once."""
    table, path = WholeTable(source.open()), Path(source.data)
    if not (texts := list(table.cells(table.text_column))):
        raise DataError(f"{path}: the file has no reviews")
    column, kind, how = choose(table, source)
    cells, where = table[column], table.where(column)
    if kind == "stars" and source.positive is not None:
        raise ConfigError(f"{path}: expected no --positive for column {column}, which has stars; leave it out")
    found = stars.stars_of(cells, column, where) if kind == "stars" else None
    numbers = found.labels if found else labels.polarities(cells, source.positive, where)
    scale = f": {found.in_words()}" if found else ""
    middle = [number is None and not stars.is_blank(cell) for number, cell in zip(numbers, cells)]
    frame = pandas.DataFrame({"row": table.numbers, "document": texts, "label": numbers})
    kept = frame = frame[frame["label"].notna()].astype({"label": int})
    words, others = KINDS[kind]
    left_out = {"without a label": numbers.count(None) - sum(middle), others: sum(middle)}
    if once:
        written = frame[frame["document"].map(clean) != ""]
        kept = written.drop_duplicates("document")
        left_out.update({"without text": len(frame) - len(written), "repeated": len(written) - len(kept)})
    if kept.empty:
        raise DataError(f"{path}: expected {words} in column {column}, found none with text; fill it, or {ADVICE}")
    taken = {name: getattr(source, name) for name in ("positive", "encoding", "sheet", "header")}
    taken = {"text": table.text_column, kind: column, **{name: one for name, one in taken.items() if one is not None}}
    digest, neutral = sha256(read_bytes(path)), [text for text, between in zip(texts, middle) if between]
    reviews = Reviews(kept.reset_index(drop=True), path.name, digest, taken, neutral)
    note = f"labels are {'the stars ' if scale else ''}in column {column}{how}{scale}"
    return LabelledRows(reviews, left_out, [note] if how or scale else [])


def choose(table: WholeTable, source: Labelled) -> tuple[str, str, str]:
    """Return the column of labels or stars, which of the KINDS it is, and how it was found, "" by its name.

    DataError, with what to do, where that is not clear.
    """
    path, named = source.data, {"label": source.label_column, "stars": source.stars_column}
    if None not in named.values():
        found = " and ".join(map(repr, named.values()))
        raise ConfigError(f"{path}: expected a column of labels or one of stars, found {found}; leave one of them out")
    for kind, name in named.items():
        if name is not None:
            hint = f"; name the one of the {KINDS[kind][0]} by {kind}_column (--{kind}-column)"
            return find_column(table.names, name, path, hint=hint), kind, ""
    for names, kind, how in candidates(table):
        if len(names) > 1:
            expected = f"expected one column of {KINDS[kind][0]}, found {list_names(names)}"
            advice = f"choose by {kind}_column (--{kind}-column {names[0]!r})"
            raise ColumnError(f"{path}: {expected}; {advice}", table.names)
        if names:
            return names[0], kind, how
    raise ColumnError(f"{path}: {EXPECTED}, found {list_names(table)}; {ADVICE}", table.names)


def candidates(columns: Columns) -> Iterator[tuple[list[str], str, str]]:
    """Yield (columns that may be the one, which of the KINDS, how they were found), the surest first."""
    plain = {name: stars.plain_name(name) for name in columns}
    called = [name for name in columns if plain[name] in labels.NAMES]
    yield [name for name in called if any(not stars.is_blank(cell) for cell in columns[name])], "label", ""
    yield [name for name in columns if labels.is_labels(columns[name], opinions=True)], "label", FOUND
    starred, known_by = stars.star_columns(columns)
    if known_by == "name":
        yield starred, "stars", ""
    # 0 and 1 of another name may be whatever
    coded = [name for name in columns if plain[name] in labels.WEAK_NAMES]
    yield [name for name in coded if labels.is_labels(columns[name])], "label", FOUND
    yield starred, "stars", FOUND
    yield called, "label", ""
