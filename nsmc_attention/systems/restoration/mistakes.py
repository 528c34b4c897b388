"""Mistakes that most make, which are never right: 되서, 몇일, 할께요. A list decides them, the editor all others.

Many of the words are too rare in reviews for the editor to tell which form is right. Of the list of `systems.restoration.noise` the pairs
of equal length are taken, but those found across two words without a space (본격 어드벤처, 불꽃 히어로, 삼촌 쓰러졌다, 승낙
여부). How often the others are wrong: benchmarks/restoration/README.md.
"""

import re
from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

from ..sequences.characters import KEEP, SPACE, Characters, codes_of
from .foreign import LINE
from .noise import MISTAKES

LEFT_OUT = ("격어", "꽃히", "꽃힌", "촌쓰러", "낙여", "실껏", "아니였")
# At the start of a word alone: elsewhere they may be of two (지금 새벽, 5개 구장이)
AT_START = ("금새", "개구장이")
# What is right, and what is wrong wherever it stands, with its space and without
PAIRS = [
    (right, wrong)
    for right, wrong in [*MISTAKES, ("되었", "돼었")]
    if len(right) == len(wrong) and wrong not in LEFT_OUT
]
# At the end of a word alone: 에요 after what is no place or time (어디 가세요? 학교에요), and at that of a sentence 안 되
NO_PLACE = (
    "최고 별로 강추 비추 얼마 누구 뭐 정도 영화 드라마 만화 배우 노래 이야기 얘기 친구 여자 남자 가수 천재 캐릭터 분위기 "
    "쓰레기 난리 스토리 코미디 연기 재미"
)
ENDS = {f"{noun}에요": (f"{noun}예요", "[.!?~ ]") for noun in NO_PLACE.split()}
ENDS |= {f"{word}되": (f"{word}돼", "[.!?~]") for word in "안잘못"}
# The right letters of each mistake, both without spaces
CORRECTIONS = {wrong.replace(SPACE, ""): right.replace(SPACE, "") for right, wrong in PAIRS}
CORRECTIONS |= {wrong: right for wrong, (right, _) in ENDS.items()}
# Each begins with a letter, so that the search skips all places with other letters
FORMS = [wrong.replace(SPACE, f"{SPACE}?") for _, wrong in PAIRS if wrong not in AT_START]
FORMS += [rf"{wrong}(?<!\w{wrong})" for wrong in AT_START]
FORMS += [rf"{wrong[:-1]}{SPACE}?{wrong[-1]}(?={mark}|$)" for wrong, (_, mark) in ENDS.items()]
FOUND = re.compile("|".join(FORMS), re.MULTILINE)
# The probability of what the list decides, so that long nouns of the dictionary, which has some of them, do not keep it
SURE = 0.99


def with_known_mistakes_righted(
    texts: Sequence[str], tags: NDArray[numpy.int32], certainty: NDArray[numpy.float32], characters: Characters
) -> tuple[NDArray[numpy.int32], NDArray[numpy.float32]]:
    """Return the tags of the letters of texts, and the probability of each (S,), with CORRECTIONS where one is mistaken.

    The letters of a mistake that are right are kept; one that the characters lack is left to the editor.
    """
    text = LINE.join(texts)
    found = list(FOUND.finditer(text))
    if not found:
        return tags, certainty
    codes = codes_of(text)
    # the number of letters up to each character
    numbers = numpy.cumsum((codes != ord(SPACE)) & (codes != ord(LINE)))
    tags, certainty = tags.copy(), certainty.copy()
    for match in found:
        wrong = match[0].replace(SPACE, "")
        right = [KEEP if one == other else characters.ids.get(other) for one, other in zip(wrong, CORRECTIONS[wrong])]
        own = slice(numbers[match.start()] - 1, numbers[match.start()] - 1 + len(wrong))
        if None not in right:
            tags[own] = right
            certainty[own] = numpy.where(tags[own] == KEEP, 1, numpy.maximum(certainty[own], SURE))
    return tags, certainty
