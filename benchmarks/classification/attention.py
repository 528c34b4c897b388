"""Faithfulness of attention for several bundles, and for several ways to reduce the T x T matrix to a weight per word.

    NSMC_ATTENTION_DATA=... python -m benchmarks.classification.attention [NAME=BUNDLE ...]

The script prints the tables of docs/faithfulness.md and draws its picture, from 1,000 official test reviews drawn by seed 0.
The packaged bundle is the first one, and the only one for the ways to reduce the matrix.
"""

import sys

import numpy
from scipy.stats import entropy

from benchmarks.classification.replaced import replaced
from docs.make.pictures import named, save_figure
from nsmc_attention.apps.evaluation import evaluate, faithfulness
from nsmc_attention.classifier.engines import embed_batch
from nsmc_attention.classifier.explain import Explainer
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.drawing.figure import new_figure
from nsmc_attention.measure.faithfulness import MIN_TOKENS, agreement, aopc, leave_one_out
from nsmc_attention.views.terminal import interval

REVIEWS = 1000
# One-layer BiLSTM with additive attention, masked softmax: result files of successar/AttentionExplanation, the
# code of Jain & Wallace 2019. Mean of Kendall's tau over the reviews of the test part.
PUBLISHED = {
    "SST": {"erasure": 0.291, "gradient": 0.351},
    "IMDB": {"erasure": 0.341, "gradient": 0.437},
    "SST, dot": {"erasure": 0.064, "gradient": 0.073},
}


def main(arguments):
    reviews = nsmc.load("nsmc", "test")
    classifiers = {
        "packaged": load_classifier(),
        **{name: load_classifier(folder) for name, folder in (each.split("=") for each in arguments)},
    }
    results = {
        name: {**faithfulness(classifier, reviews, REVIEWS), **replaced(classifier, reviews, REVIEWS)}
        for name, classifier in classifiers.items()
    }
    accuracy = {name: evaluate(classifier, reviews)["accuracy"] for name, classifier in classifiers.items()}
    print_bundles(results, accuracy)
    save_figure(draw_results(results), named("faithfulness"))
    chosen = numpy.random.RandomState(0).permutation(len(reviews))
    documents = reviews.documents
    texts = [documents[place] for place in chosen]
    print_candidates(classifiers["packaged"], texts[:REVIEWS])


