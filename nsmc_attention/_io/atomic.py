"""Files and folders that appear under their name whole or not at all.

Written beside the target, flushed to the disk, then renamed over it; two folders swap their names in one move. A
killed process leaves at most a `.partial-*` neighbour, which the next write to the same target removes.
"""

import ctypes
import errno
import os
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Optional, Union

from ..errors import ConfigError, DataError

PREFIX, ASIDE = ".partial-", ".old"
NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
# of linux/fcntl.h and linux/fs.h
AT_FDCWD, RENAME_EXCHANGE = -100, 2


@contextmanager
def replaced_file(path: Union[str, Path]) -> Iterator[Path]:
    """Give a temporary path beside `path`; on success it becomes `path`, on an error it is removed.

    A symbolic link stays one: what it points to is replaced. A device or a pipe is given as it is.

    Raises
    ------
    DataError
        The folder that the file should go into is not there or cannot be written to, or the disk is full.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    path = followed(path)
    require_place(path)
    with neighbour(path) as temporary:
        yield temporary
        flush(temporary)
        keep_rights(path, temporary)
        os.replace(temporary, path)
        flush_entries(path.parent)


def keep_rights(path: Path, temporary: Path) -> None:
    """Give a new file the owner and the rights of the one that it replaces, or those that new files have."""
    if not path.exists():
        temporary.chmod(0o666 & ~current_umask())
        return
    found = path.stat()
    temporary.chmod(found.st_mode & 0o777)
    # what root replaces would else be a file that its owner can no longer read; others may not give files away
    with suppress(OSError):
        os.chown(temporary, found.st_uid, found.st_gid)


def require_place(path: Path) -> None:
    """DataError where a path cannot be that of a file: it is a folder, or its own folder is not there."""
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(
            f"{path}: {'is a folder' if path.is_dir() else f'no such folder {path.parent}'}; "
            "name a file in a folder that exists"
        )


@contextmanager
def replaced_folder(path: Union[str, Path]) -> Iterator[Path]:
    """Give an empty temporary folder beside `path`; on success it becomes `path`, whatever stood there."""
    path = followed(path)
    with neighbour(path, folder=True) as temporary:
        yield temporary
        for each in (*temporary.iterdir(), temporary):
            flush(each)
        temporary.chmod(0o777 & ~current_umask())
        if path.exists():
            exchange(temporary, path)
        else:
            os.replace(temporary, path)
        flush_entries(path.parent)


@contextmanager
def neighbour(path: Path, folder: bool = False, suffix: str = "") -> Iterator[Path]:
    """Give an empty temporary file, or folder, beside `path`; whatever has its name at the end is removed."""
    sweep(path.parent, re.escape(path.name))
    names: dict[str, Any] = {"prefix": f"{PREFIX}{path.name}.", "suffix": suffix, "dir": path.parent}
    try:
        temporary, held = locked(lambda: Path(tempfile.mkdtemp(**names) if folder else new_file(**names)))
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
        release(held)


def write_text(path: Union[str, Path], text: str) -> None:
    """Write a UTF-8 file whole or not at all; half a surrogate pair, which is no character, becomes a question mark."""
    with replaced_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def vacant(folder: Path) -> bool:
    """Tell whether a folder is not there, or holds nothing but what killed processes left behind."""
    if not folder.is_dir():
        return not folder.exists()
    return all(each.name.startswith(PREFIX) for each in folder.iterdir())


def sweep(folder: Path, name: str = ".+") -> None:
    """Remove what processes that are no more have left in a folder; what stood aside is put back.

    `name` is a regular expression of the targets, whose leftovers alone are looked at.
    """
    ours = re.compile(rf"{re.escape(PREFIX)}({name})\.\w{{8}}(\.\w+)?")
    # what stands aside comes before the folder that it made way for, by whose lock its writer is known
    for leftover in sorted(folder.glob(f"{PREFIX}*"), reverse=True):
        match = ours.fullmatch(leftover.name)
        if not match:
            continue
        aside = leftover.suffix == ASIDE
        owner = leftover.with_suffix("") if aside else leftover
        held = lock(owner)
        if held is None and owner.exists():
            continue
        target = folder / match[1]
        if aside and not target.exists():
            os.replace(leftover, target)
        else:
            remove(leftover)
        release(held)


def exchange(temporary: Path, path: Path) -> None:
    """Let a new folder and the one at `path` swap their names.

    In one move where the system has one. Elsewhere a process killed between two moves leaves the old one aside.
    """
    if swap(temporary, path):
        return
    aside = temporary.with_name(temporary.name + ASIDE)
    try:
        os.replace(path, aside)
        os.replace(temporary, path)
    except BaseException:
        if aside.exists() and not path.exists():
            os.replace(aside, path)
        raise
    os.replace(aside, temporary)


def swap(one: Path, other: Path) -> bool:
    """Swap two names in one move; tell whether it could be done: on Linux, and by most of its file systems."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    return rename is not None and rename(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0


