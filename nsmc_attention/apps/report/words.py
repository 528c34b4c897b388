"""The content words of a text in their dictionary form, by the morphemes of MeCab."""

from collections.abc import Sequence

from ...text.tokenizers import Span, align, joined_morphemes, morphemes

# Verbs that say nothing by themselves
LIGHT = frozenset("하다 되다 있다 보다 같다 그렇다 이렇다 대하다".split())


def content_words(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, word) of each morpheme of a clean text; word is "" where it is part of no content word.

    Content words are nouns, verbs and adjectives by their stem with 다 (아까워 -> 아깝다), and roots with what makes them
    a verb (지루 하 -> 지루하다); no endings, particles, pronouns, numerals, auxiliaries or punctuation.
    """
    pairs = morphemes(text)
    spans = align(text, [surface for surface, _ in pairs])
    stems = [joined_morphemes(surface, features)[0] for surface, features in pairs]
    words = [dictionary_form(*stem, *after) for stem, after in zip(stems, [*stems[1:], ("", "")])]
    join_pieces(spans, [tag for _, tag in stems], words, text)
    return [(start, end, word) for (start, end), word in zip(spans, words)]


def dictionary_form(form: str, tag: str, next_form: str, next_tag: str) -> str:
    """Return a content word as a dictionary lists it, "" for other morphemes."""
    if tag in ("VV", "VA"):
        return "" if f"{form}다" in LIGHT else f"{form}다"
    if tag == "XR" and next_tag in ("XSA", "XSV"):
        return f"{form}{next_form}다"
    return form if tag in ("NNG", "NNP", "XR") else ""


def join_pieces(spans: Sequence[Span], tags: Sequence[str], words: list[str], text: str) -> None:
    """Join touching nouns of which one has a single syllable, pieces of what the dictionary lacks (노 잼 -> 노잼).

    Beside a pronoun, counter or prefix (짜증 나, 컨 저 링) they are no word together, and the single syllables are dropped.
    """
    first = 0
    for end in range(1, len(tags) + 1):
        touching = end < len(tags) and spans[end][0] == spans[end - 1][1]
        if touching and all(tag[:1] == "N" or tag in ("MM", "XPN") for tag in tags[end - 1 : end + 1]):
            continue
        run, whole = words[first:end], text[spans[first][0] : spans[end - 1][1]]
        if len(run) > 1 and any(len(word) == 1 for word in run):
            words[first:end] = [whole] * len(run) if all(run) else [word if len(word) > 1 else "" for word in run]
        first = end
