"""The content words of a review in their dictionary form."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import starmap
from typing import Any, Optional

import numpy

from ..text.encoding import Encoded
from ..text.tokenizers import Span, joined_morphemes
from ..views.heatmap import tags_at
from .aspects.clauses import Morphemes, placed_morphemes

# Light verbs, which have little meaning of their own
LIGHT = frozenset("하다 되다 있다 보다 같다 그렇다 이렇다 대하다".split())
# Runs of nouns without white space; n touches the next morpheme, e does not
TOUCHING = re.compile("n+e|nn+")


def content_words(text: str, placed: Optional[Morphemes] = None) -> list[tuple[int, int, str]]:
    """Return (start, end, word) for each morpheme of a clean text; `word` is "" unless it is a content word.

    Content words are nouns, stems with 다 (아까워 -> 아깝다), and roots with a verbal suffix (지루 하 -> 지루하다).
    """
    pairs, spans = placed or placed_morphemes(text)
    stems = [*starmap(stem_of, pairs)]
    words = [word for *_, word in stems]
    for place, ((form, tag, _), (ending, kind, _)) in enumerate(zip(stems, stems[1:])):
        if tag == "XR" and kind in ("XSA", "XSV"):
            words[place] = f"{form}{ending}다"
    if 1 in map(len, words):
        join_pieces(spans, [tag for _, tag, _ in stems], words, text)
    return [(start, end, word) for (start, end), word in zip(spans, words)]


def words_of(review: Encoded, placed: Morphemes, weights: Any) -> tuple[list[str], list[str], list[float]]:
    """Return the content words of a review, the content word of each token, and the tokens' weights, 1 on average."""
    spans = content_words(review.text, placed)
    words = [word for *_, word in spans]
    tokens_are_morphemes = review.tokens == tuple([surface for surface, _ in placed[0]])
    means = weights if weights.ndim == 1 else numpy.add.reduce(weights) / numpy.float32(len(weights))
    return words, words if tokens_are_morphemes else tags_at(review.offsets, spans), (means * len(review)).tolist()


@lru_cache(maxsize=2**14)
def stem_of(surface: str, features: str) -> tuple[str, str, str]:
    """Return the first form of a morpheme, its tag, and its dictionary form, "" unless it is a content word."""
    form, tag = joined_morphemes(surface, features)[0]
    if tag in ("VV", "VA"):
        return form, tag, "" if f"{form}다" in LIGHT else f"{form}다"
    return form, tag, form if tag in ("NNG", "NNP", "XR") else ""


def join_pieces(spans: Sequence[Span], tags: Sequence[str], words: list[str], text: str) -> None:
    """Join adjacent nouns if one has a single syllable (노 잼 -> 노잼), or drop that one beside a pronoun (짜증 나)."""
    pairs = zip(tags, spans, [*spans[1:], (-1, -1)])
    code = "".join(
        "en"[end == after] if tag[:1] == "N" or tag in ("MM", "XPN") else "." for tag, (_, end), (after, _) in pairs
    )
    for first, end in (match.span() for match in TOUCHING.finditer(code)):
        run, compound = words[first:end], text[spans[first][0] : spans[end - 1][1]]
        if 1 in map(len, run):
            words[first:end] = [compound] * len(run) if all(run) else [word if len(word) > 1 else "" for word in run]
