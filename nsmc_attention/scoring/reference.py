"""The base class of predictors: a bundle and its engine, which pickles and other processes load again by a Reference.

    Predictor -> Reference (its class, the bundle's folder and fingerprint, engine, options) -> the same Predictor

A reference is small for bundles of any size. Predictors are Scorers, which add output columns to a table.
"""

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Optional, Protocol, TypeVar, Union, cast

from ..bundle import PACKAGE, AnyBundle, Layout, load_bundle
from ..errors import BundleError, DataError, check_kind
from ..tables.columns import find_column

Self = TypeVar("Self", bound="Predictor")
# A text's output columns; the last is the reason of a missing result, else None
Row = tuple[Any, ...]
# Suffixes of file names, which are not texts
SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".xlsm", ".xls")


class Scorer(Protocol):
    """A source of output columns for each text: a predictor, or two in turn."""

    @property
    def types(self) -> Mapping[str, str]:
        """The output columns, {name: type in Arrow and in Spark}; the last is the reason of a missing result."""

    @property
    def reference(self) -> Hashable:
        """A hashable value whose `load(device, threads)` returns an equal scorer in another process."""

    @property
    def judge(self) -> Any:
        """The classifier of the probabilities in its rows, or None."""

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return the output columns (`types`) of each text."""

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[dict[str, Any]]:
        """Yield a dict of plain values for JSON for each text, with an `error` if there is no result."""


@dataclass(frozen=True)
class AddedColumns:
    """A Scorer that inserts columns `added` before the reason, the `values` of a scorer's records; also its reference."""

    scorer: Any
    added: ClassVar[Any]
    values: ClassVar[Callable[..., Iterable[Row]]]

    @property
    def types(self) -> Mapping[str, str]:
        *columns, reason = self.scorer.types.items()
        return dict([*columns, *self.added.items(), reason])

    @property
    def reference(self) -> Hashable:
        return replace(self, scorer=self.scorer.reference)

    @property
    def judge(self) -> Any:
        return self.scorer.judge

    def load(self, device: str = "auto", threads: Optional[int] = None) -> Any:
        return replace(self, scorer=self.scorer.load(device, threads))

    def rows(self, texts: Iterable[str]) -> list[Row]:
        texts = list(texts)
        rows = self.scorer.rows(texts)
        records = [{"text": text, **dict(zip(self.scorer.types, row))} for text, row in zip(texts, rows)]
        return [(*row[:-1], *values, row[-1]) for row, values in zip(rows, self.values(records))]

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[dict[str, Any]]:
        for record in self.scorer.objects(texts, weights):
            (values,) = self.values([record])
            yield {**record, **dict(zip(self.added, values))}


@dataclass(frozen=True)
class Reference:
    """Loads a predictor by its class, the bundle's folder or its name in the package, engine and options."""

    kind: "type[Predictor]"
    folder: str
    packaged: bool
    fingerprint: str
    engine: str
    options: tuple[tuple[str, object], ...] = ()

    @classmethod
    def of(cls, kind: "type[Predictor]", bundle: AnyBundle, engine: str, **options: object) -> "Reference":
        # a packaged bundle has another path on another machine
        folder = bundle.folder.name if bundle.packaged else str(bundle.folder.resolve())
        return cls(kind, folder, bundle.packaged, bundle.fingerprint, engine, tuple(options.items()))

    def load(self, device: str = "auto", threads: Optional[int] = None) -> Any:
        """Load the predictor; BundleError if the bundle was replaced meanwhile, which would mix two models."""
        folder = PACKAGE / self.folder if self.packaged else Path(self.folder)
        bundle = load_bundle(folder, self.kind.layout)
        if bundle.fingerprint != self.fingerprint:
            problem = "found another, which replaced it meanwhile"
            raise BundleError(f"{folder}: expected the bundle that was loaded at first, {problem}; begin again with it")
        return self.kind.from_bundle(bundle, self.engine, device, threads, **dict(self.options))


