"""Labels and sentiments of unseen everyday texts, which were written for this project.

    python -m benchmarks.classification.unseen [BUNDLE]

`unseen.tsv` has 1,800 texts (document, side, kind, domain), a third of them neutral or without an opinion. A second reader,
who did not see the sides, agreed on each. They estimate the accuracy on users' texts, so no choice may depend on them.
"""

import csv
import sys
from pathlib import Path
from typing import Optional

import pandas

from nsmc_attention import load_classifier
from nsmc_attention.classifier.predictor import Classifier

TEXTS = Path(__file__).with_name("unseen.tsv")
CLEAR = ("negative", "positive")


def texts() -> pandas.DataFrame:
    """Return document, side (none: no opinion, negative, neutral, positive), kind and domain of each text."""
    return pandas.read_csv(TEXTS, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False)


def judged(classifier: Classifier, frame: pandas.DataFrame) -> pandas.DataFrame:
    """Return the texts with 100 or 0: has the right sentiment, keeps a side, has the right label (missing without a side)."""
    said = [*zip(*((each.label, each.sentiment or "none") for each in classifier.predict_many([*frame["document"]])))]
    labels, sentiments = pandas.Series(said[0], frame.index), pandas.Series(said[1], frame.index)
    return frame.assign(
        sentiment=100.0 * (sentiments == frame["side"]),
        keeps_a_side=100.0 * sentiments.isin(CLEAR),
        label=(100.0 * (labels == frame["side"])).where(frame["side"].isin(CLEAR)),
    )


def main(bundle: Optional[str] = None) -> None:
    frame = judged(load_classifier(bundle), texts())
    figures = ["sentiment", "keeps_a_side", "label"]
    for column, some in (("side", frame), ("kind", frame[frame["side"].isin(CLEAR)])):
        print(
            some.groupby(column)[figures].mean().assign(texts=some.groupby(column).size()).round(1).to_string(na_rep="")
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
