"""Reading whole files: pictures of a bounded size, JSON, and the tables that come with the package."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union

from ..errors import NsmcError


def read_file(path: Path, largest: int, error: type[NsmcError]) -> bytes:
    """Return the bytes of a file; `error` for one of more than `largest` bytes, for no regular file, or if unreadable."""
    try:
        if path.exists() and not path.is_file():
            raise error(f"{path}: expected a regular file; put the file itself there")
        with open(path, "rb") as file:
            content = file.read(largest + 1)
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem
    if len(content) > largest:
        raise error(f"{path}: expected at most {largest:,} bytes")
    return content


def read_json(content: Union[str, bytes], where: object, error: type[NsmcError], expected: str = "JSON") -> Any:
    """Return the value of a JSON text (str, or UTF-8 bytes); `error` for any other, or one nested too deeply."""
    try:
        return json.loads(content if isinstance(content, str) else content.decode())
    except (ValueError, RecursionError) as problem:
        raise error(f"{where}: expected {expected}, found {content.strip()[:40]!r}") from problem


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield {column: cell} of each row of a table of the package: UTF-8, cells between tabs, names in the first line."""
    names, *rows = (line.split("\t") for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"))
    return (dict(zip(names, row)) for row in rows)
