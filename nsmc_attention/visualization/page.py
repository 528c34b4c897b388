"""Attributions as one interactive HTML page that needs nothing else: no address outside, its own Hangul font.

The page is `page.html` beside this module, its words are drawn by `words.js` and `words.css`, as on the page of
`serve`. Reviews reach it as JSON, which it puts on the page as text: no letter of a review is ever read as HTML.
"""

import base64
import io
import json
from importlib.resources import files

from .._io.atomic import write_text
from ..errors import DataError
from ..inference.attribution import METHODS
from .heatmap import font_file

# What the page's script writes and does not spell out
OWN_CHARACTERS = "".join(map(chr, range(32, 127))) + "…−"


def page(reviews, title="nsmc_attention"):
    """Answer the HTML page.

    Parameters
    ----------
    reviews : list of lists of attribution.Attribution
        Those of one list are drawn beside each other: a review by several methods, or by several models.
    title : str

    Returns
    -------
    str
    """
    if not reviews or not all(reviews):
        raise DataError("page: expected at least one review, found none")
    data = {"title": title, "reviews": [[panel(each) for each in beside] for beside in reviews]}
    template = with_words(file("page.html"))
    characters = OWN_CHARACTERS + template + title + "".join(each.text for beside in reviews for each in beside)
    return filled(template, FONT_AS_BASE64=in_base64(font_of(characters)), REVIEWS_AS_JSON=in_script(data))


def filled(template, **fillings):
    """Put texts in the places @@NAME@@ of a template, in this order; what was put in is not looked through again."""
    done = ""
    for name, text in fillings.items():
        before, _, template = template.partition(f"@@{name}@@")
        done += before + text
    return done + template


def in_script(data):
    """Answer JSON that can stand in a script of a page: no "</" may, and JSON lets any character be a number."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def in_base64(content):
    return base64.b64encode(content).decode()


def file(name, package=__package__):
    return (files(package) / name).read_text(encoding="utf-8")


def with_words(template):
    """Put the script and style that draw words into a page."""
    return template.replace("WORDS_CSS", file("words.css")).replace("WORDS_JS", file("words.js"))


def panel(attribution):
    """Answer an attribution as plain values for JSON; numbers to four digits, as many as a reader can see."""
    matrix = (
        None
        if attribution.matrix is None
        else [[round(float(value), 4) for value in row] for row in attribution.matrix]
    )
    return {
        "text": attribution.text,
        "label": attribution.label,
        "probability": round(attribution.probability, 4),
        "source": attribution.source,
        "method": attribution.method,
        "meaning": METHODS[attribution.method],
        "signed": attribution.signed,
        "offsets": [list(span) for span in attribution.offsets],
        "tokens": list(attribution.tokens),
        "values": [round(float(value), 4) for value in attribution.values],
        "matrix": matrix,
    }


def font_of(characters):
    """Answer NanumGothic with these characters alone, as bytes of WOFF: a whole one is megabytes, this kilobytes."""
    import logging

    from fontTools import subset

    logging.getLogger("fontTools").setLevel(logging.ERROR)
    options = subset.Options(flavor="woff", notdef_outline=True, layout_features=[])
    font = subset.load_font(str(font_file()), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes={ord(character) for character in characters})
    subsetter.subset(font)
    content = io.BytesIO()
    font.flavor = "woff"
    font.save(content)
    return content.getvalue()


def save_page(reviews, path, title="nsmc_attention"):
    """Write the `page` of these reviews, whole or not at all."""
    write_text(path, page(reviews, title))
