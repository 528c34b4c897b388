"""Alignment of a writer's attention with its source: figures of docs/restore.md.

    python -m recipes.clean_reviews FOLDER
    python -m benchmarks.restoration.alignment FOLDER/test.txt [BUNDLE ...]

Without a bundle, the packaged writer is evaluated on 1,000 sentences with the noise of training. Its text is compared with the
source letter by letter (`difflib`): for an equal letter, the largest weight should be on this letter of the source.
"""

import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import numpy

from nsmc_attention.systems.restore.noise import typed
from nsmc_attention.systems.restore.restoration import Restoration
from nsmc_attention.systems.restore.restorer import load_restorer
from nsmc_attention.systems.sequences.characters import SPACE

SEED, MOST = 1, 1000


def unchanged_letters(restoration: Restoration) -> Iterator[tuple[int, int]]:
    """Yield (place in the text, place in the source) of each letter that was kept."""
    source, text = restoration.source, restoration.text
    for block in SequenceMatcher(None, source, text, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            if source[block.a + offset] != SPACE:
                yield block.b + offset, block.a + offset


def readability(restorations: list[Restoration]) -> dict[str, float]:
    """Return means over the rows of all weights: the largest weight, the entropy (nats), and how often it aligns rightly."""
    restorations = [each for each in restorations if not each.error]
    rows = numpy.concatenate([numpy.pad(each.weights, ((0, 0), (0, 400)))[:, :400] for each in restorations])
    entropy = -(rows * numpy.log(numpy.maximum(rows, 1e-12))).sum(axis=1)
    hits = [each.alignment[row] == column for each in restorations for row, column in unchanged_letters(each)]
    near = [abs(each.alignment[row] - column) <= 1 for each in restorations for row, column in unchanged_letters(each)]
    return {
        "largest weight": float(rows.max(axis=1).mean()),
        "entropy": float(entropy.mean()),
        "on the letter": float(numpy.mean(hits)),
        "on it or a neighbour": float(numpy.mean(near)),
    }


def main(path: Path, bundles: list[str]) -> None:
    texts = path.read_text(encoding="utf-8").splitlines()
    random = numpy.random.RandomState(SEED)
    sources = [typed(text, random) for text in texts[:: -(-len(texts) // MOST)]]
    for bundle in bundles or ("",):
        figures = readability(load_restorer(bundle or None, beam=4).restore_many(sources))
        print(bundle or "packaged", ", ".join(f"{name} {figure:.3f}" for name, figure in figures.items()), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
