"""Variants of the sentences of `clean_reviews` with other words of MeCab's dictionary, to train `restore` on rare words.

    python -m recipes.other_words FOLDER    # of python -m recipes.clean_reviews FOLDER

The script writes both.txt: the sentences of train.txt, and a variant of every second one. A variant has other nouns before
particles, other single adverbs, numerals and counters, with the same ending, so that the particle fits. Spaces stay. In
every third sentence, a noun is counted (사과를, 사과 한 개를, 사과 오천 원을). In every second of the others, a noun after a verb
becomes a dependent noun (보는 영화가, 보는 김에), and an event has a later date (본 뒤에, 본 지 두 달 만에). In two thirds, stems and
endings change (보고, 다듬거나), particles are rarer (사과조차), nouns get a determiner, and verbs an adverb. Sentences about other
subjects than films (written/, written for this project) change in all of these ways, and are joined with other sentences.
"""

import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Optional
from zlib import crc32

import numpy
from mecab_ko_dic import dictionary_path
from tqdm.auto import tqdm

from nsmc_attention.text.hangul import parts
from nsmc_attention.text.tokenizers import morphemes

# Kinds of words by their tags, and the share of each that is exchanged
KINDS = {"NNG": "noun", "NNP": "noun", "MAG": "adverb", "NNBC": "counter", "VV": "stem", "VA": "stem"}
SHARE = 0.4
# Nouns and names of these lengths. A common word has a small cost: of lists sorted by it, the place is a share to the power
LENGTHS, POWER = (2, 5), 6
NUMERALS = "한 두 세 네 다섯 여섯 일곱 여덟 아홉 열 열한 열두 열세 열네 열다섯 스무 서른 마흔 쉰 예순 일흔 여든 아흔 몇 여러".split()
NUMERALS += "한두 두세 서너 너덧 대여섯 예닐곱 두어 스물한 서른두 마흔다섯".split()
# 한 is as frequent as all others
ONE = 0.5
# The shares of amounts and of hours in what is counted, and of time in what follows a verb
AMOUNT, HOUR, TIME = 0.3, 0.1, 0.25
# Numerals of Chinese, their digits and the places of these, and what is counted in them
CHINESE = "일 이 삼 사 오 육 칠 팔 구 십 십이 이십 삼십 사십 오십 수십".split()
DIGITS, PLACES = " 일이삼사오육칠팔구", ("천", "백", "십", "")
AMOUNTS = "원 년 일 분 초 층 반 학년 인분 쪽 도 점 회 주 호".split()
# What is counted of time, most in numerals of Chinese, and what it is counted from
TIMES = {"달": NUMERALS, "시간": NUMERALS, "주": NUMERALS, "해": ["한", "두", "세", "몇", "여러"]}
TIMES |= dict.fromkeys(("년", "개월", "분", "일"), CHINESE)
# What is said of time that has passed, and of time that something takes
PASSED = [" 만에", "도 넘은", "쯤 됐는데", "째", " 가까이 지나"]
TAKES = ["도 넘게 걸려", "쯤 걸린", " 가까이 쓰"]
# What is said to come later, and of which verbs' forms time is said, with which noun
AFTER = re.compile("([가-힣]+) (?:(?:후|뒤)에?|다음에)(?![가-힣])")
OF_TIME = {"ㄴ": ("지", PASSED), "는": ("데", TAKES)}
# Dependent nouns after a verb in 는, ㄴ and ㄹ, where no ending is written alike, as it is of 데 alone
NEEDS = ["데 도움이", "데 필요한", "데 무리가"]
DEPENDENT = {
    "는": "바람에 김에 대로 만큼 동안 터라 둥 탓에 통에 중에 편이라 셈이라 줄도 법이다 듯 것처럼 이상".split() + NEEDS,
    "ㄴ": "김에 채 채로 대로 만큼 뒤에 듯 적이 탓에 덕에 줄도 셈이다 바와 것도 나머지".split(),
    "ㄹ": "만큼 테니 뿐 수도 리가 줄도 때마다 겸 바에 지경이라 터라 정도로 대로 듯 것까지 무렵 뻔도 턱이".split(),
}
# What is written as a particle is, after any noun; then particles of two forms, after a vowel and a consonant
PARTICLES = "조차 마저 밖에 대로 만큼 치고 부터 까지 까지도 마다 에게서 한테서 에서조차 에서부터 만으로도 뿐 보다도 같이".split()
PARTICLES += (
    "끼리 씩 쯤 가량 짜리 들끼리 께서 에다가 하고는 에게로 만큼이나 대로만 마저도 따라 더러 마따나 만이라도".split()
)
PARTICLES += ["뿐만 아니라"]
PAIRS = (
    "는커녕/은커녕 나마/이나마 야말로/이야말로 라도/이라도 든지/이든지 란/이란 랑/이랑 로서/으로서 로써/으로써".split()
)
PAIRS += "로부터/으로부터 라서/이라서 라면/이라면 라고는/이라고는".split()
# What stands before a noun, apart
DETERMINERS = (
    "새 헌 옛 각 온 그 이 저 어느 무슨 웬 모든 온갖 여러 다른 그런 이런 저런 어떤 몇몇 갖은 오랜 딴 별별 아무".split()
)
DETERMINERS += [f"{each} 번째" for each in "첫 두 세 네 다섯 여섯 열 몇".split()]
# Endings that leave any stem as it is, but for ㄹ before ㄴ; and those of them that end a clause
PLAIN = set("고 지만 게 거나 더니 다가 도록 지 자 기 던 는 는데 는지 네 다".split())
CLAUSE = "고 지만 거나 더니 다가 도록 더라도 자마자 든지 든가 거든 기에 길래 느라 느라고 고서 고도 고는 건만 거니와 다시피 듯이".split()
CLAUSE += (
    "던데 는데도 는지도 는다고 자고 고자 게끔 다가도 고서야 지마는 기는커녕 기보다 기조차 기까지 기만 기도".split()
)
# Stems that other words depend on, and the share of nouns and verbs that have a word before them
AUXILIARY, BEFORE = set("있 없 하 되 같 않 싶".split()), 0.15
# What the dictionary says of nouns that 하다 and 되다 make verbs of
DEED = "행위"
# What was written for this, and beside how many sentences each of it stands, of its own kind or reviews'
WRITTEN, BESIDE = Path(__file__).with_name("written"), 30
# One in so many of them is not learnt from, so that restorers can be judged by it (benchmarks.restoration.spacing)
HELD_OUT = 20
# They decide by themselves what follows, or are written as particles are
KEPT = {"안", "못", "더", "덜", "왜", "잘", "또", "다"}
PARTICLE = re.compile("J|VCP")
# The head of a compiled dictionary: ten numbers and the name of the encoding
HEAD, ENTRY = (
    72,
    [("left", "u2"), ("right", "u2"), ("tag", "u2"), ("cost", "i2"), ("feature", "u4"), ("compound", "u4")],
)
Words = dict[tuple[str, str], list[str]]


