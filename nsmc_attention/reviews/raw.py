"""The raw reviews that NSMC was drawn from: 1 to 10 stars, film and date, read as a stream from a zip or a folder.

Format: one JSON file a film under `raw/`, a list of objects. The official files are part of it, so whoever
learns from it must leave out what is tested on: `load` takes the reviews to leave out and counts them.

An archive may come from anyone. Nothing of it is unpacked to the disk; what claims or turns out to be larger than
films are, a link, a name that leads out of the archive or stands there twice is refused.
"""

import hashlib
import json
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

from .._io.bounded import read_file
from ..errors import DataError
from ..text.marks import composed
from . import nsmc

ARCHIVE = "nsmc-raw.zip"
ADDRESS = "https://github.com/e9t/nsmc/archive/refs/heads/master.zip"
COLUMNS = ("id", "document", "stars", "film", "date")
Row = tuple[str, str, int, str, str]
# Bytes: a film's file is below 1 MB, all of them together 0.2 GB; text is compressed to a tenth, not to a hundredth
LARGEST, WHOLE, RATIO = 2**23, 2**30, 100


@dataclass(frozen=True)
class StarReviews:
    """Reviews with stars.

    Attributes
    ----------
    frame : DataFrame
        id (str), document (str), stars (int, 1 to 10), film (str), date (str, as the archive has it).
    sha256 : str
        Of the reviews that are kept, ids and texts in order.
    counts : dict
        read, and of these blank, repeated (an id seen before), left_out_by_id, left_out_by_text, kept.
    """

    frame: pandas.DataFrame
    sha256: str
    counts: dict[str, int]

    @property
    def documents(self) -> list[str]:
        return list(self.frame["document"])

    @property
    def targets(self) -> NDArray[numpy.float32]:
        """(N,) float32 in 0 to 1: (stars - 1) / 9, read as the probability of positive."""
        return numpy.asarray((self.frame["stars"] - 1) / 9, dtype="float32")

    def describe(self) -> dict[str, Any]:
        return {"name": "raw", "sha256": self.sha256, **self.counts}


def find(data_dir: Optional[Union[str, Path]] = None) -> Path:
    """Answer the path of the archive (or of a folder with `raw/`), downloading it where it is not there yet."""
    places = nsmc.folders(data_dir)
    for folder in places:
        for path in (folder / ARCHIVE, folder / "raw"):
            if path.exists():
                return path
    # the public archive is made anew at each request: it has no lasting hash
    return nsmc.download(ARCHIVE, ADDRESS, None, places[-1])


def load(path: Union[str, Path], leave_out: list[pandas.DataFrame]) -> StarReviews:
    """Read the raw reviews, without those to be tested on.

    Parameters
    ----------
    path : path
        A zip with `.../raw/*.json`, or a folder of such files.
    leave_out : list of DataFrame
        Reviews with `document` and perhaps `id`: whatever has one of their ids, or one of their texts when all
        white space is taken away, is left out.

    Raises
    ------
    DataError
        No such archive, a file that is not a list of reviews, stars that are not 1 to 10.
    """
    ids = {str(each) for frame in leave_out if "id" in frame for each in frame["id"]}
    texts = {folded(each) for frame in leave_out for each in frame["document"]}
    counts = dict.fromkeys(("read", "blank", "repeated", "left_out_by_id", "left_out_by_text"), 0)
    rows, content = [], hashlib.sha256()
    seen: set[str] = set()
    for row in stream(path):
        counts["read"] += 1
        reason = reason_to_drop(row, ids, texts, seen)
        if reason:
            counts[reason] += 1
            continue
        seen.add(row[0])
        content.update(f"{row[0]}\t{row[1]}\n".encode("utf-8", "surrogatepass"))
        rows.append(row)
    if not rows:
        raise DataError(f"{path}: no raw review is left of {counts['read']}; expected files raw/<film>.json")
    return StarReviews(pandas.DataFrame(rows, columns=COLUMNS), content.hexdigest(), {**counts, "kept": len(rows)})


def reason_to_drop(row: Row, ids: set[str], texts: set[str], seen: set[str]) -> Optional[str]:
    text = folded(row[1])
    if not text:
        return "blank"
    if row[0] in ids:
        return "left_out_by_id"
    if text in texts:
        return "left_out_by_text"
    return "repeated" if row[0] in seen else None


def folded(text: str) -> str:
    """Answer the text composed (NFC) and without white space: what makes two reviews the same to a reader."""
    return "".join(composed(text).split())


def stream(path: Union[str, Path]) -> Iterator[Row]:
    """Yield (id, document, stars, film, date) of every raw review, film by film in the order of their file names."""
    for name, content in files(Path(path)):
        try:
            reviews = json.loads(content.decode())
            rows = [
                (
                    str(each["review_id"]),
                    each["review"],
                    int(each["rating"]),
                    str(each["movie_id"]),
                    str(each.get("date", "")),
                )
                for each in reviews
            ]
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
            raise DataError(
                f"{path} {name}: expected a list of reviews with review_id, review, rating and movie_id, "
                f"found {type(problem).__name__}: {problem}"
            ) from problem
        for row in rows:
            if not isinstance(row[1], str) or not 1 <= row[2] <= 10:
                raise DataError(f"{path} {name}: expected a text and 1 to 10 stars, found {str(row[1:3])[:60]}")
            yield row


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of each film's file."""
    if path.is_dir():
        for file in sorted(path.glob("*.json")):
            yield file.name, read_file(file, LARGEST, DataError)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            check_entries(archive, path)
            for item in sorted(filter(is_film, archive.infolist()), key=lambda item: item.filename):
                yield item.filename, unpacked(archive, item, path)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        NotImplementedError,
        ValueError,
        struct.error,
        zlib.error,
    ) as problem:
        raise DataError(
            f"{path}: not a readable zip archive: {problem}; delete it and run `nsmc-attention fetch raw`"
        ) from problem


def is_film(item: zipfile.ZipInfo) -> bool:
    folder, _, name = item.filename.rpartition("/")
    return name.endswith(".json") and (folder == "raw" or folder.endswith("/raw"))


def check_entries(archive: zipfile.ZipFile, path: Path) -> None:
    """DataError where an entry is not what such an archive has."""
    seen, whole = set(), 0
    for item in archive.infolist():
        whole += item.file_size
        problem = (
            "leads out of the archive"
            if item.filename.startswith("/") or ".." in item.filename.split("/")
            else "stands there twice"
            if item.filename in seen
            else "is a link"
            if stat.S_ISLNK(item.external_attr >> 16)
            else "is encrypted"
            if item.flag_bits & 1
            else "is not deflated"
            if item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            else None
        )
        if problem:
            raise DataError(f"{path}: expected plain files, found {item.filename[:60]!r}, which {problem}")
        seen.add(item.filename)
    if whole > WHOLE:
        raise DataError(f"{path}: expected at most {WHOLE:,} bytes in all, found {whole:,}")


def unpacked(archive: zipfile.ZipFile, item: zipfile.ZipInfo, path: Path) -> bytes:
    """Answer a film's bytes; DataError, before more than LARGEST are made, where it is larger than films are."""
    size = min(LARGEST, RATIO * max(item.compress_size, 1000))
    if item.file_size <= size:
        with archive.open(item) as file:
            content = file.read(size + 1)
        if len(content) == item.file_size:
            return content
    raise DataError(
        f"{path} {item.filename[:60]}: expected at most {size:,} bytes, and as many as the archive says "
        f"({item.file_size:,})"
    )
