"""Files and folders that appear under their name whole or not at all.

Written beside the target, flushed to the disk, then renamed over it: a killed process leaves at most a
`.partial-*` neighbour, which the next write to the same target removes.
"""
import errno
import os
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from .errors import DataError

PREFIX = ".partial-"
NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


@contextmanager
def replaced_file(path):
    """Give a temporary path beside `path`; on success it becomes `path`, on an error it is removed.

    A symbolic link stays one: what it points to is replaced. A device or a pipe is given as it is.

    Raises
    ------
    DataError
        The folder that the file should go into is not there, or the disk is full.
    """
    path = Path(path).resolve() if Path(path).is_symlink() else Path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"{path}: {'is a folder' if path.is_dir() else f'no such folder {path.parent}'}; "
                        "name a file in a folder that exists")
    if path.exists() and not path.is_file():
        yield path
        return
    sweep(path)
    handle, name = tempfile.mkstemp(prefix=prefix(path), dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        flush(temporary)
        temporary.chmod(0o666 & ~current_umask())
        os.replace(temporary, path)
        flush(path.parent)
    except OSError as problem:
        if problem.errno in NO_ROOM:
            raise DataError(f"{path}: cannot be written: {problem.strerror}; make room") from problem
        raise
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replaced_folder(path):
    """Give an empty temporary folder beside `path`; on success it becomes `path`, whatever stood there."""
    path = Path(path)
    sweep(path)
    temporary = Path(tempfile.mkdtemp(prefix=prefix(path), dir=path.parent))
    aside = temporary.with_name(temporary.name + "_old")
    try:
        yield temporary
        for file in temporary.iterdir():
            flush(file)
        temporary.chmod(0o777 & ~current_umask())
        # no system call swaps folders portably: the old one steps aside for the length of one rename
        if path.exists():
            os.replace(path, aside)
        try:
            os.replace(temporary, path)
        except OSError:
            if aside.exists():
                os.replace(aside, path)
            raise
        flush(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if path.exists():
            shutil.rmtree(aside, ignore_errors=True)


def write_text(path, text):
    """Write a UTF-8 file whole or not at all; half a surrogate pair, which is no character, becomes a question mark."""
    with replaced_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def prefix(path):
    """Begin the names of temporary neighbours of `path`; the process number tells whose they are."""
    return f"{PREFIX}{path.name}.{os.getpid()}."


def sweep(path):
    """Remove what processes that are no more left behind of this very target."""
    ours = re.compile(re.escape(f"{PREFIX}{path.name}.") + r"(\d+)\.\w+")
    for leftover in path.parent.glob(f"{PREFIX}*"):
        match = ours.fullmatch(leftover.name)
        if match and not alive(int(match.group(1))):
            shutil.rmtree(leftover, ignore_errors=True) if leftover.is_dir() else leftover.unlink(missing_ok=True)


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def flush(path):
    """Ask the system to bring a file, or a folder's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
