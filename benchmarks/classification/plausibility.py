"""Plausibility: the share of explanations whose first words are among the reasons that a reader marked.

    python -m benchmarks.classification.plausibility [BUNDLE]

The script prints the share for each method and for a random order. Plausibility compares explanations with a reader, while
faithfulness compares them with the model (ERASER, DeYoung et al. 2020, arXiv:1911.03429, section 4.1). `reasons.tsv` has
reviews written for this benchmark, with the reasons for their label in square brackets.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray

from nsmc_attention import load_classifier
from nsmc_attention.classifier.explain import Explainer
from nsmc_attention.machine.files import read_rows
from nsmc_attention.measure.faithfulness import SIGNED
from nsmc_attention.text.encoding import Encoded

REASONS = Path(__file__).with_name("reasons.tsv")


@dataclass(frozen=True)
class Marked:
    """A review of a label, 0 or 1, and (start, end) of the characters that a reader marked."""

    label: int
    text: str
    spans: tuple[tuple[int, int], ...]

    def tokens(self, review: Encoded) -> NDArray[numpy.bool_]:
        """Return which tokens (T,) of the encoded review share a character with a mark."""
        return numpy.array([any(a < end and b > start for start, end in self.spans) for a, b in review.offsets])


def marked_reviews() -> list[Marked]:
    """Return the reviews of `reasons.tsv`."""
    return [marked(row["review"], int(row["label"])) for row in read_rows(REASONS)]


def marked(review: str, label: int) -> Marked:
    """Return the Marked of a review with square brackets around its reasons."""
    text, spans = "", []
    for place, piece in enumerate(re.split(r"[\[\]]", review)):
        if place % 2:
            spans.append((len(text), len(text) + len(piece)))
        text += piece
    return Marked(label, text, tuple(spans))


def plausibility(
    reviews: Sequence[Marked],
    encoded: Sequence[Encoded],
    orders: dict[str, Sequence[Any]],
    signed: Sequence[str] = SIGNED,
    seed: int = 0,
) -> dict[str, float]:
    """Return for each order of the words, and a random one, the mean precision of its first k words (k as many as marked).

    `orders` have an array (T,) for each review; one of `signed` is read for the review's label, others by size.
    """
    random = numpy.random.RandomState(seed)
    values: dict[str, Sequence[Any]] = {**orders, "random": [random.rand(len(review)) for review in encoded]}
    wanted = [review.tokens(tokens) for review, tokens in zip(reviews, encoded)]
    figures = {}
    for name, arrays in values.items():
        ranked = [(2 * one.label - 1) * array if name in signed else abs(array) for one, array in zip(reviews, arrays)]
        figures[name] = float(numpy.mean([precision(row, marks) for row, marks in zip(ranked, wanted)]))
    return figures


def precision(values: ArrayLike, wanted: NDArray[numpy.bool_]) -> float:
    """Return the share of the k largest values (T,) that are wanted, of k wanted ones."""
    count = int(wanted.sum())
    return float(wanted[numpy.argsort(-numpy.asarray(values), kind="stable")[:count]].mean()) if count else 0.0


def measured(explainer: Explainer) -> dict[str, float]:
    """Return the `plausibility` of a classifier's attention and, where it has them, gradients and contributions."""
    reviews = marked_reviews()
    encoded = explainer.classifier.encoder.encode_many([review.text for review in reviews])
    predictions = explainer.classifier.predict_encoded(encoded)
    orders: dict[str, Sequence[Any]] = {"attention": [prediction.token_weights for prediction in predictions]}
    if "gradient" in explainer.methods:
        orders["gradient"] = explainer.gradients(encoded)
    if explainer.has_contributions:
        orders["contribution"] = explainer.scored(encoded)[1]
    return plausibility(reviews, encoded, orders)


def main() -> None:
    classifier = load_classifier(sys.argv[1] if len(sys.argv) > 1 else None)
    for name, share in measured(Explainer(classifier)).items():
        print(f"{name:14}{100 * share:.0f} %")


if __name__ == "__main__":
    main()
