"""A table written to parquet piece by piece, though its columns' types are known only when all of it has been seen.

    pieces -> a nameless file, each with the types that it shows by itself -> parquet, all of the types of the whole

A column that is all missing in one piece has the type of the others; integers beside a float become floats. What
came from parquet has the types that it had there.
"""

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from ..errors import DataError
from ..reviews.parquet import require_parquet
from ..reviews.tables import check_columns
from .prediction import TYPES, prefix_beside

# Pieces of a table that make a row group of parquet
GROUP = 8


class Pieces:
    """Scored pieces of a table that wait on the disk; a context manager, at whose end they are gone.

    Parameters
    ----------
    folder : path or None
        Where the file without a name is; None is the system's folder of temporary files.
    """

    def __init__(self, folder: Optional[Path] = None):
        self.parquet = require_parquet()
        self.file = tempfile.TemporaryFile(dir=folder)
        self.schemas: list[Any] = []
        self.sizes: list[int] = []
        self.columns: set[str] = set()
        self.rows = 0

    def __enter__(self) -> "Pieces":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def append(
        self,
        columns: Mapping[str, list[Any]],
        answers: Mapping[str, list[Any]],
        types: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Add rows: the values of each column, of each of the answer's, and the types of those where they are known.

        Raises
        ------
        DataError
            A column has values that no type of parquet has together, or all pieces together have too many columns.
        """
        import pyarrow

        # each piece is brought to the columns of all
        self.columns.update(columns)
        check_columns(self.columns, Path("parquet"))
        arrays = [as_array(name, values, (types or {}).get(name)) for name, values in columns.items()]
        arrays += [as_array(name, answers[name], kind) for name, kind in TYPES.items()]
        # the answer's names are chosen when all others are known
        names = [f"column {encodable(name)}" for name in columns] + [f"answer {name}" for name in TYPES]
        table, written = pyarrow.Table.from_arrays(arrays, names), pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(written, table.schema) as stream:
            stream.write_table(table)
        self.schemas.append(table.schema)
        self.sizes.append(self.file.write(written.getvalue()))
        self.rows += table.num_rows

    def write(self, output: Any) -> None:
        """Write all of them, at least one, to a path or a binary file.

        Raises
        ------
        DataError
            As above, of a column whose pieces are of one type each, or of a type that parquet has not.
        """
        import pyarrow

        with one_type("a column"):
            schema = pyarrow.unify_schemas(self.schemas, promote_options="permissive")
            named = renamed(schema)
            self.file.seek(0)
            with self.parquet.ParquetWriter(output, named) as writer:
                for start in range(0, len(self.sizes), GROUP):
                    tables = [
                        pyarrow.ipc.open_stream(self.file.read(size)).read_all()
                        for size in self.sizes[start : start + GROUP]
                    ]
                    # beside the whole's schema each column gets its type, and those that a piece lacks are missing
                    whole = pyarrow.concat_tables([schema.empty_table(), *tables], promote_options="permissive")
                    whole = pyarrow.Table.from_arrays([whole.column(found) for found in ordered(schema)], schema=named)
                    writer.write_table(whole, row_group_size=whole.num_rows or 1)


def ordered(schema: Any) -> list[str]:
    """Answer the names of the waiting columns, the answer's last, however late another was first seen."""
    return sorted(schema.names, key=lambda name: name.startswith("answer "))


def renamed(schema: Any) -> Any:
    """Answer the schema of the file: the table's own names, and the answer's beside them."""
    import pyarrow

    own = [name.partition(" ")[2] for name in schema.names if name.startswith("column ")]
    prefix = prefix_beside(own)
    return pyarrow.schema(
        [
            (
                name.replace("answer ", prefix, 1) if name.startswith("answer ") else name[len("column ") :],
                schema.field(name).type,
            )
            for name in ordered(schema)
        ]
    )


def as_array(name: str, values: list[Any], kind: Any) -> Any:
    import pyarrow

    with one_type(f"column {name!r}"):
        try:
            return pyarrow.array(values, kind)
        except UnicodeEncodeError:
            return pyarrow.array([encodable(value) for value in values], kind)
        except (pyarrow.ArrowException, TypeError):
            # not every type can be made of plain values again
            return pyarrow.array(values)


def encodable(value: Any) -> Any:
    """Answer a text with a question mark for each half of a surrogate pair, which is no character."""
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
