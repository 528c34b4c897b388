"""Lines that accompany reviews on web pages (stars, dates, names, counts), to train a reader (`training.others`).

    NSMC_ATTENTION_DATA=... python -m recipes.beside_reviews others.csv [--count 60000]

Random parts fill patterns; words and names come from the reviews of NSMC's training file.
"""

import argparse
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from numpy.random import RandomState

from nsmc_attention.corpora.nsmc import load
from nsmc_attention.text.encoding import clean

# Signs that pages have before and behind words and numbers, and those that part what stands in a row
SIGNS, DIVIDERS = "★☆♥♡▲▼△▽▶▷◀◁●○◎■□◆◇→←↑↓※♪×÷₩℃°①②③④⑤⑥⑦⑧⑨№ⓒ•—@#*+-<>:", ("·", "|", "/", "•", "-", "")
BRACKETS = ("“”", "‘’", "……", "()", "[]", "「」", "『』", "《》", "<>", "♥♡", "**", "~~")
# What stands beside reviews on their sites
BESIDE_REVIEWS = """{stars}; 별점 {stars}; {word} {stars}; {stars} {count}; {stars} {date}; {sign} {count}; {word} {sign} {count}
{tags}; {name} {divider} {date}; {handle} {divider} {date}; {handle}; {handle} {words}; {name} {date}; {date}; {date} {clock}
{words} {runs}; {runs}; {bracketed}; {word} {bracketed} {word}; {words}… {words}; {words}...; {word} {count}; {count}; {clock}
{sign} {words}; {words} {sign}; {words} {sign} {words}; {sign}{count}; {count}{sign} {count}; {word} {count} {divider} {date}
{word}: {words}; {word}: {word} / {latin}; {count} {divider} {count} {divider} {word}"""


@dataclass(frozen=True)
class Beside:
    """Parts of what stands beside reviews, drawn anew whenever one is asked for by its name."""

    reviews: Sequence[str]
    random: RandomState

    def __getitem__(self, name: str) -> str:
        return str(getattr(self, name)())

    def one_of(self, values: Sequence[str]) -> str:
        return values[self.random.randint(len(values))]

    def word(self) -> str:
        return self.one_of(self.one_of(self.reviews).split(" "))[:8]

    def words(self) -> str:
        return " ".join(self.one_of(self.reviews).split(" ")[: self.random.randint(1, 5)])[:20]

    def latin(self) -> str:
        """A word of letters, or of any characters of ASCII."""
        first, last = ("!", "~") if self.random.random_sample() < 0.15 else ("a", "z")
        word = "".join(map(chr, self.random.randint(ord(first), ord(last) + 1, size=self.random.randint(1, 9))))
        return self.one_of((word.upper(), word.title(), word, word)) if first == "a" else word

    def sign(self) -> str:
        return self.one_of(SIGNS)

    def divider(self) -> str:
        return self.one_of(DIVIDERS)

    def stars(self) -> str:
        stars = self.random.randint(6)
        return "★" * stars + "☆" * (5 - stars)

    def tags(self) -> str:
        return " ".join("#" + self.word().strip("#") for _ in range(self.random.randint(1, 5)))

    def name(self) -> str:
        return self.word()[:4] + self.one_of(("", "", "***", "님", str(self.random.randint(100))))

    def handle(self) -> str:
        number = str(self.random.randint(10 ** self.random.randint(1, 4)))
        ends = "", "***", "****", number, "_" + self.latin().lower(), "-" + self.latin().lower()
        return self.one_of("@ ").strip() + self.latin().lower() + self.one_of(ends) + self.one_of(("", number, "***"))

    def count(self) -> str:
        number = self.random.randint(10 ** self.random.randint(1, 6))
        forms = (
            f"{number:,}",
            f"{number:,}",
            f"{number % 100 / 10}",
            f"{number % 10}/5",
            f"({number})",
            f"{number % 1000 / 10}만",
        )
        return self.one_of(forms) + self.one_of(("", "", "", *"점개명회%원위분"))

    def clock(self) -> str:
        return self.one_of(("오전 ", "오후 ", "")) + f"{self.random.randint(24)}:{self.random.randint(60):02}"

    def date(self) -> str:
        year, month, day = (self.random.randint(*limits) for limits in ((2004, 2030), (1, 13), (1, 32)))
        numbers = (
            f"{year}.{month:02}.{day:02}",
            f"{year}. {month}. {day}.",
            f"{year}-{month:02}-{day:02}",
            f"{month:02}.{day:02}",
        )
        ago = f"{day}{self.one_of(('일', '분', '시간', '개월', '년', '주'))} 전"
        return self.one_of((*numbers, *numbers[:2], f"{year}년 {month}월 {day}일", f"{month}월 {day}일", ago, ago))

    def runs(self) -> str:
        runs = (
            self.one_of("ㅋㅎㅠㅜㅡㅇㄹㅈㄱ^;~") * self.random.randint(1, 10) for _ in range(self.random.randint(1, 4))
        )
        return self.one_of((" ".join(runs), "ㅇㅈ", "ㄹㅇ"))

    def bracketed(self) -> str:
        brackets = self.one_of(BRACKETS)
        return brackets[0] + self.words() + brackets[-1]


def line(beside: Beside, longest: int = 40) -> str:
    """Return a pattern with its parts drawn at random."""
    pattern = beside.one_of(re.split("; |\n", BESIDE_REVIEWS))
    return " ".join(pattern.format_map(beside).split())[:longest].strip()


def main(path: Path, count: int, seed: int) -> None:
    reviews = [text for text in map(clean, load("nsmc", "train").documents) if text]
    beside = Beside(reviews, RandomState(seed))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["document"], *([line(beside)] for _ in range(count))])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--count", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=0)
    main(**vars(parser.parse_args()))
