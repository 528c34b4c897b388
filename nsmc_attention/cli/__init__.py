"""The command line `nsmc-attention`: `app` runs it, the other files hold the commands.

Until `app` is imported, 0.1 s, a signal ends it without a line; to import `signal` takes too long before it.
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
            signal(number, lambda received, frame: os._exit(128 + received))
    from .app import main as run

    run(arguments)


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
