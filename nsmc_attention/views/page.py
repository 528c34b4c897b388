"""Attributions as one self-contained interactive HTML page, with its own Hangul font.

The template is `page.html` beside this module; `words.js` and `words.css` draw the words, as on the page of `serve`.
Reviews are JSON, which the script inserts as text, so that no character of a review is read as HTML. Results of other
systems use the template `results.html`.
"""

import base64
import html
import io
import json
import logging
from importlib.resources import files
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

from ..classifier.attribution import Attribution
from ..classifier.prediction import METHODS
from ..drawing.figure import SUFFIXES, check_suffix, font_file, save_figure
from ..drawing.html import DARK, LIGHT
from ..drawing.matrices import NO_HEADS, matrices, rounded
from ..errors import ConfigError, DataError, check_kind
from ..machine.files import write_text
from ..machine.messages import translated, word
from ..network.graphs import AXES
from .heatmap import caption, draw_matrices, draw_words

# Captions of the page's script in English, by the names of their translations in a panel
CAPTIONS = {"positive": "positive", "negative": "negative", "opener": "Show the matrix", "zoom": "Zoom"}
# Characters that the page's script writes
SCRIPT_CHARACTERS = "".join(map(chr, range(32, 127))) + "…−"


def page(reviews: Sequence[Sequence[Attribution]], title: str = "nsmc_attention") -> str:
    """Return the HTML page; each list has the Attributions of one review, by several methods or models, side by side."""
    data = in_script({"title": title, "reviews": [list(map(captioned, group)) for group in reviews]})
    template = with_words(file("page.html"))
    font = in_base64(font_of(SCRIPT_CHARACTERS + template + title + data))
    return filled(template, FONT_AS_BASE64=font, REVIEWS_AS_JSON=data)


def filled(template: str, **fillings: str) -> str:
    """Replace the placeholders @@NAME@@ of a template in this order; placeholders within the fillings stay."""
    pieces = list[str]()
    for name, text in fillings.items():
        before, _, template = template.partition(f"@@{name}@@")
        pieces += before, text
    return "".join([*pieces, template])


def in_script(data: Any) -> str:
    """Return JSON that is safe within <script>, without "<", which could end it."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def in_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def file(name: str, package: str = __package__) -> str:
    return (files(package) / name).read_text(encoding="utf-8")


def with_words(template: str) -> str:
    """Insert the script and style that draw words into a page."""
    style = file("words.css").replace("LIGHT_COLORS", LIGHT.variables()).replace("DARK_COLORS", DARK.variables())
    return template.replace("WORDS_CSS", style).replace("WORDS_JS", file("words.js"))


def panel(attribution: Attribution) -> dict[str, Any]:
    """Return an attribution as plain values for JSON, numbers with four digits.

    `matrix` holds the weights by query (rows) and key; `queries` names the rows if they are not the tokens.
    """
    matrices = attribution.matrices()
    return {
        **{name: getattr(attribution, name) for name in ("text", "label", "source", "method", "signed")},
        "probability": round(attribution.probability, 4),
        **{name: getattr(attribution.prediction, name) for name in ("sentiment", "stars", "opinion")},
        "meaning": METHODS[attribution.method],
        "offsets": [list(span) for span in attribution.offsets],
        "tokens": list(attribution.tokens),
        "values": rounded(attribution.values),
        "matrix": rounded(matrices[0].weights) if matrices else None,
        **({"queries": matrices[0].queries} if matrices and matrices[0].queries != matrices[0].keys else {}),
    }


def captioned(attribution: Attribution) -> dict[str, Any]:
    """Return a `panel` with captions in the user's language."""
    values = {**panel(attribution), **CAPTIONS}
    words = {name: word(values[name]) for name in ("label", "method", "source", *CAPTIONS)}
    return {**values, **words, **{name: translated(values[name]) for name in ("opinion", "meaning")}}


