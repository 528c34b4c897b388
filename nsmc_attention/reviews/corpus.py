"""Labelled reviews as one value, with counts of duplicates, conflicts and blanks.

Made by the readers of this folder, used by text and training. Knows nothing of tokens.
"""

import codecs
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pandas
from numpy.typing import NDArray

from ..errors import DataError

# Bytes read at a time
READ = 2**18


@dataclass(frozen=True)
class Reviews:
    """Reviews with labels, in the order of the file.

    Attributes
    ----------
    frame : DataFrame with columns `document` (str) and `label` (int, 0 negative or 1 positive), maybe more
    name : str
        "nsmc", "sample" or a file's name, without its folder.
    sha256 : str
        Hash of the file's bytes.
    """

    frame: pandas.DataFrame
    name: str
    sha256: str

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def documents(self) -> list[str]:
        return list(self.frame["document"])

    @property
    def labels(self) -> NDArray[numpy.int64]:
        """(N,) int64, 0 or 1."""
        return numpy.asarray(self.frame["label"])

    def counts(self) -> dict[str, int]:
        """Count the rows: all, positive, blank, duplicate (beyond the first), conflicting.

        A row conflicts when another row has the same document and the other label. All are kept.
        """
        documents = self.frame["document"]
        labels_a_text = self.frame.groupby("document")["label"].transform("nunique")
        return {
            "rows": len(self.frame),
            "positive": int(self.frame["label"].sum()),
            "blank": int((documents.str.strip() == "").sum()),
            "duplicate": int(documents.duplicated().sum()),
            "conflicting": int((labels_a_text > 1).sum()),
        }

    def describe(self) -> dict[str, Any]:
        """Return name, sha256 and counts as a plain dict, for manifests."""
        return {"name": self.name, "sha256": self.sha256, **self.counts()}


def read_bytes(path: Path) -> bytes:
    """Read a whole file; DataError when it is missing, a folder, unreadable or empty."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as problem:
        raise DataError(f"{path}: cannot be read: {problem.strerror}") from problem
    if not content.strip(b"\xef\xbb\xbf \r\n\t"):
        raise DataError(f"{path}: the file is empty; expected a header and reviews")
    return content


def decode(content: bytes, where: object) -> str:
    """Decode UTF-8 with or without a byte-order mark; DataError with the line of the first bad byte."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise bad_byte(where, 0, problem) from problem


def check_utf8(path: Path) -> None:
    """Raise DataError with the line of the first bad byte of a file of any size, read in pieces."""
    decoder, lines = codecs.getincrementaldecoder("utf-8")(), 0
    with open(path, "rb") as file:
        piece = None
        while piece != b"":
            piece = file.read(READ)
            try:
                decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as problem:
                raise bad_byte(path, lines, problem) from problem
            lines += piece.count(b"\n")


def bad_byte(where: object, before: int, problem: UnicodeDecodeError) -> DataError:
    line = before + problem.object.count(b"\n", 0, problem.start) + 1
    return DataError(
        f"{where} line {line}: expected UTF-8 text, found byte 0x{problem.object[problem.start]:02x}; "
        "save the file as UTF-8 (from CP949: iconv -f cp949 -t utf-8)"
    )


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
