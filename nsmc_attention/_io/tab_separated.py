"""The tables that come with the package: UTF-8, a line a row, cells between tabs, names in the first line."""

from collections.abc import Iterator
from pathlib import Path


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield {column: cell} of each row; no cell has a tab or a line end."""
    names, *rows = (line.split("\t") for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"))
    return (dict(zip(names, row)) for row in rows)