def print_bundles(results, accuracy):
    print(
        "| model | accuracy | tau with erasure | p < 0.05 | tau with gradient | p < 0.05 "
        "| comprehensiveness (random) | sufficiency (random) | uniform weights: change, labels |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, found in results.items():
        tau, orders = found["tau"]["attention"], found["orders"]
        uniform = found["uniform"]
        cells = [name, f"{100 * accuracy[name]:.2f}"]
        for measure in ("erasure", "gradient"):
            cells += [interval(tau[measure]), f"{100 * tau[measure]['significant']:.0f} %"]
        for kind in ("comprehensiveness", "sufficiency"):
            cells.append(f"{orders['attention'][kind]['mean']:.3f} ({orders['random'][kind]['mean']:.3f})")
        cells.append(f"{uniform['change']:.3f}, {100 * uniform['flipped']:.1f} %")
        print("| " + " | ".join(cells) + " |", flush=True)


def draw_results(results):
    """Draw tau with erasure and gradients beside published figures, and AOPC beside the random order's; return a Figure."""
    with new_figure((6, 4.4 + 0.84 * (len(results) + len(PUBLISHED))), 2) as (figure, grid):
        draw_taus(grid[0, 0], results)
        draw_aopc(grid[1, 0], results)
        for axes in grid.flat:
            axes.grid(axis="x", alpha=0.3)
            axes.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    return figure


def draw_taus(axes, results):
    for offset, measure, marker in ((-0.12, "erasure", "o"), (0.12, "gradient", "s")):
        means = [(row + offset, result["tau"]["attention"].get(measure)) for row, result in enumerate(results.values())]
        defined = [(height, mean) for height, mean in means if mean and mean["mean"] is not None]
        draw_means(axes, defined, fmt=marker, label=f"with {measure}")
        heights = [len(results) + row + offset for row in range(len(PUBLISHED))]
        axes.plot([figures[measure] for figures in PUBLISHED.values()], heights, marker, color="0.6")
    names = [*results, *(f"published: {name}" for name in PUBLISHED)]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.axvline(0, color="0.7", linewidth=1)
    axes.set(title="Kendall's tau of the attention", xlabel="mean over the reviews, 95 % interval")


def draw_aopc(axes, results):
    for offset, kind, color in ((-0.12, "comprehensiveness", "C0"), (0.12, "sufficiency", "C1")):
        for order, fill in (("attention", color), ("random", "white")):
            means = [(row + offset, result["orders"][order][kind]) for row, result in enumerate(results.values())]
            draw_means(axes, means, fmt="o", color=color, markerfacecolor=fill, label=f"{kind}, {order}")
    axes.set_yticks(range(len(results)), list(results))
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.set(title="AOPC of the largest weights, beside a random order", xlabel="change of the label's probability")


def draw_means(axes, means, **style):
    """Draw (height, mean with its interval) as points with bars."""
    errors = [[mean["mean"] - mean["low"] for _, mean in means], [mean["high"] - mean["mean"] for _, mean in means]]
    axes.errorbar([mean["mean"] for _, mean in means], [y for y, _ in means], xerr=errors, capsize=3, **style)


def print_candidates(classifier, texts):
    """One weight a word by each candidate, judged as `faithfulness` judges."""
    explainer = Explainer(classifier)
    encoded = [each for each in map(explainer.bundle.codec.encode, texts) if len(each) >= MIN_TOKENS]
    predictions = list(classifier.predict_encoded(encoded))
    erased = [numpy.abs(change) for change in leave_one_out(classifier.score, encoded)]
    gradients = [numpy.abs(each) for each in explainer.gradients(encoded)]
    whole = classifier.score(encoded)
    inside = [network_parts(explainer, review) for review in encoded]
    print("\n| one weight a word | tau with erasure | tau with gradient | comprehensiveness | sufficiency |")
    print("|---|---|---|---|---|")
    for name, candidate in CANDIDATES.items():
        weights = [candidate(each.weights.astype("float64"), *parts) for each, parts in zip(predictions, inside)]
        found = aopc(classifier.score, encoded, weights, whole)
        print(
            f"| {name} | {interval(agreement(weights, erased))} | {interval(agreement(weights, gradients))} | "
            f"{found['comprehensiveness']['mean']:.3f} | {found['sufficiency']['mean']:.3f} |",
            flush=True,
        )


def network_parts(explainer, review):
    """Return of each token: what its value adds to the log-odds if attended to alone, its length, its n-grams' share."""
    graph, batch = explainer.gluon, explainer.bundle.codec.batch([review])
    network, nd = graph.block, graph.mxnet.nd
    _, _, values, ngram_odds, *_ = network.encode(nd, *embed_batch(graph, batch))
    negative, positive = network.output.weight.data().asnumpy()
    last, values = positive - negative, values.asnumpy()[0]
    return values @ last[:-1], numpy.linalg.norm(values, axis=1), last[-1] * ngram_odds.asnumpy()[0, :, 0]


def sharpest(weights):
    return numpy.argmin([entropy(row) for row in weights])


CANDIDATES = {
    "column mean": lambda w, worth, length, ngrams: w.mean(axis=0),
    "column maximum": lambda w, worth, length, ngrams: w.max(axis=0),
    "rows weighed by what they are looked at": lambda w, worth, length, ngrams: w.mean(axis=0) @ w,
    "row of the word most looked at": lambda w, worth, length, ngrams: w[w.mean(axis=0).argmax()],
    "row of the sharpest query": lambda w, worth, length, ngrams: w[sharpest(w)],
    "column mean x length of the value": lambda w, worth, length, ngrams: w.mean(axis=0) * length,
    "column mean x what the last layer makes of the value": lambda w, worth, length, ngrams: abs(
        w.mean(axis=0) * worth
    ),
    "that, and what the word's n-grams say": lambda w, worth, length, ngrams: abs(w.mean(axis=0) * worth + ngrams),
    "what the word's n-grams say alone": lambda w, worth, length, ngrams: abs(ngrams),
}


if __name__ == "__main__":
    main(sys.argv[1:])