def font_of(characters: Iterable[str]) -> bytes:
    """Return NanumGothic with only these characters, as WOFF: kilobytes instead of megabytes.

    Empty without fonttools or the font's package: browsers then use their own font.
    """
    try:
        from fontTools import subset

        path = str(font_file())
    except ImportError:
        return b""
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    options = subset.Options(flavor="woff", notdef_outline=True, layout_features=[])
    font = subset.load_font(path, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes={ord(character) for character in characters})
    subsetter.subset(font)
    content = io.BytesIO()
    font.flavor = "woff"
    font.save(content)
    return content.getvalue()


def write_page(path: Path, content: str, title: str, about: str, language: str) -> None:
    """Write an HTML page with a heading, a paragraph `about` it, and a Hangul font with the characters that it needs."""
    font = in_base64(font_of({*SCRIPT_CHARACTERS, *title, *about, *content}))
    fillings = {"LANGUAGE": language, "TITLE": title, "FONT_AS_BASE64": font, "HEADING": title, "ABOUT": about}
    write_text(path, filled(file("results.html", __package__), **fillings, CONTENT=content))


PathLike = Union[str, Path]
PAGE = ".html"


def check_picture(path: PathLike, picture: Optional[str] = None, methods: Iterable[str] = ("attention",)) -> Path:
    """Return path as a Path; ConfigError, before any work, if its format does not fit the picture."""
    path = check_suffix(path, (*SUFFIXES, PAGE))
    if picture and path.suffix.lower() == PAGE:
        raise ConfigError(f"{path}: a page has words and matrices; leave --picture {picture} out")
    others = dict.fromkeys(method for method in methods if method != "attention")
    if picture == "matrix" and others:
        raise ConfigError(
            f"--picture matrix: only attention has one, found {', '.join(others)}; use --picture words, "
            "or --method attention alone"
        )
    return path


def save_attributions(reviews: Sequence[Sequence[Attribution]], path: PathLike, picture: Optional[str] = None) -> None:
    """Draw one or more reviews into a .png, .svg, .pdf or .html file, completely or not at all.

    Each list has the Attributions of one review, by several methods or models. `picture` is "matrix", "words" or None:
    the matrix of a single review by attention, if it has one, else words.
    """
    panels = [panel for group in reviews for panel in (group if isinstance(group, Sequence) else [group])]
    if not panels:
        raise DataError("picture: expected at least one review, found none")
    for panel in panels:
        check_kind("picture", panel, Attribution, advice="; get one from explain()")
    path = check_picture(path, picture, [panel.method for panel in panels])
    if path.suffix.lower() == PAGE:
        write_text(path, page(reviews))
    # a matrix shows all of the token weights, which are its mean
    elif picture == "matrix" or not (picture or len(panels) > 1 or panels[0].matrix is None or panels[0].signed):
        matrices = [matrix for panel in panels for matrix in panel.matrices(caption(panel))]
        save_figure(draw_matrices(matrices), path)
    else:
        save_figure(draw_words(panels), path)


def save_heads(result: Any, path: PathLike) -> None:
    """Draw the attention heads, one row per layer, into a .png, .svg or .pdf file.

    ConfigError if the file has another suffix; DataError if the encoder has no attention.
    """
    path = check_suffix(path)
    if not hasattr(result, "heads"):
        problem = f"found {type(result).__name__}; get one from explain() or a LanguageModel"
        raise DataError(f"heads: expected Attribution or Filling, {problem}")
    if result.heads is None:
        raise DataError(f"{path}: {NO_HEADS}")
    panels = matrices(result.heads, result.tokens, axes=("layers", "heads", *AXES))
    save_figure(draw_matrices(panels, result.heads.shape[1]), path)


def entry(texts: Sequence[str], start: str = "<dd>") -> str:
    """Return an entry of an HTML description list: a term and its descriptions, each after the tag `start`."""
    name, *others = map(html.escape, texts)
    return f"<div><dt>{name}</dt>{''.join(f'{start}{text}</dd>' for text in others)}</div>"
