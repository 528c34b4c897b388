"""The base of predictors: a bundle and its engine, which a pickle or another process finds again.

    Predictor -> Reference (its class, the bundle's folder and fingerprint, engine, options) -> the same Predictor

A reference is small, whatever the bundle's size. Both give the texts of a table columns, see `Scorer`.
"""

import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Optional, Protocol, TypeVar, Union

from ..bundle.format import PACKAGE, AnyBundle, Layout, load_bundle, read_contents, write_contents
from ..errors import BundleError, DataError

Self = TypeVar("Self", bound="Predictor")
# A text's output columns; the last says why there is no result, None where there is one
Row = tuple[Any, ...]


class Scorer(Protocol):
    """A source of output columns for each text: a predictor, or two in turn."""

    @property
    def types(self) -> Mapping[str, str]:
        """The output columns, {name: type of Arrow and of Spark}; the last is the reason of a text without a result."""

    @property
    def reference(self) -> Any:
        """A hashable value whose `load(device, threads)` loads the same in another process."""

    @property
    def prior(self) -> float:
        """The log-odds of positive labels in the data on which its probabilities, if any, were calibrated."""

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return for each text the values of `types`."""

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[dict[str, Any]]:
        """Yield for each text a dict of plain values for JSON, with an `error` where there is no result."""


@dataclass(frozen=True)
class Reference:
    """The arguments that load a predictor: its class, the bundle's folder or its name in the package, engine and options."""

    kind: "type[Predictor]"
    folder: str
    packaged: bool
    fingerprint: str
    engine: str
    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, kind: "type[Predictor]", bundle: AnyBundle, engine: str, **options: Any) -> "Reference":
        # the packaged bundle is elsewhere on another machine
        folder = bundle.folder.name if bundle.packaged else str(bundle.folder.resolve())
        return cls(kind, folder, bundle.packaged, bundle.fingerprint, engine, tuple(options.items()))

    def load(self, device: str = "auto", threads: Optional[int] = None) -> Any:
        """Load the predictor; BundleError if the folder holds another bundle by now, which would mix two models."""
        folder = PACKAGE / self.folder if self.packaged else Path(self.folder)
        bundle = load_bundle(folder, self.kind.layout)
        if bundle.fingerprint != self.fingerprint:
            found = "found another, which replaced it meanwhile"
            raise BundleError(f"{folder}: expected the bundle that was loaded at first, {found}; begin again with it")
        return self.kind.from_bundle(bundle, self.engine, device, threads, **dict(self.options))


class Predictor:
    """Base: a bundle and the engine that runs it; pickled, a reference to the bundle's folder rather than a copy of it.

    `load_engine` is called with a bundle, the names of an engine and of a device, and a number of threads.
    """

    layout: ClassVar[Layout[Any, Any]]
    types: ClassVar[Mapping[str, str]] = {}
    load_engine: ClassVar[Callable[..., Any]]
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
        """Load the predictor of a bundle folder; None is the one that ships with the package."""
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
        """Load the engine called `engine` for a bundle of this task; None is as many threads as there are cores."""
        return cls(bundle, cls.load_engine(bundle, engine, device, threads), **options)

    def __init__(self, bundle: AnyBundle, engine: Any):
        self.bundle, self.engine = bundle, engine

    def __repr__(self) -> str:
        return f"{type(self).__name__}(bundle={self.bundle.name!r}, engine={self.engine.name!r})"

    @property
    def prior(self) -> float:
        """Of a predictor without probabilities of positive; a classifier's is another."""
        return 0.0

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of `from_bundle` that are this class's own."""
        return {}

    @property
    def reference(self) -> Reference:
        return Reference.of(type(self), self.bundle, self.engine.name, **self.options)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the bundle's folder; by its files where it is in a temporary folder and not in the package."""
        temporary = Path(tempfile.gettempdir()).resolve() in self.bundle.folder.resolve().parents
        if temporary and not self.bundle.packaged:
            return predictor_of, (type(self), read_contents(self.bundle), self.engine.name, self.options)
        return Reference.load, (self.reference,)


def predictor_of(
    kind: type[Self], contents: dict[str, bytes], engine: str = "auto", options: Optional[dict[str, Any]] = None
) -> Self:
    """Load a predictor from a bundle's files, in a temporary folder that is removed with it."""
    folder = tempfile.TemporaryDirectory()
    write_contents(Path(folder.name) / "bundle", contents)
    bundle = load_bundle(Path(folder.name) / "bundle", kind.layout)
    predictor = kind.from_bundle(bundle, engine, **(options or {}))
    # an Explainer reads the bundle again, as long as the predictor lives
    weakref.finalize(predictor, folder.cleanup)
    return predictor


@lru_cache(maxsize=1)
def worker_scorer(reference: Any) -> Any:
    """Load what a reference names in a worker, on one thread, and keep it."""
    return reference.load("cpu", 1)


def check_texts(texts: Iterable[object], kind: str, advice: str) -> Iterator[str]:
    """Yield texts; DataError for one string, with the advice, for what is no list, and for an item that is no string."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        wrong = f"one string; {advice}" if isinstance(texts, (str, bytes)) else type(texts).__name__
        raise DataError(f"expected a list of {kind}, found {wrong}")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            wrong = f"found {type(text).__name__}: {str(text)[:40]!r}"
            raise DataError(f"texts[{index}]: expected a review as str, {wrong}; leave it out, or give '' in its place")
        yield text


def check_text(text: object) -> str:
    if not isinstance(text, str):
        raise DataError(f"expected a review as str, found {type(text).__name__}: {str(text)[:40]!r}")
    return text
