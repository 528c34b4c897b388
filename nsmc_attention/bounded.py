"""Reading what others wrote: regular files alone, and no more bytes than there can be."""
import stat


def read_file(path, largest, error):
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
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            raise error(f"{path}: expected a regular file, found {'a link' if stat.S_ISLNK(mode) else 'none'}; "
                        "put the file itself there")
        with open(path, "rb") as file:
            content = file.read(min(largest, path.stat().st_size) + 1)
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem
    if len(content) > largest:
        raise error(f"{path}: expected at most {largest:,} bytes, found more")
    return content
