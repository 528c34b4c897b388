"""Raw reviews as they were typed, and as they were meant: what an editor learns to leave alone (`training.pairs`).

    NSMC_ATTENTION_DATA=... OMP_NUM_THREADS=1 python -m recipes.pairs pairs.tsv

The packaged editor teaches: a review stays as typed where it has nothing to change, or nothing that the regressions on usage
(systems/restore/as_typed.py) find likely. It is changed where all changes are likely. Reviews in doubt are left out, as are those
of the official test file and of benchmarks/restoration/right.tsv (`recipes.usage`).
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

from nsmc_attention.systems.restore import restorer as restoring
from nsmc_attention.systems.restore.as_typed import LIKELY, evidence, keep_right_text, log_odds
from nsmc_attention.systems.restore.decisions import Decisions
from nsmc_attention.systems.sequences.characters import Characters

from .usage import reviews

# Log-odds, relative to LIKELY, below which a change is wrong and from which it is right
WRONG, RIGHT = -1.5, 0.0
# Reviews drawn, of at most so many characters; the most that have nothing to change
DRAWN, LONGEST, PLAIN, SEED = 250_000, 60, 50_000, 3


def taught(texts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (typed, meant, "plain", "kept" or "changed") of the texts that are not in doubt."""
    editor, odds = restoring.load_restorer(), dict[str, list[float]]()

    def remember(text: str, decided: Decisions, characters: Characters) -> Decisions:
        if (decided.certainty < 1).any():
            found = evidence(text, decided, characters)
            odds[text] = [log_odds(kind, values) - LIKELY[kind] for _, kind, values in found]
        return keep_right_text(text, decided, characters)

    with patch.object(restoring, "keep_right_text", remember):
        restored = editor.rows(texts)
    for text, (meant, _) in zip(texts, restored):
        found = odds.get(text)
        if not found:
            if text == meant:
                yield text, meant, "plain"
        elif text == meant and max(found) < WRONG:
            yield text, meant, "kept"
        elif text != meant and min(found) >= RIGHT:
            yield text, meant, "changed"


def main(path: Path) -> None:
    generator, counts = random.Random(SEED), Counter[str]()
    texts = [text for text in reviews() if len(text) <= LONGEST]
    with path.open("w", encoding="utf-8") as file:
        file.write("typed\tmeant\n")
        for typed, meant, how in taught(generator.sample(texts, min(DRAWN, len(texts)))):
            counts[how] += 1
            if how != "plain" or counts[how] <= PLAIN:
                file.write(f"{typed}\t{meant}\n")
    print(f"{path}: {dict(counts)}, at most {PLAIN:,} of those that are plain")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    main(parser.parse_args().path)
