"""Attributions as pictures, with the words on them and Hangul on any machine: matrices, shaded sentences.

Takes weights and tokens, never a network. Fonts come from the wheel koreanize-matplotlib (NanumGothic, OFL),
whose own import would change matplotlib for everyone, so only its font file is used. `page` draws for browsers.
"""

import math
import warnings
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import files
from pathlib import Path
from typing import Any

import numpy

from .._io.atomic import replaced_file
from ..errors import ConfigError, DataError, did_you_mean

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
# Grow darker without turning back: read by the colour-blind, and on paper without colour
FOR, AGAINST = "Blues", "Oranges"
# Inches: a line of words, what stands around a token and between words, the widest line
LINE, MARGIN, SPACE, WIDTH = 0.36, 0.06, 0.10, 9.0
# Points
WORD_SIZE = 12


@lru_cache(maxsize=1)
def font_file():
    """Answer the path of NanumGothic."""
    found = [file for file in files("koreanize-matplotlib") or () if file.name == "NanumGothic.ttf"]
    return Path(found[0].locate())


@lru_cache(maxsize=1)
def add_hangul_font():
    """Make NanumGothic known to matplotlib in this process; nothing else about matplotlib changes."""
    from matplotlib.font_manager import fontManager

    fontManager.addfont(str(font_file()))


def draw_heatmap(weights, tokens, title=None):
    """Draw a matrix of attention weights.

    Parameters
    ----------
    weights : (T, T) array
        Row i says how much token i looks at each token; values in 0..1.
    tokens : sequence of T str
        Written on both axes; queries down, keys across.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        weights is not T x T for T tokens, or there is no token.
    """
    return draw_matrices([(weights, tokens, title)])


def draw_matrices(panels):
    """Draw matrices of attention weights beside each other: of many reviews, or of one by several models.

    Parameters
    ----------
    panels : list of (weights, tokens, title)
        As `draw_heatmap` takes them. Each panel has its own scale.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib
    from matplotlib.figure import Figure

    panels = [(*checked(weights, tokens), title) for weights, tokens, title in panels]
    if not panels:
        raise DataError("heatmap: expected at least one review, found none")
    add_hangul_font()
    side = min(40.0, max(3.2, 0.34 * max(len(tokens) for _, tokens, _ in panels)))
    columns = min(len(panels), max(1, int(24 // side)))
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=((side + 1.9) * columns, (side + 1.3) * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, panel in zip(grid, panels):
            draw_matrix(figure, axes, side, *panel)
        for axes in grid[len(panels) :]:
            axes.axis("off")
    return figure


def checked(weights, tokens):
    """Answer weights as an array and tokens as a list; DataError unless one fits the other."""
    weights, tokens = numpy.asarray(weights), list(tokens)
    size = len(tokens)
    if not size:
        raise DataError("heatmap: expected at least one token, found none; is the review blank?")
    if weights.shape != (size, size):
        raise DataError(f"heatmap: expected weights of {size} x {size} for {size} tokens, found {weights.shape}")
    return weights, tokens


def draw_matrix(figure, axes, side, weights, tokens, title):
    size = len(tokens)
    image = axes.imshow(weights, cmap=FOR, vmin=0.0, vmax=max(float(weights.max()), 1e-6))
    labels = [printable(token) for token in tokens]
    font_size = min(10.0, 72 * side / size * 0.62)
    axes.set_xticks(
        range(size),
        labels,
        rotation=90 if size > 12 else 45,
        ha="center" if size > 12 else "left",
        rotation_mode="default" if size > 12 else "anchor",
        fontsize=font_size,
    )
    axes.set_yticks(range(size), labels, fontsize=font_size)
    axes.xaxis.tick_top()
    axes.set_xlabel("key: looked at", fontsize=8, color="0.4")
    axes.set_ylabel("query: looking", fontsize=8, color="0.4")
    if title:
        axes.set_title(printable(title), fontsize=11, wrap=True)
    figure.colorbar(image, ax=axes, shrink=min(1.0, 3.2 / side + 0.4), label="weight")


def draw_words(attributions):
    """Draw reviews with their words shaded, one below the other.

    The darker a word, the more is laid on it, within its review. What speaks for negative is orange, on a hatched band.

    Parameters
    ----------
    attributions : list of attribution.Attribution

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib
    from matplotlib.figure import Figure

    if not attributions:
        raise DataError("heatmap: expected at least one review, found none")
    add_hangul_font()
    blocks = [layout(each) for each in attributions]
    height = sum((max(line for line, *_ in places) + 2.1) * LINE for places in blocks)
    with matplotlib.rc_context(SETTINGS):
        width = max(4.0, *(left + wide for places in blocks for _, left, wide in places))
        figure = Figure(figsize=(width + 0.4, height + 0.2))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-0.2, width + 0.2), ylim=(height + 0.1, -0.1))
        axes.axis("off")
        top = 0.0
        for attribution, places in zip(attributions, blocks):
            axes.text(0, top + 0.5 * LINE, caption(attribution), fontsize=8.5, color="0.35", va="center")
            draw_tokens(axes, attribution, places, top + LINE)
            top += (max(line for line, *_ in places) + 2.1) * LINE
    return figure


