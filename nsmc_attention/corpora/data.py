"""Reviews of a command as values: a corpus or a file, and its options. The methods import pandas by need."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Optional, Union

from ..errors import DataError
from ..tables.columns import require_column
from ..tables.parts import as_text
from ..tables.rows import parts_of
from ..tables.source import announce, find_source
from ..tables.table import Table, open_table


@dataclass(frozen=True)
class Texts:
    """Reviews without labels: "nsmc", "sample" or a file; what is None of how a file is read is found.

    `text_column` is a name or a number from 1; `header` the row that names the columns, or "none"; `source` the Source
    of a stream whose beginning was read, to find its kind.
    """

    data: Union[str, Path]
    data_dir: Optional[Union[str, Path]] = None
    text_column: Optional[str] = None
    encoding: Optional[str] = None
    sheet: Optional[str] = None
    kind: Optional[str] = None
    header: Optional[str] = None
    source: Any = None

    def open(self) -> Table:
        """Open the file, see `open_table`."""
        source = self.source or find_source(self.data, self.kind, self.encoding, self.sheet, self.header)
        return open_table(source, self.text_column)

    def read(self) -> tuple[str, Iterable[str]]:
        """Return the name of the data and its reviews; of a corpus those of its train file."""
        from . import nsmc

        if self.data in nsmc.CORPORA:
            nsmc.refuse_options(self)
            return str(self.data), nsmc.load(str(self.data), "train", self.data_dir).documents
        table = self.open()
        texts = (as_text(cell) for part in table.parts for cell in part[table.text_column])
        return Path(self.data).name, texts


@dataclass(frozen=True)
class Labelled(Texts):
    """Reviews with a column of labels or stars, which is found unless it is named.

    `positive` is the label that means so where it is not known by itself.
    """

    label_column: Optional[str] = None
    stars_column: Optional[str] = None
    positive: Optional[str] = None


# A file by its path alone, or with how it is read
File = Union[str, Path, Texts]


def open_file(file: File) -> Table:
    """Open a table, which may be named by its path alone."""
    return (file if isinstance(file, Texts) else Texts(file)).open()


def columns_of(table: Any, columns: Sequence[str]) -> list[list[Any]]:
    """Return a file's row numbers, or a DataFrame's index, and columns as text; DataError as `open_table`."""
    if not isinstance(table, Path):
        for column in columns:
            require_column([*getattr(table, "columns", ())], column, type(table).__name__, "")
        return [[*table.index], *([*map(as_text, table[column])] for column in columns)]
    announce(source := find_source(table))
    parts = list(parts_of(source, text_column="lines of text"))
    for column in columns:
        require_column(dict.fromkeys(chain.from_iterable(parts)), column, table, "")
    numbers = list(chain.from_iterable(part.numbers for part in parts))
    cells = ((part.get(column) or [None] * part.rows for part in parts) for column in columns)
    return [numbers, *(list(map(as_text, chain.from_iterable(column))) for column in cells)]


def read_pairs(table: Any, columns: Sequence[str], clean: Callable[[str], str]) -> dict[str, str]:
    """Return {key in small letters: value} of two columns; DataError, with the row, for a blank or repeated key."""
    pairs: dict[str, str] = {}
    for number, *cells in zip(*columns_of(table, columns)):
        key, value = map(clean, cells)
        if not (key and value) or key.lower() in pairs:
            where = table if isinstance(table, Path) else "DataFrame"
            found = f"{key!r} again" if key and value else f"{key or value!r} alone"
            expected = f"expected {' and '.join(columns)}, each {columns[0]} once"
            raise DataError(f"{where} row {number}: {expected}, found {found}")
        pairs[key.lower()] = value
    return pairs
