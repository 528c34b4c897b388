"""Pictures from files, bytes and arrays as gray pixels; whatever a file holds, memory is bounded."""

import io
import warnings
from os import PathLike
from pathlib import Path
from typing import Union

import numpy
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from ..._io.bounded import read_file
from ..._runtime.aliases import Numbers
from ...errors import DataError

# A path, the bytes of a file, a picture of PIL, or an array (height, width) or (height, width, 3 or 4) of uint8
Picture = Union[str, "PathLike[str]", bytes, Image.Image, NDArray[numpy.uint8]]
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
# Of a file in bytes, and of a picture: that of a long page on a large screen
LARGEST_FILE, MOST_PIXELS = 2**26, 40_000_000


def open_gray(picture: Picture) -> NDArray[numpy.uint8]:
    """Return a picture as (height, width), uint8: turned as its EXIF says, on white where it is transparent.

    Of an animated one, the first frame. DataError where it is no picture, damaged or larger than MOST_PIXELS.
    """
    if isinstance(picture, numpy.ndarray):
        return gray_of_array(picture)
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
        with warnings.catch_warnings():
            # its own limits, of which ours is the smaller one
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
                return gray_of(opened, where)
    except UnidentifiedImageError as problem:
        raise DataError(f"{expected}, found another file; take a screenshot of it") from problem
    except DataError:
        raise
    except Image.DecompressionBombError as problem:
        raise DataError(
            f"{where}: expected at most {MOST_PIXELS:,} pixels, found many more; cut out the text"
        ) from problem
    except Exception as problem:  # the decoders of damaged files fail in many ways
        raise DataError(
            f"{expected}, found a damaged one ({str(problem) or type(problem).__name__}); save it again"
        ) from problem


def gray_of_array(pixels: Numbers) -> NDArray[numpy.uint8]:
    if pixels.dtype != "uint8" or pixels.ndim not in (2, 3) or pixels.ndim == 3 and pixels.shape[2] not in (3, 4):
        found = f"{pixels.dtype} {pixels.shape}"
        raise DataError(f"picture: expected uint8 (height, width), or (height, width, 3 or 4), found {found}")
    if not pixels.size:
        raise DataError(f"picture: expected pixels, found an array of shape {pixels.shape}")
    return gray_of(Image.fromarray(pixels), "picture")


def gray_of(picture: Image.Image, where: str) -> NDArray[numpy.uint8]:
    """Return the gray pixels of a picture that is not loaded yet."""
    width, height = picture.size
    if width * height > MOST_PIXELS:
        expected = f"expected at most {MOST_PIXELS:,} pixels, found {width:,} x {height:,}"
        raise DataError(f"{where}: {expected}; cut out the part with text, or make it smaller")
    picture = ImageOps.exif_transpose(picture)
    if picture.mode in ("I", "I;16", "I;16L", "I;16B", "F"):
        return (numpy.asarray(picture).astype("float64") / 257).clip(0, 255).astype("uint8")
    if picture.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in picture.info:
        picture = on_paper(picture.convert("RGBA"))
    return numpy.asarray(picture.convert("RGB").convert("L"))


def on_paper(picture: Image.Image) -> Image.Image:
    """Return a transparent picture on white, or on black where what is seen of it is light."""
    gray, seen = numpy.asarray(picture.convert("L")), numpy.asarray(picture.getchannel("A")) >= 128
    light, has_holes = bool(seen.any() and gray[seen].mean() > 128), seen.mean() < 0.9
    paper = Image.new("RGBA", picture.size, "black" if light and has_holes else "white")
    return Image.alpha_composite(paper, picture)
