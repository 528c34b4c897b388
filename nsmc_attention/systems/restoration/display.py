"""A restoration as HTML for notebooks: source and text aligned."""

import re
from html import escape
from typing import Optional

from ...inference.notebook import in_frame


def restoration_html(segments: list[tuple[str, str]], error: Optional[str]) -> str:
    """Return the segments of a restoration as HTML: the source above, the text below, changes struck out and underlined."""
    changes = sum(source != text for source, text in segments)
    said = error or (f"{changes} correction{'s' * (changes > 1)}" if changes else "nothing to correct")
    pairs = "".join(pair_html(*pair) for segment in segments for pair in words_of(*segment))
    return in_frame(f'<div class="nsmc-head"><b>{escape(said)}</b></div><div lang="ko">{pairs}</div>')


def words_of(source: str, text: str) -> list[tuple[str, str]]:
    """Return a pair for each word of what is the same, so that lines can break there; a change stays whole."""
    return [(source, text)] if source != text else [(word, word) for word in re.findall(r"\s*\S+\s?|\s+", text)]


def pair_html(source: str, text: str) -> str:
    """Return what is above each other; spaces that were changed are visible."""
    if source == text:
        return f'<span class="nsmc-pair"><span>{escape(source)}</span><span>{escape(text)}</span></span>'
    before, after = (escape(side.replace(" ", "␣")) for side in (source, text))
    return f'<span class="nsmc-pair"><del>{before}</del><ins>{after}</ins></span>'
