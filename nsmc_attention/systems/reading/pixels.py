"""The bytes of a picture decoded to gray pixels: a function, and a script for a process of its own that can be killed.

python pixels.py < picture: "width height", a line end and the pixels; what is wrong goes to stderr, with exit status 1. It
imports nothing of the package, so that it starts in a tenth of a second.
"""

import io
import sys
import warnings
from typing import Any

from PIL import Image, ImageOps, ImageStat, UnidentifiedImageError

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
# Of a picture: that of a long page on a large screen; and what a process may allocate for it, in bytes
MOST_PIXELS, MOST_MEMORY = 40_000_000, 450 * 2**20
DEEP = ("I", "I;16", "I;16L", "I;16B", "F")


class Refused(Exception):
    """A picture that is none, damaged or too large, in words."""


def decoded(content: bytes) -> Any:
    """Return a picture in gray (PIL, mode L): turned as its EXIF says, on white where it is transparent.

    Of an animated one, the first frame. Refused where it is no picture, damaged or larger than MOST_PIXELS.
    """
    expected = f"expected a picture ({', '.join(FORMATS)})"
    try:
        with warnings.catch_warnings():
            # its own limits, of which ours is the smaller one
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
                return gray_of(opened)
    except UnidentifiedImageError as problem:
        raise Refused(f"{expected}, found another file; take a screenshot of it") from problem
    except Refused:
        raise
    except Image.DecompressionBombError as problem:
        raise Refused(f"expected at most {MOST_PIXELS:,} pixels, found many more; cut out the text") from problem
    except MemoryError as problem:
        found = f"one that takes more than {MOST_MEMORY // 2**20} MiB to decode"
        raise Refused(f"{expected}, found {found}; make it smaller, or save it as PNG") from problem
    except Exception as problem:  # the decoders of damaged files fail in many ways
        raise Refused(
            f"{expected}, found a damaged one ({str(problem) or type(problem).__name__}); save it again"
        ) from problem


def gray_of(picture: Any) -> Any:
    """Return the gray of a picture that is not loaded yet."""
    width, height = picture.size
    if width * height > MOST_PIXELS:
        found = f"expected at most {MOST_PIXELS:,} pixels, found {width:,} x {height:,}"
        raise Refused(f"{found}; cut out the part with text, or make it smaller")
    # a tile of a TIFF may be larger than its picture
    for _, box, *_ in getattr(picture, "tile", ()):
        if box and (box[2] - box[0]) * (box[3] - box[1]) > MOST_PIXELS:
            raise Refused(f"expected tiles of at most {MOST_PIXELS:,} pixels, found a larger one; save it as PNG")
    picture = ImageOps.exif_transpose(picture)
    if picture.mode in DEEP:
        # 65535 is white
        picture = picture.convert("F")
        return picture.point(lambda value: value * (1 / 257) + 0).convert("L")
    if picture.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in picture.info:
        return on_paper(picture.convert("RGBA"))
    return picture.convert("RGB").convert("L")


def on_paper(picture: Any) -> Any:
    """Return a transparent picture in gray on white, or on black where what is seen of it is light."""
    gray, alpha = picture.convert("L"), picture.getchannel("A")
    seen = alpha.point([0] * 128 + [255] * 128)
    share = seen.histogram()[255] / (picture.width * picture.height)
    light = share > 0 and ImageStat.Stat(gray, seen).mean[0] > 128
    return Image.composite(gray, Image.new("L", picture.size, 0 if light and share < 0.9 else 255), alpha)


def main() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    except (ImportError, OSError, ValueError):
        # other systems limit no memory
        pass
    try:
        gray = decoded(sys.stdin.buffer.read())
        sys.stdout.buffer.write(b"%d %d\n" % gray.size)
        sys.stdout.buffer.write(gray.tobytes())
    except (Refused, MemoryError) as problem:
        sys.exit(str(problem) or "expected a picture, found one that takes too much memory to decode; make it smaller")


if __name__ == "__main__":
    main()
