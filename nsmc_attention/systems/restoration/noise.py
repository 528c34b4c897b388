"""Misspellings as people type them: edits that a text may suffer, of which all are made or some are drawn.

A kind of misspelling is a function: a text and a position in it -> the edits that are possible there. Texts are clean
(`encoding.clean`) and stay so.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy

from ...text.hangul import FINALS, joined, parts

# Finals and vowels that are often confused: 있 for 잇, 재 for 제
SIMPLER_FINALS = {"ㅆ": "ㅅ", "ㅈ": "ㅅ", "ㅌ": "ㅅ", "ㅀ": "ㄹ", "ㄶ": "ㄴ"}
OTHER_VOWELS = {"ㅐ": "ㅔ", "ㅔ": "ㅐ", "ㅚ": "ㅙ", "ㅙ": "ㅚ"}
# What a final is where the next syllable begins with a vowel: what stays, and what is heard with the vowel
HEARD = {
    **{final: ("", final) for final in "ㄱㄲㄴㄷㄹㅁㅂㅅㅆㅈㅊㅋㅌㅍ"},
    **{final: ("", heard) for final, heard in ("ㅎㅇ", "ㄶㄴ", "ㅀㄹ")},
    **{final: (stays, heard) for final, stays, heard in ("ㄺㄹㄱ", "ㄻㄹㅁ", "ㄵㄴㅈ", "ㄼㄹㅂ", "ㅄㅂㅅ", "ㄾㄹㅌ")},
}
# The same before ㅣ
PALATAL = {"ㄷ": "ㅈ", "ㅌ": "ㅊ"}
# The letters that are typed with the shift key, and the same keys without it
SHIFTED, PLAIN = "ㄲㄸㅃㅆㅉㅒㅖ", "ㄱㄷㅂㅅㅈㅐㅔ"
SHIFT = dict(zip(SHIFTED + PLAIN, PLAIN + SHIFTED))
# The rows of the Korean keyboard, by hand: consonants on the left, vowels on the right
NEIGHBOURS = {
    letter: "".join(row[max(0, position - 1) : position] + row[position + 1 : position + 2])
    for row in ("ㅂㅈㄷㄱㅅ", "ㅁㄴㅇㄹㅎ", "ㅋㅌㅊㅍ", "ㅛㅕㅑㅐㅔ", "ㅗㅓㅏㅣ", "ㅠㅜㅡ")
    for position, letter in enumerate(row)
}
# Words that are written for one another
CONFUSED = (("않", "안"), ("되", "돼"), ("데", "대"), ("로서", "로써"), ("어떻게", "어떡해"), ("예요", "에요"))
# What is right, and how many write it, which is never right: 오랫만에, 몇일, 할께요, 되서, 폭팔. Spaces are _ here. No wrong
# form may be right elsewhere, as 건들이 is in 사건들이, 찌게 in 살찌게, 일부로 in 그 일부로
MISTAKES = [
    tuple(pair.replace("_", " ").split("/"))
    for pair in (
        "며칠/몇일 오랜만/오랫만 금세/금새 역할/역활 희한/희안 어떡해/어떻해 어떡하/어떻하 왠지/웬지 웬만/왠만 웬일/왠일 "
        "어이없/어의없 어이_없/어의_없 설렘/설레임 폭발/폭팔 김치찌개/김치찌게 된장찌개/된장찌게 부대찌개/부대찌게 바람이_있/바램이_있 통째로/통채로 "
        "깨끗이/깨끗히 곰곰이/곰곰히 일일이/일일히 틈틈이/틈틈히 어차피/어짜피 아무튼/아뭏든 설거지/설겆이 떡볶이/떡볶기 "
        "육개장/육계장 쌍꺼풀/쌍커풀 하마터면/하마트면 무릅쓰/무릎쓰 널브러/널부러 닦달/닥달 눈곱/눈꼽 눈살/눈쌀 "
        "치렀/치뤘 잠갔/잠궜 담갔/담궜 서슴지/서슴치 짜깁기/짜집기 단언컨대/단언컨데 예컨대/예컨데 개수/갯수 "
        "대가를/댓가를 초점/촛점 희로애락/희노애락 절체절명/절대절명 풍비박산/풍지박산 환골탈태/환골탈퇴 "
        "부딪히/부딛히 부딪치/부딛치 십시오/십시요 봬요/뵈요 뵐게/뵐께 할게/할께 "
        "갈게/갈께 볼게/볼께 줄게/줄께 될게/될께 있을게/있을께 먹을게/먹을께 없을게/없을께 읽을게/읽을께 믿을게/믿을께 참을게/참을께 찾을게/찾을께 릴게/릴께 올게/올께 할걸/할껄 을걸/을껄 거예요/거에요 거예요/꺼예요 "
        "아니에요/아니예요 넉넉지/넉넉치 익숙지/익숙치 생각지/생각치 괜찮/괜찬 귀찮/귀찬 뇌졸중/뇌졸증 늦깎이/늦깍이 깎아/깍아 "
        "깎는/깍는 깎이/깍이 깎았/깍았 닦는/닥는 겪었/격었 겪는/격는 겪어/격어 꺾이/꺽이 꺾었/꺽었 꺾는/꺽는 "
        "눈에_띄/눈에_띠 명예_훼손/명예_회손 훼손/회손 부리나케/불이나케 시답잖/시덥잖 "
        "구레나룻/구렛나루 돼서/되서 돼요/되요 돼야/되야 돼_있/되_있 돼_버/되_버 되는/돼는 되고/돼고 "
        "되면/돼면 되네/돼네 됐/됬 휴게/휴계 뒤꿈치/뒷꿈치 뒤풀이/뒷풀이 움큼/웅큼 으스스/으시시 "
        "얽히고설/얽히고섥 인사치레/인사치래 승낙/승락 흐리멍덩/흐리멍텅 "
        "통틀어/통털어 움츠/움추 방방곡곡/방방곳곳 주야장천/주구장창 내로라/내노라 삼수갑산/산수갑산 "
        "꺾인/꺽인 꺾여/꺽여 꺾였/꺽였 꺾어/꺽어 꺾을/꺽을 꺾기/꺽기 꺾고/꺽고 부딪혀/부딛혀 부딪혔/부딛혔 부딪쳐/부딛쳐 부딪쳤/부딛쳤 깎고/깍고 깎은/깍은 깎을/깍을 깎기/깍기 깎여/깍여 "
        "깎인/깍인 낚였/낙였 낚여/낙여 추스르/추스리 추슬렀/추스렸 추슬러/추스려 성대모사/성대묘사 혈혈단신/홀홀단신 일사불란/일사분란 임기응변/임기웅변 후유증/휴유증 착잡/착찹 핼쑥/핼쓱 "
        "재떨이/재털이 오지랖/오지랍 낭떠러지/낭떨어지 창피/챙피 짭짤/짭잘 씁쓸/씁슬 쓰레기/쓰래기 어쨌든/어쨋든 어쨌거나/어쨋거나 여태껏/여지껏 여태껏/여태것 엊그제/엇그제 "
        "곱빼기/곱배기 게시판/계시판 뒤쪽/뒷쪽 아래쪽/아랫쪽 위쪽/윗쪽 위층/윗층 아래층/아랫층 뒤통수/뒷통수 머리말/머릿말 인사말/인삿말 등굣길/등교길 하굣길/하교길 최댓값/최대값 괜찮/괜챦 "
        "귀찮/귀챦 점잖/점쟎 만만찮/만만챦 시원찮/시원챦 언짢/언잖 어쭙잖/어줍잖 아니었/아니였 낯설/낮설 낯선/낮선 낯익/낮익 쫓아/쫒아 쫓겨/쫒겨 쫓고/쫒고 쫓기/쫒기 쫓는/쫒는 쫓은/쫒은 "
        "쫓을/쫒을 쫓다/쫒다 꽂혀/꽃혀 꽂히/꽃히 꽂힌/꽃힌 꽂혔/꽃혔 찢어/찟어 찢고/찟고 끊임없/끈임없 끊어지/끈어지 끊어졌/끈어졌 뚫린/뚤린 뚫려/뚤려 무릎을/무릅을 무릎이/무릅이 "
        "무릎에/무릅에 쑥스러/쑥쓰러 쑥스럽/쑥쓰럽 새삼스/세삼스 나무꾼/나뭇꾼 개구쟁이/개구장이 거짓말쟁이/거짓말장이 실컷/실껏 어떻게/어떡게 해질녘/해질녁 "
        "새벽녘/새벽녁 저물녘/저물녁 베개를/배개를 숟가락/숫가락 젓가락/젖가락 촌스러/촌쓰러 촌스럽/촌쓰럽 뱉어/뱃어 곁들/겻들 흩어/흣어 얄팍/얇팍 널찍/넓직 널따랗/넓다랗 "
    ).split()
]
# ㅢ, ㅖ and ㅟ as they are often said and typed; what a consonant becomes after a ㄹ or a stop, and a stop before a nasal
PLAIN_VOWELS = {"ㅢ": "ㅣ", "ㅖ": "ㅔ", "ㅟ": "ㅣ", "ㅝ": "ㅓ", "ㅘ": "ㅏ"}
TENSING, TENSE = "ㄹㄱㅂㅅㅆㄷㅈ", dict(zip("ㄱㄷㅂㅅㅈ", "ㄲㄸㅃㅆㅉ"))
NASAL = {"ㅂ": "ㅁ", "ㅄ": "ㅁ", "ㄱ": "ㅇ", "ㄲ": "ㅇ", "ㅅ": "ㄴ", "ㅆ": "ㄴ", "ㄷ": "ㄴ", "ㅈ": "ㄴ"}


class Edit(NamedTuple):
    """text[start:end] becomes `replacement`."""

    start: int
    end: int
    replacement: str


Kind = Callable[[str, int], list[Edit]]
# {letter: those that may be written in its position}
Letters = Mapping[str, str]
NONE: Letters = {}


def lost_spaces(text: str, position: int) -> list[Edit]:
    """정말재미있는영화."""
    return [Edit(position, position + 1, "")] if text[position].isspace() else []


def added_spaces(text: str, position: int) -> list[Edit]:
    """재미 있는 영 화."""
    return [Edit(position, position, " ")] if within_word(text, position) else []


def moved_spaces(text: str, position: int) -> list[Edit]:
    """정말 재미있 는영화: a space one position to the left or right."""
    if not re.match(r"\w\w \w\w", text[max(0, position - 2) : position + 3]):
        return []
    before, after = text[position - 1], text[position + 1]
    return [Edit(position - 1, position + 1, " " + before), Edit(position, position + 2, after + " ")]


def stretched(text: str, position: int) -> list[Edit]:
    """재밌어어어: the last syllable of a word without a final is said longer."""
    initial, vowel, final = parts(text[position])
    if not initial or final or re.match(r"\w", text[position + 1 : position + 2]):
        return []
    return [Edit(position + 1, position + 1, joined("ㅇ", vowel) * times) for times in (1, 2, 3)]


def tensed(text: str, position: int) -> list[Edit]:
    """할게 as 할께, 볼 것 as 볼 껏: the consonant after a ㄹ or a stop is said tense."""
    final, (initial, vowel, last) = before(text, position), parts(text[position])
    if final and final in TENSING and initial in TENSE:
        return [Edit(position, position + 1, joined(TENSE[initial], vowel, last))]
    return []


def assimilated(text: str, position: int) -> list[Edit]:
    """합니다 as 함니다, 작년 as 장년: a stop before a nasal is said as one."""
    (initial, vowel, final), following = parts(text[position]), parts(text[position + 1 : position + 2])[0]
    if final in NASAL and following in ("ㄴ", "ㅁ"):
        return [Edit(position, position + 1, joined(initial, vowel, NASAL[final]))]
    return []


def liaison(text: str, position: int) -> list[Edit]:
    """좋아 as 조아, 재밌어 as 재미써, 굳이 as 구지: as it is heard."""
    (initial, vowel, final), (begins, second, last) = parts(text[position]), parts(text[position + 1 : position + 2])
    if begins != "ㅇ" or final not in HEARD:
        return []
    stays, heard = HEARD[final]
    heard = PALATAL.get(heard, heard) if second == "ㅣ" else heard
    return [Edit(position, position + 2, joined(initial, vowel, stays) + joined(heard, second, last))]


def confused_words(text: str, position: int) -> list[Edit]:
    """안 for 않, 되 for 돼, and the other way round."""
    pairs = (pair[::turn] for pair in CONFUSED for turn in (1, -1))
    return [Edit(position, position + len(one), other) for one, other in pairs if text.startswith(one, position)]


def mistakes(text: str, position: int) -> list[Edit]:
    """오랫만에, 몇일, 할께요, 되서."""
    return [
        Edit(position, position + len(right), wrong)
        for right, wrong in mistakes_from(text[position])
        if text.startswith(right, position)
    ]


@lru_cache(maxsize=None)
def mistakes_from(character: str) -> list[tuple[str, str]]:
    """Return those of MISTAKES whose right form begins with a character."""
    return [(right, wrong) for right, wrong in MISTAKES if right.startswith(character)]


def exchanged_syllables(text: str, position: int) -> list[Edit]:
    """영화 as 화영: two neighbours within a word."""
    if not within_word(text, position) or text[position] == text[position - 1]:
        return []
    return [Edit(position - 1, position + 1, text[position] + text[position - 1])]


def before(text: str, position: int) -> str:
    """Return the final of the syllable before a position, a space between them or not."""
    return parts(text[:position].rstrip()[-1:])[2]


def within_word(text: str, position: int) -> bool:
    """Return whether there are Hangul syllables on both sides of a position."""
    return position > 0 and "가" <= text[position - 1] <= "힣" and "가" <= text[position] <= "힣"


def other_letters(initials: Letters = NONE, vowels: Letters = NONE, finals: Letters = NONE) -> Kind:
    """Return the kind that replaces a letter of a syllable by another one of its table."""

    @lru_cache(maxsize=None)
    def other_syllables(character: str) -> tuple[str, ...]:
        initial, vowel, final = parts(character)
        others = [joined(letter, vowel, final) for letter in initials.get(initial, "")]
        others += [joined(initial, letter, final) for letter in vowels.get(vowel, "")]
        # ㄸ, ㅃ and ㅉ are no finals
        others += [joined(initial, vowel, letter) for letter in finals.get(final, "") if letter in FINALS]
        return tuple(others)

    return lambda text, position: [Edit(position, position + 1, other) for other in other_syllables(text[position])]


# What is typed by hand; the last two are kept from training, so that there is a noise that was not trained on
KINDS: dict[str, Kind] = {
    "lost_spaces": lost_spaces,
    "added_spaces": added_spaces,
    "moved_spaces": moved_spaces,
    "stretched": stretched,
    # 재미있었다 as 재미잇엇다
    "finals": other_letters(finals=SIMPLER_FINALS),
    # 재미 as 제미
    "vowels": other_letters(vowels=OTHER_VOWELS),
    "liaison": liaison,
    "confused_words": confused_words,
    "mistakes": mistakes,
    # 갔다 as 갓다, 진짜 as 진자, and 자 as 짜: the shift key forgotten or held
    "shift_key": other_letters(SHIFT, SHIFT, SHIFT),
    # 정말 as 정만: a key beside the right one
    "neighbouring_keys": other_letters(NEIGHBOURS, NEIGHBOURS, NEIGHBOURS),
    "exchanged_syllables": exchanged_syllables,
    "tensed": tensed,
    # 희망 as 히망, 계속 as 게속: a diphthong without its glide
    "plain_vowels": other_letters(vowels=PLAIN_VOWELS),
    "assimilated": assimilated,
}

# Of the texts of `typed`: the share that is left as it is, is misspelt, has other spaces; of the misspelt ones the share
# that has a kind, of the others that without any space and that with spaces in wrong places
UNTOUCHED, MISSPELT, SPACED, KIND_SHARE, ALL_LOST, MISPLACED = 0.1, 0.75, 0.8, 0.3, 0.4, 0.3
# The share of the places of MISTAKES, which are few, that a misspelt text has wrong
MISTAKEN = 0.5
# The largest share of the places that a kind changes: some people never write ㅆ, nobody exchanges all syllables
MOST = {
    "stretched": 0.4,
    "finals": 1.0,
    "vowels": 1.0,
    "liaison": 1.0,
    "confused_words": 1.0,
    "tensed": 0.6,
    "shift_key": 0.2,
    "neighbouring_keys": 0.1,
    "exchanged_syllables": 0.3,
}
UNSEEN = {"plain_vowels": 1.0, "assimilated": 1.0}


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made, from the left; one that begins within an earlier one, or with it, is not."""
    pieces, last, end = [], -1, 0
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        if edit.start >= end and edit.start > last:
            pieces += [text[end : edit.start], edit.replacement]
            last, end = edit.start, edit.end
    return "".join([*pieces, text[end:]])