class Predictor:
    """Base class: a bundle and its engine. Pickles hold a reference to the bundle's folder, not a copy."""

    layout: ClassVar[Layout[Any, Any]]
    types: Mapping[str, str] = {}
    # (bundle, engine name, device name, number of threads) -> engine
    load_engine: ClassVar[Callable[..., Any]]
    judge: Any = None
    bundle: AnyBundle
    engine: Any

    @classmethod
    def load(
        cls: type[Self],
        bundle: Union[str, Path, None] = None,
        engine: str = "auto",
        device: str = "auto",
        **options: Any,
    ) -> Self:
        """Load the predictor of a bundle folder; None is the packaged bundle."""
        return cls.from_bundle(load_bundle(bundle, cls.layout), engine, device, **options)

    @classmethod
    def from_bundle(
        cls: type[Self],
        bundle: AnyBundle,
        engine: str = "auto",
        device: str = "auto",
        threads: Optional[int] = None,
        **options: Any,
    ) -> Self:
        """Load the predictor of a loaded bundle; threads None is one a core."""
        return cls(bundle, cls.load_engine(bundle, engine, device, threads), **options)

    def __init__(self, bundle: AnyBundle, engine: object):
        self.bundle, self.engine = bundle, engine

    def __repr__(self) -> str:
        return f"{type(self).__name__}(bundle={self.bundle.name!r}, engine={self.engine.name!r})"

    @property
    def options(self) -> dict[str, object]:
        """The keyword arguments for `from_bundle` that this class adds."""
        return {}

    @property
    def reference(self) -> Reference:
        return Reference.of(type(self), self.bundle, self.engine.name, **self.options)

    def __reduce__(self) -> tuple[object, ...]:
        return Reference.load, (self.reference,)


def or_packaged(predictor: Optional[Self], kind: type[Self], packaged: Callable[[], Self]) -> Self:
    """Return a predictor of a kind, or the packaged one for None; DataError for any other value."""
    name = kind.__name__.lower()
    check_kind(name, predictor, kind, type(None), advice=f"; load one by load_{name}()")
    return packaged() if predictor is None else predictor


@lru_cache(maxsize=1)
def worker_scorer(reference: Any) -> Any:
    """Load a reference's scorer in a worker, on one thread, and cache it."""
    return reference.load("cpu", 1)


def check_texts(texts: Iterable[object], kind: str, advice: str) -> Iterator[str]:
    """Yield the texts of a list, column or table; DataError, with the advice, for one string or an item that is no str."""
    for index, text in enumerate(items_of(texts, kind, advice)):
        if not isinstance(text, str):
            item = f"found {type(text).__name__}: {str(text)[:40]!r}"
            raise DataError(f"texts[{index}]: expected a review as str, {item}; leave it out, or give '' in its place")
        yield text


def items_of(texts: Any, kind: str, advice: str) -> Iterable[object]:
    """Return the texts in an argument; DataError if its items are not texts."""
    if is_frame(texts):
        return cast("Iterable[object]", texts[text_column_of(texts)])
    problem, unordered = type(texts).__name__, isinstance(texts, (Mapping, set, frozenset))
    if isinstance(texts, (str, bytes)):
        problem = f"one string; {advice}"
    elif len(shape := getattr(texts, "shape", (0,))) != 1:
        problem = f"{problem} of shape {shape}; give one column of it"
    elif isinstance(texts, Iterable) and not unordered and not hasattr(texts, "readline"):
        return texts
    raise DataError(f"expected a list of {kind}, found {problem}")


def is_frame(value: object) -> bool:
    """Return whether a value is a DataFrame, as of pandas; iteration would give the names of its columns."""
    return type(value).__name__ == "DataFrame" and hasattr(value, "columns")


def text_column_of(frame: Any, text_column: Optional[str] = None) -> Any:
    """Return the name of the DataFrame's column of texts, found by its name unless `text_column` names it."""
    # columns may have names of other types
    names = {str(name): name for name in frame.columns}
    column = names[find_column(names, text_column, "DataFrame", hint='; give the column itself, as df["review"]')]
    if list(frame.columns).count(column) > 1:
        raise DataError(f"DataFrame: expected each column once, found {column!r} twice; give the column itself")
    return column


def check_text(text: object, many: str = "") -> str:
    """Return one text; DataError for other types, with advice to use `many` for several, and for the name of a file."""
    if not isinstance(text, str):
        is_iterable = many and not isinstance(text, (bytes, Mapping, float)) and isinstance(text, Iterable)
        advice = f"; use {many} for several" if is_iterable else ""
        raise DataError(f"expected a review as str, found {type(text).__name__}: {str(text)[:40]!r}{advice}")
    if text.lower().endswith(SUFFIXES) and len(text) < 256 and os.path.isfile(text):
        raise DataError(f"expected the text of a review, found the name of a file, {text}; give the text itself")
    return text
