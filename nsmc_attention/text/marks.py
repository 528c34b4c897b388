"""NFC in linear time.

NFC sorts combining marks in quadratic time: 80,000 of them take 20 seconds. Marks beyond MARKS in a row are therefore
dropped first, the limit of Unicode's Stream-Safe Text Format (UAX #15); no script needs more.
"""

import unicodedata

MARKS = 30
# Two marks each when decomposed, although their combining class is 0
PAIRS = frozenset("\u0f73\u0f75\u0f81")
# A decomposed letter has at most 3 marks, a mark 2: at most FEW in a row are never more than MARKS
FEW = (MARKS - 3) // 2


def composed(text: str) -> str:
    """Return the text in NFC, with at most MARKS combining marks in a row, counted in NFD."""
    # of more than FEW marks in a row, at least one is sampled
    sampled = text[FEW :: FEW + 1]
    many = any(map(unicodedata.combining, sampled)) or not PAIRS.isdisjoint(sampled)
    return unicodedata.normalize("NFC", stream_safe(text) if many else text)


def stream_safe(text: str) -> str:
    """Return the text in NFD (each character for itself), without the marks beyond MARKS in a row."""
    kept, run = [], 0
    for character in text:
        for letter in unicodedata.normalize("NFD", character):
            run = run + 1 if unicodedata.combining(letter) else 0
            if run <= MARKS:
                kept.append(letter)
    return "".join(kept)
