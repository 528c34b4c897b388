"""The raw reviews that NSMC was drawn from, with 1 to 10 stars, film and date, streamed from a zip or a folder.

Format: one JSON file a film under `raw/`, a list of objects. They contain the official files, so `load` leaves the
reviews of test and dev sets out. The public archive has no lasting hash.
"""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy
import pandas
from numpy.typing import NDArray

from ..errors import DataError
from ..text.hangul import composed
from . import nsmc

ARCHIVE = "nsmc-raw.zip"
ADDRESS = "https://github.com/e9t/nsmc/archive/refs/heads/master.zip"
COLUMNS = ("id", "document", "stars", "film", "date")
Row = tuple[str, str, int, str, str]
# What zipfile raises for damaged archives
UNREADABLE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)


@dataclass(frozen=True)
class StarReviews:
    """Reviews with stars.

    `frame` has the columns id, document (str), stars (int, 1 to 10), film, date (str, as the archive has it); `sha256`
    is of its ids and texts, in order. `counts`: read, of these blank, repeated (the same id again), left_out_by_id,
    left_out_by_text, kept.
    """

    frame: pandas.DataFrame
    sha256: str
    counts: dict[str, int]

    @property
    def targets(self) -> NDArray[numpy.float32]:
        """(N,) float32 in 0 to 1: (stars - 1) / 9, read as the probability of positive."""
        return numpy.asarray((self.frame["stars"] - 1) / 9, dtype="float32")

    def describe(self) -> dict[str, object]:
        return {"name": "raw", "sha256": self.sha256, **self.counts}


def find(data_dir: Optional[Union[str, Path]] = None) -> Path:
    """Return the path of the archive, or of a folder `raw`; the archive is downloaded if necessary."""
    searched = nsmc.folders(data_dir)
    for folder in searched:
        for path in (folder / ARCHIVE, folder / "raw"):
            if path.exists():
                return path
    # GitHub creates the archive at each request: no lasting hash
    return nsmc.download(ARCHIVE, ADDRESS, None, searched[-1])


def load(path: Union[str, Path], leave_out: list[pandas.DataFrame]) -> StarReviews:
    """Read the raw reviews of a zip with `.../raw/*.json`, or of a folder of such files.

    Left out is every review with an `id` of a frame in `leave_out`, or with a `document` of it when white space is
    ignored. DataError where there is no such archive, or a film's file is no list of reviews with 1 to 10 stars.
    """
    ids = {str(number) for frame in leave_out if "id" in frame for number in frame["id"]}
    texts = {folded(text) for frame in leave_out for text in frame["document"]}
    counts = dict.fromkeys(("read", "blank", "repeated", "left_out_by_id", "left_out_by_text", "kept"), 0)
    rows: dict[str, Row] = {}
    for row in stream(path):
        number, text = row[0], folded(row[1])
        reason = "left_out_by_id" if number in ids else "left_out_by_text" if text in texts else "kept"
        if not text or reason == "kept" and number in rows:
            reason = "repeated" if text else "blank"
        counts["read"] += 1
        counts[reason] += 1
        if reason == "kept":
            rows[number] = row
    if not rows:
        raise DataError(f"{path}: no raw review is left of {counts['read']}; expected files raw/<film>.json")
    lines = "".join(f"{number}\t{row[1]}\n" for number, row in rows.items())
    content = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
    return StarReviews(pandas.DataFrame(rows.values(), columns=COLUMNS), content, counts)


def folded(text: str) -> str:
    """Return the text in NFC without white space, for comparing reviews."""
    return "".join(composed(text).split())


def stream(path: Union[str, Path]) -> Iterator[Row]:
    """Yield (id, document, stars, film, date) of every raw review, film by film in the order of their file names."""
    for name, content in files(Path(path)):
        try:
            rows = list(map(row_of, json.loads(content)))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as problem:
            expected = "expected a list of reviews with review_id, review, rating and movie_id"
            raise DataError(f"{path} {name}: {expected}, found {type(problem).__name__}: {problem}") from problem
        for row in rows:
            if not isinstance(row[1], str) or not 1 <= row[2] <= 10:
                raise DataError(f"{path} {name}: expected a text and 1 to 10 stars, found {str(row[1:3])[:60]}")
            yield row


def row_of(row: Any) -> Row:
    return str(row["review_id"]), row["review"], int(row["rating"]), str(row["movie_id"]), str(row.get("date", ""))


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of each film's file."""
    if path.is_dir():
        yield from ((file.name, file.read_bytes()) for file in sorted(path.glob("*.json")))
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                folder, _, film = name.rpartition("/")
                if film.endswith(".json") and f"/{folder}".endswith("/raw"):
                    yield name, archive.read(name)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except UNREADABLE as problem:
        hint = "delete it and run `nsmc-attention fetch raw`"
        raise DataError(f"{path}: not a readable zip archive: {problem}; {hint}") from problem
