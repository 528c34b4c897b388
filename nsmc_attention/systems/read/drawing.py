"""Lines of text drawn as in screenshots, for training and evaluation: a text and a face in, a gray picture out."""

import io
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Optional

import numpy
from fontTools.ttLib import TTCollection, TTFont
from numpy.random import RandomState
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from ...errors import DataError
from ...machine.aliases import Numbers
from ...text.hangul import FIRST
from .strips import Gray, cut_out, differences

# Faces of a font collection for other languages, which draw the same Korean letters
OTHER_LANGUAGES = (" JP", " SC", " TC", " HK")
# Widths of spaces, and letter spacing, as shares of the font size: the range of fonts and style sheets
SPACES, SPACINGS = (0.18, 0.4), (-0.05, 0.08)
# Font sizes in pixels, the least difference between ink and background, and the range of a line's least height, as a
# share of the font size; the widest space left of, above, right of and below the ink, as shares of its height
SIZES, CONTRAST, LEAST_HEIGHT, WIDEST_SPACE = (11, 44), 70, (0.4, 1.0), (0.4, 0.18, 0.4, 0.18)


@dataclass(frozen=True, eq=False)
class Face:
    """A font file, or one of a collection, with the code points of its characters."""

    path: Path
    index: int
    characters: frozenset[int]

    @lru_cache(maxsize=4096)  # noqa: B019, faces stay as long as a training
    def at(self, size: int) -> Any:
        """Return the font of PIL with a size in pixels."""
        return ImageFont.truetype(str(self.path), size, self.index, layout_engine=ImageFont.Layout.BASIC)


def korean_faces(folder: str = "", unused: str = "") -> list[Face]:
    """Return a folder's faces with Korean letters, "": this system's; `unused` lists parts of excluded file names."""
    from matplotlib.font_manager import findSystemFonts

    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it warns of every unusual table
    names = [name.strip().lower() for name in unused.split(",") if name.strip()]
    paths = sorted(map(Path, findSystemFonts(folder or None)))
    used = [path for path in paths if not any(name in path.name.lower() for name in names)]
    faces = [face for path in used for face in faces_of(path)]
    if not faces:
        advice = "; install some, as fonts-nanum of Debian"
        raise DataError(f"{folder or 'this system'}: expected fonts with Korean letters, found none{advice}")
    return faces


def faces_of(path: Path) -> Iterator[Face]:
    """Yield the faces of a file that can draw Korean syllables."""
    try:
        is_collection = path.suffix.lower() == ".ttc"
        for index, font in enumerate(TTCollection(path, lazy=True) if is_collection else [TTFont(path, lazy=True)]):
            characters = font.getBestCmap() or {}
            name = str(font["name"].getDebugName(4) or "")
            if FIRST in characters and not any(language in name for language in OTHER_LANGUAGES):
                face = Face(path, index, frozenset(characters))
                if face.at(20).getbbox("가")[3] > 0 and face.at(20).getmask("가").getbbox():
                    yield face
    except Exception:  # damaged fonts fail in many ways; skip them
        return


@dataclass(frozen=True)
class Degradation:
    """Degradation of a picture: JPEG quality (0: none), blur in pixels, angle in degrees, noise, scale."""

    jpeg: int = 0
    blur: float = 0.0
    angle: float = 0.0
    noise: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Style:
    """Style of a drawn line: a face, its size in pixels, ink and background (0 to 255).

    `spacing` is the space that a browser adds after each letter, and `space` the width of a space (0: the font's), both
    as shares of the size. The line is drawn `smooth` times as large and then reduced, as screens without hinting show
    it. `subpixels`, for a `smooth` of 3, imitates subpixel rendering, which in gray is a blur by three subpixels.
    """

    face: Face
    size: int = 20
    ink: int = 0
    background: int = 255
    spacing: float = 0.0
    smooth: int = 1
    subpixels: bool = False
    space: float = 0.0


