"""A table written to parquet in parts, though the types of its columns are known only at its end.

    parts -> a temporary file, each part with its own types -> parquet with the types of the whole

A column that is missing in one part has the type of the others; integers beside a float become floats. A table from
parquet keeps its types.
"""

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from ..errors import DataError
from ..reviews.parquet import require_parquet
from ..reviews.tables import check_columns
from .columns import output_prefix

# Parts of a row group
GROUP = 8
# Before the columns' names in the temporary file; output columns are named when all those of the table are known
TABLE, OUTPUT = "table ", "output "


class ParquetSpool:
    """Scored parts of a table, kept in a nameless file of `folder` (None: the system's) until `write`.

    `types` are the output columns and their types, as `Scorer.types`.
    """

    def __init__(self, types: Mapping[str, str], folder: Optional[Path] = None):
        self.parquet, self.types = require_parquet(), types
        self.file = tempfile.TemporaryFile(dir=folder)
        self.schemas: list[Any] = []
        self.columns: set[str] = set()
        self.rows = 0

    def __enter__(self) -> "ParquetSpool":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def append(
        self,
        columns: Mapping[str, list[Any]],
        outputs: Mapping[str, list[Any]],
        types: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Add rows: the values of the table's columns and of the output columns; `types` of the former, if known.

        DataError if parquet has no type for a column, or all parts together have too many columns.
        """
        import pyarrow

        # every part gets the columns of all
        self.columns.update(columns)
        check_columns(self.columns, Path("parquet"))
        arrays = [as_array(name, values, (types or {}).get(name)) for name, values in columns.items()]
        arrays += [as_array(name, outputs[name], kind) for name, kind in self.types.items()]
        names = [TABLE + encodable(name) for name in columns] + [OUTPUT + name for name in self.types]
        table = pyarrow.Table.from_arrays(arrays, names)
        with pyarrow.ipc.new_stream(self.file, table.schema) as stream:
            stream.write_table(table)
        self.schemas.append(table.schema)
        self.rows += table.num_rows

    def write(self, output: Any) -> None:
        """Write all parts, at least one, to a path or binary file; DataError if those of a column have types of two kinds."""
        import pyarrow

        with one_type("a column"):
            schema = pyarrow.unify_schemas(self.schemas, promote_options="permissive")
            # output columns last, however late a column of the table was first seen
            order = sorted(schema.names, key=lambda name: name.startswith(OUTPUT))
            own = [name[len(TABLE) :] for name in order if name.startswith(TABLE)]
            names = [*own, *(output_prefix(own, self.types) + name[len(OUTPUT) :] for name in order[len(own) :])]
            named = pyarrow.schema([(name, schema.field(field).type) for name, field in zip(names, order)])
            self.file.seek(0)
            with self.parquet.ParquetWriter(output, named) as writer:
                for start in range(0, len(self.schemas), GROUP):
                    group = self.schemas[start : start + GROUP]
                    parts = [pyarrow.ipc.open_stream(self.file).read_all() for _ in group]
                    # the empty table brings every column with its type; what a part lacks is missing there
                    table = pyarrow.concat_tables([schema.empty_table(), *parts], promote_options="permissive")
                    table = pyarrow.Table.from_arrays([table.column(name) for name in order], schema=named)
                    writer.write_table(table, row_group_size=table.num_rows or 1)


def as_array(name: str, values: list[Any], kind: Any) -> Any:
    import pyarrow

    with one_type(f"column {name!r}"):
        try:
            return pyarrow.array(values, kind)
        except UnicodeEncodeError:
            return pyarrow.array([encodable(value) for value in values], kind)
        except (pyarrow.ArrowException, TypeError):
            # not every type can be made from Python's values again
            return pyarrow.array(values)


def encodable(value: Any) -> Any:
    """Return a text with a question mark for each lone surrogate; other values as they are."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


@contextmanager
def one_type(what: str) -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OverflowError, UnicodeEncodeError) as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(
            f"parquet: expected values of one type that parquet has in {what}, found others "
            f"({reason[:120]}); write --format jsonl or csv"
        ) from problem
