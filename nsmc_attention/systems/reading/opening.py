"""Pictures from files, bytes and arrays as gray pixels; whatever a file holds, time and memory are bounded."""

import subprocess
import sys
from os import PathLike
from pathlib import Path
from typing import Any, Union

import numpy
from numpy.typing import NDArray
from PIL import Image

from ..._io.bounded import read_file
from ..._runtime.aliases import Numbers
from ...errors import DataError
from . import decoder
from .decoder import FORMATS, MOST_PIXELS

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
        return told("picture", decoder.gray_of, picture)
    if isinstance(picture, (bytes, bytearray)):
        where, content = "picture", bytes(picture)
    elif isinstance(picture, (str, PathLike)):
        where, content = str(picture), read_file(Path(picture).resolve(), LARGEST_FILE, DataError)
    else:
        raise DataError(f"picture: expected a path, bytes, an array or a PIL image, found {type(picture).__name__}")
    if len(content) > LARGEST_FILE:
        raise DataError(f"{where}: expected at most {LARGEST_FILE:,} bytes, found more; make the picture smaller")
    return told(where, decoder.decoded if is_simple(content) else decoded_apart, content)


def is_simple(content: bytes) -> bool:
    """Return whether a file takes little time and memory to decode: few bytes, pixels and scans."""
    is_png = content.startswith(b"\x89PNG\r\n\x1a\n")
    is_jpeg = content.startswith(b"\xff\xd8") and content.count(b"\xff\xda") <= SCANS
    if len(content) > SMALL or not (is_png or is_jpeg):
        return False
    # of a JPEG, what is decoded is bounded by its scans; of a PNG, by the size that its header says
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20)) if is_png else (1, 1)
    return width * height <= MOST_PIXELS // 4


def decoded_apart(content: bytes) -> Any:
    """Return `decoder.decoded` of a process that has SECONDS and `decoder.MOST_MEMORY`."""
    try:
        ran = subprocess.run(
            [sys.executable, "-I", decoder.__file__], input=content, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as problem:
        expected = f"expected a picture that is decoded in {SECONDS:g} s, found one that takes longer"
        raise decoder.Refused(f"{expected}; save it as PNG") from problem
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip().splitlines()
        raise decoder.Refused(
            said[-1] if said else "expected a picture, found one that cannot be decoded; save it as PNG"
        )
    size, _, pixels = ran.stdout.partition(b"\n")
    width, height = map(int, size.split())
    return numpy.frombuffer(pixels, "uint8").reshape(height, width)


def told(where: str, decode: Any, picture: Any) -> NDArray[numpy.uint8]:
    """Return what a function makes of a picture; its Refused as DataError."""
    try:
        return numpy.asarray(decode(picture))
    except decoder.Refused as problem:
        raise DataError(f"{where}: {problem}") from problem


def gray_of_array(pixels: Numbers) -> NDArray[numpy.uint8]:
    if pixels.dtype != "uint8" or pixels.ndim not in (2, 3) or pixels.ndim == 3 and pixels.shape[2] not in (3, 4):
        found = f"{pixels.dtype} {pixels.shape}"
        raise DataError(f"picture: expected uint8 (height, width), or (height, width, 3 or 4), found {found}")
    if not pixels.size:
        raise DataError(f"picture: expected pixels, found an array of shape {pixels.shape}")
    return told("picture", decoder.gray_of, Image.fromarray(pixels))
