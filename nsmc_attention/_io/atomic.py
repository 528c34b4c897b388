"""Files and folders that appear under their final name complete or not at all.

They are written beside the target, flushed to the disk and renamed. A killed process leaves at most a `.partial-*`
sibling, which the next write to the same target removes.
"""

import errno
import glob
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Iterable, Iterator, Optional, Union

from ..errors import ConfigError, DataError

PREFIX = ".partial-"
# Longest file name in bytes to which a prefix and a suffix can be added; file systems allow 255
LONGEST = 255 - 20
NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EMFILE)


@contextmanager
def replaced_file(path: Union[str, Path]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it becomes `path` on success and is removed on an error.

    A symbolic link is kept and its target replaced; a device or a pipe is yielded as it is. DataError where the folder
    does not exist or is not writable, or the disk is full.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    path = resolve_link(path)
    require_place(path)
    with temporary_sibling(path, mode=0o600 if path.exists() else 0o666) as temporary:
        yield temporary
        flush(temporary)
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        os.replace(temporary, path)
        # a folder may be writable and not readable, and the file already has its name
        with suppress(OSError):
            flush(path.parent)


@contextmanager
def replaced_folder(path: Union[str, Path]) -> Iterator[Path]:
    """Yield an empty temporary folder beside `path`; on success it replaces `path`."""
    path = resolve_link(path)
    with temporary_sibling(path, folder=True) as temporary:
        yield temporary
        for entry in (*temporary.iterdir(), temporary):
            flush(entry)
        move_folder(temporary, path)
        with suppress(OSError):
            flush(path.parent)


def write_text(path: Union[str, Path], text: str) -> None:
    """Write a UTF-8 file atomically; a lone surrogate becomes a question mark."""
    with replaced_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def require_place(path: Path) -> None:
    """Raise DataError where `path` is a folder or in none."""
    if path.is_dir() or not path.parent.is_dir():
        reason = "is a folder" if path.is_dir() else f"no such folder {path.parent}"
        raise DataError(f"{path}: {reason}; name a file in a folder that exists")


def move_folder(new: Path, path: Path) -> None:
    """Rename a new folder to `path`; an old one there is removed.

    A process killed between the two renames leaves the old folder, complete, as `NAME.old-*`.
    """
    if not path.exists():
        os.replace(new, path)
        return
    old = path.with_name(f"{shortened(path.name)}.old-{secrets.token_hex(4)}")
    os.replace(path, old)
    os.replace(new, path)
    remove(old)


@contextmanager
def temporary_sibling(path: Path, folder: bool = False, mode: int = 0o600) -> Iterator[Path]:
    """Yield an empty temporary file or folder beside `path`, removed at the end unless it was renamed."""
    sweep(path.parent, path.name)
    try:
        temporary, descriptor = create_locked(path, folder, mode)
    except OSError as problem:
        raise cannot_write(path, problem) from problem
    try:
        yield temporary
    except OSError as problem:
        if problem.errno in NO_ROOM:
            raise cannot_write(path, problem) from problem
        raise
    finally:
        remove(temporary)
        close(descriptor)


def cannot_write(path: Path, problem: OSError) -> DataError:
    return DataError(f"{path}: cannot be written: {problem.strerror}; {remedy(problem)}")


def remedy(problem: OSError) -> str:
    if problem.errno == errno.EMFILE:
        return "raise the limit: ulimit -n 1024"
    return "free some space, or choose another path" if problem.errno in NO_ROOM else "choose another path"


def create_locked(path: Path, folder: bool, mode: int) -> tuple[Path, Optional[int]]:
    while True:
        temporary = path.with_name(f"{PREFIX}{shortened(path.name)}.{secrets.token_hex(4)}")
        temporary.mkdir() if folder else temporary.touch(mode, exist_ok=False)
        descriptor = lock(temporary, wait=True)
        # another process's sweep may have removed it before it was locked
        if temporary.exists():
            return temporary, descriptor
        close(descriptor)


def shortened(name: str) -> str:
    """Return a file name, or its hash if it is too long to add a prefix and a suffix."""
    content = os.fsencode(name)
    return name if len(content) <= LONGEST else sha256(content).hexdigest()


def sweep(folder: Path, name: Optional[str] = None) -> None:
    """Remove what killed processes left in a folder: temporary siblings of the target `name`, or of any target."""
    for leftover in folder.glob(f"{PREFIX}{glob.escape(shortened(name)) if name else '*'}.{'?' * 8}"):
        # a living writer holds a lock
        with suppress(BlockingIOError):
            if (descriptor := lock(leftover)) is not None:
                remove(leftover)
                close(descriptor)


def vacant(folder: Path) -> bool:
    """Return whether a folder does not exist or holds only leftovers of killed processes."""
    if not folder.is_dir():
        return not folder.exists()
    return all(entry.name.startswith(PREFIX) for entry in folder.iterdir())


def lock(path: Path, wait: bool = False) -> Optional[int]:
    """Return a descriptor that locks a file or folder until it is closed or the process dies; None where unsupported.

    BlockingIOError where another process holds the lock, unless `wait`.
    """
    descriptor = None
    try:
        import fcntl

        # neither waits for the writer of a pipe nor follows a link
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError) as problem:
        close(descriptor)
        if isinstance(problem, BlockingIOError):
            raise
        return None
    return descriptor


@contextmanager
def folder_lock(folder: Path) -> Iterator[bool]:
    """Lock a folder during the `with` block; yield False where another process holds it (True without any locks)."""
    try:
        descriptor = lock(resolve_link(folder))
    except BlockingIOError:
        yield False
        return
    try:
        yield True
    finally:
        close(descriptor)


def close(descriptor: Optional[int]) -> None:
    if descriptor is not None:
        os.close(descriptor)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Flush a file, or a folder's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def resolve_link(path: Union[str, Path]) -> Path:
    """Return the target of a symbolic link, other paths unchanged; DataError where a link leads to itself."""
    target = path = Path(path)
    if path.is_symlink():
        # of a loop an error up to Python 3.12, then a link on the way
        with suppress(RuntimeError, OSError):
            target = path.resolve()
        if target.is_symlink():
            raise DataError(f"{path}: is a link that cannot be followed; name the file or folder itself")
    return target


def refuse_links(paths: Iterable[Path]) -> None:
    """Raise ConfigError where a path, or anything inside it, is a symbolic link: perhaps somebody else's."""
    for path in chain.from_iterable(chain([path], path.rglob("*")) for path in paths):
        if path.is_symlink():
            raise ConfigError(f"{path}: is a link, whose target would be replaced; remove it or put a copy there")
