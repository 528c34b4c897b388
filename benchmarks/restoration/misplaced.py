"""F1 of spaces in texts with half of the spaces misplaced.

    pip install kiwipiepy==0.24.1
    python -m benchmarks.restoration.misplaced [FILE]

Without a FILE, the 1,042 sentences of `spacing.tsv` and `spacing_2.tsv` lose half of their spaces, drawn with seed 0, and get
as many elsewhere. A FILE has a sentence a line, as `benchmark/space/testset/written.txt` of kiwipiepy's repository: a ▁ is
a space that was typed and is wrong, a ▔ one that is missing. The packaged editor and kiwi get the texts as they were
typed, and without spaces; the figures are means of the sentences' F1.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy

from nsmc_attention import load_restorer
from nsmc_attention.systems.sequences.characters import split_spaces

from . import spacing

WRONG, MISSING = "▁", "▔"
# The settings of kiwi's benchmark
TOLERANCE, PENALTY = 2, 7.0


def misplaced(seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the typed and the right form of each sentence written by hand."""
    random = numpy.random.RandomState(seed)
    files = (spacing.SENTENCES, spacing.SENTENCES.with_name("spacing_2.tsv"))
    for right in (sentence.text() for file in files for sentence in spacing.read(file)):
        letters, follows = split_spaces(right)
        spaces, others = (numpy.flatnonzero(numpy.array(follows[:-1]) == wanted) for wanted in (True, False))
        count = min(-(-len(spaces) // 2), len(others))
        changed = {*random.permutation(spaces)[:count].tolist(), *random.permutation(others)[:count].tolist()}
        typed = "".join(
            letter + " " * (follow != (place in changed))
            for place, (letter, follow) in enumerate(zip(letters, follows))
        )
        yield typed, right


def read(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the typed and the right form of each sentence of a file with marks."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield line.replace(WRONG, " ").replace(MISSING, ""), line.replace(WRONG, "").replace(MISSING, " ")


def f1(found: str, right: str) -> float:
    """Return F1 of the spaces of a text, of which no letter may have changed its place, 0 to 1."""
    one, other = ({place for place, follow in enumerate(split_spaces(text)[1]) if follow} for text in (found, right))
    return 2 * len(one & other) / max(1, len(one) + len(other))


def main(path: Path | None) -> None:
    # the test of this file does without kiwi
    from kiwipiepy import Kiwi

    typed, right = map(list, zip(*(read(path) if path else misplaced())))
    editor, kiwi = load_restorer(only="spacing"), Kiwi(num_workers=1)
    kiwi.global_config.space_tolerance, kiwi.global_config.space_penalty = TOLERANCE, PENALTY
    contestants = {
        "as typed": list,
        "editor": lambda texts: [each.text for each in editor.restore_many(texts)],
        "kiwipiepy 0.24.1": lambda texts: [kiwi.space(text) for text in texts],
    }
    print(f"| {len(typed)} sentences | half of the spaces wrong | without spaces |", "|---|---|---|", sep="\n")
    for name, restored in contestants.items():
        both = (restored(texts) for texts in (typed, [text.replace(" ", "") for text in typed]))
        print(f"| {name} | " + " | ".join(f"{numpy.mean([*map(f1, texts, right)]):.4f}" for texts in both) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, nargs="?")
    main(parser.parse_args().path)
