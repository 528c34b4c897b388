"""Functions whose modules are imported when they are called: `--help` imports neither numpy nor a network."""

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import Any

PACKAGE = __name__.partition(".")[0]


def later(module: str, name: str) -> Callable[..., Any]:
    """Return a function that calls the one of that name, as "Classifier.from_bundle", of a module of the package."""

    def call(*values: object, **named: Any) -> Any:
        return attrgetter(name)(import_module(f"{PACKAGE}.{module}"))(*values, **named)

    return call
