"""The command line `nsmc-attention`: `app` runs it, the other files hold the commands.

SIGINT and SIGTERM end a command where it is: an exception would be lost in a finalizer, or abort a library's C++. Their
workers end with it (`_runtime.processes`). To import `signal` takes too long.
"""

import os
import sys
from _signal import SIG_IGN, SIGINT, SIGTERM, getsignal, signal  # type: ignore[import-not-found]


def main(arguments: "list[str] | None" = None) -> None:
    """Run the command line; never returns."""
    if sys.getfilesystemencoding() != "utf-8" and "utf8" not in sys._xoptions:
        in_utf8()
    for number in (SIGINT, SIGTERM):
        if getsignal(number) is not SIG_IGN:
            signal(number, end)
    from .app import main as run

    run(arguments)


def end(number: int, frame: object) -> None:
    """Remove what is unfinished, and exit."""
    atomic = sys.modules.get("nsmc_attention._io.atomic")
    try:
        for ending in list(getattr(atomic, "endings", ())):
            ending()
    finally:
        os._exit(128 + number)


def in_utf8() -> None:
    """Start again in UTF-8 mode if the arguments are UTF-8: under LC_ALL=C, texts and names lose their Hangul."""
    try:
        os.fsencode(" ".join(sys.argv)).decode("utf-8")
    except UnicodeError:
        return
    words = getattr(sys, "orig_argv", ["", "-m", "nsmc_attention", *sys.argv[1:]])
    os.execve(sys.executable, [sys.executable, "-X", "utf8", *words[1:]], {**os.environ, "PYTHONUTF8": "1"})


def __getattr__(name: str) -> object:
    from importlib import import_module

    return getattr(import_module(".app", __name__), name)
