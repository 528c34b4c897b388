"""What a worker process runs, imported when it is called.

A worker unpickles these functions before its thread that answers the supervisor starts, and uvicorn kills a worker that
has not answered for five seconds: on a busy machine, importing the application takes longer.
"""

from typing import TYPE_CHECKING, Any

from .limits import Limits

if TYPE_CHECKING:
    from .app import Bundle
    from .connection import Connection
    from .guard import Guard


def make_app(
    bundle: "Bundle",
    engine: str,
    limits: Limits,
    restore_bundle: "Bundle" = None,
    language_bundle: "Bundle" = None,
    film_bundle: "Bundle" = None,
) -> "Guard":
    """Return `app.create_app`."""
    from .app import create_app

    return create_app(bundle, engine, limits, restore_bundle, language_bundle, film_bundle)


def make_connection(limits: Limits, **uvicorn: Any) -> "Connection":
    """Return a `connection.Connection`."""
    from .connection import Connection

    return Connection(limits, **uvicorn)
