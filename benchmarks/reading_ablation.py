"""What the parts of a reader's decoder bring: its figures in benchmarks/RESULTS.md.

    nsmc-attention train --task read --data nsmc --out runs/reader
    python -m benchmarks.reading_ablation runs/reader FOLDER [--lines 3000] [--epochs 4]

Each variant keeps the trained encoder and begins its decoder anew, with the same lines and seed. Judged by the character error of
the decoder alone, greedy: on the dev part, and on lines of repeated letters drawn in the same fonts.
"""

import argparse
from pathlib import Path
from typing import Any

from numpy.random import RandomState

from nsmc_attention._runtime.mxnet_types import Network
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.inference.engines import parameters_of
from nsmc_attention.model.parameters import set_parameters
from nsmc_attention.reading.fonts import korean_faces
from nsmc_attention.reading.objective import Lines, ReadingObjective, train_network
from nsmc_attention.reading.task import LAYOUT
from nsmc_attention.reading.train import MOST_DEV
from nsmc_attention.reviews.data import Texts
from nsmc_attention.text.encoding import clean
from nsmc_attention.training.runs import Run, hold_out

VARIANTS: dict[str, dict[str, Any]] = {
    "location, guided": {},
    "additive, guided": {"model.attention.kind": "additive"},
    "location, guided, doubly stochastic": {"training.coverage": 1.0},
    "location, not guided": {"training.guide": 0.0},
}
REPEATED = ("ㅋㅋㅋ", "ㅠㅠ", "....", "!!!", "ㅎㅎ", "???", "~~")


def repeated_lines(count: int) -> list[str]:
    """Return lines of words that end in letters which are repeated 3 to 12 times."""
    random = RandomState(1)
    words = ("재미있다", "별로", "최고", "글쎄", "아")
    lines = []
    for _ in range(count):
        letter = REPEATED[random.randint(len(REPEATED))][0]
        lines.append(words[random.randint(len(words))] + letter * random.randint(3, 13))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, default=3000)
    parser.add_argument("--epochs", type=int, default=4)
    given = parser.parse_args()
    bundle = load_bundle(given.bundle, LAYOUT)
    arrays = {name: array for name, array in parameters_of(bundle)[1].items() if name.startswith("source.")}
    texts = [text for text in map(clean, Texts("nsmc").read()[1]) if text]
    base = bundle.config.with_settings(
        {"training.lines": given.lines, "training.epochs": given.epochs, "training.patience": given.epochs}
    )
    faces = korean_faces(base.training.fonts, base.training.unused_fonts)
    train, dev = ([texts[i] for i in part] for part in hold_out(len(texts), base.training, MOST_DEV))
    repeated = [Lines(repeated_lines(32), (1, number), 0.0) for number in range(6)]

    def begin(network: Network) -> None:
        # the alignment's projection of the keys belongs to the decoder
        set_parameters(network, {name: array for name, array in arrays.items() if not name.startswith("source.key")})

    for name, changes in VARIANTS.items():
        config = base.with_settings(changes)
        run = Run(given.folder / name.replace(", ", "-"), quiet=True)
        network, progress, figures = train_network(config, bundle.codec, run, train, dev, faces, begin)
        objective = ReadingObjective(repeated, run.context, bundle.codec, faces, config.training)
        own = objective.evaluate(network)["character_error"]
        by_epoch = ", ".join(f"{record['dev_character_error']:.3f}" for record in progress.history)
        print(
            f"{name}: dev {figures['character_error']:.4f} (by epoch {by_epoch}), repeated letters {own:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
