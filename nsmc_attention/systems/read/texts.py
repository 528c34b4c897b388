"""The texts of lines that are drawn for training: pieces of reviews, syllables at random and Latin words. Knows no picture."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from numpy.random import RandomState

from ...text.hangul import FIRST

# The printable ASCII
ASCII = "".join(map(chr, range(0x21, 0x7F)))
# What is between the digits of dates, times and prices, and behind them
SEPARATORS, UNITS = ("", ".", ":", "-", ",", "/"), ("", "", "", "%", "년", "점", "원", "번", "~")


@lru_cache(maxsize=1)
def common_syllables() -> str:
    """Return the 2,350 syllables of KS X 1001, which EUC-KR writes in two bytes: those that nearly all fonts have."""
    letters = map(chr, range(FIRST, ord("힣") + 1))
    return "".join(letter for letter in letters if len(letter.encode("euc-kr")) == 2)


def review_line(review: str, longest: int, random: RandomState) -> str:
    """Return whole words of a review, at most `longest` letters, from a place drawn at random."""
    words = review.split(" ")
    limit = random.randint(5, longest + 1)
    start = random.randint(len(words)) if len(review) > limit else 0
    line = words[start][:limit]
    for word in words[start + 1 :]:
        if len(line) + 1 + len(word) > limit:
            break
        line += " " + word
    return line


def invented_line(longest: int, random: RandomState) -> str:
    """Return words of random syllables, Latin ones, numbers and signs, at most `longest` letters."""
    limit = random.randint(3, longest + 1)
    share_korean = random.random_sample()
    line = ""
    while len(line) < limit:
        make = syllables if random.random_sample() < share_korean else (latin, number)[random.randint(2)]
        line += " " + make(random)
    return line[1 : limit + 1].strip()


def syllables(random: RandomState) -> str:
    known = common_syllables()
    word = "".join(known[i] for i in random.randint(len(known), size=random.randint(1, 6)))
    return word + (ASCII[random.randint(len(ASCII))] if random.random_sample() < 0.15 else "")


def latin(random: RandomState) -> str:
    """A word of letters, or signs."""
    kind, size = random.random_sample(), random.randint(1, 9)
    if kind < 0.15:
        return "".join(ASCII[i] for i in random.randint(len(ASCII), size=size))
    word = "".join(chr(ord("a") + i) for i in random.randint(26, size=size))
    return word.upper() if kind < 0.35 else word.title() if kind < 0.55 else word


def number(random: RandomState) -> str:
    """A number, a date, a time, a price: groups of digits with the same sign between."""
    sign = SEPARATORS[random.randint(len(SEPARATORS))]
    groups = ["".join(map(str, random.randint(10, size=random.randint(1, 5)))) for _ in range(random.randint(1, 4))]
    return sign.join(groups) + UNITS[random.randint(len(UNITS))]


def lines_of(reviews: Sequence[str], count: int, invented: float, longest: int, random: RandomState) -> Iterator[str]:
    """Yield `count` lines drawn at random, of which `invented` for each of a review are made up."""
    share = invented / (1 + invented)
    for _ in range(count):
        if random.random_sample() < share:
            yield invented_line(longest, random)
        else:
            yield review_line(reviews[random.randint(len(reviews))], longest, random)


def sign_line(reviews: Sequence[str], random: RandomState) -> str:
    """Return what stands beside reviews on their sites: stars, tags, a name with a date, letters that laugh, quotes."""
    words = reviews[random.randint(len(reviews))].split(" ")
    word = words[random.randint(len(words))][:8]
    kind = random.randint(6)
    if kind < 2:
        stars = random.randint(6)
        before = ("", "별점 ", word + " ")[random.randint(3)]
        behind = ("", f" {stars}점", f" {2 * stars}/10")[random.randint(3)]
        return before + "★" * stars + "☆" * (5 - stars) + behind
    if kind == 2:
        return " ".join("#" + each.strip("#")[:8] for each in [word, *words[: random.randint(4)]])
    if kind == 3:
        day = ".".join(f"{n:02}" for n in (random.randint(2004, 2030), random.randint(1, 13), random.randint(1, 32)))
        return f"{word}{('', '***', '님')[random.randint(3)]} {('', '| ', '· ')[random.randint(3)]}{day}"
    if kind == 4:
        runs = ["ㅋㅎㅠㅜㅡㅇㄹㅈㄱ^;~"[random.randint(12)] * random.randint(1, 9) for _ in range(random.randint(1, 4))]
        return " ".join([*words[: random.randint(3)], *runs, *([], ["ㅇㅈ"], ["ㄹㅇ"])[random.randint(3)]])[:40]
    start, end = (("“", "”"), ("…", "…"), ("", "..."), ("‘", "’"), ("♥ ", " ♡"), ("(", ")"))[random.randint(6)]
    return start + " ".join(words[:4])[:30] + end
