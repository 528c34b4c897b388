"""How near the estimated share of positive reviews is to the truth, beside counting labels.

    python -m benchmarks.classification.share nsmc-raw.zip val.tsv [--temperatures 1 1.25 1.5] [--shift 0.4]

Tables of films in their natural shares (raw reviews, without those of the official test file; the packaged classifier has
read most of them in training), and comments of KOTE drawn at several shares, which it has not. A label is positive from 8
of 10 stars on, negative up to 4; neutral rows are left out, but for the last table.
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

from .adapting import comments

SIZES = (50, 200, 1000)
# Shares of comments that tables are drawn at, and tables of each kind and size
DRAWN, TABLES = (0.2, 0.5, 0.71, 0.8, 0.85, 0.9, 0.95), 30
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


def case(kind: str, rows: int, frame: pandas.DataFrame) -> Case:
    probabilities = frame["probability"].to_numpy()
    counted, truth = float((probabilities >= 0.5).mean()), float(frame["label"].mean())
    return Case(kind, rows, truth, counted, em(probabilities), Evidence.of(probabilities).share)


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
    """Yield tables of comments of several shares."""
    sides = [frame[frame["label"] == label] for label in (0, 1)]
    for share in DRAWN:
        for rows in SIZES:
            for _ in range(TABLES):
                positive = random.binomial(rows, share)
                parts = [
                    side.sample(n, replace=True, random_state=random)
                    for side, n in zip(sides, (rows - positive, positive))
                ]
                yield case(f"comments, {share:.0%}", rows, pandas.concat(parts))


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
    grouped = chosen.groupby("film")
    found = pandas.DataFrame(
        shrunk([Evidence.of(own["probability"]) for _, own in grouped]), index=list(grouped.groups)
    )
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


def show_neutral(frame: pandas.DataFrame, label: str, neutral: pandas.Series) -> None:
    polar, whole = frame[~neutral], frame
    estimates = [Evidence.of(rows["probability"]).share for rows in (polar, whole, frame[neutral])]
    print(f"{label}: {neutral.mean():.1%} neutral; positive among the others {polar['label'].mean():.3f}")
    print("  estimated without them, with them, of them alone:", *map(str, estimates), sep="  ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("raw")
    parser.add_argument("kote")
    parser.add_argument("--temperatures", type=float, nargs="+", default=estimation.TEMPERATURES)
    parser.add_argument("--shift", type=float, default=estimation.SHARE_SHIFT)
    given = parser.parse_args()
    estimation.TEMPERATURES, estimation.SHARE_SHIFT = tuple(given.temperatures), given.shift
    classifier, random = load_classifier(), numpy.random.RandomState(0)
    stars = raw.load(given.raw, [nsmc.load("nsmc", "test").frame]).frame
    stars["probability"] = classifier.probabilities(stars["document"])
    stars["label"] = (stars["stars"] >= 8).astype(int)
    stars = stars[stars["probability"].notna()]
    middle = stars["stars"].between(5, 7)
    kote = comments(Path(given.kote))
    kote["probability"] = classifier.probabilities(kote["review"])
    show([*films(stars[~middle], random), *drawn(kote, random)])
    show_groups(stars[~middle], random)
    show_neutral(stars, "raw reviews, 5 to 7 of 10 stars", middle)
    unclear = comments(Path(given.kote), clear=False)
    unclear["probability"] = classifier.probabilities(unclear["review"])
    every = pandas.concat([kote.assign(clear=True), unclear.assign(clear=False)])
    show_neutral(every, "comments, neither or both", ~every["clear"])


if __name__ == "__main__":
    main()
