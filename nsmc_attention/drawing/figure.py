"""Figures with Hangul on any machine, and writing them.

The font comes from the wheel koreanize-matplotlib (NanumGothic, OFL), whose own import would change matplotlib for
everyone, so only its font file is used.
"""

import logging
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import files
from os import PathLike
from pathlib import Path
from typing import Any, Union

from .._io.atomic import replaced_file
from ..errors import ConfigError, did_you_mean

SUFFIXES = (".png", ".svg", ".pdf")
# text as outlines in SVG and embedded TrueType in PDF: both show Hangul where no font is installed
SETTINGS: dict[Any, Any] = {
    "font.family": ["NanumGothic", "DejaVu Sans"],
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "axes.unicode_minus": False,
    "text.parse_math": False,
    "hatch.linewidth": 0.7,
}


@lru_cache(maxsize=1)
def font_file() -> Path:
    (font,) = [file for file in files("koreanize-matplotlib") or () if file.name == "NanumGothic.ttf"]
    return Path(str(font.locate()))


@lru_cache(maxsize=1)
def add_hangul_font() -> None:
    from matplotlib.font_manager import fontManager

    fontManager.addfont(str(font_file()))


@contextmanager
def drawing() -> Iterator[None]:
    """Use SETTINGS and the Hangul font, only here; characters that no font has become boxes, without a warning."""
    import matplotlib

    add_hangul_font()
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


@contextmanager
def new_figure(
    size: tuple[float, float], rows: int = 1, columns: int = 1, **ratios: Sequence[float]
) -> Iterator[tuple[Any, Any]]:
    """Yield a Figure of so many inches and its grid of axes, (rows, columns), while `drawing`.

    `height_ratios` and `width_ratios` are those of the rows and columns.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    with drawing():
        yield figure, figure.subplots(rows, columns, squeeze=False, gridspec_kw=ratios)


def printable(text: str) -> str:
    """Replace unprintable characters by a box, and truncate what is too long for an axis."""
    text = "".join(character if character.isprintable() else "□" for character in text)
    return text if len(text) <= 90 else text[:89] + "…"


def check_suffix(path: Union[str, Path], suffixes: Sequence[str] = SUFFIXES) -> Path:
    """Return path as a Path; ConfigError if it has none of the suffixes."""
    if not isinstance(path, (str, PathLike)):
        raise ConfigError(f"expected the path of a picture, found {path!r}")
    path = Path(path)
    if path.suffix.lower() not in suffixes:
        raise ConfigError(f"{path}: unknown suffix {path.suffix!r}{did_you_mean(path.suffix, suffixes)}")
    return path


def save_figure(figure: Any, path: Union[str, Path]) -> None:
    """Write a matplotlib Figure as .png, .svg or .pdf, whole or not at all; ConfigError if it has another suffix."""
    # embedding a font in a PDF, fontTools logs each table that it leaves out
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    path = check_suffix(path)
    # image viewers refuse a PNG with a longer side
    resolution = min(150, math.floor(20000 / max(figure.get_size_inches())))
    with replaced_file(path) as temporary, drawing():
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=resolution)
