"""Mistakes that most make, which are never right: 되서, 몇일, 할께요. A list decides them, the editor all others.

Many of the words are too rare in reviews for the editor to tell which form is right. mistakes.tsv says which are righted: those
of equal length that are not also found across two words. How often these are wrong: benchmarks/restoration/README.md.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy
from numpy.typing import NDArray

from ..sequences.characters import KEEP, SPACE, Characters, codes_of
from .conventions import LINE
from .decisions import SURE
from .noise import known_mistakes

# At the end of a word alone: 에요 after what is no place or time (어디 가세요? 학교에요), and at that of a sentence 안 되
NO_PLACE = (
    "최고 별로 강추 비추 얼마 누구 뭐 정도 영화 드라마 만화 배우 노래 이야기 얘기 친구 여자 남자 가수 천재 캐릭터 분위기 "
    "쓰레기 난리 스토리 코미디 연기 재미"
)
ENDS = {f"{noun}에요": (f"{noun}예요", "[.!?~ ]") for noun in NO_PLACE.split()}
ENDS |= {f"{word}되": (f"{word}돼", "[.!?~]") for word in "안잘못"}
ENDS |= {f"{word}슴": (f"{word}음", "[.!?~ ㅋㅎㅠ]") for word in "있없했됐었았였겠밌웠렸졌"}


def pairs(place: str) -> list[tuple[str, str]]:
    """Return what is right and what is wrong, with their spaces, of the mistakes that are righted "anywhere" or at a "start"."""
    found = [(mistake.right, mistake.wrong) for mistake in known_mistakes() if mistake.righted == place]
    return [*found, ("되었", "돼었")] if place == "anywhere" else found


@lru_cache(maxsize=1)
def corrections() -> dict[str, str]:
    """Return {wrong: right} letters, both without spaces."""
    listed = {wrong: right for right, wrong in [*pairs("anywhere"), *pairs("start")]}
    bare = {wrong.replace(SPACE, ""): right.replace(SPACE, "") for wrong, right in listed.items()}
    return {**bare, **{wrong: right for wrong, (right, _) in ENDS.items()}}


@lru_cache(maxsize=1)
def pattern() -> "re.Pattern[str]":
    """Return the pattern of all mistakes, with their spaces and without.

    Each form begins with a letter, so that the search skips all places with other letters.
    """
    forms = [wrong.replace(SPACE, f"{SPACE}?") for _, wrong in pairs("anywhere")]
    forms += [rf"{wrong}(?<!\w{wrong})" for _, wrong in pairs("start")]
    forms += [rf"{wrong[:-1]}{SPACE}?{wrong[-1]}(?={mark}|$)" for wrong, (_, mark) in ENDS.items()]
    return re.compile("|".join(forms), re.MULTILINE)


def with_known_mistakes_righted(
    texts: Sequence[str], tags: NDArray[numpy.int32], certainty: NDArray[numpy.float32], characters: Characters
) -> tuple[NDArray[numpy.int32], NDArray[numpy.float32]]:
    """Return the tags of the letters of texts, and the probability of each (S,), with `corrections` where one is mistaken.

    The letters of a mistake that are right are kept; one that the characters lack is left to the editor.
    """
    text = LINE.join(texts)
    found = list(pattern().finditer(text))
    if not found:
        return tags, certainty
    codes = codes_of(text)
    # the number of letters up to each character
    numbers = numpy.cumsum((codes != ord(SPACE)) & (codes != ord(LINE)))
    tags, certainty = tags.copy(), certainty.copy()
    for match in found:
        wrong = match[0].replace(SPACE, "")
        right = [KEEP if one == other else characters.ids.get(other) for one, other in zip(wrong, corrections()[wrong])]
        own = slice(numbers[match.start()] - 1, numbers[match.start()] - 1 + len(wrong))
        if None not in right:
            tags[own] = right
            certainty[own] = numpy.where(tags[own] == KEEP, 1, numpy.maximum(certainty[own], SURE))
    return tags, certainty
