"""Labelled reviews as one value, with counts of duplicates, conflicts and blanks."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import pandas
from numpy.typing import NDArray

from ..errors import DataError


@dataclass(frozen=True)
class Reviews:
    """Reviews with labels, in the order of the file.

    Attributes
    ----------
    frame : DataFrame with columns `document` (str) and `label` (int, 0 negative or 1 positive), maybe more
    name : "nsmc", "sample" or a file's name, without its folder
    sha256 : hash of the file's bytes
    columns : the file's columns of texts and of labels, and the `positive` and `encoding` that were given
    """

    frame: pandas.DataFrame
    name: str
    sha256: str
    columns: dict[str, str] = field(default_factory=lambda: {"text": "document", "label": "label"})

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
        """Count the rows: all, positive, blank, duplicate (beyond the first), conflicting (with both labels)."""
        documents = self.frame["document"]
        labels_a_text = self.frame.groupby("document")["label"].transform("nunique")
        return {
            "rows": len(self.frame),
            "positive": int(self.frame["label"].sum()),
            "blank": int((documents.str.strip() == "").sum()),
            "duplicate": int(documents.duplicated().sum()),
            "conflicting": int((labels_a_text > 1).sum()),
        }

    def describe(self) -> dict[str, object]:
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


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
