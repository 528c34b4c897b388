"""A table written to parquet piece by piece, though its columns' types are known only when all of it has been seen.

    pieces -> a nameless file, each with the types that it shows by itself -> parquet, all of the types of the whole

A column that is all missing in one piece has the type of the others; integers beside a float become floats.
"""
import tempfile
from pathlib import Path
from typing import Any, Optional

from ..errors import DataError
from ..reviews.tables import require_parquet

# Pieces of a table that make a row group of parquet
GROUP = 8


class Pieces:
    """Pieces of a table that wait on the disk; a context manager, at whose end they are gone.

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
        self.rows = 0

    def __enter__(self) -> "Pieces":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def append(self, columns: dict[str, list[Any]], types: dict[str, str]) -> None:
        """Add rows: lists of plain values by the name of their column, and the types of those where they are known.

        Raises
        ------
        DataError
            A column has values that no type of parquet has together.
        """
        import pyarrow

        arrays = {}
        for name, values in columns.items():
            try:
                arrays[name] = pyarrow.array(values, types.get(name))
            except (pyarrow.ArrowException, OverflowError) as problem:
                raise mixed(f"column {name!r}", problem) from problem
        table, written = pyarrow.table(arrays), pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(written, table.schema) as stream:
            stream.write_table(table)
        self.schemas.append(table.schema)
        self.sizes.append(self.file.write(written.getvalue()))
        self.rows += table.num_rows

    def write(self, output: Any) -> None:
        """Write all of them, at least one, to a path or a binary file."""
        import pyarrow

        try:
            schema = pyarrow.unify_schemas(self.schemas, promote_options="permissive")
        except pyarrow.ArrowException as problem:
            raise mixed("a column", problem) from problem
        self.file.seek(0)
        with self.parquet.ParquetWriter(output, schema) as writer:
            for start in range(0, len(self.sizes), GROUP):
                tables = [pyarrow.ipc.open_stream(self.file.read(size)).read_all()
                          for size in self.sizes[start:start + GROUP]]
                # beside the whole's schema each column gets its type, and those that a piece lacks are missing
                whole = pyarrow.concat_tables([schema.empty_table(), *tables], promote_options="permissive")
                writer.write_table(whole, row_group_size=whole.num_rows or 1)


def mixed(what: str, problem: Exception) -> DataError:
    reason = (str(problem).splitlines() or [type(problem).__name__])[0]
    return DataError(f"parquet: expected values of one type in {what}, found others ({reason[:120]}); "
                     "write --format jsonl or csv")
