"""The official NSMC files (github.com/e9t/nsmc, CC0): located or downloaded, verified, read into `Reviews`.

Format: UTF-8, header `id document label`, tab-separated, no quoting, labels 0 (1-4 stars) and 1 (9-10 stars).
"""

import csv
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy
import pandas
from numpy.typing import NDArray

from ..bundle import sha256
from ..errors import ConfigError, DataError

if TYPE_CHECKING:
    from .data import Texts


@dataclass(frozen=True)
class Reviews:
    """Reviews with labels, in the order of the file.

    Attributes
    ----------
    frame : DataFrame with columns `document` (str) and `label` (int, 0 negative or 1 positive), maybe more
    name : "nsmc", "sample" or a file's name, without its folder
    sha256 : hash of the file's bytes
    columns : the file's columns of texts and of labels, and the `positive` and `encoding` that were given
    neutral : the texts that have neither label, which are not in the frame
    """

    frame: pandas.DataFrame
    name: str
    sha256: str
    columns: dict[str, str] = field(default_factory=lambda: {"text": "document", "label": "label"})
    neutral: Sequence[str] = ()

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


# What has a test file of its own
CORPORA = ("nsmc", "sample")
ADDRESS = "https://raw.githubusercontent.com/e9t/nsmc/master/"
FILES = {"train": "ratings_train.txt", "test": "ratings_test.txt"}
SHA256 = {
    "train": "e03b7d14e9e41be8d464a28057cd25d7396c53e67aa7fd5f7e552c59b0ee2940",
    "test": "8ac9f64052f11dbf6ae0acb5e038f03d90a76f0eda7820cfb3a92d02edfcebda",
}


def sample_folder() -> Path:
    """Return $NSMC_ATTENTION_SAMPLE, or the sample corpus: of an installed package, or data/sample of a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = Path(os.environ.get("NSMC_ATTENTION_SAMPLE") or package / "sample")
    return installed if installed.is_dir() else package.parent / "data" / "sample"


def find(part: str, data_dir: Optional[Union[str, Path]] = None) -> Path:
    """Return the path of the official file `part` ("train" or "test"), verified; it is downloaded if necessary.

    `data_dir` is the only folder searched, and the place of a download; None is $NSMC_ATTENTION_DATA, then the cache.
    DataError where the file's sha256 is not the official one, or the download failed.
    """
    paths = (folder / FILES[part] for folder in folders(data_dir))
    if (path := next((path for path in paths if path.exists()), None)) is None:
        return download(FILES[part], ADDRESS + FILES[part], SHA256[part], folders(data_dir)[-1])
    if (found := sha256(read_bytes(path))) != SHA256[part]:
        hashes = f"expected the official file with sha256 {SHA256[part][:12]}…, found {found[:12]}…"
        raise DataError(f"{path}: {hashes}; delete it and run `nsmc-attention fetch nsmc`")
    return path


def folders(data_dir: Optional[Union[str, Path]]) -> list[Path]:
    """Return the folders to search for a corpus; downloads go into the last, the user's cache unless it is named."""
    import platformdirs

    cache = os.environ.get("NSMC_ATTENTION_CACHE") or platformdirs.user_cache_dir("nsmc_attention")
    usual = (os.environ.get("NSMC_ATTENTION_DATA"), cache)
    return [Path(folder) for folder in ((data_dir,) if data_dir else usual) if folder]


def download(name: str, address: str, sha256: Optional[str], folder: Path) -> Path:
    """Download a file into a folder, whole or not at all, and verify it unless no sha256 is expected (None)."""
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty())
    try:
        return Path(pooch.retrieve(address, sha256, name, folder, downloader=downloader))
    except (requests.RequestException, OSError, ValueError) as problem:
        failure = f"the download from {address} into {folder} failed ({type(problem).__name__}: {problem})"
        raise DataError(f"{name}: not found, and {failure}; fetch it elsewhere and put it there") from problem


def refuse_options(source: "Texts") -> None:
    """Raise ConfigError where other names are given for the columns or labels of the NSMC files, or a sheet."""
    official: dict[str, Optional[str]] = dict.fromkeys(("stars_column", "sheet"))
    official.update(text_column="document", label_column="label", positive="1")
    for name, value in official.items():
        if (given := getattr(source, name, None)) not in (None, value):
            expected = f"expected --{name.replace('_', '-')} {value or 'left out'}, found {given!r}"
            raise ConfigError(f"{source.data}: has the columns of the NSMC files; {expected}; leave it out")


def load(name: str, part: str, data_dir: Optional[Union[str, Path]] = None) -> Reviews:
    """Load "nsmc" (official, verified) or "sample" (written for this project), part "train" or "test"."""
    path = sample_folder() / FILES[part] if name == "sample" else find(part, data_dir)
    return read(path, name)


def read(path: Path, name: str) -> Reviews:
    """Read a file in the NSMC format: quotation marks are plain characters, and "NA" or "null" is a review."""
    plain: Any = {"sep": "\t", "quoting": csv.QUOTE_NONE, "lineterminator": "\n", "keep_default_na": False}
    frame = pandas.read_csv(path, dtype={"id": str, "document": str}, **plain)
    return Reviews(frame, name, sha256(read_bytes(path)))
