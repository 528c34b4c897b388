"""Share of sentences with a single error that `restore` corrects exactly, by kind of error.

    python -m benchmarks.restoration.one_error FOLDER/test.txt [--wrong] [BUNDLE ...]

SENTENCES sentences of 15 to 45 characters of `recipes.clean_reviews` are drawn. Each gets, in turn, a wrong letter, loses a
space, and gets one within a word. The kind of a wrong letter is drawn of those with which restorers are trained, then one of the
places in which it is possible; where letters move to the next syllable, two change. --wrong prints what is not restored.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy

from nsmc_attention.systems.restore.noise import KINDS, MOST_NOISE, edited, edits
from nsmc_attention.systems.restore.restorer import load_restorer

LENGTHS, SENTENCES, SEED = (15, 45), 2000, 1
LETTERS = [*MOST_NOISE.keys() - {"stretched"}, "mistakes"]
ERRORS = {"letter": sorted(LETTERS), "lost space": ["lost_spaces"], "added space": ["added_spaces"]}


def spoilt(texts: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the error, its kind, and a text with it and without, of each error and text in which it is possible."""
    random = numpy.random.RandomState(SEED)
    for error, kinds in ERRORS.items():
        for text in texts:
            choices = {kind: found for kind in kinds if (found := list(edits(text, KINDS[kind])))}
            if choices:
                kind = list(choices)[random.randint(len(choices))]
                yield error, kind, edited(text, [choices[kind][random.randint(len(choices[kind]))]]), text


def drawn(path: Path) -> list[str]:
    """Return the sentences that are spoilt."""
    whole = [text for text in path.read_text("utf-8").splitlines() if LENGTHS[0] <= len(text) <= LENGTHS[1]]
    return [whole[number] for number in numpy.random.RandomState(SEED).permutation(len(whole))[:SENTENCES]]


def main(path: Path, bundles: list[str], wrong: bool) -> None:
    rows = list(spoilt(drawn(path)))
    print("| restorer | error | sentences | restored exactly | left as typed | otherwise |\n|---|---|---|---|---|---|")
    chosen: list[str | None] = [*bundles] or [None]
    for bundle in chosen:
        counts = defaultdict[str, list[int]](lambda: [0, 0, 0])
        restored = load_restorer(bundle).rows(source for *_, source, _ in rows)
        for (error, kind, source, target), (text, _) in zip(rows, restored):
            outcome = 0 if text == target else 1 if text == source else 2
            for name in {error, f"letter: {kind}" if error == "letter" else error}:
                counts[name][outcome] += 1
            if wrong and outcome:
                print(f"{error}: {source} -> {text}, expected {target}")
        for error, found in sorted(counts.items()):
            shares = " | ".join(f"{100 * each / sum(found):.1f} %" for each in found)
            print(f"| {bundle or 'packaged'} | {error} | {sum(found):,} | {shares} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("bundles", nargs="*")
    parser.add_argument("--wrong", action="store_true")
    arguments = parser.parse_args()
    main(arguments.path, arguments.bundles, arguments.wrong)
