"""The errors this package raises on purpose; the command line turns each into one line and exit code 2.

A message says where, what was expected, what was found and what to do.
"""

import difflib
from typing import Iterable

# Characters of a message: what it quotes of a file may be as long as the file
LONGEST = 600
# and of the names that it lists
LISTED = 200


class NsmcError(Exception):
    """A problem with what the user gave; never a bug of this package.

    Its message is one line that can be printed, whatever it quotes: no line end, nothing that steers a terminal.
    """

    def __init__(self, message: object) -> None:
        line = "".join(letter if letter.isprintable() else " " for letter in str(message)[: LONGEST + 1])
        super().__init__(line if len(line) <= LONGEST else line[:LONGEST] + "…")


class DataError(NsmcError):
    """A file of reviews is missing, damaged or of another format."""


class TokenizerError(NsmcError):
    """A tokenizer is unknown or cannot run on this machine."""


class BundleError(NsmcError):
    """A bundle or checkpoint is incomplete, altered or of another version."""


class ConfigError(NsmcError):
    """A setting has an unknown name or an impossible value."""


class JobError(NsmcError):
    """A process of a distributed training ended before its time."""


class MissingPackage(NsmcError):
    """A package that this feature needs is not installed."""


def listed(names: Iterable[str]) -> str:
    """Answer names of a file's making, with commas between them; what is too long ends in an ellipsis."""
    line = ", ".join(names) or "nothing"
    return line if len(line) <= LISTED else line[:LISTED].rstrip(", ") + "…"


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Answer `; did you mean 'x'?` where a known word is near, else `; known: a, b`."""
    known = sorted(known)
    return nearest(word, known) or f"; known: {', '.join(known)}"


def nearest(word: object, known: Iterable[str]) -> str:
    """Answer `; did you mean 'x'?` where a known word is near, else nothing."""
    near = difflib.get_close_matches(str(word), known, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