def main(folder: Path) -> None:
    words, generator = dictionary_words(), random.Random(0)
    reviews = (folder / "train.txt").read_text(encoding="utf-8").splitlines()
    changed = filter(None, (exchanged(each, words, generator) for each in tqdm(reviews[::2], mininterval=10)))
    counts = filter(None, (counted(each, words, generator) for each in tqdm(reviews[::3], mininterval=10)))
    nouns = filter(None, (dependent(each, generator) for each in tqdm(reviews[1::2], mininterval=10)))
    later = filter(None, (elapsed(each, generator) for each in reviews))
    others = (each for number, each in enumerate(reviews) if number % 3)
    varied = filter(None, (with_variety(each, words, generator) for each in tqdm(others, mininterval=10)))
    texts = [text for _, text in written() if not is_held_out(text)]
    ways = (way for each in texts for way in every_way(each, words, generator))
    found = dict.fromkeys([*reviews, *changed, *counts, *nouns, *later, *varied, *ways])
    found |= dict.fromkeys(beside_others(texts, reviews, generator))
    (folder / "both.txt").write_text("".join(f"{each}\n" for each in found), encoding="utf-8")
    print(
        f"both.txt: {len(found):,} sentences, {len(reviews):,} of them reviews' as they were, {len(texts):,} written for this"
    )


