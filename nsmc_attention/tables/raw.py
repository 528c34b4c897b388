"""The raw reviews that NSMC was drawn from, with 1 to 10 stars, film and date, streamed from a zip or a folder.

Format: one JSON file a film under `raw/`, a list of objects. They contain the official files, so `load` leaves the
reviews of test and dev sets out. The public archive has no lasting hash, so its content is untrusted.
"""

import hashlib
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Optional, Union

import numpy
import pandas
from numpy.typing import NDArray

from .._io.bounded import read_file, read_json
from ..errors import DataError
from ..text.marks import composed
from . import nsmc

ARCHIVE = "nsmc-raw.zip"
ADDRESS = "https://github.com/e9t/nsmc/archive/refs/heads/master.zip"
COLUMNS = ("id", "document", "stars", "film", "date")
Row = tuple[str, str, int, str, str]
# Bytes of a film (the largest has 1 MB) and of all (0.2 GB)
LARGEST, WHOLE = 2**23, 2**30
# What zipfile raises for damaged archives
UNREADABLE = (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, ValueError, struct.error, zlib.error)


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
    counts = dict.fromkeys(("read", "blank", "repeated", "left_out_by_id", "left_out_by_text"), 0)
    rows, content = [], hashlib.sha256()
    seen: set[str] = set()
    for row in stream(path):
        counts["read"] += 1
        if not (text := folded(row[1])):
            counts["blank"] += 1
        elif row[0] in ids:
            counts["left_out_by_id"] += 1
        elif text in texts:
            counts["left_out_by_text"] += 1
        elif row[0] in seen:
            counts["repeated"] += 1
        else:
            seen.add(row[0])
            content.update(f"{row[0]}\t{row[1]}\n".encode("utf-8", "surrogatepass"))
            rows.append(row)
    if not rows:
        raise DataError(f"{path}: no raw review is left of {counts['read']}; expected files raw/<film>.json")
    return StarReviews(pandas.DataFrame(rows, columns=COLUMNS), content.hexdigest(), {**counts, "kept": len(rows)})


def folded(text: str) -> str:
    """Return the text in NFC without white space, for comparing reviews."""
    return "".join(composed(text).split())


def stream(path: Union[str, Path]) -> Iterator[Row]:
    """Yield (id, document, stars, film, date) of every raw review, film by film in the order of their file names."""
    expected = "a list of reviews with review_id, review, rating and movie_id"
    for name, content in files(Path(path)):
        reviews = read_json(content, f"{path} {name}", DataError, expected)
        try:
            rows = [row_of(review) for review in reviews]
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as problem:
            reason = f"{type(problem).__name__}: {problem}"
            raise DataError(f"{path} {name}: expected {expected}, found {reason}") from problem
        for row in rows:
            if not isinstance(row[1], str) or not 1 <= row[2] <= 10:
                raise DataError(f"{path} {name}: expected a text and 1 to 10 stars, found {str(row[1:3])[:60]}")
            yield row


def row_of(review: Any) -> Row:
    film, date = str(review["movie_id"]), str(review.get("date", ""))
    return str(review["review_id"]), review["review"], int(review["rating"]), film, date


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of each film's file."""
    if path.is_dir():
        for file in sorted(path.glob("*.json")):
            yield file.name, read_file(file, LARGEST, DataError)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            check_entries(archive, path)
            for item in sorted(archive.infolist(), key=lambda item: item.filename):
                folder, _, name = item.filename.rpartition("/")
                if name.endswith(".json") and f"/{folder}".endswith("/raw"):
                    if item.file_size > LARGEST:
                        expected = f"expected at most {LARGEST:,} bytes, found {item.file_size:,}"
                        raise DataError(f"{path} {item.filename[:60]}: {expected}")
                    # bounded, whatever size an entry claims to have
                    with archive.open(item) as film:
                        yield item.filename, film.read(LARGEST)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except UNREADABLE as problem:
        hint = "delete it and run `nsmc-attention fetch raw`"
        raise DataError(f"{path}: not a readable zip archive: {problem}; {hint}") from problem


def check_entries(archive: zipfile.ZipFile, path: Path) -> None:
    names, whole = set(), 0
    for item in archive.infolist():
        problems = {
            "leads out of the archive": item.filename.startswith("/") or ".." in item.filename.split("/"),
            "is a duplicate": item.filename in names,
            "is a link": stat.S_ISLNK(item.external_attr >> 16),
            "is encrypted": item.flag_bits & 1,
            "is not deflated": item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED),
        }
        for problem, holds in problems.items():
            if holds:
                raise DataError(f"{path}: expected plain files, found {item.filename[:60]!r}, which {problem}")
        names.add(item.filename)
        whole += item.file_size
    if whole > WHOLE:
        raise DataError(f"{path}: expected at most {WHOLE:,} bytes in all, found {whole:,}")
