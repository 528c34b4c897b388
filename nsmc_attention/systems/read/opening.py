"""Input of pictures: files, bytes, arrays and PIL images in, gray pixels out."""

import io
import warnings
from os import PathLike
from pathlib import Path
from typing import Any, Union

import numpy
from numpy.typing import NDArray
from PIL import Image, ImageOps, ImageStat, UnidentifiedImageError

from ...errors import DataError
from ...machine.aliases import Numbers
from ...machine.files import read_file

# A path, the bytes of a file, a picture of PIL, or an array (height, width) or (height, width, 3 or 4) of uint8
Picture = Union[str, "PathLike[str]", bytes, Image.Image, NDArray[numpy.uint8]]
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
LARGEST_FILE, MOST_PIXELS = 2**26, 40_000_000  # Bytes of a file; pixels of a picture (a long page on a large screen)
DEEP = ("I", "I;16", "I;16L", "I;16B", "F")


def open_gray(picture: Picture) -> NDArray[numpy.uint8]:
    """Return a picture as (height, width), uint8: rotated by its EXIF data, with transparent pixels on white or black.

    For an animation, return the first frame. DataError if it is not a picture, damaged or too large.
    """
    if isinstance(picture, numpy.ndarray):
        return gray_of(image_of(picture), "picture")
    if isinstance(picture, Image.Image):
        return gray_of(picture, "picture")
    if isinstance(picture, (bytes, bytearray)):
        where, content = "picture", bytes(picture)
    elif isinstance(picture, (str, PathLike)):
        where, content = str(picture), read_file(Path(picture).resolve(), LARGEST_FILE, DataError)
    else:
        raise DataError(f"picture: expected a path, bytes, an array or a PIL image, found {type(picture).__name__}")
    if len(content) > LARGEST_FILE:
        raise DataError(f"{where}: expected at most {LARGEST_FILE:,} bytes, found more; make the picture smaller")
    expected = f"{where}: expected a picture ({', '.join(FORMATS)})"
    try:
        with warnings.catch_warnings(), io.BytesIO(content) as file:
            warnings.simplefilter("ignore")  # PIL's warning about large pictures; MOST_PIXELS is smaller
            return gray_of(Image.open(file, formats=FORMATS), where)
    except UnidentifiedImageError as problem:
        raise DataError(f"{expected}, found another file; take a screenshot of it") from problem
    except (DataError, MemoryError):
        raise
    except Exception as problem:  # decoders fail in many ways on damaged files
        reason = str(problem) or type(problem).__name__
        raise DataError(f"{expected}, found a damaged one ({reason}); save it again") from problem


def gray_of(picture: Any, where: str) -> NDArray[numpy.uint8]:
    """Load a picture as gray pixels; DataError if it has more than MOST_PIXELS."""
    width, height = picture.size
    if width * height > MOST_PIXELS:
        found = f"expected at most {MOST_PIXELS:,} pixels, found {width:,} x {height:,}"
        raise DataError(f"{where}: {found}; cut out the part with text, or make it smaller")
    picture = ImageOps.exif_transpose(picture)
    if picture.mode in DEEP:
        picture = picture.convert("F").point(lambda value: value * (1 / 257) + 0)  # 65535 is white
    elif picture.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in picture.info:
        picture = on_paper(picture.convert("RGBA"))
    elif picture.mode != "L":
        picture = picture.convert("RGB")
    return numpy.asarray(picture.convert("L"))


def on_paper(picture: Any) -> Any:
    """Return a transparent picture in gray on white, or on black if its visible pixels are light."""
    gray, alpha = picture.convert("L"), picture.getchannel("A")
    visible = alpha.point([0] * 128 + [255] * 128)
    share = visible.histogram()[255] / (picture.width * picture.height)
    light = share > 0 and ImageStat.Stat(gray, visible).mean[0] > 128
    return Image.composite(gray, Image.new("L", picture.size, 0 if light and share < 0.9 else 255), alpha)


def image_of(array: Numbers) -> Image.Image:
    if array.dtype != "uint8" or not array.size or array.ndim != 2 and array.shape[2:] not in ((3,), (4,)):
        raise DataError(f"picture: expected uint8 (height, width[, 3 or 4]), found {array.dtype} {array.shape}")
    return Image.fromarray(array)
