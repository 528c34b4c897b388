"""Accuracy if all reviews, or only doubtful ones, are restored before they are classified.

    NSMC_ATTENTION_DATA=... python -m benchmarks.restoration.doubtful FOLDER

16,000 raw reviews outside NSMC (`benchmarks.classification.designs.outside`, written to FOLDER once), unchanged and misspelt.
The table has the accuracy of the packaged classifier without and with the packaged editor, and if only reviews whose label
has a lower probability are restored, with the share of restored reviews in brackets.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora.labelled import load_reviews
from nsmc_attention.systems.restore.restorer import load_restorer
from nsmc_attention.text.encoding import clean

from ..classification.designs import outside
from ..classification.robustness import WAYS
from .spacing import row

LEAST = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
MISSPELT = ("other vowels", "no spaces")


def main(folder: Path) -> None:
    reviews, classifier, restorer = load_reviews(outside(folder / "outside.csv")), load_classifier(), load_restorer()
    labels = reviews.labels == 1
    row("reviews", "never", *(f"below {least}" for least in LEAST), "always")
    row(*["---"] * (len(LEAST) + 3))
    ways: dict[str, Callable[[str], str]] = {"as they are": str, **{name: WAYS[name] for name in MISSPELT}}
    for name, way in ways.items():
        texts = [way(clean(text)) for text in reviews.documents]
        # a blank review has no probability
        before, after = (
            numpy.nan_to_num(classifier.probabilities(each), nan=0.5)
            for each in (texts, (each.text for each in restorer.restore_stream(texts)))
        )
        cells = []
        for least in (0, *LEAST, 1.1):
            doubtful = numpy.maximum(before, 1 - before) < least
            right = (numpy.where(doubtful, after, before) > 0.5) == labels
            cells.append(f"{100 * right.mean():.2f} ({100 * doubtful.mean():.0f})")
        row(name, *cells)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
