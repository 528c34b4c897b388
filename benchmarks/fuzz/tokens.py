"""Compare the compiled decoder with MeCab on reviews and mutated reviews: tokens and features must be equal.

    NSMC_ATTENTION_DATA=FOLDER python benchmarks/fuzz/tokens.py [NUMBER] [SEED] [mutated]

The texts are all reviews of the NSMC files and the star reviews (about 900,000), or of the sample without these data, then
NUMBER (1,000,000) mutated ones. With `mutated`, only the latter, as under `sanitized.py`. The script ends with status 1 and
the text at the first difference.
"""

import itertools
import random
import sys

from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.errors import NsmcError
from nsmc_attention.native.dictionary import installed_decoder
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.tokenizers import LONGEST_TEXT, pip_mecab

# Where texts differ in kind: Hangul, half letters, old letters, marks, emoji, other scripts, control characters, edges
RANGES = [(0xAC00, 0xD7A3), (0x3131, 0x318E), (0x1100, 0x11FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF), (0x0300, 0x036F)]
RANGES += [(0x1F300, 0x1FAFF), (0x20000, 0x2FFFF), (0x4E00, 0x9FFF), (0x3040, 0x30FF), (0x0000, 0x00FF)]
RANGES += [(0x0370, 0x052F), (0x2000, 0x206F), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)]
PIECES = [*"\0 \t\n\u3000\uffff\ufffeé가의", "  ", "ㅋㅋㅋ", "!!", "...", "123", "abc"]


def characters(draw, number):
    """Return random characters of one kind, or of all kinds."""
    low, high = draw.choice(RANGES)
    found = (chr(draw.randint(*(draw.choice(RANGES) if number > 8 else (low, high)))) for _ in range(number))
    return "".join(each for each in found if not "\ud800" <= each <= "\udfff")


def mutated(text, other, draw):
    """Return a text made from a review, and now and then another, by one to four changes."""
    for _ in range(draw.randint(1, 4)):
        start = draw.randint(0, len(text))
        end = min(len(text), start + draw.randint(0, 6))
        kind = draw.random()
        if kind < 0.25:
            middle = characters(draw, draw.randint(1, 12))
        elif kind < 0.45:
            middle = draw.choice(PIECES)
        elif kind < 0.6:
            middle = text[start:end].replace(" ", "")
        elif kind < 0.75:
            middle = text[start:end] * draw.randint(2, 30)
        else:
            middle = other[draw.randint(0, len(other)) :]
        text = text[:start] + middle + text[end:]
    return text


def long_text(text, draw):
    """Return a text of up to 10,000 characters, or one word of 5,000."""
    if draw.random() < 0.5:
        return (text + draw.choice(["", " "])) * (LONGEST_TEXT // (len(text) + 1))
    return (characters(draw, draw.randint(1, 4)) or "가") * 5000


def reviews():
    try:
        parts = [nsmc.load("nsmc", part).documents for part in ("train", "test")]
        return [*itertools.chain(*parts), *(row[1] for row in raw.stream(raw.find()))]
    except NsmcError as problem:
        print(f"the sample alone: {problem}", file=sys.stderr)
        return nsmc.load("sample", "train").documents


def texts(known, number, draw, as_they_are):
    yield from known if as_they_are else []
    for each in range(number):
        text = draw.choice(known)
        yield long_text(text, draw) if each % 5000 == 0 else mutated(text, draw.choice(known), draw)


def analyzed(text):
    """Return MeCab's (surface, features)."""
    lines = pip_mecab().parse(text).split("\n")[:-2]
    return [tuple(line.split("\t", 1)) for line in lines]


def main(number=1_000_000, seed=0, mutated_alone=False):
    draw, decoder = random.Random(seed), installed_decoder()
    if decoder is None:
        raise SystemExit("no compiled decoder: python setup.py build_ext --inplace")
    known, count, tokens = ["", *reviews()], 0, 0
    for count, text in enumerate(texts(known, number, draw, not mutated_alone), 1):
        # every other one as a user wrote it: MeCab's answer is a line a token, so no line ends within
        text = (clean(text) if count % 2 else text.replace("\n", " ").replace("\t", " "))[:LONGEST_TEXT]
        found, expected = decoder.tokens(text), pip_mecab().morphs(text)
        if found != expected or (count % 16 == 0 and decoder.morphemes(text) != analyzed(text)):
            print(f"text {count}: {text!r}: expected {expected}, found {found}")
            raise SystemExit(1)
        tokens += len(found)
        if count % 50_000 == 0:
            print(f"{count:,} texts, {tokens:,} tokens: the same", flush=True)
    print(f"{count:,} texts, {tokens:,} tokens, seed {seed}: the same")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *map(bool, sys.argv[3:]))