def edits(text: str, kind: Kind) -> Iterator[Edit]:
    """Yield all edits of a kind that are possible in a text."""
    return chain.from_iterable(kind(text, position) for position in range(len(text)))


def noisy(text: str, rates: dict[str, float], random: numpy.random.RandomState) -> str:
    """Return the text with some misspellings: of each kind of `rates`, that share of the places, each with one edit.

    Kinds are applied one after the other, so that 좋아 may become 조아 and then 조 아.
    """
    for name, rate in rates.items():
        drawn = numpy.flatnonzero(random.random_sample(len(text)) < rate).tolist()
        possible = [choices for choices in (KINDS[name](text, position) for position in drawn) if choices]
        if possible:
            text = edited(text, [choices[random.randint(len(choices))] for choices in possible])
    return text


def typed(text: str, random: numpy.random.RandomState, unseen: bool = False) -> str:
    """Return the text as somebody may have typed it: one in ten as it is, others without their spaces or misspelt.

    Spaces are lost, added and moved in most; three in four texts have misspellings too, of a few kinds each, rare or
    everywhere. With `unseen` all of these are of the kinds of UNSEEN, which are not trained on.
    """
    drawn = random.random_sample(4)
    if drawn[0] < UNTOUCHED:
        return text
    rates = {}
    if drawn[1] < MISSPELT or unseen:
        most = UNSEEN if unseen else MOST
        chosen = [name for name in most if random.random_sample() < KIND_SHARE]
        for name in chosen or [str(random.choice(list(most)))]:
            rates[name] = most[name] * random.random_sample() ** 2
        if not unseen:
            rates["mistakes"] = MISTAKEN
    if drawn[2] < SPACED or not rates:
        rates["lost_spaces"] = 1.0 if drawn[3] < ALL_LOST else random.random_sample()
        if random.random_sample() < MISPLACED:
            rates["added_spaces"], rates["moved_spaces"] = 0.1 * random.random_sample(2)
    return noisy(text, rates, random)
