"""Attributions as one self-contained interactive HTML page, with its own Hangul font.

The page is `page.html` beside this module; its words are drawn by `words.js` and `words.css`, as on the page of
`serve`. Reviews are JSON, which the script inserts as text: no character of a review is read as HTML.
"""

import base64
import io
import json
import logging
from importlib.resources import files
from typing import Any, Iterable, Sequence

from ..classifier.attribution import Attribution
from ..classifier.display import METHODS
from ..drawing.colors import DARK, LIGHT
from ..drawing.figure import font_file
from ..drawing.matrices import rounded
from ..machine.messages import translated, word

# What the page's script says in English, by the names under which a panel has it in another language
CAPTIONS = {"positive": "positive", "negative": "negative", "opener": "Show the matrix", "zoom": "Zoom"}
# What the page's script writes itself
OWN_CHARACTERS = "".join(map(chr, range(32, 127))) + "…−"


def page(reviews: Sequence[Sequence[Attribution]], title: str = "nsmc_attention") -> str:
    """Return the HTML page; Attributions of one list, a review by several methods or models, are beside each other."""
    data = in_script({"title": title, "reviews": [list(map(captioned, group)) for group in reviews]})
    template = with_words(file("page.html"))
    font = in_base64(font_of(OWN_CHARACTERS + template + title + data))
    return filled(template, FONT_AS_BASE64=font, REVIEWS_AS_JSON=data)


def filled(template: str, **fillings: str) -> str:
    """Replace the placeholders @@NAME@@ of a template, in this order, without reading the fillings again."""
    done = ""
    for name, text in fillings.items():
        before, _, template = template.partition(f"@@{name}@@")
        done += before + text
    return done + template


def in_script(data: Any) -> str:
    """Return JSON that is safe within <script>: no "<" ends it."""
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
    """Return an attribution as plain values for JSON, numbers to four digits.

    `matrix` holds the weights of each query (rows) and key; `queries` names its rows where they are not the tokens.
    """
    matrices = attribution.matrices()
    plain = {name: getattr(attribution, name) for name in ("text", "label", "source", "method", "signed")}
    return {
        **plain,
        "probability": round(attribution.probability, 4),
        "meaning": METHODS[attribution.method],
        "offsets": [list(span) for span in attribution.offsets],
        "tokens": list(attribution.tokens),
        "values": rounded(attribution.values),
        "matrix": rounded(matrices[0].weights) if matrices else None,
        **({"queries": matrices[0].queries} if matrices and matrices[0].queries != matrices[0].keys else {}),
    }


def captioned(attribution: Attribution) -> dict[str, Any]:
    """Return a `panel` with captions in the language of the user."""
    shown = {**panel(attribution), **CAPTIONS}
    named = {name: word(shown[name]) for name in ("label", "method", "source", *CAPTIONS)}
    return {**shown, **named, "meaning": translated(shown["meaning"])}


def font_of(characters: Iterable[str]) -> bytes:
    """Return NanumGothic with these characters only, as WOFF: kilobytes instead of megabytes.

    Nothing without fonttools and the font's package: the page is then in a font of its reader.
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
