"""The command line `nsmc-attention`: `app` runs it, the other files hold the commands.

SIGINT and SIGTERM end a command at once: an exception would be lost in a finalizer, or abort a library's C++. Worker
processes end with it (`machine.processes`). The import of `signal` would take too long.
"""

import os
import sys
from _signal import SIG_IGN, SIGINT, SIGTERM, getsignal, signal  # type: ignore[import-not-found]


def main(arguments: "list[str] | None" = None) -> None:
    """Run the command line; never returns."""
    for number in (SIGINT, SIGTERM):
        if getsignal(number) is not SIG_IGN:
            signal(number, end)
    from .app import main as run

    run(arguments)


def end(number: int, frame: object) -> None:
    """Remove unfinished files, and exit."""
    atomic = sys.modules.get("nsmc_attention.machine.files")
    try:
        for ending in list(getattr(atomic, "endings", ())):
            ending()
    finally:
        os._exit(128 + number)


def __getattr__(name: str) -> object:
    from importlib import import_module

    return getattr(import_module(".app", __name__), name)
