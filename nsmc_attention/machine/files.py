"""Atomic files and folders: they appear under their final name complete or not at all.

They are written beside the target, flushed to the disk and renamed. A process killed by SIGKILL leaves at most a
`.partial-*` sibling, which may be deleted.
"""

import errno
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Union

from ..errors import DataError, NsmcError

PREFIX = ".partial-"
NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EMFILE)
# Functions to call before SIGINT or SIGTERM ends a command, which runs no `finally` block (see `cli`)
endings: list[Callable[[], object]] = []


@contextmanager
def replaced_file(path: Union[str, Path]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it becomes `path` on success and is removed on an error.

    A symbolic link is kept and its target replaced; a device or a pipe is yielded as it is. DataError if the folder
    does not exist or is not writable, or the disk is full.
    """
    path = linked(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    require_place(path)
    with temporary_sibling(path, mode=0o600 if path.exists() else 0o666) as temporary:
        yield temporary
        flush(temporary)
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)


@contextmanager
def replaced_folder(path: Union[str, Path]) -> Iterator[Path]:
    """Yield an empty temporary folder beside `path`; on success it replaces `path`.

    A process killed between the two renames leaves the old folder, complete, as `NAME.old-*`.
    """
    path = linked(path)
    with temporary_sibling(path, folder=True) as temporary:
        yield temporary
        for entry in (*temporary.iterdir(), temporary):
            flush(entry)
        old = path.with_name(f"{path.name}.old-{secrets.token_hex(4)}")
        if path.exists():
            os.replace(path, old)
        os.replace(temporary, path)
        remove(old)


def write_text(path: Union[str, Path], text: str) -> None:
    """Write a UTF-8 file atomically; a lone surrogate becomes a question mark."""
    with replaced_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def linked(path: Union[str, Path]) -> Path:
    """Return the target of a symbolic link, other paths unchanged."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)


def require_place(path: Path) -> None:
    """Raise DataError if `path` is a folder, or its parent folder does not exist."""
    if path.is_dir() or not path.parent.is_dir():
        reason = "is a folder" if path.is_dir() else f"no such folder {path.parent}"
        raise DataError(f"{path}: {reason}; name a file in a folder that exists")


@contextmanager
def temporary_sibling(path: Path, folder: bool = False, mode: int = 0o600) -> Iterator[Path]:
    """Yield an empty temporary file or folder beside `path`, removed at the end unless it was renamed."""
    temporary = path.with_name(PREFIX + secrets.token_hex(8))
    end = partial(remove, temporary)
    endings.append(end)
    try:
        temporary.mkdir() if folder else temporary.touch(mode, exist_ok=False)
        yield temporary
    except OSError as problem:
        if problem.errno in NO_ROOM or str(problem.filename) == str(temporary):
            raise DataError(f"{path}: cannot be written: {problem.strerror}; {remedy(problem)}") from problem
        raise
    finally:
        end()
        endings.remove(end)


def remedy(problem: OSError) -> str:
    if problem.errno == errno.EMFILE:
        return "raise the limit: ulimit -n 1024"
    return "free some space, or choose another path" if problem.errno in NO_ROOM else "choose another path"


def vacant(folder: Path) -> bool:
    """Return whether a folder does not exist or holds only temporary files of killed processes."""
    return all(entry.name.startswith(PREFIX) for entry in folder.iterdir()) if folder.is_dir() else not folder.exists()


def remove(path: Path) -> None:
    """Remove a file or folder, if it exists and can be removed."""
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def flush(path: Path) -> None:
    """Flush a file, or a folder's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_file(path: Path, largest: int, error: type[NsmcError]) -> bytes:
    """Return a file's bytes; `error` if it is larger than `largest`, not a regular file or not readable."""
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


def read_json(content: Union[str, bytes], where: object, error: type[NsmcError], expected: str) -> Any:
    """Return the value of a JSON text (str, or UTF-8 bytes); `error` if it is invalid or nested too deeply."""
    try:
        return json.loads(content if isinstance(content, str) else content.decode())
    except (ValueError, RecursionError) as problem:
        raise error(f"{where}: expected {expected}, found {content.strip()[:40]!r}") from problem


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield {column: cell} of each row of one of the package's tables: UTF-8, tab-separated, names in the first line."""
    names, *rows = (line.split("\t") for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"))
    return (dict(zip(names, row)) for row in rows)
