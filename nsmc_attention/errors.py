"""The errors this package raises on purpose; messages say where, what was expected, what was found and what to do."""

import difflib
import re
from importlib import import_module
from typing import Any, Iterable, Optional

# Most characters of a message, and of the names it lists, as both may quote a file of any size
LONGEST_LINE, LISTED = 600, 200
# {module: package}, if the names differ by more than case and underscores
PACKAGES = {
    "sklearn": "scikit-learn",
    "mecab": "python-mecab-ko",
    "mecab_ko_dic": "python-mecab-ko-dic",
    "dask": "distributed",
    "PIL": "pillow",
}
# Installs the packages for training and evaluation, after an install for prediction only
INSTALL_TRAINING = "pip install 'nsmc_attention[train]'"


class NsmcError(Exception):
    """A problem with the user's input, never a bug of this package; its message is one printable line."""

    def __init__(self, message: object) -> None:
        line = "".join(letter if letter.isprintable() else " " for letter in str(message)[: LONGEST_LINE + 1])
        super().__init__(line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…")


class DataError(NsmcError):
    """A file of reviews is missing, damaged or in another format."""


class ColumnError(DataError):
    """A table lacks the column of texts; `columns` are the names of its columns."""

    def __init__(self, line: str, columns: Iterable[str] = ()) -> None:
        super().__init__(line)
        self.columns = list(columns)


class TokenizerError(NsmcError):
    """A tokenizer is unknown or cannot run on this machine."""


class BundleError(NsmcError):
    """A bundle or checkpoint is incomplete, altered or of another version."""


class WrongTask(BundleError):
    """A bundle has another task than expected; `task` is the one in its manifest."""

    def __init__(self, folder: object, expected: Iterable[str], task: Optional[str]) -> None:
        super().__init__(f"{folder}: expected a bundle of the task {' or '.join(expected)}, found {task!r}")
        self.task = task


class ConfigError(NsmcError):
    """A setting has an unknown name or an invalid value."""


class MissingPackage(NsmcError):
    """Packages that a feature needs are not installed; the message has the command that installs them."""

    def __init__(self, feature: str, *modules: str) -> None:
        if modules:
            packages = " ".join(dict.fromkeys(filter(None, map(requirement, modules)))) or "nsmc_attention"
            feature = f"{feature} needs {', '.join(modules)}: pip install {packages}"
        super().__init__(feature)


def required(feature: str, module: str) -> Any:
    """Import a module that a feature needs; MissingPackage, with the command that installs it, if it is missing."""
    try:
        return import_module(module)
    except ImportError as problem:
        raise MissingPackage(feature, module.partition(".")[0]) from problem


def requirement(module: str) -> Optional[str]:
    """Return the argument of `pip install` for a module that this package may need; None for other modules."""
    from importlib.metadata import PackageNotFoundError, requires

    package = PACKAGES.get(module, module).lower().replace("_", "-")
    try:
        lines = requires("nsmc_attention") or []
    except PackageNotFoundError:
        return None
    pattern = re.compile(rf"{re.escape(package)}(?![\w.-])", re.IGNORECASE)
    line = next(filter(pattern.match, lines), None)
    return line and f"'{line.partition(';')[0].strip()}'"


def check_kind(where: str, value: object, *kinds: type, advice: str = "") -> None:
    """Raise DataError unless a value is an instance of one of these classes."""
    if not isinstance(value, kinds):
        expected = " or ".join(kind.__name__.removesuffix("Type") for kind in kinds)
        raise DataError(f"{where}: expected {expected}, found {type(value).__name__}{advice}")


def list_names(names: Iterable[str]) -> str:
    """Return names separated by commas, cut off with an ellipsis after LISTED characters."""
    line = ", ".join(names) or "nothing"
    return line if len(line) <= LISTED else line[:LISTED].rstrip(", ") + "…"


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the closest known word, or `; known: a, b` if none is close."""
    known = sorted(known)
    return nearest(word, known) or f"; known: {', '.join(known)}"


def nearest(word: object, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the closest known word, or "" if none is close."""
    near = difflib.get_close_matches(str(word), known, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
