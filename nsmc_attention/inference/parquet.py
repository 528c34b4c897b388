"""A table written to parquet in windows of rows, though the types of its columns are known only at its end.

    windows -> a temporary file, each window with its own types -> parquet with the types of the whole

A column that is missing in one window has the type of the others; integers beside a float become floats, and numbers
beside a text texts. A table from parquet keeps its types.
"""

import datetime
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Callable, Optional, Union

from ..errors import DataError
from ..tables.bounded_lines import PIECE, check_columns, cut
from ..tables.parquet import require_parquet
from .scored_rows import ScoredRows

if TYPE_CHECKING:
    import pyarrow

# Windows of a row group at most
GROUP = 8
# What a column of texts may have too
PLAIN = {str, type(None), bool, int, float, datetime.date, datetime.datetime, datetime.time}
# Before the columns' names in the temporary file; output columns are named when all those of the table are known
TABLE, OUTPUT = "table ", "output "


def output_columns(rows: Iterable[Sequence[object]], columns: Iterable[str]) -> dict[str, list[object]]:
    """Return {name: list} of the output columns for N rows of their values."""
    rows = list(rows)
    return {name: [row[index] for row in rows] for index, name in enumerate(columns)}


def output_prefix(names: Iterable[str], columns: Iterable[str]) -> str:
    """Return a prefix that keeps the output columns from clashing with the table's."""
    names, columns, prefix = set(names), tuple(columns), ""
    while {prefix + name for name in columns} & names:
        prefix += "predicted_"
    return prefix


class ParquetSpool:
    """Rows of a table, kept in a nameless file beside `file` until the end of the `with` block; see `WRITERS`.

    DataError if parquet has no type for a column, those of two windows are of two kinds, or there are too many columns.
    """

    def __init__(self, file: IO[bytes], names: list[str], types: Mapping[str, str], verbatim: bool = False):
        self.parquet, self.output, self.types = require_parquet(), file, types
        path = Path(str(getattr(file, "name", "")))
        self.file = tempfile.TemporaryFile(dir=path.parent if path.is_file() else None)
        self.schemas: list[pyarrow.Schema] = []
        self.columns: set[str] = set()

    def __enter__(self) -> "Callable[[ScoredRows], None]":
        return self.append

    def __exit__(self, problem: object, *_: object) -> None:
        with self.file:
            if problem is None:
                self.write()

    def append(self, rows: ScoredRows) -> None:
        import pyarrow

        # every window gets the columns of all
        self.columns.update(rows.columns)
        check_columns(self.columns, Path("parquet"))
        arrays = [as_array(name, values, rows.types.get(name)) for name, values in rows.columns.items()]
        outputs = output_columns(rows.results, self.types)
        arrays += [as_array(name, outputs[name], kind) for name, kind in self.types.items()]
        names = [f"{TABLE}{encodable(name)}" for name in rows.columns] + [OUTPUT + name for name in self.types]
        table = pyarrow.Table.from_arrays(arrays, names)
        with pyarrow.ipc.new_stream(self.file, table.schema) as stream:
            stream.write_table(table)
        self.schemas.append(table.schema)

    def write(self) -> None:
        import pyarrow

        with one_type("a column"):
            texts = mixed_columns(self.schemas)
            schemas = [pyarrow.schema(texts.get(field.name, field) for field in schema) for schema in self.schemas]
            schema = pyarrow.unify_schemas(schemas, promote_options="permissive")
            # output columns last, however late a column of the table was first seen
            order = sorted(schema.names, key=lambda name: name.startswith(OUTPUT))
            names = [name[len(TABLE) :] for name in order if name.startswith(TABLE)]
            prefix = output_prefix(names, self.types)
            names += [prefix + name[len(OUTPUT) :] for name in order[len(names) :]]
            named = pyarrow.schema([(name, schema.field(field).type) for name, field in zip(names, order)])
            self.file.seek(0)
            with self.parquet.ParquetWriter(self.output, named) as writer:
                read = (with_texts(pyarrow.ipc.open_stream(self.file).read_all(), texts) for _ in self.schemas)
                for windows in cut(read, GROUP, lambda table: int(table.nbytes), 2 * PIECE):
                    # the empty table brings every column with its type; what a window lacks is missing there
                    table = pyarrow.concat_tables([schema.empty_table(), *windows], promote_options="permissive")
                    table = pyarrow.Table.from_arrays([table.column(name) for name in order], schema=named)
                    writer.write_table(table, row_group_size=table.num_rows or 1)


def mixed_columns(schemas: "Iterable[pyarrow.Schema]") -> "dict[str, pyarrow.Field]":
    """Return a field of text for each column that has texts in one window and numbers, dates or times in another."""
    import pyarrow
    from pyarrow import types

    fields = [field for schema in schemas for field in schema]
    texts = {field.name for field in fields if types.is_string(field.type)}
    names = texts & {field.name for field in fields if types.is_primitive(field.type)}
    return {name: pyarrow.field(name, pyarrow.string()) for name in names}


def with_texts(table: "pyarrow.Table", fields: "Mapping[str, pyarrow.Field]") -> "pyarrow.Table":
    """Return a table whose columns of these names are texts."""
    for index, name in enumerate(table.column_names):
        if name in fields:
            texts = as_array(name, as_texts(table[name].to_pylist()), fields[name].type)
            table = table.set_column(index, fields[name], texts)
    return table


def as_texts(values: Iterable[object]) -> list[Optional[str]]:
    return [None if value is None else str(value) for value in values]


def as_array(name: str, values: Sequence[object], kind: "Union[pyarrow.DataType, str, None]") -> "pyarrow.Array":
    import pyarrow

    with one_type(f"column {name!r}"):
        try:
            return pyarrow.array(values, kind)
        except UnicodeEncodeError:
            return as_array(name, [encodable(value) for value in values], kind)
        except (pyarrow.ArrowException, TypeError):
            if kind is None and str in (types := set(map(type, values))) and types <= PLAIN:
                return as_array(name, as_texts(values), pyarrow.string())
            # not every type can be made from Python's values again
            return pyarrow.array(values)


def encodable(value: object) -> object:
    """Return a text with a question mark for each lone surrogate; other values as they are."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


@contextmanager
def one_type(where: str) -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OverflowError, UnicodeEncodeError) as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(
            f"parquet: expected values of one type that parquet has in {where}, found others "
            f"({reason[:120]}); write --format jsonl or csv"
        ) from problem
