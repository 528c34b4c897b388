"""Attention weights as pictures, with the words on the axes and Hangul on any machine.

Takes weights and tokens, never a network. Fonts come from the wheel koreanize-matplotlib (NanumGothic, OFL),
whose own import would change matplotlib for everyone, so only its font file is used.
"""
import warnings
from functools import lru_cache
from importlib.metadata import files
from pathlib import Path

import numpy

from ..atomic import replaced_file
from ..errors import ConfigError, DataError, did_you_mean

SUFFIXES = (".png", ".svg", ".pdf")
# text as outlines in SVG and embedded TrueType in PDF: both show Hangul where no font is installed
SETTINGS = {"font.family": ["NanumGothic", "DejaVu Sans"], "svg.fonttype": "path", "pdf.fonttype": 42,
            "axes.unicode_minus": False, "text.parse_math": False}


@lru_cache(maxsize=1)
def add_hangul_font():
    """Make NanumGothic known to matplotlib in this process; nothing else about matplotlib changes."""
    from matplotlib.font_manager import fontManager

    found = [file for file in files("koreanize-matplotlib") or () if file.name == "NanumGothic.ttf"]
    fontManager.addfont(str(Path(found[0].locate())))


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
    import matplotlib
    from matplotlib.figure import Figure

    weights, tokens = numpy.asarray(weights), list(tokens)
    size = len(tokens)
    if not size:
        raise DataError("heatmap: expected at least one token, found none; is the review blank?")
    if weights.shape != (size, size):
        raise DataError(f"heatmap: expected weights of {size} x {size} for {size} tokens, found {weights.shape}")
    add_hangul_font()
    side = min(40.0, max(3.2, 0.34 * size))
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(side + 1.9, side + 1.3), layout="constrained")
        axes = figure.add_subplot()
        image = axes.imshow(weights, cmap="Blues", vmin=0.0, vmax=max(float(weights.max()), 1e-6))
        labels = [printable(token) for token in tokens]
        font_size = min(10.0, 72 * side / size * 0.62)
        axes.set_xticks(range(size), labels, rotation=90 if size > 12 else 45,
                        ha="center" if size > 12 else "left", rotation_mode="default" if size > 12 else "anchor",
                        fontsize=font_size)
        axes.set_yticks(range(size), labels, fontsize=font_size)
        axes.xaxis.tick_top()
        axes.set_xlabel("key: looked at", fontsize=8, color="0.4")
        axes.set_ylabel("query: looking", fontsize=8, color="0.4")
        if title:
            axes.set_title(printable(title), fontsize=11, wrap=True)
        figure.colorbar(image, ax=axes, shrink=min(1.0, 3.2 / side + 0.4), label="weight")
    return figure


def printable(text):
    """Replace what a font cannot draw by a box, and cut what no axis can hold."""
    text = "".join(character if character.isprintable() else "□" for character in text)
    return text if len(text) <= 90 else text[:89] + "…"


def check_suffix(path):
    """Answer path as a Path; ConfigError where its suffix is not one that can be drawn."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"{path}: unknown suffix {path.suffix!r}{did_you_mean(path.suffix, SUFFIXES)}")
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
    import logging

    import matplotlib

    # embedding a font in a PDF, fontTools logs each table that it leaves out
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    path = check_suffix(path)
    if prediction.error:
        raise DataError(f"heatmap: {prediction.error}")
    title = f"{prediction.label} {100 * prediction.score:.1f} %"
    figure = draw_heatmap(prediction.weights, prediction.tokens, title)
    with replaced_file(path) as temporary, matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # an emoji that neither font has is drawn as a box
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150)
