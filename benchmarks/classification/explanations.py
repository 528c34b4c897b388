"""Comparison of the methods of `explain` with others: attention rollout, integrated gradients, random values.

    NSMC_ATTENTION_DATA=... python -m benchmarks.classification.explanations [--bundle BUNDLE] [--limit 1000]
    python -m benchmarks.classification.explanations [--bundle BUNDLE] --text TEXT

The script prints the agreement of each method with erasure and gradient x input on official test reviews drawn by seed 0,
as in `nsmc-attention faithfulness`, or the values of the tokens of one review.
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from nsmc_attention import load_classifier
from nsmc_attention.classifier.engines import GradientEngine
from nsmc_attention.classifier.explain import Explainer
from nsmc_attention.corpora import nsmc
from nsmc_attention.engines.graphs import GluonGraph
from nsmc_attention.measure.faithfulness import MIN_TOKENS, SIGNED, agreement, aopc, correlation, leave_one_out
from nsmc_attention.text.encoding import Encoded
from nsmc_attention.views.terminal import interval

# Points of an integrated gradient
STEPS = 24


def rollout(heads: Any, weights: Any) -> Any:
    """Carry weights of the last layer's states, (T,) or (Q, T), down to the tokens; each row keeps its sum.

    Abnar & Zuidema 2020 (arXiv:2005.00928), section 3, equation 1: rollout(l) = A(l) rollout(l - 1), rollout(0) = I. A is
    0.5 W + 0.5 I, of the mean W of a layer's heads (L, K, T, T), the first layer first, and the identity for the residual
    connection. The product is taken from the top down, so that no T x T matrices are multiplied.
    """
    for layer in numpy.mean(heads, axis=1)[::-1]:
        weights = (weights @ layer + weights) / 2
    return weights


class IntegratedGradients(GradientEngine):
    """Integrated gradients (Sundararajan et al. 2017, arXiv:1703.01365, equation 1).

    The gradients are averaged over points on the straight path from a zero baseline, so that the values of a review sum
    to log-odds(input) - log-odds(baseline).
    """

    name = "integrated"

    def __init__(self, graph: GluonGraph, steps: int = STEPS):
        super().__init__(graph)
        self.steps = steps

    def gradients(self, rows: Sequence[Any], mask: Any, lengths: Any) -> list[Any]:
        """Return the weighted mean of the gradients along the path."""
        mean = [0 * row for row in rows]
        for share, weight in integration_points(self.steps):
            found = super().gradients([share * row for row in rows], mask, lengths)
            mean = [total + weight * each for total, each in zip(mean, found)]
        return mean


def integration_points(steps: int) -> Iterator[tuple[float, float]]:
    """Yield (share of the input, weight) of the points of the path.

    Midpoints of equal intervals of the share's root: the n-grams' log-odds, divided by the length of their vector, grow
    like that root.
    """
    for root in (numpy.arange(steps) + 0.5) / steps:
        yield float(root**2), float(2 * root / steps)


def orders(explainer: Explainer, reviews: Sequence[Encoded]) -> dict[str, list[Any]]:
    """Return for each method that fits the classifier one number a token (T,) of each review."""
    random = numpy.random.RandomState(0)
    weights = [prediction.token_weights for prediction in explainer.classifier.predict_encoded(reviews)]
    engine = IntegratedGradients(explainer.gluon)
    return {
        **({"contribution": explainer.scored(reviews)[1]} if explainer.has_contributions else {}),
        "attention": weights,
        **({"rollout": list(map(rollout, map(explainer.heads, reviews), weights))} if explainer.has_heads else {}),
        "gradient": explainer.gradients(reviews),
        "integrated": explainer.scorer(engine).read(reviews)[1],
        "erasure": leave_one_out(explainer.classifier.score, reviews),
        "random": [random.dirichlet(numpy.ones(len(review))) for review in reviews],
    }


def print_values(explainer: Explainer, text: str) -> None:
    """Print a table of the tokens of a review, a row for each method."""
    review = explainer.classifier.encoder.encode(text)
    print(f"| | {' | '.join(review.tokens)} |\n|---{'|---' * len(review)}|")
    for name, (values,) in orders(explainer, [review]).items():
        print(f"| {name} | {' | '.join(f'{value:.2f}' for value in values)} |")


def print_agreement(explainer: Explainer, limit: int) -> None:
    """Print a table of the methods: tau, comprehensiveness, sufficiency and the correlation with erasure."""
    reviews = nsmc.load("nsmc", "test")
    chosen = numpy.random.RandomState(0).permutation(len(reviews))[:limit]
    encoded = explainer.classifier.encoder.encode_many([reviews.documents[place] for place in chosen])
    encoded = [review for review in encoded if len(review) >= MIN_TOKENS]
    made, score = orders(explainer, encoded), explainer.classifier.score
    sizes = {name: [numpy.abs(each) for each in values] for name, values in made.items()}
    print("| words ordered by | tau, erasing | tau, gradient | comprehensiveness | sufficiency | correlation |")
    print("|---|---|---|---|---|---|")
    for name, order in sizes.items():
        taus = [interval(agreement(order, sizes[measure])) for measure in ("erasure", "gradient")]
        change = aopc(score, encoded, order, score(encoded))
        drops = [f"{change[kind]['mean']:.3f}" for kind in ("comprehensiveness", "sufficiency")]
        signed = name in (*SIGNED, "integrated", "erasure")
        linear = correlation(made[name], made["erasure"]) if signed else correlation(order, sizes["erasure"])
        print(f"| {name} | {' | '.join([*taus, *drops])} | {linear:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.classification.explanations")
    parser.add_argument("--bundle", help="a bundle or its run folder  [default: the packaged classifier]")
    parser.add_argument("--limit", type=int, default=1000, help="number of reviews")
    parser.add_argument("--text", help="print the values of the tokens of this review instead")
    options = parser.parse_args()
    explainer = Explainer(load_classifier(options.bundle))
    if options.text:
        print_values(explainer, options.text)
    else:
        print_agreement(explainer, options.limit)


if __name__ == "__main__":
    main()
