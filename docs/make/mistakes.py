"""Where the packaged model errs on the official test file: writes docs/mistakes.md and its pictures.

    NSMC_ATTENTION_DATA=... python -m docs.make.mistakes            # the page: counts and ids
    NSMC_ATTENTION_DATA=... python -m docs.make.mistakes --texts    # the reviews themselves, to the screen only

Films, dates and stars come from the raw archive, by review id.
"""

import sys
import textwrap
from typing import Any

import numpy
import pandas
from scipy.stats import binomtest

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.drawing.figure import new_figure
from nsmc_attention.measure.metrics import metrics

from .pictures import PICTURES, named, save_figure

DOCS = PICTURES.parent
BINS = 15
SHOWN = 20


def scored():
    """Return the test reviews as a table: label, probability, right, tokens, stars, film, year, seen."""
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
    rows = pandas.DataFrame(raw.stream(raw.find()), columns=raw.COLUMNS).drop_duplicates("id").set_index("id")
    # dates are written as 05.12.31 or 2005.12.31
    year = pandas.to_numeric(rows["date"].str.split(".").str[0], errors="coerce")
    return rows.assign(year=numpy.where(year < 100, year + 2000, year))[["stars", "film", "year"]]


def accuracy_by(table, groups):
    """Return one row a group: reviews, accuracy in % and its 95 % interval (Wilson)."""
    rows = []
    for name, part in table.groupby(groups, observed=True):
        low, high = binomtest(int(part["right"].sum()), len(part)).proportion_ci(method="wilson")
        rows.append((name, len(part), 100 * part["right"].mean(), 100 * low, 100 * high))
    return pandas.DataFrame(rows, columns=["group", "reviews", "accuracy", "low", "high"])


def draw(rows, label, name):
    with new_figure((4.8, 2.6)) as (figure, ((axes,),)):
        errors = [rows["accuracy"] - rows["low"], rows["high"] - rows["accuracy"]]
        axes.errorbar(range(len(rows)), rows["accuracy"], yerr=errors, fmt="o", capsize=3)
        axes.set_xticks(range(len(rows)), [str(group) for group in rows["group"]])
        axes.set(xlabel=label, ylabel="accuracy, %")
        axes.grid(axis="y", alpha=0.3)
    save_figure(figure, named(name))


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


def page(classifier, table):
    before, after = reliability(classifier, table)
    groups = {
        "length": (
            "tokens",
            pandas.cut(
                table["tokens"],
                [-1, 2, 5, 10, 15, 20, 30, 45, 300],
                labels=["0-2", "3-5", "6-10", "11-15", "16-20", "21-30", "31-45", "46+"],
            ),
        ),
        "stars": ("stars", table["stars"].dropna().astype(int)),
        "year": ("year", table["year"].dropna().astype(int).clip(lower=2005)),
        "film": ("film", table["seen"].map({True: "in the training file", False: "not in the training file"})),
    }
    parts = {}
    for name, (label, group) in groups.items():
        rows = accuracy_by(table.loc[group.index], group)
        # two points need no picture
        if len(rows) > 2:
            draw(rows, label, name)
        parts[name] = as_markdown(rows, label)
    worst = table[~table["right"]].sort_values("confidence", ascending=False)
    counts = table.groupby(["document", "label"]).size().unstack(fill_value=0)
    counts = counts[counts.min(axis=1) > 0]
    train = nsmc.load("nsmc", "train").frame
    shared = table["document"].isin(set(train["document"]))
    against = table.merge(train.groupby("document")["label"].mean().rename("learned"), on="document")
    against = against[(against["learned"] == 1 - against["label"])]
    sure = table["confidence"] >= 0.95
    astray = table[sure & ~table["right"]]
    return TEMPLATE.format(
        wrong=(~table["right"]).sum(),
        total=len(table),
        accuracy=100 * table["right"].mean(),
        before=before,
        after=after,
        sure=sure.sum(),
        sure_wrong=(sure & ~table["right"]).sum(),
        sure_accuracy=100 * table.loc[sure, "right"].mean(),
        both=counts.sum().sum(),
        hopeless=counts.min(axis=1).sum(),
        shared=shared.sum(),
        praise=(astray["stars"] <= 4).sum(),
        one_star=(astray["stars"] == 1).sum(),
        blame=(astray["stars"] >= 9).sum(),
        unshared=100 * table.loc[~shared, "right"].mean(),
        against=len(against),
        ids=wrapped(worst["id"].astype(str)[:SHOWN]),
        shown=SHOWN,
        **parts,
    )


def wrapped(words):
    return textwrap.fill(", ".join(words), 110)


TEMPLATE = """# Mistakes of the packaged model

The packaged model misclassifies {wrong:,} of the {total:,} official test reviews (its accuracy is {accuracy:.2f} %).
`python -m docs.make.mistakes` writes this page; `--texts` prints the misclassified reviews instead.

## Confidence

![Accuracy against confidence](pictures/reliability.png)

The expected calibration error (ECE) is {before:.4f} for the network alone before calibration, and {after:.4f} for the packaged
model. Of the {sure:,} reviews with at least 95 % confidence, {sure_accuracy:.2f} % are classified correctly ({sure_wrong:,} are not).

## By length

![Accuracy by length](pictures/length.png)

{length}

## By stars

![Accuracy by stars](pictures/stars.png)

{stars}

## By year

![Accuracy by year](pictures/year.png)

The row for 2005 includes earlier years.

{year}

## By film

{film}

## Label noise

- The texts of {both:,} test reviews occur with both labels in the test file. Any model misclassifies at least {hopeless:,} of them.
- The texts of {shared:,} test reviews are also in the training file. Without these reviews, the accuracy is {unshared:.2f} %.
- For {against:,} test reviews, the same text always has the opposite label in the training file.
- With more than 95 % confidence, the model predicts `positive` for {praise:,} reviews with 1 to 4 stars ({one_star:,} of them
  have one star), and `negative` for {blame:,} reviews with 9 or 10 stars. Many of the reviews with low ratings
  contain plain praise, as if the reviewer had confused the two ends of the scale.

## The most confident mistakes

These are the ids of the {shown} misclassified reviews with the highest confidence:
{ids}.
"""


def main():
    classifier, table = scored()
    if "--texts" in sys.argv:
        worst = table[~table["right"]].sort_values("confidence", ascending=False)
        print(worst[["id", "label", "probability", "stars", "document"]].head(60).to_string(index=False))
        return
    (DOCS / "mistakes.md").write_text(page(classifier, table), encoding="utf-8")
    print(DOCS / "mistakes.md")


if __name__ == "__main__":
    main()
