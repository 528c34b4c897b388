"""The fonts that lines are drawn with for training and judging."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fontTools.ttLib import TTCollection, TTFont
from PIL import ImageFont

from ...errors import DataError
from ...text.hangul import FIRST

SUFFIXES = (".ttf", ".otf", ".ttc")
# Of a collection, faces of other languages draw the same Korean letters
OTHER_LANGUAGES = (" JP", " SC", " TC", " HK")


@dataclass(frozen=True, eq=False)
class Face:
    """A font file, or one of a collection, and the characters that it has, as numbers."""

    path: Path
    index: int
    characters: frozenset[int]

    def at(self, size: int) -> Any:
        """Return it in a size in pixels, for PIL."""
        return sized(str(self.path), self.index, size)


@lru_cache(maxsize=4096)
def sized(path: str, index: int, size: int) -> Any:
    return ImageFont.truetype(path, size, index, layout_engine=ImageFont.Layout.BASIC)


def korean_faces(folder: str = "", unused: str = "") -> list[Face]:
    """Return the faces with Korean letters of a folder, "" for this system's fonts, ordered by file.

    `unused` are parts of the names of files that are left out, with commas between. DataError where there are none.
    """
    # it tells of each table that it finds odd
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    names = [name.strip().lower() for name in unused.split(",") if name.strip()]
    paths = [path for path in font_files(folder) if not any(name in path.name.lower() for name in names)]
    faces = [face for path in sorted(set(paths)) for face in faces_of(path)]
    if not faces:
        place = folder or "the fonts of this system"
        raise DataError(
            f"{place}: expected fonts with Korean letters, found none; install some, as fonts-nanum of Debian"
        )
    return faces


def font_files(folder: str) -> list[Path]:
    if folder:
        return [path for path in Path(folder).rglob("*") if path.suffix.lower() in SUFFIXES]
    from matplotlib.font_manager import findSystemFonts

    return [Path(name) for name in findSystemFonts()]


def faces_of(path: Path) -> Iterator[Face]:
    """Yield the faces of a file that draw a Korean syllable."""
    try:
        fonts = (
            TTCollection(str(path), lazy=True).fonts
            if path.suffix.lower() == ".ttc"
            else [TTFont(str(path), lazy=True)]
        )
        for index, font in enumerate(fonts):
            characters = font.getBestCmap() or {}
            name = str(font["name"].getDebugName(4) or "")
            if FIRST in characters and not any(language in name for language in OTHER_LANGUAGES):
                face = Face(path, index, frozenset(characters))
                if face.at(20).getbbox("가")[3] > 0 and face.at(20).getmask("가").getbbox():
                    yield face
    except Exception:  # a damaged font has many ways to fail, and there are others
        return
