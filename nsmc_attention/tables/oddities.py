"""Lines that are no reviews: parts of exported chats, dates, numbers, codes and addresses."""

import re
from collections.abc import Sequence
from typing import Optional

from .columns import is_value

# KakaoTalk's exports, of a computer and of phones
CHAT = re.compile(
    r"-{3,}.*\d{4}년.*-{3,}|"
    r"\[[^\]]{1,40}\]\s*\[(?:(?:오전|오후|AM|PM)\s*)?\d{1,2}:\d{2}(?:\s*[AP]M)?\].*|"
    r"\d{4}\s*[.년/-]\s*\d{1,2}\s*[.월/-]\s*\d{1,2}[.일]?\s*(?:[월화수목금토일]요일)?,?\s*"
    r"(?:(?:오전|오후|AM|PM)\s*)?\d{1,2}:\d{2}(?::\d{2})?(?:,\s*[^:]{1,40}:.*)?|"
    r"\d{4}년\s*\d{1,2}월\s*\d{1,2}일\s*[월화수목금토일]요일|"
    r".{1,60}님과 카카오톡 대화|저장한 날짜\s*:.*|.{1,80}님이 (?:들어왔습니다|나갔습니다|.{1,80}님을 초대했습니다)\.?",
    re.DOTALL,
)
# Lines by which it is judged, and of them the least that are said
LEAST, SHARE = 2, 0.1


def oddity(texts: Sequence[str]) -> Optional[str]:
    """Return what to say of texts that are no reviews, where there are many; None for nothing."""
    lines = [text for text in map(str.strip, texts) if text]
    others = [line for line in lines if not CHAT.fullmatch(line)]
    chat, values = len(lines) - len(others), sum(map(is_value, others))
    odd = chat + values
    if odd < LEAST or odd < SHARE * len(lines):
        return None
    kind = "lines of an exported chat" if chat * 2 >= odd else "numbers, dates, codes or links"
    return f"{odd:,} of the first {len(lines):,} texts are {kind}, no reviews; their labels mean nothing"
