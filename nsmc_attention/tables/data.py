"""Reviews of a command as values: a corpus or a file, and its options. The methods import pandas by need."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

if TYPE_CHECKING:
    from .corpus import Reviews
    from .table import Table


@dataclass(frozen=True)
class Texts:
    """Reviews without labels: "nsmc", "sample" or a file; what is None of how a file is read is found.

    `text_column` is a name or a number from 1; `header` the row that names the columns, or "none"; `source` the Source
    of a stream whose beginning was read, to find its kind.
    """

    data: Union[str, Path]
    data_dir: Optional[Union[str, Path]] = None
    text_column: Optional[str] = None
    encoding: Optional[str] = None
    sheet: Optional[str] = None
    kind: Optional[str] = None
    header: Optional[str] = None
    source: Any = None

    def open(self) -> "Table":
        """Open the file, see `tables.open_table`."""
        from .source import find_source
        from .table import open_table

        source = self.source or find_source(self.data, self.kind, self.encoding, self.sheet, self.header)
        return open_table(source, self.text_column)

    @property
    def columns(self) -> dict[str, Any]:
        """The options of `load_reviews` but the kind of file, as keyword arguments."""
        apart = ("data", "data_dir", "kind", "source")
        return {name: value for name, value in asdict(self).items() if name not in apart}

    def read(self) -> tuple[str, Iterable[str]]:
        """Return the name of the data and its reviews; of a corpus those of its train file."""
        from . import nsmc
        from .labelled import CORPORA, refuse_columns
        from .parts import as_text

        if self.data in CORPORA:
            refuse_columns(self.data, self.text_column, sheet=self.sheet)
            return str(self.data), nsmc.load(str(self.data), "train", self.data_dir).documents
        table = self.open()
        texts = (as_text(cell) for part in table.parts for cell in part[table.text_column])
        return Path(self.data).name, texts


# A file by its path alone, or with how it is read
File = Union[str, Path, Texts]


def open_file(file: File) -> "Table":
    """Open a table, which may be named by its path alone."""
    return (file if isinstance(file, Texts) else Texts(file)).open()


@dataclass(frozen=True)
class Labelled(Texts):
    """Labelled reviews; `positive` is the label that means so where it is not known by itself."""

    label_column: Optional[str] = None
    positive: Optional[str] = None

    def load(self, part: str) -> "Reviews":
        """Return the reviews; of a corpus those of its `part`, "train" or "test"."""
        from .labelled import load_reviews

        return load_reviews(self.data, part, self.data_dir, kind=self.kind, **self.columns)
