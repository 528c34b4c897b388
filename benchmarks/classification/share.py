"""How near the estimated share of positive reviews is to the truth, beside counting labels.

    python -m benchmarks.classification.share nsmc-raw.zip val.tsv [--shift 0.5]

Tables of films in their natural shares (raw reviews, without those of the official test file; the packaged classifier has
read most of them in training), and comments of KOTE with an odd id, which it has not, drawn at several shares. A label is positive from 8
of 10 stars on, negative up to 4; the rows between, and comments of neither or both sides, are in no true share.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import pandas

from nsmc_attention import load_classifier
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.measure import share as estimation
from nsmc_attention.measure.share import Evidence, Share, shrunk
from nsmc_attention.scoring.files import SAMPLED_ROWS

from .adapting import comments

SIZES = (50, 200, 1000)
# Shares of comments that tables are drawn at, and tables of each kind and size
DRAWN, TABLES, NEUTRAL = (0.2, 0.5, 0.71, 0.8, 0.85, 0.9, 0.95), 30, 0.3
BANDS = ((0.05, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.0))


class Case(NamedTuple):
    """A table: its kind, how many rows were asked for, the share that is true and the one counted, the estimates."""

    kind: str
    rows: int
    truth: float
    counted: float
    em: float
    share: Share


def em(probabilities: Any) -> float:
    """Return the prior of positive by the EM of Saerens et al. 2002, equations 2.4 to 2.7."""
    share = 0.5
    for _ in range(300):
        positive = share * probabilities
        share = float((positive / (positive + (1 - share) * (1 - probabilities))).mean())
    return share


def evidence(frame: pandas.DataFrame) -> Evidence:
    """Return the evidence of a table, as commands have it."""
    return Evidence.of(frame["probability"]) + load_classifier().sample([*frame["text"].head(SAMPLED_ROWS)])


def case(kind: str, rows: int, frame: pandas.DataFrame) -> Case:
    probabilities = frame["probability"].to_numpy()
    counted, truth = float((probabilities >= 0.5).mean()), float(frame["label"].mean())
    return Case(kind, rows, truth, counted, em(probabilities), evidence(frame).share)


def films(frame: pandas.DataFrame, random: numpy.random.RandomState) -> Iterator[Case]:
    """Yield tables of one film (50 rows), of four and of twenty whose shares are alike."""
    by_film = dict(list(frame.groupby("film")))
    shares = pandas.Series({film: own["label"].mean() for film, own in by_film.items() if len(own) >= 60})
    for low, high in BANDS:
        names = shares[(shares >= low) & (shares < high)].index
        for rows, count in zip(SIZES, (1, 4, 20)):
            for _ in range(TABLES):
                table = pandas.concat([by_film[film] for film in random.choice(names, count, replace=False)])
                yield case(
                    f"films, {low:.0%} to {high:.0%}", rows, table.sample(min(rows, len(table)), random_state=random)
                )


def drawn(frame: pandas.DataFrame, random: numpy.random.RandomState) -> Iterator[Case]:
    """Yield tables of comments of several shares, NEUTRAL of them neutral."""
    kinds = [frame[frame["label"] == label] for label in (0, 1)] + [frame[frame["label"].isna()]]
    for share in DRAWN:
        for rows in SIZES:
            for _ in range(TABLES):
                neutral = int(rows * NEUTRAL)
                positive = random.binomial(rows - neutral, share)
                counts = (rows - neutral - positive, positive, neutral)
                parts = [kind.sample(n, replace=True, random_state=random) for kind, n in zip(kinds, counts)]
                yield case(f"comments, {share:.0%}", rows, pandas.concat(parts).sample(frac=1, random_state=random))


def show(cases: list[Case]) -> None:
    rows = [
        {
            "kind": one.kind,
            "rows": one.rows,
            "counting": abs(one.counted - one.truth),
            "EM": abs(one.em - one.truth),
            "estimate": numpy.nan if one.share.share is None else abs(one.share.share - one.truth),
            "bias": numpy.nan if one.share.share is None else one.share.share - one.truth,
            "holds": one.share.low <= one.truth <= one.share.high,
            "width": one.share.high - one.share.low,
            "unknown": one.share.share is None,
        }
        for one in cases
    ]
    print(pandas.DataFrame(rows).groupby(["kind", "rows"]).mean().round(3).to_string())


def show_groups(frame: pandas.DataFrame, random: numpy.random.RandomState) -> None:
    """Print the errors of films of one table, by their number of reviews."""
    chosen = frame[frame["film"].isin(random.choice(frame["film"].unique(), 1700, replace=False))]
    grouped, first = chosen.groupby("film"), chosen.sample(SAMPLED_ROWS, random_state=random)
    sample = load_classifier().sample([*first["text"]])
    bins = numpy.stack([Evidence.of(own["probability"]).bins for _, own in grouped])
    found = pandas.DataFrame(shrunk(bins, sample), index=list(grouped.groups))
    truth, counted = grouped["label"].mean(), grouped["probability"].apply(lambda own: (own >= 0.5).mean())
    sizes = pandas.cut(found["n"], [0, 5, 20, 50, 1000])
    table = pandas.DataFrame(
        {
            "counting": (counted - truth).abs(),
            "estimate": (found["share"].astype("float64") - truth).abs(),
            "holds": (found["low"] <= truth) & (truth <= found["high"]),
            "unknown": found["share"].isna(),
        }
    )
    print(table.groupby(sizes, observed=True).mean().round(3).to_string())


def read(classifier: Any, frame: pandas.DataFrame, texts: str) -> pandas.DataFrame:
    """Add the probability of each text; leave out those without a label."""
    reviews = classifier.encoder.encode_many([*frame[texts]])
    probabilities = classifier.score(reviews)
    labelled = [row[0] is not None for row in classifier.labels_of(reviews, probabilities)]
    return frame.assign(text=frame[texts], probability=probabilities)[labelled]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("raw")
    parser.add_argument("kote")
    parser.add_argument("--shift", type=float, default=estimation.SHARE_SHIFT)
    given = parser.parse_args()
    estimation.SHARE_SHIFT = given.shift
    classifier, random = load_classifier(), numpy.random.RandomState(0)
    stars = read(classifier, raw.load(given.raw, [nsmc.load("nsmc", "test").frame]).frame, "document")
    stars["label"] = (stars["stars"] >= 8).astype(float).mask(stars["stars"].between(5, 7))
    unclear = comments(Path(given.kote), clear=False).assign(label=numpy.nan)
    both = pandas.concat([comments(Path(given.kote)), unclear])
    kote = read(classifier, both[both["id"] % 2 == 1], "review")
    show([*films(stars, random), *drawn(kote, random)])
    show_groups(stars, random)
    for name, frame in (("raw reviews", stars), ("comments", kote)):
        neutral = frame["label"].isna()
        shares = [evidence(rows.sample(frac=1, random_state=random)).share for rows in (frame[~neutral], frame)]
        print(f"{name}: {neutral.mean():.1%} neutral; positive among the others {frame['label'].mean():.3f}, estimated")
        print("  without and with the neutral ones:", *map(str, shares), sep="  ")


if __name__ == "__main__":
    main()
