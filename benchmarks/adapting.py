"""Labels against accuracy where reviews are of another kind: the table of docs/adapting.md.

    python -m benchmarks.adapting FOLDER/val.tsv [LABELS ...]

The file is KOTE's (arXiv:2205.05300), comments from twelve kinds of places: positive has at least two emotions of POSITIVE and
none of NEGATIVE, and the other way round; others are left out. Of each of five folds by id, labels are drawn from the other
four, and its own comments are judged. Prints means and standard deviations over the folds, in percent; one thread.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy
import pandas

from nsmc_attention import adapt, load_classifier
from nsmc_attention.classification.comparison import baseline
from nsmc_attention.reviews import nsmc

POSITIVE = {1, 2, 4, 7, 8, 13, 14, 16, 28, 32, 40, 42, 43}
NEGATIVE = {0, 3, 6, 9, 10, 12, 20, 21, 22, 23, 31, 33, 34, 35, 37}
FOLDS, LABELS = 5, (100, 300, 1000, 2700)


def comments(path: Path) -> pandas.DataFrame:
    """Return the comments with a clear polarity: id, review, label."""
    frame = pandas.read_csv(path, sep="\t", names=["id", "review", "emotions"], quoting=3)
    emotions = [set(map(int, cell.split(","))) for cell in frame["emotions"].astype(str)]
    sides = numpy.array([(len(seen & POSITIVE), len(seen & NEGATIVE)) for seen in emotions])
    frame["label"] = (sides[:, 0] > 0).astype(int)
    return frame[(sides.max(axis=1) >= 2) & (sides.min(axis=1) == 0)].reset_index(drop=True)


def main(path: Path, counts: list[int]) -> None:
    frame, test = comments(path), nsmc.load("nsmc", "test")
    packaged = load_classifier().probabilities(frame["review"]) > 0.5
    print(f"{len(frame):,} comments; packaged {100 * numpy.mean(packaged == frame['label']):.1f}")
    for count in counts:
        rows = []
        for fold in range(FOLDS):
            held_out = frame[frame["id"] % FOLDS == fold]
            known = frame[frame["id"] % FOLDS != fold].sample(count, random_state=fold)
            right = held_out["label"].to_numpy() == 1
            started = time.process_time()
            with tempfile.TemporaryDirectory() as folder:
                adapted = adapt(known[["review", "label"]], Path(folder) / "run", seed=fold, force=True, quiet=True)
                seconds = time.process_time() - started
                own = adapted.bundle.manifest["adapted"]["after"]
                after = numpy.mean((adapted.probabilities(held_out["review"]) > 0.5) == right)
                films = numpy.mean((adapted.probabilities(test.documents[::10]) > 0.5) == (test.labels[::10] == 1))
            model = baseline("tfidf", "mecab").fit(known["review"], known["label"])
            other = numpy.mean(model.predict(held_out["review"]) == right)
            rows.append((100 * after, 100 * own, 100 * other, 100 * films, seconds))
        means, spreads = numpy.mean(rows, axis=0), numpy.std(rows, axis=0, ddof=1)
        cells = " | ".join(f"{mean:.1f} ± {spread:.1f}" for mean, spread in zip(means, spreads))
        print(f"| {count:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(word) for word in sys.argv[2:]] or list(LABELS))
