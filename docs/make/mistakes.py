"""Where the packaged model errs on the official test file: writes a section of docs/accuracy.md, and its picture.

    NSMC_ATTENTION_DATA=... python -m docs.make.mistakes            # the section: counts
    NSMC_ATTENTION_DATA=... python -m docs.make.mistakes --texts    # the reviews themselves, to the screen only

Films and stars come from the raw archive, by review id.
"""

import sys
from typing import Any

import numpy
import pandas
from scipy.stats import binomtest

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.drawing.figure import new_figure
from nsmc_attention.measure.metrics import metrics

from .pictures import PICTURES, named, save_figure

PAGE = PICTURES.parent / "accuracy.md"
# What the page has before and after the section
BEGIN, END = "<!-- python -m docs.make.mistakes -->\n", "<!-- end -->\n"
BINS = 15


def scored():
    """Return the test reviews as a table: label, probability, right, tokens, stars, film, seen."""
    classifier = load_classifier()
    table = nsmc.load("nsmc", "test").frame.copy()
    encode = classifier.bundle.codec.encode
    encoded = [encode(text) for text in table["document"]]
    table["probability"] = numpy.nan_to_num(classifier.score(encoded), nan=0.5)
    table["right"] = (table["probability"] >= 0.5) == (table["label"] == 1)
    table["confidence"] = numpy.maximum(table["probability"], 1 - table["probability"])
    table["tokens"] = [len(each) for each in encoded]
    stars = raw_reviews()
    table = table.join(stars, on=table["id"].astype(str))
    learned = stars.index.isin(nsmc.load("nsmc", "train").frame["id"].astype(str))
    table["seen"] = table["film"].isin(set(stars.loc[learned, "film"]))
    return classifier, table


def raw_reviews():
    rows = pandas.DataFrame(raw.stream(raw.find()), columns=raw.COLUMNS)
    return rows.drop_duplicates("id").set_index("id")[["stars", "film"]]


def accuracy_by(table, groups):
    """Return one row a group: reviews, accuracy in % and its 95 % interval (Wilson)."""
    rows = []
    for name, part in table.groupby(groups, observed=True):
        low, high = binomtest(int(part["right"].sum()), len(part)).proportion_ci(method="wilson")
        rows.append((name, len(part), 100 * part["right"].mean(), 100 * low, 100 * high))
    return pandas.DataFrame(rows, columns=["group", "reviews", "accuracy", "low", "high"])


def reliability(classifier, table):
    """Draw accuracy against confidence; return ECE of the network alone, uncalibrated, and of the whole model."""
    from nsmc_attention.classifier.engines import load_engine
    from nsmc_attention.classifier.predictor import TokenScorer
    from nsmc_attention.network.parameters import set_parameters, snapshot, without_wide

    bundle = classifier.bundle
    gluon: Any = load_engine(bundle, "gluon")
    network = gluon.graph.block
    set_parameters(network, without_wide(snapshot(network)))
    encoded = [bundle.codec.encode(text) for text in table["document"]]
    probability = numpy.nan_to_num(TokenScorer(bundle.codec, gluon, bundle.config)(encoded), nan=0.5)
    inside = probability.clip(1e-9, 1 - 1e-9)
    found = bundle.manifest["calibration"]
    own = (numpy.log(inside / (1 - inside)) - found["bias"]) / found["scale"]
    eces = []
    with new_figure((4.6, 3.8)) as (figure, ((axes,),)):
        axes.plot([0.5, 1], [0.5, 1], color="0.7", linewidth=1)
        for name, probability, marker in (
            ("the network alone, before", 1 / (1 + numpy.exp(-own)), "s--"),
            ("the packaged model, after", table["probability"], "o-"),
        ):
            confidence = numpy.maximum(probability, 1 - probability)
            right = (probability >= 0.5) == (table["label"] == 1)
            bins = numpy.minimum((confidence * BINS).astype(int), BINS - 1)
            points = pandas.DataFrame({"confidence": confidence, "right": right}).groupby(bins).mean()
            axes.plot(points["confidence"], points["right"], marker, label=name, markersize=4)
            eces.append(metrics(table["label"], probability)["ece"])
        axes.set(xlabel="confidence", ylabel="accuracy")
        axes.legend()
        axes.grid(alpha=0.3)
    save_figure(figure, named("reliability"))
    return eces


def as_markdown(rows, label):
    lines = [f"| {label} | reviews | accuracy | 95 % interval |", "|---|---|---|---|"]
    lines += [
        f"| {row.group} | {row.reviews:,} | {row.accuracy:.2f} % | {row.low:.2f} to {row.high:.2f} |"
        for row in rows.itertuples()
    ]
    return "\n".join(lines)


def section(classifier, table):
    before, after = reliability(classifier, table)
    edges = [-1, 2, 5, 10, 15, 20, 30, 45, 300]
    lengths = ["0-2", "3-5", "6-10", "11-15", "16-20", "21-30", "31-45", "46+"]
    stars = table["stars"].dropna().astype(int)
    unseen = accuracy_by(table, table["seen"]).set_index("group").loc[False]
    counts = table.groupby(["document", "label"]).size().unstack(fill_value=0)
    counts = counts[counts.min(axis=1) > 0]
    shared = table["document"].isin(set(nsmc.load("nsmc", "train").frame["document"]))
    sure = table["confidence"] >= 0.95
    astray = table[sure & ~table["right"]]
    return TEMPLATE.format(
        wrong=(~table["right"]).sum(),
        total=len(table),
        before=before,
        after=after,
        sure=sure.sum(),
        sure_accuracy=100 * table.loc[sure, "right"].mean(),
        both=counts.sum().sum(),
        hopeless=counts.min(axis=1).sum(),
        shared=shared.sum(),
        praise=(astray["stars"] <= 4).sum(),
        unshared=100 * table.loc[~shared, "right"].mean(),
        unseen=unseen,
        length=as_markdown(accuracy_by(table, pandas.cut(table["tokens"], edges, labels=lengths)), "tokens"),
        stars=as_markdown(accuracy_by(table.loc[stars.index], stars), "stars"),
    )


TEMPLATE = """The packaged model misclassifies {wrong:,} of the {total:,} reviews (`python -m docs.make.mistakes --texts` prints them).
The expected calibration error (ECE) is {before:.4f} for the network alone before calibration, and {after:.4f} for the model.
Of the {sure:,} reviews with at least 95 % confidence, {sure_accuracy:.2f} % are classified correctly.

![Accuracy against confidence](pictures/reliability.png)

{length}

{stars}

- **Films** that are not in the training file: {unseen.accuracy:.2f} % of {unseen.reviews:,.0f} reviews ({unseen.low:.2f} to {unseen.high:.2f}).
- **Label noise.** The texts of {both:,} test reviews occur with both labels, so any model misclassifies at least {hopeless:,}.
  With more than 95 % confidence, the model predicts `positive` for {praise:,} reviews with 1 to 4 stars, many of them plain
  praise, as if the reviewer had confused the two ends of the scale.
- **Duplicates.** The texts of {shared:,} test reviews are also in the training file; without these, the accuracy is
  {unshared:.2f} %.
"""


def main():
    classifier, table = scored()
    if "--texts" in sys.argv:
        worst = table[~table["right"]].sort_values("confidence", ascending=False)
        print(worst[["id", "label", "probability", "stars", "document"]].head(60).to_string(index=False))
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + section(classifier, table) + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
