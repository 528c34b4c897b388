"""How faithful attention is: of several bundles, of several ways from a T x T matrix to one weight a word, in a corpus.

    NSMC_ATTENTION_DATA=... python -m benchmarks.classification.attention [NAME=BUNDLE ...]

Prints the tables of docs/faithfulness.md and draws its pictures; the packaged bundle comes first. 1,000 official test reviews
drawn by seed 0 for the tables, the packaged bundle alone for the candidates, 5,000 reviews for the corpus.
"""

import sys
from collections import Counter, defaultdict

import numpy
import pandas
from scipy.stats import entropy

from benchmarks.classification.replaced import replaced
from docs.make.pictures import named, save_figure
from nsmc_attention.apps.evaluation import evaluate, faithfulness
from nsmc_attention.classifier.engines import embed_batch
from nsmc_attention.classifier.explain import Explainer
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.drawing.figure import new_figure, printable
from nsmc_attention.drawing.html import LIGHT, as_hex
from nsmc_attention.measure.faithfulness import MIN_TOKENS, agreement, aopc, leave_one_out
from nsmc_attention.measure.metrics import evenness
from nsmc_attention.text.tokenizers import mecab_tags
from nsmc_attention.views.heatmap import by_word, tags_at, token_table
from nsmc_attention.views.terminal import interval

REVIEWS, CORPUS = 1000, 5000
# Rows of a figure of the corpus
WORDS = 15
# One-layer BiLSTM with additive attention, masked softmax: result files of successar/AttentionExplanation, the
# code of Jain & Wallace 2019. Mean of Kendall's tau over the reviews of the test part.
PUBLISHED = {
    "SST": {"erasure": 0.291, "gradient": 0.351},
    "IMDB": {"erasure": 0.341, "gradient": 0.437},
    "SST, dot": {"erasure": 0.064, "gradient": 0.073},
}
ATTENTION, *LABELS = map(as_hex, (LIGHT.attention, LIGHT.positive, LIGHT.negative))


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
    save_figure(draw_corpus(classifiers["packaged"].predict_many(texts[:CORPUS]), mecab_tags), named("corpus"))


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
    _, _, values, by_token, *_ = network.encode(nd, *embed_batch(graph, batch))
    negative, positive = network.output.weight.data().asnumpy()
    last, values = positive - negative, values.asnumpy()[0]
    return values @ last[:-1], numpy.linalg.norm(values, axis=1), last[-1] * by_token.asnumpy()[0, :, 0]


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


def draw_corpus(predictions, tag, fewest=20):
    """Draw which words, parts of speech, positions and distances get the weight in these reviews.

    `tag` is as `text.tokenizers.mecab_tags`; words that occur fewer than `fewest` times in reviews of a label are left out.
    """
    labelled = [one for one in predictions if one.label is not None]
    tags_of_tokens = [name for one in labelled for name in tags_at(one.offsets, tag(one.text))]
    table = token_table(labelled).assign(tag=tags_of_tokens)
    words, tags = by_word(table, fewest), by_tag(table).head(WORDS)
    with new_figure((6.4, 10), 3, 2) as (figure, grid):
        bars, lines = grid[:2].flat, grid.flat[3:]
        for axes, label, color in zip(bars, ("positive", "negative"), LABELS):
            rows = words[words["label"] == label].head(WORDS)
            draw_bars(axes, rows["token"], rows["weight"], color, f"words in {label} reviews")
        draw_bars(bars[2], tags["tag"], tags["weight"], ATTENTION, "parts of speech")
        for axes in bars[:3]:
            axes.axvline(1, color="0.7", linewidth=1)
            axes.set_xlabel("weight x T (1: average)")
        draw_line(lines[0], by_position(table), "position", "0: first word, 1: last")
        draw_line(lines[1], by_distance(predictions), "distance", "place of the key - of the query")
        values = [evenness([each.token_weights]) for each in predictions if len(each.tokens) > 1]
        lines[2].hist(values, bins=40, range=(0, 1), color="0.5")
        lines[2].set(title="evenness of the attention", xlabel="entropy / log T (1: uniform)", ylabel="reviews")
    return figure


def draw_line(axes, rows, x, label):
    axes.plot(rows[x], rows["weight"], "o-", markersize=3, color=ATTENTION)
    axes.axhline(1, color="0.7", linewidth=1)
    axes.set(title=f"by {x}", xlabel=label, ylim=(0, None), ylabel="weight x T (1: average)")
    axes.grid(alpha=0.3)


def mean_weight(table, keys, names):
    """Return one row a group: its keys, and the number and mean weight of its tokens, in columns `names`."""
    return table.groupby(keys)["weight"].agg(["size", "mean"]).reset_index().set_axis(names, axis=1)


def by_tag(table, fewest=50):
    """Return tag, count, weight (mean), share (of all weight), largest first; see `token_table` with tags."""
    rows = mean_weight(table, "tag", ["tag", "count", "weight"])
    rows["share"] = rows["count"] * rows["weight"] / (rows["count"] * rows["weight"]).sum()
    return rows[rows["count"] >= fewest].sort_values("weight", ascending=False, ignore_index=True)


def by_position(table, bins=10):
    """Return position (midpoint of each of `bins` parts of the review), count and weight (mean)."""
    part = numpy.minimum((table["position"] * bins).astype(int), bins - 1)
    rows = mean_weight(table, part, ["position", "count", "weight"])
    return rows.assign(position=(rows["position"] + 0.5) / bins)


def by_distance(predictions, farthest=20):
    """Return distance (the key's position less the query's), count and weight (mean, times T).

    Over all pairs of query and key, at most `farthest` apart, of the reviews that have a label; other axes are averaged.
    """
    totals, counts = defaultdict[int, float](float), Counter[int]()
    for each in predictions:
        if each.label is None or "queries" not in each.axes:
            continue
        weights = each.weights.mean(axis=tuple(range(each.weights.ndim - 2)))
        queries, keys = weights.shape
        for distance in range(-min(farthest, queries - 1), min(farthest, keys - 1) + 1):
            diagonal = numpy.diagonal(weights, distance)
            totals[distance] += float(diagonal.sum()) * keys
            counts[distance] += len(diagonal)
    rows = [(distance, counts[distance], totals[distance] / counts[distance]) for distance in sorted(counts)]
    return pandas.DataFrame(rows, columns=["distance", "count", "weight"])


def draw_bars(axes, names, values, color, title):
    """Draw one horizontal bar for each name, the first at the top."""
    axes.barh(range(len(values)), values, color=color)
    axes.set_yticks(range(len(values)), list(map(printable, names)))
    axes.invert_yaxis()
    axes.set_title(title)


if __name__ == "__main__":
    main(sys.argv[1:])
