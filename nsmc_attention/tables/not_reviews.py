"""Lines that are no reviews: parts of exported chats, dates, numbers, codes, addresses, and lists or objects."""

from collections.abc import Sequence
from typing import Optional

from .columns import is_printed, is_value

# What lines of KakaoTalk's exports have
JOINED = ("님이 들어왔습니다", "님이 나갔습니다", "님을 초대했습니다", "님과 카카오톡 대화")
# Lines by which it is judged, and of them the least that are said
LEAST, SHARE = 2, 0.1


def is_chat(line: str) -> bool:
    """Return whether a line is one of KakaoTalk's exports, of a computer and of phones.

    >>> [is_chat(line) for line in ("[하늘] [오후 3:12] 재밌다", "2024. 1. 3. 오후 3:12, 하늘 : 재밌다", "[스포] 재밌다")]
    [True, True, False]
    """
    if line.startswith("[") and "] [" in line[:60]:
        return is_value(line.partition("] [")[2].partition("]")[0].replace(" ", "") + "0")
    if line.startswith(("---", "저장한 날짜")) or line.rstrip(".").endswith(JOINED):
        return "년" in line or ":" in line or not line.startswith("---")
    when, _, said = line.partition(",")
    return " : " in said and is_value(when)


def remark(texts: Sequence[str]) -> Optional[str]:
    """Return what to say of texts that are no reviews, where there are many; None for nothing."""
    lines = [text for text in map(str.strip, texts) if text]
    chat = sum(map(is_chat, lines))
    odd = sum(is_chat(line) or is_value(line) or is_printed(line) for line in lines)
    if odd < LEAST or odd < SHARE * len(lines):
        return None
    kind = "lines of an exported chat" if chat * 2 >= odd else "numbers, dates, codes, links or lists"
    return f"{odd:,} of the first {len(lines):,} texts are {kind}, no reviews; their labels mean nothing"
