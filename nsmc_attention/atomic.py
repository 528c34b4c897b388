"""Files and folders that appear under their name whole or not at all.

Written beside the target, flushed to the disk, then renamed over it: a killed process leaves at most a
`.partial-*` neighbour, which the next write to the same target removes.
"""
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from .errors import DataError

PREFIX = ".partial-"


@contextmanager
def replaced_file(path, suffix=""):
    """Give a temporary path beside `path`; on success it becomes `path`, on an error it is removed.

    The suffix, for writers that choose a format by it, ends the temporary name. DataError where the folder
    that the file should go into is not there.
    """
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"{path}: {'is a folder' if path.is_dir() else f'no such folder {path.parent}'}; "
                        "name a file in a folder that exists")
    sweep(path)
    handle, name = tempfile.mkstemp(prefix=f"{PREFIX}{path.name}-", suffix=suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        flush(temporary)
        temporary.chmod(0o666 & ~current_umask())
        os.replace(temporary, path)
        flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replaced_folder(path):
    """Give an empty temporary folder beside `path`; on success it becomes `path`, whatever stood there."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path)
    temporary = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{path.name}-", dir=path.parent))
    try:
        yield temporary
        for file in temporary.iterdir():
            flush(file)
        temporary.chmod(0o777 & ~current_umask())
        if path.exists():
            # no system call swaps folders portably: the old one steps aside for the length of one rename
            aside = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{path.name}-", dir=path.parent))
            os.replace(path, aside / path.name)
        os.replace(temporary, path)
        flush(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        sweep(path)


def write_text(path, text):
    """Write a UTF-8 file whole or not at all."""
    with replaced_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def sweep(path):
    """Remove what killed writers of this very target left behind."""
    for leftover in path.parent.glob(f"{PREFIX}{path.name}-*"):
        shutil.rmtree(leftover, ignore_errors=True) if leftover.is_dir() else leftover.unlink(missing_ok=True)


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
