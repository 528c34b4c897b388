"""Reading what others wrote: regular files alone, and no more bytes than there can be."""

import stat
from pathlib import Path


def read_file(path: Path, largest: int, error: type[Exception]) -> bytes:
    """Answer the bytes of a file.

    Parameters
    ----------
    path : Path
    largest : int
        Bytes that it may have.
    error : class
        Of NsmcError, raised where it has more, or is a link, a folder, a pipe or a device.
    """
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            kind = "a link" if stat.S_ISLNK(found.st_mode) else "none"
            raise error(f"{path}: expected a regular file, found {kind}; put the file itself there")
        if found.st_size > largest:
            raise error(f"{path}: expected at most {largest:,} bytes, found {found.st_size:,}")
        with open(path, "rb") as file:
            return file.read(found.st_size)
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem
