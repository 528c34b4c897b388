"""Corrections of common misspellings, and correct texts that stay unchanged: a table of this folder's README.md.

    python -m benchmarks.restoration.misspellings [--wrong] [BUNDLE ...]

`misspellings.txt` has 100 sentences written for this benchmark, none of which was in a training; {right/wrong} marks the common
misspelling. The inputs are both spellings, with and without spaces; only letters are compared. The table includes hunspell's
first suggestions (Debian: apt install hunspell hunspell-ko). --wrong lists sentences that the packaged editor gets wrong.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from nsmc_attention.systems.restore.restorer import load_restorer

from .restoring import Restore, hunspell, restoring
from .spacing import percent, row

SENTENCES = Path(__file__).with_suffix(".txt")
MARKED = re.compile("{([^/]+)/([^}]+)}")


def read(path: Path = SENTENCES) -> list[tuple[str, str]]:
    """Return (right, wrong) of each sentence."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(MARKED.sub(r"\1", line), MARKED.sub(r"\2", line)) for line in lines]


def contestants(bundles: list[str]) -> Iterator[tuple[str, Restore]]:
    for name in ("editor", *bundles):
        yield name, restoring(load_restorer(None if name == "editor" else name))
    yield "hunspell 1.7.1", hunspell


def letters(text: str) -> str:
    return text.replace(" ", "")


def main(bundles: list[str], wrong: bool) -> None:
    pairs = read()
    right, mistaken = zip(*pairs)
    row("restorer", "righted", "without spaces", "right ones kept", "without spaces")
    row(*["---"] * 5)
    for name, restored in contestants(bundles):
        figures = list[str]()
        for texts in (mistaken, right):
            for given in (list(texts), list(map(letters, texts))):
                found = restored(given)
                figures.append(percent(letters(one) == letters(other) for one, other in zip(found, right)))
                if wrong and name == "editor":
                    for one, two, three in zip(given, found, right):
                        if letters(two) != letters(three):
                            print(f"{one} -> {two}")
        row(name, *figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundles", nargs="*")
    parser.add_argument("--wrong", action="store_true")
    main(**vars(parser.parse_args()))