def written() -> list[tuple[str, str]]:
    """Return (what it is of, sentence) of all in WRITTEN."""
    files = sorted(WRITTEN.glob("*.txt"))
    return [(path.stem, text) for path in files for text in path.read_text(encoding="utf-8").splitlines()]


def is_held_out(text: str) -> bool:
    """Return whether a sentence of WRITTEN is kept from training: it stays so when others are added."""
    return crc32(text.encode()) % HELD_OUT == 0


def every_way(text: str, words: Words, generator: random.Random) -> Iterator[str]:
    """Yield a sentence as it is and changed in each way that it can be."""
    yield text
    ways = (exchanged, counted, with_variety)
    yield from filter(None, [way(text, words, generator) for way in ways])
    yield from filter(None, (dependent(text, generator), elapsed(text, generator)))


def dictionary_words() -> Words:
    """Return the words of the installed dictionary by their kind and what they end on."""
    content = (dictionary_path / "sys.dic").read_bytes()
    sizes = numpy.frombuffer(content, "<u4", 10)
    trie, tokens = int(sizes[6]), int(sizes[7])
    entries = numpy.frombuffer(content, ENTRY, tokens // 16, HEAD + trie)
    features = content[HEAD + trie + tokens :]
    found = defaultdict[tuple[str, str], dict[str, int]](dict)
    for cost, start in zip(entries["cost"].tolist(), entries["feature"].tolist()):
        tag, meaning, _, word, form, *_ = features[start : features.index(b"\0", start)].decode().split(",")
        kind = KINDS.get(tag)
        fits = kind != "noun" or LENGTHS[0] <= len(word) <= LENGTHS[1]
        if kind == "stem":
            fits = form == "*" and word not in AUXILIARY
        if kind and fits and re.fullmatch("[가-힣]+", word) and word not in KEPT:
            keys = [(kind, "" if kind == "stem" else ending(word))] + [(DEED, "")] * (meaning == DEED)
            for key in keys:
                found[key][word] = min(cost, found[key].get(word, cost))
    listed = {key: sorted(costs, key=lambda word: (costs[word], word)) for key, costs in found.items()}
    return {**listed, ("numeral", ""): NUMERALS}


def ending(word: str) -> str:
    """Return the final sound that decides the form of a particle: ㄹ, another final consonant, or none."""
    final = parts(word[-1])[2]
    return final if final in ("", "ㄹ") else "."


def exchanged(text: str, words: Words, generator: random.Random) -> Optional[str]:
    """Return a sentence with other words, None if it has none to exchange."""
    found = [other_word(each, words, generator) for each in split(text)]
    other = " ".join(found)
    return None if other == text else other


def counted(text: str, words: Words, generator: random.Random) -> Optional[str]:
    """Return a sentence in which one noun before a particle is counted, None if it has none."""
    found = list(split(text))
    nouns = [number for number, word in enumerate(found) if len(word) > 1 and KINDS.get(word[0][1]) == "noun"]
    nouns = [number for number in nouns if is_hangul(found[number][0][0]) and all_particles(found[number][1:])]
    if not nouns:
        return None
    place = generator.choice(nouns)
    (noun, _), particles = found[place][0], found[place][1:]
    amounts = [each for each in AMOUNTS if ending(each) == ending(noun)]
    if amounts and generator.random() < AMOUNT:
        count = f"{in_words(random_number(generator))} {generator.choice(amounts)}"
    elif ending(noun) == "." and generator.random() < HOUR:
        count = f"{numeral(generator)} 시 {generator.choice(CHINESE)} 분"
    else:
        count = f"{numeral(generator)} {common(words['counter', ending(noun)], generator)}"
    if generator.random() < SHARE:
        noun = common(words["noun", ending(noun)], generator)
    plain = ["".join(surface for surface, _ in word) for word in found]
    plain[place] = f"{noun} {count}" + "".join(surface for surface, _ in particles)
    return " ".join(plain)


def common(words: list[str], generator: random.Random) -> str:
    """Return one of a list that begins with the common words, rather of these."""
    return words[int(len(words) * generator.random() ** POWER)]


def dependent(text: str, generator: random.Random) -> Optional[str]:
    """Return a sentence in which one noun that a verb describes is a dependent one, None if it has none."""
    found = list(split(text))
    plain = ["".join(surface for surface, _ in word) for word in found]
    places = [
        number
        for number, (word, after) in enumerate(zip(found, found[1:]), 1)
        if re.search(r"V[VX].*\+ETM$", "+".join(tag for _, tag in word[-2:]))
        and described(plain[number - 1]) in DEPENDENT
        and KINDS.get(after[0][1]) == "noun"
        and all_particles(after[1:])
    ]
    if not places:
        return None
    place = generator.choice(places)
    form = described(plain[place - 1])
    plain[place] = generator.choice(DEPENDENT[form])
    if form in OF_TIME and generator.random() < TIME:
        noun, tails = OF_TIME[form]
        plain[place] = f"{noun} {duration(generator)}{generator.choice(tails)}"
    return " ".join(plain)


def described(word: str) -> str:
    """Return the end of an adnominal: 는 or a final consonant."""
    return word[-1] if word[-1] in "는던" else parts(word[-1])[2] if is_hangul(word) else ""


def elapsed(text: str, generator: random.Random) -> Optional[str]:
    """Return a sentence in which what came after a verb in ㄴ came so much later, None if nothing did."""
    match = AFTER.search(text)
    if not match or parts(match[1][-1])[2] != "ㄴ" or match[1][-1] in "는던":
        return None
    *_, (_, features) = morphemes(match[1])
    if not features.partition(",")[0].endswith("ETM"):
        return None
    return f"{text[: match.start()]}{match[1]} 지 {duration(generator)} 만에{text[match.end() :]}"


def with_variety(text: str, words: Words, generator: random.Random) -> Optional[str]:
    """Return a sentence with other stems and endings, rarer particles and more words before these; None if nothing changes."""
    found, made = list(split(text)), list[str]()
    for number, word in enumerate(found):
        (first, tag), others = word[0], word[1:]
        kind, plain = KINDS.get(tag), "".join(surface for surface, _ in word)
        free = is_hangul(first) and not (number and made[-1] in KEPT)
        before = ""
        if kind == "noun" and others and others[0][1].startswith("XSV") and generator.random() < SHARE:
            plain = common(words[DEED, ""], generator) + plain[len(first) :]
        elif free and kind == "noun" and all_particles(others):
            # with nouns of one letter many are one word: 그때, 이번
            before = noun_or_determiner(words, generator) if len(first) > 1 else ""
            plain = with_particle(word, generator)
        elif free and kind == "stem" and first not in AUXILIARY:
            before = common(words["adverb", generator.choice(["", "ㄹ", "."])], generator)
            after, its_tag = found[number + 1][0] if number + 1 < len(found) else ("", "")
            is_free = its_tag != "VX" and after not in AUXILIARY
            plain = with_stem(word, common(words["stem", ""], generator), is_free, generator)
        made += [before, plain] if before and generator.random() < BEFORE else [plain]
    other = " ".join(made)
    return None if other == text else other


def noun_or_determiner(words: Words, generator: random.Random) -> str:
    if generator.random() < SHARE:
        return common(words["noun", generator.choice(["", "ㄹ", "."])], generator)
    return generator.choice(DETERMINERS)


def with_particle(word: list[tuple[str, str]], generator: random.Random) -> str:
    """Return a noun and its particles, with a rarer one in their place, or as it is."""
    (noun, _), others = word[0], word[1:]
    if not others or not all(tag.startswith("J") for _, tag in others) or generator.random() > SHARE:
        return "".join(surface for surface, _ in word)
    form = generator.choice([*PARTICLES, *PAIRS]).split("/")
    # 로 follows ㄹ as it follows a vowel
    bare = ending(noun) == "" or ending(noun) == "ㄹ" and form[0].startswith("로")
    return noun + (form[0] if bare else form[-1])


def with_stem(word: list[tuple[str, str]], stem: str, is_free: bool, generator: random.Random) -> str:
    """Return a verb with another stem and, if the next word is free of it, another ending of a clause; or as it is."""
    plain = "".join(surface for surface, _ in word)
    if len(word) != 2 or word[1][0] not in PLAIN or generator.random() > SHARE:
        return plain
    last, tag = word[1]
    if tag == "EC" and is_free:
        last = generator.choice(CLAUSE)
    return plain if parts(stem[-1])[2] == "ㄹ" and parts(last[0])[0] == "ㄴ" else stem + last


def beside_others(texts: list[str], reviews: list[str], generator: random.Random) -> Iterator[str]:
    """Yield texts before or behind others of them or of reviews, BESIDE each."""
    for text in texts * BESIDE:
        other = generator.choice(generator.choice([texts, reviews]))
        pair = [text, other if other != text else generator.choice(reviews)]
        generator.shuffle(pair)
        yield " ".join(pair)


def duration(generator: random.Random) -> str:
    time = generator.choice(list(TIMES))
    return f"{generator.choice(TIMES[time])} {time}"


def random_number(generator: random.Random) -> int:
    """Return a year, or one to three digits with up to four zeros."""
    if generator.random() < SHARE:
        return generator.randrange(1900, 2100)
    return generator.randrange(1, 10 ** generator.randrange(1, 4)) * 10 ** generator.randrange(5)


def in_words(number: int) -> str:
    """Return a number below 10^8 in Chinese numerals, in which tens of thousands stand apart: 만 오천, 이천이십사."""
    large, small = divmod(number, 10000)
    if large:
        return f"{'' if large == 1 else in_words(large)}만 {in_words(small) if small else ''}".rstrip()
    digits = zip(f"{small:04}", PLACES)
    return "".join(
        ("" if digit == "1" and place else DIGITS[int(digit)]) + place for digit, place in digits if digit > "0"
    )


def numeral(generator: random.Random) -> str:
    return NUMERALS[0] if generator.random() < ONE else generator.choice(NUMERALS)


def split(text: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the (surface, tag) of each word between spaces of a text."""
    place, word = 0, list[tuple[str, str]]()
    for surface, features in morphemes(text):
        start = text.index(surface, place)
        if start > place and word:
            yield word
            word = []
        word.append((surface, features.partition(",")[0]))
        place = start + len(surface)
    yield word


def other_word(word: list[tuple[str, str]], words: Words, generator: random.Random) -> str:
    """Return a word of (surface, tag) with another in the place of its first morpheme, or as it is."""
    (first, tag), others = word[0], word[1:]
    kind = "numeral" if not others and first in NUMERALS else KINDS.get(tag)
    options = words.get((kind, "" if kind == "numeral" else ending(first))) if kind and is_hangul(first) else None
    fits = kind in ("numeral", "adverb") and not others or kind in ("noun", "counter") and all_particles(others)
    if options and fits and first not in KEPT and generator.random() < SHARE:
        first = common(options, generator)
    return first + "".join(surface for surface, _ in others)


def is_hangul(word: str) -> bool:
    return "가" <= word[-1] <= "힣"


def all_particles(morphemes_after: Iterable[tuple[str, str]]) -> bool:
    return all(PARTICLE.match(tag) or not is_hangul(surface) for surface, tag in morphemes_after)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