def draw(text: str, style: Style) -> tuple[Gray, Numbers]:
    """Return the picture of a line with a wide margin, and the edges of its T letters in pixels (T + 1,)."""
    font = style.face.at(margin := style.size * style.smooth)
    spacing, wider = style.spacing * margin, style.space * margin - font.getlength(" ") if style.space else 0.0
    prefixes = [text[:count] for count in range(len(text) + 1)]
    edges = [font.getlength(prefix) + spacing * len(prefix) + wider * prefix.count(" ") for prefix in prefixes]
    picture = Image.new("L", (int(edges[-1]) + 3 * margin, 3 * margin), style.background)
    pen = ImageDraw.Draw(picture)
    for string, start in zip(text, edges) if spacing or wider else [(text, 0.0)]:
        pen.text((margin + start, margin), string, fill=style.ink, font=font)
    if style.subpixels:
        wide = numpy.pad(numpy.asarray(picture, "float32"), ((0, 0), (1, 1)), mode="edge")
        picture = Image.fromarray(((wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]) / 3).astype("uint8"))
    if style.smooth > 1:
        picture = picture.resize((picture.width // style.smooth, picture.height // style.smooth), Image.Resampling.BOX)
    return numpy.asarray(picture), (numpy.array(edges) + margin) / style.smooth


def degraded(gray: Gray, how: Degradation, random: RandomState) -> Gray:
    """Return a picture after a degradation; a `scale` other than 1 changes its size."""
    picture = Image.fromarray(gray)
    if how.angle:
        picture = picture.rotate(how.angle, Image.Resampling.BILINEAR, fillcolor=int(numpy.median(gray)))
    if how.scale != 1:
        size = max(1, round(picture.width * how.scale)), max(1, round(picture.height * how.scale))
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    if how.blur:
        picture = picture.filter(ImageFilter.GaussianBlur(how.blur))
    if how.noise:
        noisy = numpy.asarray(picture) + random.normal(0, how.noise, (picture.height, picture.width))
        picture = Image.fromarray(noisy.clip(0, 255).astype("uint8"))
    if how.jpeg:
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=how.jpeg)
        picture = Image.open(file)
    return numpy.asarray(picture)


def ink_box(gray: Gray, faint: float = 0.25) -> Optional[tuple[int, int, int, int]]:
    """Return left, top, right and bottom of ink above the share `faint` of the strongest, None without ink."""
    difference = differences(gray)
    is_ink = difference > max(20, faint * int(difference.max()))
    rows, columns = numpy.flatnonzero(is_ink.any(axis=1)), numpy.flatnonzero(is_ink.any(axis=0))
    if not len(rows):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def random_style(face: Face, random: RandomState) -> Style:
    """Draw a random style: size, dark on light or light on dark, spacing and smoothing."""
    size = round(float(numpy.exp(random.uniform(*numpy.log(SIZES)))))
    contrast = random.randint(CONTRAST, 256)
    low = random.randint(0, 256 - contrast)
    colors = (low, low + contrast) if random.random_sample() < 0.65 else (low + contrast, low)
    spacing = random.uniform(*SPACINGS) if random.random_sample() < 0.3 else 0.0
    smooth = 3 if random.random_sample() < 0.5 else 1
    subpixels = smooth == 3 and random.random_sample() < 0.4
    space = random.uniform(*SPACES) if random.random_sample() < 0.5 else 0.0
    return Style(face, size, *colors, spacing, smooth, subpixels, space)


def random_degradation(size: int, random: RandomState) -> Degradation:
    """Draw a random degradation for a font size; two of five pictures have none."""
    if random.random_sample() < 0.4:
        return Degradation()
    is_applied = random.random_sample(5) < (0.5, 0.3, 0.2, 0.2, 0.3)
    ranges = (0.2, 0.045 * size + 0.3), (-1.5, 1.5), (1, 8), (max(0.5, 11 / size), 1.4)
    values = [float(random.randint(35, 95)), *(random.uniform(*limits) for limits in ranges)]
    jpeg, blur, angle, noise, scale = (value if applied else 0.0 for value, applied in zip(values, is_applied))
    return Degradation(int(jpeg), blur, angle, noise, scale or 1.0)


def random_line(text: str, face: Face, random: RandomState) -> Optional[tuple[Gray, Numbers]]:
    """Return the picture of a line as cut out of a screenshot, and the edges of its letters; None if it has no ink.

    The edges ignore the rotation, which moves letters by a pixel or two.
    """
    style = random_style(face, random)
    gray, edges = draw(text, style)
    degradation = random_degradation(style.size, random)
    gray = degraded(gray, degradation, random)
    box = ink_box(gray)
    if box is None or box[3] - box[1] < 3:
        return None
    left, top, right, bottom = box
    # a line of low letters, such as dots, may be cut out as high as a usual line, or tightly
    least_height = style.size * random.uniform(*LEAST_HEIGHT)
    if (missing := round(least_height - (bottom - top))) > 0:
        above = random.randint(missing + 1)
        top, bottom = top - above, bottom + missing - above
    picture, start = cut_out(gray, (left, top, right, bottom), [random.uniform(0, widest) for widest in WIDEST_SPACE])
    return picture, edges * degradation.scale - start


# Printable ASCII, and the alphabets of random words besides Korean syllables
ASCII = "".join(map(chr, range(0x21, 0x7F)))
ALPHABETS = (ASCII, digits, ascii_lowercase, ascii_lowercase, ascii_uppercase)


@lru_cache(maxsize=1)
def common_syllables() -> str:
    """Return the 2,350 syllables of KS X 1001 (two bytes in EUC-KR), which nearly all fonts have."""
    letters = map(chr, range(FIRST, ord("힣") + 1))
    return "".join(letter for letter in letters if len(letter.encode("euc-kr")) == 2)


def review_line(review: str, longest: int, random: RandomState) -> str:
    """Return whole words of a review, at most `longest` letters, from a random position."""
    words = review.split(" ")
    limit = random.randint(5, longest + 1)
    start = random.randint(len(words)) if len(review) > limit else 0
    line = words[start][:limit]
    for word in words[start + 1 :]:
        if len(line) + 1 + len(word) > limit:
            break
        line += " " + word
    return line


def invented_line(longest: int, random: RandomState) -> str:
    """Return words of random syllables, Latin letters, digits or signs, at most `longest` letters."""
    limit, share_korean, words = random.randint(3, longest + 1), random.random_sample(), list[str]()
    while sum(map(len, words)) < limit:
        korean = random.random_sample() < share_korean
        alphabet = common_syllables() if korean else ALPHABETS[random.randint(len(ALPHABETS))]
        word = "".join(alphabet[i] for i in random.randint(len(alphabet), size=random.randint(1, 9)))
        words.append(word.title() if random.random_sample() < 0.2 else word)
    return " ".join(words)[:limit].strip()


def lines_of(reviews: Sequence[str], count: int, invented: float, longest: int, random: RandomState) -> Iterator[str]:
    """Yield `count` random lines, with `invented` lines of random words for each line of a review."""
    share = invented / (1 + invented)
    for _ in range(count):
        if random.random_sample() < share:
            yield invented_line(longest, random)
        else:
            yield review_line(reviews[random.randint(len(reviews))], longest, random)