def locked(create: Callable[[], Path]) -> tuple[Path, Optional[int]]:
    """Create a file or folder and lock it; once more where a `sweep` took it for a dead process's in between."""
    while True:
        path = create()
        held = lock(path, wait=True)
        if path.exists() and (held is None or os.path.samestat(os.fstat(held), path.stat())):
            return path, held
        release(held)


def lock(path: Path, wait: bool = False) -> Optional[int]:
    """Answer a descriptor that holds a file or folder until it is closed or its process dies, however it dies.

    None where another holds it, or nobody can. A process number would not do: in a container the next process
    often has the same, and on a shared disk it may be another machine's.
    """
    try:
        return taken(path, wait)
    except (ImportError, OSError):
        return None


def taken(path: Path, wait: bool) -> int:
    """Answer what `lock` does; BlockingIOError where another holds it, another error where nobody can."""
    import fcntl

    # whatever has the name: a pipe would be waited for until somebody writes, and a link leads elsewhere
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Hold a folder while the `with` block lasts; tell whether nobody else does, as far as the system can tell.

    However the process dies, the folder is free again.
    """
    try:
        descriptor: Optional[int] = taken(followed(folder), wait=False)
    except BlockingIOError:
        yield False
        return
    except (ImportError, OSError):
        # a disk without locks: one process can work there, and two are not noticed
        descriptor = None
    try:
        yield True
    finally:
        release(descriptor)


def release(descriptor: Optional[int]) -> None:
    if descriptor is not None:
        os.close(descriptor)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Ask the system to bring a file, or a folder's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_entries(folder: Path) -> None:
    """Bring a folder's entries to the disk, where that can be done.

    A folder may be written to and not read, which is enough to put a file there: the file has its name by now, and
    an error would say that it has not.
    """
    with suppress(OSError):
        flush(folder)


def new_file(prefix: str, suffix: str, dir: Path) -> str:
    handle, name = tempfile.mkstemp(suffix, prefix, dir)
    os.close(handle)
    return name


def followed(path: Union[str, Path]) -> Path:
    """Answer the path that a symbolic link stands for; DataError where it leads nowhere, as to itself."""
    path = Path(path)
    if not path.is_symlink():
        return path
    try:
        return path.resolve()
    except (RuntimeError, OSError) as problem:
        raise DataError(
            f"{path}: is a link that cannot be followed, as one to itself; name the file or folder"
        ) from problem


def refuse_links(paths: Iterable[Path]) -> None:
    """ConfigError where one of the paths, or anything in the folders among them, is a symbolic link.

    A link that the user names is followed. One inside a folder that is worked in may be a stranger's, and what it
    leads to would be replaced.
    """
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() and not path.is_symlink() else []
        for each in (path, *inside):
            if each.is_symlink():
                raise ConfigError(
                    f"{each}: is a link, and what it leads to would be replaced; put the file or folder "
                    "itself there, or remove it"
                )


def cannot_write(path: Path, problem: OSError) -> DataError:
    return DataError(f"{path}: cannot be written: {problem.strerror}; make room or choose another place")


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
