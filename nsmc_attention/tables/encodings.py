"""The encoding of a text file: UTF-8, UTF-16 with a byte-order mark, or CP949, in bounded memory.

Korean Windows and Excel write CP949 (which includes EUC-KR) and UTF-16. Imports no pandas, which is slow.
"""

import codecs
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Optional

from ..errors import ConfigError, DataError, did_you_mean

# Bytes decoded at a time
READ = 2**18
# What --encoding may be
ENCODINGS = {"utf-8": "utf-8", "cp949": "cp949", "euc-kr": "cp949", "utf-16": "utf-16-le"}
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
NAMES = {"utf-8": "UTF-8", "cp949": "CP949", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
SYLLABLE = re.compile("[가-힣]")


@dataclass(frozen=True)
class BadByte:
    """The first byte of a file that its encoding does not have; `syllables`: whether Hangul was decoded before it."""

    line: int
    byte: int
    syllables: bool


def codec_of(encoding: str) -> str:
    """Return the codec of an `--encoding`; ConfigError for another."""
    name = encoding.strip().lower().replace("_", "-")
    if name not in ENCODINGS:
        raise ConfigError(f"--encoding: unknown encoding {encoding[:40]!r}{did_you_mean(name, ENCODINGS)}")
    return ENCODINGS[name]


def detect(file: BinaryIO, path: Path, given: Optional[str] = None, whole: bool = True) -> tuple[str, int]:
    """Return (codec, bytes of the byte-order mark) of a seekable file, each byte of which is checked.

    `given` is an `--encoding`, which is not guessed then; `whole` is False for the beginning of a file. DataError, with
    the line, where the bytes are of no encoding.
    """
    file.seek(0)
    head = file.read(3)
    marked = next(((codec, len(mark)) for mark, codec in MARKS.items() if head.startswith(mark)), None)
    wanted = codec_of(given) if given else None
    # a mark says which of the two UTF-16 it is
    if marked and (wanted is None or NAMES[wanted] == NAMES[marked[0]]):
        require_encoding(file, path, *marked, whole)
        return marked
    if wanted:
        require_encoding(file, path, wanted, 0, whole)
        return wanted, 0
    bad = first_bad(file, "utf-8", 0, whole)
    # text in CP949 has no syllable in UTF-8: a file that has some is UTF-8 with a damaged byte
    if bad and bad.syllables:
        raise refused(path, "UTF-8", bad)
    other = first_bad(file, "cp949", 0, whole) if bad else None
    if bad and other:
        raise likelier(file, path, bad, other)
    return ("cp949" if bad else "utf-8"), 0


def likelier(file: BinaryIO, path: Path, bad: BadByte, other: BadByte) -> DataError:
    """Return the error of a file that is neither UTF-8 nor CP949: the bad byte of the one with fewer of them."""
    few, syllables = count_bad(file, "cp949")
    if syllables and few < count_bad(file, "utf-8")[0]:
        return refused(path, "CP949", other, ", which the rest of the file is")
    return refused(path, "UTF-8", bad)


def count_bad(file: BinaryIO, codec: str) -> tuple[int, int]:
    """Return how many bytes of a file are not of a codec, and how many syllables are."""
    decoder, bad, syllables = codecs.getincrementaldecoder(codec)("replace"), 0, 0
    file.seek(0)
    while piece := file.read(READ):
        text = decoder.decode(piece)
        bad, syllables = bad + text.count("\ufffd"), syllables + len(SYLLABLE.findall(text))
    return bad, syllables


def first_bad(file: BinaryIO, codec: str, start: int = 0, whole: bool = True) -> Optional[BadByte]:
    """Return the first byte of a file, read in pieces, that is not of a codec; None if all are."""
    decoder, line, syllables, piece = codecs.getincrementaldecoder(codec)(), 1, False, None
    file.seek(start)
    while piece != b"":
        piece = file.read(READ)
        try:
            text = decoder.decode(piece, final=whole and not piece)
        except UnicodeDecodeError as problem:
            before = problem.object[: problem.start].decode(codec)
            line, syllables = line + before.count("\n"), syllables or bool(SYLLABLE.search(before))
            return BadByte(line, problem.object[problem.start], syllables)
        line += text.count("\n")
        syllables = syllables or bool(SYLLABLE.search(text))
    return None


def require_encoding(file: BinaryIO, path: Path, codec: str = "utf-8", start: int = 0, whole: bool = True) -> None:
    """Raise DataError with the line of the first byte that is not of a codec."""
    if bad := first_bad(file, codec, start, whole):
        raise refused(path, NAMES[codec], bad)


def refused(path: Path, name: str, bad: BadByte, rest: str = "") -> DataError:
    advice = "save it as UTF-8 (in Excel: Save as, CSV UTF-8), or name its encoding by encoding (--encoding)"
    if rest:
        advice = "mend or remove that byte, or save the file as UTF-8 in the program it comes from"
    return DataError(f"{path} line {bad.line}: expected {name} text{rest}, found byte 0x{bad.byte:02x}; {advice}")