def caption(attribution):
    """Answer `positive 98.2 % - attention - pretrained`, for above a picture."""
    score = max(attribution.probability, 1 - attribution.probability)
    return printable(
        " - ".join(
            part
            for part in (f"{attribution.label} {100 * score:.1f} %", attribution.method, attribution.source)
            if part
        )
    )


def layout(attribution):
    """Answer (line, left, width) of each token, in lines and inches: words are broken between, not within."""
    places: list[tuple[int, float, float]] = []
    line, left, end = 0, 0.0, 0
    for width, (start, stop) in zip(widths(attribution.tokens), attribution.offsets):
        left += SPACE if start > end else 0.02
        if places and left + width > WIDTH:
            line, left = line + 1, 0.0
        places.append((line, left if places else 0.0, width))
        left, end = places[-1][1] + width, stop
    return places


def widths(tokens):
    """Answer how wide, in inches, each token is drawn, with what stands around it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    add_hangul_font()
    font = FontProperties(family=SETTINGS["font.family"], size=WORD_SIZE)
    with boxes_for_what_no_font_has():
        return [
            text_to_path.get_text_width_height_descent(printable(token), font, False)[0] / 72 + MARGIN
            for token in tokens
        ]


@contextmanager
def boxes_for_what_no_font_has():
    """Keep matplotlib from warning of an emoji that neither font has and that is drawn as a box."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def draw_tokens(axes, attribution, places, top):
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    shades = {against: colormaps[AGAINST if against else FOR] for against in (False, True)}
    largest = max(float(numpy.abs(attribution.values).max()), 1e-9)
    for token, value, (line, left, width) in zip(attribution.tokens, attribution.values, places):
        strength = abs(float(value)) / largest
        against = value < 0
        upper, lower = top + line * LINE + 0.03, top + (line + 1) * LINE - 0.03
        axes.add_patch(
            Rectangle((left, upper), width, lower - upper, linewidth=0, facecolor=shades[against](0.85 * strength))
        )
        if against:
            axes.add_patch(
                Rectangle(
                    (left, lower - 0.05), width, 0.05, linewidth=0, facecolor="white", hatch="//////", edgecolor="0.2"
                )
            )
        axes.text(
            left + width / 2,
            top + (line + 0.5) * LINE,
            printable(token),
            fontsize=WORD_SIZE,
            ha="center",
            va="center_baseline",
            color="white" if strength > 0.62 else "black",
        )


def printable(text):
    """Replace what a font cannot draw by a box, and cut what no axis can hold."""
    text = "".join(character if character.isprintable() else "□" for character in text)
    return text if len(text) <= 90 else text[:89] + "…"


def check_suffix(path, suffixes=SUFFIXES):
    """Answer path as a Path; ConfigError where its suffix is not one that can be drawn."""
    path = Path(path)
    if path.suffix.lower() not in suffixes:
        raise ConfigError(f"{path}: unknown suffix {path.suffix!r}{did_you_mean(path.suffix, suffixes)}")
    return path


def save_heatmap(prediction, path):
    """Draw the heatmap of a Prediction into a .png, .svg or .pdf file, whole or not at all.

    Raises
    ------
    ConfigError
        The suffix is not one of these.
    DataError
        The prediction has no tokens.
    """
    path = check_suffix(path)
    if prediction.error:
        raise DataError(f"heatmap: {prediction.error}")
    title = f"{prediction.label} {100 * prediction.score:.1f} %"
    save_figure(draw_heatmap(prediction.weights, prediction.tokens, title), path)


def save_figure(figure, path):
    """Write a figure of this module as .png, .svg or .pdf, whole or not at all."""
    import logging

    import matplotlib

    # embedding a font in a PDF, fontTools logs each table that it leaves out
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    path = check_suffix(path)
    # no side of a PNG longer than its readers take
    resolution = min(150, math.floor(20000 / max(figure.get_size_inches())))
    with replaced_file(path) as temporary, matplotlib.rc_context(SETTINGS), boxes_for_what_no_font_has():
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=resolution)
