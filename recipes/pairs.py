"""Pairs of raw reviews and their corrections, from which an editor learns what to leave unchanged (`training.pairs`).

    NSMC_ATTENTION_DATA=... OMP_NUM_THREADS=1 python -m recipes.pairs pairs.tsv

The packaged editor is the teacher. A review stays as typed if the editor changes nothing, or only what the regressions on
usage (systems/restore/as_typed.py) find unlikely. It is corrected if all changes are likely. Doubtful reviews are left out,
and so are the official test file and benchmarks/restoration/right.tsv (`recipes.usage`).
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

from nsmc_attention.systems.restore import restorer as restoring
from nsmc_attention.systems.restore.as_typed import LIKELY, Decisions, evidence, keep_right_text, log_odds

from .usage import reviews

# Log-odds, relative to LIKELY, below which a change is wrong and from which it is right
WRONG, RIGHT = -1.5, 0.0
# The longest review in characters; how many are written: that have nothing to change, are kept in spite of changes, are changed
LONGEST, MOST, SEED = 60, {"plain": 61_000, "kept": 64_000, "changed": 70_000}, 3


def taught(texts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (typed, meant, "plain", "kept" or "changed") of the texts that are not in doubt."""
    editor, odds = restoring.load_restorer(), dict[str, list[float]]()

    def remember(text: str, decided: Decisions) -> Decisions:
        odds[text] = [log_odds(kind, values) - LIKELY[kind] for _, kind, values in evidence(text, decided)]
        return keep_right_text(text, decided)

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
    generator, found = random.Random(SEED), defaultdict[str, list[str]](list)
    for typed, meant, how in taught([text for text in reviews() if len(text) <= LONGEST]):
        found[how].append(f"{typed}\t{meant}\n")
    rows = [row for how, most in MOST.items() for row in generator.sample(found[how], min(most, len(found[how])))]
    generator.shuffle(rows)
    path.write_text("typed\tmeant\n" + "".join(rows), encoding="utf-8")
    counts = {how: len(own) for how, own in found.items()}
    print(f"{path}: {len(rows):,} of {counts}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    main(parser.parse_args().path)
