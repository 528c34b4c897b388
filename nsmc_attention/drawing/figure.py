"""Figures with Hangul on any machine, and how they are saved.

The font is NanumGothic (OFL) from the wheel koreanize-matplotlib, whose import would change matplotlib globally, so only
its font file is used.
"""

import logging
import math
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, files
from os import PathLike
from pathlib import Path
from typing import Any, Union

from ..errors import ConfigError, MissingPackage, did_you_mean
from ..machine.files import replaced_file

SUFFIXES = (".png", ".svg", ".pdf")
# Text as outlines in SVG and embedded TrueType in PDF: both show Hangul without an installed font
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "axes.unicode_minus": False,
    "text.parse_math": False,
    "hatch.linewidth": 0.7,
}
# The packaged font, matplotlib's font, and possibly installed fonts with emoji and Chinese characters
FAMILIES = (
    "NanumGothic,DejaVu Sans,Noto Emoji,Segoe UI Emoji,Segoe UI Symbol,Symbola,Apple Symbols,Noto Sans CJK KR,"
    "Noto Sans CJK JP,Noto Serif CJK JP,Noto Sans KR,Malgun Gothic,Apple SD Gothic Neo,AppleGothic,UnDotum"
).split(",")
# Skin tones, variation selectors and joiners, which matplotlib cannot draw: the emoji before them is enough
MODIFIERS = {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0x1F3FB, 0x1F400)), "\u200d"}


@lru_cache(maxsize=1)
def font_file() -> Path:
    (font,) = [file for file in files("koreanize-matplotlib") or () if file.name == "NanumGothic.ttf"]
    return Path(str(font.locate()))


@lru_cache(maxsize=1)
def families() -> list[str]:
    """Return the installed FAMILIES of fonts, in order."""
    from matplotlib.font_manager import fontManager

    with suppress(PackageNotFoundError):
        fontManager.addfont(str(font_file()))
    installed = {font.name for font in fontManager.ttflist}
    return [name for name in FAMILIES if name in installed]


@lru_cache(maxsize=None)
def letters(family: str) -> frozenset[int]:
    """Return the code points in a font family."""
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(family)).get_charmap())


@contextmanager
def drawing() -> Iterator[None]:
    """Use SETTINGS and the Hangul font within a `with` block."""
    import matplotlib

    with matplotlib.rc_context({**SETTINGS, "font.family": families()}):
        yield


@contextmanager
def new_figure(
    size: tuple[float, float], rows: int = 1, columns: int = 1, layout: Any = "constrained", **grid: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield a Figure of `size` inches and its axes (rows, columns), in matplotlib's `GridSpec`, while `drawing`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout=layout)
    with drawing():
        yield figure, figure.subplots(rows, columns, squeeze=False, gridspec_kw=grid)


def printable(text: str) -> str:
    """Replace characters that no font has by their names, and truncate a text that is too long for an axis.

    MissingPackage if no font has Hangul.
    """
    text = "".join(map(drawable, text))
    return text if len(text) <= 90 else text[:89] + "…"


@lru_cache(maxsize=None)
def drawable(character: str) -> str:
    if character in MODIFIERS:
        return ""
    if character.isprintable() and any(ord(character) in letters(family) for family in families()):
        return character
    if "가" <= character <= "힣":
        raise MissingPackage("a picture with Hangul", "koreanize_matplotlib")
    return f"[{unicodedata.name(character, f'U+{ord(character):04X}').lower()}]"


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
    # fontTools logs each table that it leaves out of a PDF's font
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    path = check_suffix(path)
    # image viewers refuse a PNG with a longer side
    resolution = min(150, math.floor(20000 / max(figure.get_size_inches())))
    # a layout leaves too little or too much space around square cells
    bounds = "tight" if figure.get_layout_engine() else None
    with replaced_file(path) as temporary, drawing():
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=resolution, bbox_inches=bounds)


# Width and height of a panel in inches, and most panels in a row
CURVE_WIDTH, CURVE_HEIGHT, ACROSS = 3.6, 2.9, 3
EVENNESS = "dev_entropy"
LOSSES = ("dev_log_loss", "dev_loss")


def draw_curves(progress: Any, metric: str) -> Any:
    """Draw the figures of a finished stage, its `training.checkpoint.Progress`, over its epochs; return a Figure.

    The dev metric that selects the epoch is drawn with the training loss, each other dev figure by itself, and last the
    evenness of the attention, from before the first step (1: equal weights). A dotted line marks the best epoch.
    The grey area after it is overfitting: changes of the attention there do not come from patterns that reviews share.
    """
    history, best_epoch = progress.history, progress.best_epoch + 1
    others = [name for name in history[0] if name.startswith("dev_") and name not in (metric, EVENNESS)]
    # a dev metric in nats shares a panel with the training loss
    losses = ("train_loss", metric) if metric in LOSSES else ("train_loss",)
    others = others if metric in LOSSES else [metric, *others]
    panels = [("loss", losses), *((plain(name), (name,)) for name in others)]
    with_evenness = EVENNESS in history[0]
    count = len(panels) + with_evenness
    columns, rows = min(count, ACROSS), -(-count // ACROSS)
    width, height = CURVE_WIDTH * columns, CURVE_HEIGHT * rows
    # a layout measures every text, which takes longer than an epoch on a small table
    margins = {"left": 0.6 / width, "right": 1 - 0.15 / width, "bottom": 0.55 / height, "top": 1 - 0.35 / height}
    with new_figure((width, height), rows, columns, None, wspace=0.25, hspace=0.45, **margins) as (figure, plots):
        grid = plots.flat[:count]
        for axes in plots.flat[count:]:
            axes.axis("off")
        for axes, (title, names) in zip(grid, panels):
            draw_records(axes, history, names, title, 1)
        grid[0].legend(fontsize=8)
        if with_evenness:
            draw_records(grid[-1], [progress.before, *history], (EVENNESS,), "evenness of the attention", 0)
            grid[-1].set(ylim=(0, 1.05), xlabel="epoch (0: before this stage)")
        for axes in grid:
            axes.axvline(best_epoch, color="0.6", linewidth=1, linestyle=":")
            if len(history) > best_epoch:
                axes.axvspan(best_epoch, len(history), color="0.5", alpha=0.12, linewidth=0)
        place = grid[-1].get_xaxis_transform()
        grid[-1].text(best_epoch, 0.02, "kept", transform=place, color="0.4", ha="right", fontsize=8)
    return figure


def draw_records(axes: Any, records: list[dict[str, float]], names: tuple[str, ...], title: str, first: int) -> None:
    """Draw the figures `names` of records, one an epoch, from the epoch `first` on."""
    from matplotlib.ticker import MaxNLocator

    for name, style in zip(names, ("o-", "s--")):
        axes.plot(range(first, first + len(records)), [record[name] for record in records], style, label=plain(name))
    axes.set(title=title, xlabel="epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)


def plain(name: str) -> str:
    return name.replace("_", " ")
