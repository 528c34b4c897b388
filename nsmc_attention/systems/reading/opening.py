"""Pictures from files, bytes and arrays as gray pixels; whatever a file holds, time and memory are bounded."""

import os
import subprocess
import sys
from os import PathLike
from pathlib import Path
from typing import Any, Union

import numpy
import PIL
from numpy.typing import NDArray
from PIL import Image

from ..._io.bounded import read_file
from ..._runtime.aliases import Numbers
from ...errors import DataError
from . import pixels
from .pixels import FORMATS, MOST_PIXELS, Refused

__all__ = ["FORMATS", "LARGEST_FILE", "MOST_PIXELS", "Picture", "open_gray"]

# A path, the bytes of a file, a picture of PIL, or an array (height, width) or (height, width, 3 or 4) of uint8
Picture = Union[str, "PathLike[str]", bytes, Image.Image, NDArray[numpy.uint8]]
# Of a file in bytes
LARGEST_FILE = 2**26
# A PNG, or a JPEG of few scans, of so few bytes is decoded at once; every other file in a process of its own, in so many seconds
SMALL, SCANS, SECONDS = 2**22, 12, 5.0


def open_gray(picture: Picture) -> NDArray[numpy.uint8]:
    """Return a picture as (height, width), uint8: turned as its EXIF says, on white where it is transparent.

    Of an animated one, the first frame. DataError where it is no picture, damaged or too large.
    """
    if isinstance(picture, numpy.ndarray):
        return gray_of_array(picture)
    if isinstance(picture, Image.Image):
        return or_data_error("picture", pixels.gray_of, picture)
    if isinstance(picture, (bytes, bytearray)):
        where, content = "picture", bytes(picture)
    elif isinstance(picture, (str, PathLike)):
        where, content = str(picture), read_file(Path(picture).resolve(), LARGEST_FILE, DataError)
    else:
        raise DataError(f"picture: expected a path, bytes, an array or a PIL image, found {type(picture).__name__}")
    if len(content) > LARGEST_FILE:
        raise DataError(f"{where}: expected at most {LARGEST_FILE:,} bytes, found more; make the picture smaller")
    return or_data_error(where, pixels.decoded if is_simple(content) else decoded_in_a_process, content)


def is_simple(content: bytes) -> bool:
    """Return whether a file takes little time and memory to decode: few bytes, pixels and scans."""
    is_png = content.startswith(b"\x89PNG\r\n\x1a\n")
    is_jpeg = content.startswith(b"\xff\xd8") and content.count(b"\xff\xda") <= SCANS
    if len(content) > SMALL or not (is_png or is_jpeg):
        return False
    # of a JPEG, what is decoded is bounded by its scans; of a PNG, by the size that its header says
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20)) if is_png else (1, 1)
    return width * height <= MOST_PIXELS // 4


def decoded_in_a_process(content: bytes) -> Any:
    """Return `pixels.decoded` of a process that has SECONDS and `pixels.MOST_MEMORY`."""
    try:
        ran = subprocess.run(
            [sys.executable, pixels.__file__],
            input=content,
            capture_output=True,
            timeout=SECONDS,
            # Pillow may be in a folder that this process alone knows
            env={**os.environ, "PYTHONPATH": str(Path(PIL.__file__).parents[1])},
        )
    except subprocess.TimeoutExpired as problem:
        expected = f"expected a picture that is decoded in {SECONDS:g} s, found one that takes longer"
        raise Refused(f"{expected}; save it as PNG") from problem
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip().splitlines()
        raise Refused(said[-1] if said else "expected a picture, found one that cannot be decoded; save it as PNG")
    size, _, gray = ran.stdout.partition(b"\n")
    width, height = map(int, size.split())
    return numpy.frombuffer(gray, "uint8").reshape(height, width)


def or_data_error(where: str, decode: Any, picture: Any) -> NDArray[numpy.uint8]:
    """Return what a function makes of a picture; its Refused as DataError."""
    try:
        return numpy.asarray(decode(picture))
    except Refused as problem:
        raise DataError(f"{where}: {problem}") from problem


def gray_of_array(array: Numbers) -> NDArray[numpy.uint8]:
    if array.dtype != "uint8" or array.ndim not in (2, 3) or array.ndim == 3 and array.shape[2] not in (3, 4):
        found = f"{array.dtype} {array.shape}"
        raise DataError(f"picture: expected uint8 (height, width), or (height, width, 3 or 4), found {found}")
    if not array.size:
        raise DataError(f"picture: expected pixels, found an array of shape {array.shape}")
    return or_data_error("picture", pixels.gray_of, Image.fromarray(array))
