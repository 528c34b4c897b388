"""Rows of a parquet file, decoded piece by piece in bounded memory, every value and type unchanged."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from ..errors import DataError, MissingPackage
from .bounded_lines import PIECE

if TYPE_CHECKING:
    from pyarrow import DataType, Schema
    from pyarrow.parquet import ParquetFile

    from .sources import Source

# Depth of nested lists and structs, the row itself included; as in jsonl
LEVELS = 100
# Rows decoded at a time, and their bytes: a value shared by all rows is small in the file and large in memory
DECODED, DENSE = 256, 2**27


def require_parquet() -> Any:
    """Import pyarrow.parquet; MissingPackage names the extra that installs it."""
    try:
        import pyarrow.parquet
    except ImportError as problem:
        raise MissingPackage("parquet", "pyarrow") from problem
    return pyarrow.parquet


@contextmanager
def parquet_file(table: "Source") -> "Iterator[tuple[ParquetFile, ParquetFile]]":
    """Open a pyarrow ParquetFile twice: plainly, and with text and bytes as dictionaries, where shared values are small.

    DataError, also within the `with` block, where the file cannot be read or is nested too deeply.
    """
    parquet = require_parquet()
    from pyarrow import ArrowException

    path = table.path
    try:
        source = table.stream or path
        with parquet.ParquetFile(source) as file:
            check_levels(file.schema_arrow, path)
            columns = [file.schema.column(index) for index in range(len(file.schema))]
            texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
            with parquet.ParquetFile(source, metadata=file.metadata, read_dictionary=texts) as shared:
                yield file, shared
    # an unknown time zone is a KeyError; pyarrow recurses into nested types
    except (ArrowException, OSError, ValueError, OverflowError, LookupError, RecursionError) as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(f"{path}: not a readable parquet file: {reason}") from problem


def check_levels(schema: "Schema", path: Path) -> None:
    kinds = list(schema.types)
    for _ in range(LEVELS):
        kinds = [inner for kind in kinds for inner in inner_types(kind)]
    if kinds:
        raise DataError(f"{path}: expected at most {LEVELS} nested lists and structs")


def inner_types(kind: "DataType") -> "list[DataType]":
    from pyarrow import types

    if types.is_map(kind):
        return [kind.key_type, kind.item_type]
    if types.is_struct(kind):
        return [field.type for field in kind]
    return [kind.value_type] if types.is_nested(kind) and hasattr(kind, "value_type") else []


def parquet_rows(file: "ParquetFile", shared: "ParquetFile", groups: Iterable[int]) -> Iterator[dict[str, object]]:
    """Yield the rows of some row groups of a file opened by `parquet_file`, few bytes decoded at a time."""
    for group in groups:
        first = next(shared.iter_batches(batch_size=1, row_groups=[group]), None)
        # includes the whole dictionaries: no later row can have larger values
        largest = 1 if first is None else first.nbytes + 1
        for batch in file.iter_batches(batch_size=max(1, min(DECODED, DENSE // largest)), row_groups=[group]):
            step = max(1, min(DECODED, PIECE // (largest + batch.nbytes // (batch.num_rows or 1))))
            for start in range(0, batch.num_rows, step):
                # not to_pandas(), which converts integers beside a null to floats and hides an index
                yield from batch.slice(start, step).to_pylist()


def row_groups(source: "Source", rows: int) -> Iterator[tuple[int, int]]:
    """Yield (first, end) of consecutive row groups with about `rows` rows together."""
    with parquet_file(source) as (file, _):
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    first = total = 0
    for group, size in enumerate(sizes):
        total += size
        if total >= rows or group == len(sizes) - 1:
            yield first, group + 1
            first, total = group + 1, 0
