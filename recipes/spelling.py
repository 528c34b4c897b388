"""Sentences with correct spelling, as targets for training `restore`.

    python -m recipes.spelling REVIEWS.csv SENTENCES.txt     (or nsmc, raw, sample: a data set by its name)

Most reviews have errors. A sentence is rejected if it has a sequence that occurs only in misspellings, or a sequence of
three characters that is much rarer than another one which a misspelling turns into it.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from nsmc_attention.corpora.data import Texts
from nsmc_attention.machine.files import read_rows
from nsmc_attention.systems.restore.correctors import mistaken
from nsmc_attention.systems.restore.noise import KINDS, edited, known_mistakes
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.hangul import FINALS

SHORTEST, LONGEST, FEWEST_WORDS = 10, 140, 3
# Share of Hangul syllables among the characters that are no spaces
HANGUL = 0.8
ALLOWED = re.compile(r"[가-힣0-9A-Za-z .,!?~'\"()%:;/-]+")
# Where a sentence ends, and the spaces behind that
END = re.compile(r"(?<=[.!?~])\s+")
# Syllables without a final after which 에요 is 예요
VOWEL = "".join(chr(code) for code in range(ord("가"), ord("힣") + 1, len(FINALS)) if chr(code) not in "니이")
MISSPELLINGS = Path(__file__).parent / "misspellings.tsv"
# How many times commoner the other spelling must be, by the kind of the misspelling: 또 and 도 are both words. And how
# often at least it is found
COMMONER = {"finals": 20, "vowels": 20, "liaison": 20, "plain_vowels": 20, "shift_key": 200, "tensed": 200}
FOUND = 40
# Trigrams of words that are right beside a much commoner one, with _ for a space: 네가 beside 내가, 안고 beside 않고
ALSO_RIGHT = Path(__file__).parent / "also_right.txt"


class Misspelling(NamedTuple):
    """A regular expression of what is never right; `right` replaces it, "" where the pattern does not tell what is meant."""

    pattern: str
    right: str
    reason: str


@lru_cache(maxsize=1)
def known_misspellings() -> list[Misspelling]:
    """Return the rows of misspellings.tsv, where VOWEL is the syllables that end in a vowel."""
    rows = (Misspelling(**row) for row in read_rows(MISSPELLINGS))
    return [row._replace(pattern=row.pattern.replace("VOWEL", VOWEL)) for row in rows]


@lru_cache(maxsize=1)
def wrong() -> "re.Pattern[str]":
    """Return the pattern of all that is never right."""
    patterns = [row.pattern for row in known_misspellings()] + [row["wrong"] for row in known_mistakes()]
    return re.compile("|".join([*patterns, mistaken()[0].pattern]))


def sentences(text: str) -> list[str]:
    """Split a clean text after each mark that ends a sentence."""
    return END.split(text)


def is_plain(text: str) -> bool:
    """Return whether a clean text is of ordinary length and characters, and has none of the common mistakes."""
    if not SHORTEST <= len(text) <= LONGEST or text.count(" ") + 1 < FEWEST_WORDS:
        return False
    letters = text.replace(" ", "")
    if letters.count('"') % 2 or letters.startswith('""') or letters.count("'") % 2:
        return False
    hangul = sum("가" <= letter <= "힣" for letter in letters)
    return (
        hangul >= HANGUL * len(letters)
        and bool(ALLOWED.fullmatch(text))
        and not wrong().search(text)
        and all(map(is_common, set(letters)))
    )


@lru_cache(maxsize=None)
def is_common(character: str) -> bool:
    """Return whether a character is one of KS X 1001, which has the 2,350 syllables of ordinary words."""
    try:
        # the other syllables are written by their letters, in eight bytes
        return len(character.encode("euc_kr")) <= 2
    except UnicodeEncodeError:
        return False


def trigrams(text: str) -> Iterator[str]:
    """Yield every three characters that follow each other, spaces among them; a space begins and ends the text."""
    around = f" {text} "
    return (around[start : start + 3] for start in range(len(around) - 2))


def suspicious_trigrams(texts: Iterable[str]) -> set[str]:
    """Return the trigrams of the texts for which a misspelling of a much commoner one is the likely reason."""
    counts = Counter(trigram for text in texts for trigram in trigrams(text))
    suspicious, also_right = set(), set(ALSO_RIGHT.read_text(encoding="utf-8").replace("_", " ").split("\n"))
    for trigram, count in counts.items():
        if count >= FOUND:
            for name, other in misspellings(trigram):
                if 0 < counts.get(other, 0) * COMMONER[name] <= count and other not in also_right:
                    suspicious.add(other)
    return suspicious


def misspellings(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, misspelt text) for each edit of the kinds of COMMONER that is possible in a text."""
    for name in COMMONER:
        for place in range(len(text)):
            for edit in KINDS[name](text, place):
                yield name, edited(text, [edit])


def is_spelt(text: str, suspicious: set[str]) -> bool:
    """Return whether a clean text is plain and has no suspicious trigram."""
    return is_plain(text) and suspicious.isdisjoint(trigrams(text))


def well_spelt(texts: Iterable[str]) -> list[str]:
    """Return, each once and in their order, the clean texts that are plain and have no suspicious trigram.

    Of a text that is not, its sentences that are. How common a spelling is is counted in all the texts: many are
    needed, some 100,000.
    """
    texts = list(texts)
    suspicious = suspicious_trigrams(texts)
    pieces = chain.from_iterable([text] if is_spelt(text, suspicious) else sentences(text) for text in texts)
    return [piece for piece in dict.fromkeys(pieces) if is_spelt(piece, suspicious)]


if __name__ == "__main__":
    _, reviews = Texts(sys.argv[1]).read()
    chosen = well_spelt(map(clean, reviews))
    Path(sys.argv[2]).write_text("".join(f"{sentence}\n" for sentence in chosen), encoding="utf-8")
    print(f"{len(chosen):,} sentences")
