"""Messages in the user's language: Korean if the locale or `--language` asks for it, and messages.ko.json has them.

There, {names} are placeholders; the text of {NAMES} is translated too, as are the parts of a line at colons, semicolons or
commas. Output for programs is never translated.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from functools import lru_cache
from pathlib import Path
from typing import Any, Optional, TextIO

LANGUAGES = ("ko", "en")
# The variable that holds --language, for worker processes too, then those of the locale
VARIABLES = VARIABLE, *_ = ("NSMC_ATTENTION_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
# Most colons of a line that is translated, because the line is split at each of them in turn
COLONS = 16
BLANK, ANYTHING = re.compile(r"\\\{(\w+)\\\}"), r"(?P<\1>(?:(?![;:] ).)+)"


def in_korean() -> bool:
    return next(filter(None, map(os.environ.get, VARIABLES)), "").startswith("ko")


@contextmanager
def speaking(language: Optional[str]) -> Iterator[None]:
    """Write lines to stderr in one of LANGUAGES (None: the locale's) within a `with` block."""
    before = os.environ.get(VARIABLE, "")
    os.environ[VARIABLE] = language or before
    try:
        with redirect_stderr(Translated(sys.stderr)):
            yield
    finally:
        os.environ[VARIABLE] = before


class Translated:
    """A stream that translates its lines into the user's language."""

    def __init__(self, stream: TextIO):
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write("\n".join(map(translated, text.split("\n"))))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@lru_cache(maxsize=1)
def table() -> tuple[list[tuple[re.Pattern[str], str]], dict[str, str]]:
    """Return (pattern, translation) of lines, the longest first, and {word: translation}."""
    content = json.loads(Path(__file__).with_name("messages.ko.json").read_text(encoding="utf-8"))
    lines = sorted(content["lines"].items(), key=lambda pair: -len(BLANK.sub("", re.escape(pair[0]))))
    return [(re.compile(BLANK.sub(ANYTHING, re.escape(line))), text) for line, text in lines], content["words"]


def translated(line: str) -> str:
    """Return a line in the user's language, unchanged if the table lacks it."""
    return korean(line) if in_korean() else line


def word(name: str) -> str:
    """Return a word of a picture or bar in the user's language, unchanged if the table lacks it."""
    return table()[1].get(name, name) if in_korean() else name


@lru_cache(maxsize=256)
def korean(line: str) -> str:
    if line.count(": ") > COLONS:
        return line
    lines, words = table()
    for pattern, translation in lines:
        if match := pattern.fullmatch(line):
            blanks = match.groupdict().items()
            filled = {key: words.get(text) or korean(text) if key.isupper() else text for key, text in blanks}
            return translation.format(**filled)
    for colon in re.finditer(": ", line):
        where, message = line[: colon.start()], line[colon.end() :]
        if "; " not in where and korean(message) != message:
            return f"{korean(where)}: {korean(message)}"
    separator = "; " if "; " in line else ", "
    return separator.join(map(korean, line.split(separator))) if separator in line else line
