"""Composed text (NFC), in a time that grows with its length alone.

NFC sorts the combining marks that follow a letter, in a time that grows with the square of their number: one text
with 80,000 of them holds the process for 20 seconds. So of more than MARKS in a row those beyond are dropped first.
Unicode's Stream-Safe Text Format (UAX #15) has the same bound; no script needs more.
"""

import unicodedata

MARKS = 30
# Not combining by their class, and yet two marks each when taken apart
PAIRS = frozenset("\u0f73\u0f75\u0f81")
# A letter is at most 3 marks when taken apart, a mark 2: below so many in a row there are never more than MARKS
FEW = (MARKS - 3) // 2


def composed(text: str) -> str:
    """Answer the text in NFC, at most MARKS combining marks in a row, counted as NFD has them."""
    if may_have_many(text):
        text = stream_safe(text)
    return unicodedata.normalize("NFC", text)


def may_have_many(text: str) -> bool:
    """Tell, of a text of n characters, by looking at n / FEW: more than FEW in a row stand on one of those too."""
    looked_at = text[FEW :: FEW + 1]
    return any(map(unicodedata.combining, looked_at)) or not PAIRS.isdisjoint(looked_at)


def stream_safe(text: str) -> str:
    """Answer the text with each character taken apart, without the marks beyond MARKS in a row."""
    kept, run = [], 0
    for character in text:
        for part in unicodedata.normalize("NFD", character):
            run = run + 1 if unicodedata.combining(part) else 0
            if run <= MARKS:
                kept.append(part)
    return "".join(kept)
