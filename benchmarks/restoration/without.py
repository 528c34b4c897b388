"""Effect of each rule of `restore`: an editor with all rules, and without one rule at a time.

    NSMC_ATTENTION_DATA=... python -m benchmarks.restoration.without FOLDER/test.txt [--bundle BUNDLE] [--only RULE ...]

A row has the shares of sentences that are restored exactly (as `restoring`: with the noise of training, with other noise,
without spaces, clean; as `one_error`: a letter, a lost space, an added space), then `right`: the right reviews that are changed
and those with errors that are corrected exactly, dev and test; `misspellings`: mistakes righted and right words kept; `spacing`:
F1 of both sets; `names`: kept with letters and spaces.
"""

import argparse
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy

from nsmc_attention.systems.restore import as_typed, correctors, restorer

from . import misspellings, names, spacing
from .one_error import drawn, spoilt
from .restoring import parts
from .right import right_texts

Restore = Callable[[list[str]], list[str]]
# What stands in the place of each rule
WITHOUT: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "list of mistakes": (correctors, "listed_mistakes", lambda draft: draft),
    "dictionary and usage of letters": (correctors, "dictionary_words", lambda draft: draft),
    "junctions": (correctors, "spaces_at_junctions", lambda draft: draft),
    "conventions and slang": (restorer, "keep_conventions", lambda decided, *_: decided),
    "slang": (as_typed, "slang", lambda: re.compile("(?!)")),
    "laughter": (restorer, "read_as", lambda text: text),
    "right texts": (restorer, "keep_right_text", lambda text, decided: decided),
    "allowed spaces": (as_typed, "space_is_open", lambda *_: False),
}
HEADER = (
    "| without | trained noise | other noise | no spaces | clean | one error: letter / lost / added space | right ones "
    "changed | with errors, exactly | mistakes righted | right ones kept | spacing F1 | second set | names |"
)


def percent(values: Iterator[bool]) -> str:
    return f"{100 * numpy.mean(list(values)):.1f}"


def figures(restored: Restore, path: Path) -> Iterator[str]:
    """Yield the cells of a row."""
    for _, sources, targets in islice(parts(path), 4):
        yield f"{numpy.mean([one == other for one, other in zip(restored(sources), targets)]):.4f}"
    errors, rows = defaultdict[str, list[bool]](list), list(spoilt(drawn(path)))
    for (error, *_, target), text in zip(rows, restored([source for *_, source, _ in rows])):
        errors[error].append(text == target)
    yield " / ".join(percent(iter(own)) for own in errors.values())
    halves: dict[str, list[tuple[str, str]]] = {"dev": [], "test": []}
    for (half, _), pairs in right_texts().items():
        halves[half] += pairs
    yield " / ".join(str(sum(text != one for (_, one), text in kept(pairs, restored, 1))) for pairs in halves.values())
    wrong = [[pair for pair in pairs if pair[0] != pair[1]] for pairs in halves.values()]
    yield " / ".join(str(sum(text == one for (_, one), text in kept(pairs, restored, 0))) for pairs in wrong)
    pairs = misspellings.read()
    for place in (1, 0):
        yield percent(
            misspellings.letters(text) == misspellings.letters(right)
            for (right, _), text in kept(pairs, restored, place)
        )
    for file in (spacing.SENTENCES, spacing.SENTENCES.with_name("spacing_2.tsv")):
        sentences = spacing.read(file)
        found = restored([each.text("").replace(" ", "") for each in sentences])
        yield f"{spacing.f1(place for each, text in zip(sentences, found) for place in each.spaces(text)[1]):.2f}"
    owners = [(each.name, sentence) for each in names.read() for sentence in each.sentences]
    yield percent(name in text for (name, _), text in kept(owners, restored, 1))


def kept(pairs: list[tuple[str, str]], restored: Restore, place: int) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each pair, and what becomes of one of the two."""
    return zip(pairs, restored([pair[place] for pair in pairs]))


def main(path: Path, bundle: str | None, only: list[str] | None) -> None:
    editor = restorer.load_restorer(bundle)

    def restored(texts: list[str]) -> list[str]:
        return [text for text, _ in editor.rows(texts)]

    print(HEADER, "|---" * 13 + "|", sep="\n")
    for name in only or ["", *WITHOUT]:
        with patch.object(*WITHOUT[name]) if name else nullcontext():
            print(f"| {name or 'nothing'} | " + " | ".join(figures(restored, path)) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--bundle")
    parser.add_argument("--only", nargs="+", choices=["", *WITHOUT])
    main(**vars(parser.parse_args()))
