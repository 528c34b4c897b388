"""Reading files of unknown origin: regular files only, of a bounded size; JSON without surprises."""

import json
import stat
from pathlib import Path
from typing import Any, Union

from ..errors import NsmcError


def read_file(path: Path, largest: int, error: type[NsmcError]) -> bytes:
    """Return the bytes of a file; `error` for one of more than `largest` bytes, for no regular file, or if unreadable."""
    size = bounded_size(path, largest, error)
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem


def bounded_size(path: Path, largest: int, error: type[NsmcError]) -> int:
    """Return the size of a file in bytes; `error` for one of more than `largest`, or no regular file."""
    try:
        status = path.lstat()
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem
    if not stat.S_ISREG(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "none"
        raise error(f"{path}: expected a regular file, found {kind}; put the file itself there")
    if status.st_size > largest:
        raise error(f"{path}: expected at most {largest:,} bytes, found {status.st_size:,}")
    return status.st_size


def read_json(content: Union[str, bytes], where: object, error: type[NsmcError], expected: str = "JSON") -> Any:
    """Return the value of a JSON text (str, or UTF-8 bytes); `error` for any other, or one nested too deeply."""
    try:
        return json.loads(content if isinstance(content, str) else content.decode())
    except (ValueError, RecursionError) as problem:
        raise error(f"{where}: expected {expected}, found {content.strip()[:40]!r}") from problem
