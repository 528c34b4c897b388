"""Ratings, emoji and English verdicts as tokens: ★★☆☆☆, 2/5 and 4점 share the entry <4/10>, 😍 and 🥰 share <love>.

All spellings of a rating share an entry, so that the few reviews with stars profit from the many with points. The token
is still the spelling in the text, on which contributions are shown; only its id is that of the entry.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .tokenizers import align

# Start and end of a token in the text, and its entry in the vocabulary
Symbol = tuple[int, int, str]

CONTENT = json.loads(Path(__file__).with_name("symbols.json").read_text(encoding="utf-8"))
# {entry: emoji that share it}
EMOJI: dict[str, str] = CONTENT["emoji"]
ENTRY_OF = {char: entry for entry, chars in EMOJI.items() for char in chars}
OTHER = "<emoji>"
# The scale of a rating (10점 in 10점 만점에 3점), and the ratings
SCALE = "<scale>"
RATINGS = tuple(f"<{number}/10>" for number in range(11))
# English verdicts of Korean viewers, matched in any case and with lengthened letters (Goooood)
ENGLISH = frozenset(" ".join(CONTENT["english"].values()).split())
ENTRIES = (*RATINGS, SCALE, *EMOJI, OTHER, *sorted(ENGLISH))

WORDS = {"반": 0.5, "한": 1, "하나": 1, "두": 2, "둘": 2, "세": 3, "셋": 3, "네": 4, "넷": 4, "다섯": 5}
SCORES = {"백": 100, "빵": 0, "영": 0}
STARS, HOLLOW, HALF = "★⭐🌟", "☆", "½"
# Skin tones and joined emoji (a woman who shrugs) belong to the emoji before them
PICTURE = f"[\U0001f300-\U0001f3fa\U0001f400-\U0001faff{''.join(char for char in ENTRY_OF if char < chr(0x10000))}]"
MODIFIER = "[\ufe0f\U0001f3fb-\U0001f3ff]"
NUMBER = r"\d{1,3}(?:\.\d{1,2})?"
# Each begins with a set of characters, which makes a search fast; the readers check the text before the match
STARRED = re.compile(f"[{STARS}{HOLLOW}]\ufe0f?(?:[{STARS}{HOLLOW}{HALF}]\ufe0f?)*")
PICTURES = re.compile(f"{PICTURE}{MODIFIER}*(?:\u200d(?:{PICTURE}|[♀♂]){MODIFIER}*)*")
# A rating, no fraction of something (나머지 4/5는)
FRACTION = re.compile(rf"({NUMBER}) ?/ ?(100|10|5)(?![\d/가-힣]|\.\d)")
# A rating, no deduction (1점 깎는다)
POINTS = re.compile(rf"({NUMBER}|[백빵영])점(?![수프심령검박]|[은을만]? ?(?:깎|까|뺀|뺐|빼|감))")
COUNTED = re.compile(rf"별점?[이을은]? ?({'|'.join(WORDS)}|[1-5])(?= ?개| ?반|도|만|$)")
LATIN, LONG_RUN = re.compile("[A-Za-z]{2,}"), re.compile(r"(.)\1{2,}")
# A text that is only a number is a rating too; the longest has LONGEST_NUMBER characters
ALONE, LONGEST_NUMBER = re.compile(r"10(?:\.0)?|\d(?:\.\d{1,2})?|100"), 4
# Text before stars or points (ASPECT, MINUS, OUT_OF), and after points that are a scale
ASPECT = re.compile("(?:[별평]점|점수|총점|평가|재미|스토리|연기|연출|작품성|추천도?|만족도) ?:? ?$")
MINUS = re.compile(r"(?<![\d~])[-−]$|마이너스 ?$")
OUT_OF = re.compile(r"(\d{1,3})점 ?만점(?:에서?|의| ?중| ?기준)?,? ?$")
IS_SCALE = re.compile(r" ?만점(?:에서?|의| ?중| ?기준)?,? ?(?:[-−]|마이너스 ?)?\d")
# Characters before a symbol that are searched
LOOKBEHIND = 16
FEWEST_STARS, OF_FIVE, OF_TEN, OF_HUNDRED = 3, 5, 10, 100
# Separates a token from its entry in the words of a review
MARK = "\x1e"


def symbols(text: str, classes: int = -1) -> list[Symbol]:
    """Return the ratings, emoji and English verdicts of a clean text, in order.

    Bit n of `classes` is 0 if the characters of the text exclude the symbols of the n-th of READERS.
    """
    if len(text) <= LONGEST_NUMBER and ALONE.fullmatch(text):
        return [(0, len(text), rating(float(text), OF_HUNDRED if text == "100" else OF_TEN))]
    spans: list[Symbol] = []
    for bit, (_, pattern, read) in enumerate(READERS):
        if classes >> bit & 1:
            for match in pattern.finditer(text):
                spans += read(match)
    return sorted(spans)


def rating(number: float, scale: float) -> str:
    """Return the entry of `number` of `scale` points, rounded half up to a tenth of the scale."""
    return RATINGS[min(10, max(0, int(10 * number / scale + 0.5)))]


def read_stars(match: "re.Match[str]") -> Iterator[Symbol]:
    """Yield a rating; one or two stars amid words are decoration, unless a rated aspect precedes them."""
    filled, hollow = (sum(map(match[0].count, kinds)) for kinds in (STARS, HOLLOW))
    rates = filled + hollow >= FEWEST_STARS or match[0] == match.string
    if rates or is_rated(match.string, match.start()):
        yield (*match.span(), rating(filled + match[0].count(HALF) / 2, max(OF_FIVE, filled + hollow)))
    elif match[0][0] in STARS[1:]:
        yield (*match.span(), "<delight>")


def read_picture(match: "re.Match[str]") -> Iterator[Symbol]:
    if match[0][0] not in STARS:
        yield (*match.span(), ENTRY_OF.get(match[0][0], OTHER))


def read_fraction(match: "re.Match[str]") -> Iterator[Symbol]:
    """Yield 3/5 as one token, but 3 / 5 as three, because no token has white space."""
    number, scale = float(match[1]), float(match[2])
    # a fraction of something (절반의 1/10) is no rating
    if number > scale or before(match) in "0123456789.,/" or match.string.endswith("의 ", 0, match.start()):
        return
    if " " not in match[0]:
        yield (*match.span(), rating(number, scale))
        return
    slash = match.string.index("/", match.end(1))
    yield (*match.span(1), rating(number, scale))
    yield slash, slash + 1, SCALE
    yield (*match.span(2), SCALE)


def read_points(match: "re.Match[str]") -> Iterator[Symbol]:
    """Yield 3점 as a rating out of ten, or of the scale before it; negative is 0, but -1점 amid words is a deduction."""
    text, (start, end) = match.string, match.span()
    if before(match) in "0123456789.,/" or (match[1] in SCORES and before(match) != " "):
        return
    if IS_SCALE.match(text, end):
        yield start, end, SCALE
        return
    number = float(SCORES.get(match[1], match[1]))
    scale = OUT_OF.search(text, max(0, start - LOOKBEHIND), start)
    minus = MINUS.search(text, max(0, start - LOOKBEHIND), start)
    first = minus.start() if minus and minus.end() - minus.start() == 1 else start
    if minus and (minus.start(), end) != (0, len(text)) and not is_rated(text, minus.start()):
        return
    largest = float(scale[1]) if scale else OF_TEN if number <= OF_TEN else OF_HUNDRED
    yield first, end, rating(0 if minus else number, largest or OF_TEN)


def read_counted(match: "re.Match[str]") -> Iterator[Symbol]:
    """Yield the number in 별 두 개."""
    if not "가" <= before(match) <= "힣":
        yield (*match.span(1), rating(WORDS.get(match[1]) or float(match[1]), OF_FIVE))


def read_english(match: "re.Match[str]") -> Iterator[Symbol]:
    """Yield a word of ENGLISH, also with lengthened letters."""
    plain = match[0].lower()
    forms = [plain, LONG_RUN.sub(r"\1", plain), LONG_RUN.sub(r"\1\1", plain)] if LONG_RUN.search(plain) else [plain]
    yield from [(*match.span(), form) for form in forms if form in ENGLISH][:1]


def is_rated(text: str, place: int) -> bool:
    """Return whether an aspect is named right before a position; a search from the start would take quadratic time."""
    return ASPECT.search(text, max(0, place - LOOKBEHIND), place) is not None


def before(match: "re.Match[str]") -> str:
    """Return the character before a match, a space at the start."""
    return match.string[match.start() - 1] if match.start() else " "


# (character that every such symbol contains, pattern of the symbol, function that reads its matches)
READERS = (
    ("점", POINTS, read_points),
    ("/", FRACTION, read_fraction),
    ("별", COUNTED, read_counted),
    (f"[{STARS}{HOLLOW}]", STARRED, read_stars),
    (PICTURE, PICTURES, read_picture),
    ("[A-Za-z]", LATIN, read_english),
)
SIGNS = re.compile("|".join(sign for sign, _, _ in READERS))


def with_symbols(text: str, tokens: Sequence[str], marked: Sequence[Symbol]) -> list[str]:
    """Return the tokens of a clean text, with each symbol as one word: its spelling, MARK and its entry."""
    words: list[str] = []
    if not marked:
        return list(tokens)
    spans, place = align(text, tokens), 0
    for start, end in spans:
        while place < len(marked) and marked[place][1] <= start:
            place += 1
        at = start
        for first, last, entry in marked[place:]:
            if first >= end:
                break
            if at < first:
                words.append(text[at:first])
            # the first of several tokens in a symbol adds it
            if first >= start:
                words.append(text[first:last] + MARK + entry)
            at = max(at, last)
        if at < end:
            words.append(text[at:end])
    return words


def surface(word: str) -> str:
    """Return the spelling of a word in the text."""
    return word.partition(MARK)[0]


def entry(word: str) -> str:
    """Return the entry of a word in the vocabulary."""
    return word.rpartition(MARK)[2]
