"""A dev part outside NSMC: raw reviews that its files do not contain (by id and text), half of them positive.

    python -m recipes.outside FILE.csv [--reviews 16000] [--seed 0]

1 to 4 stars are negative and 9 and 10 positive, as in NSMC. `train --valid FILE.csv` leaves them out of the star stage.
"""

import argparse
from pathlib import Path

import pandas
from numpy.random import RandomState

from nsmc_attention.corpora import nsmc, raw

MOST_NEGATIVE, LEAST_POSITIVE = 4, 9


def outside(reviews: int, seed: int) -> pandas.DataFrame:
    """Return id, document, label and stars of so many raw reviews outside NSMC."""
    stars = raw.load(raw.find(), [nsmc.load("nsmc", part).frame for part in ("train", "test")]).frame
    clear = stars[(stars["stars"] <= MOST_NEGATIVE) | (stars["stars"] >= LEAST_POSITIVE)].drop_duplicates("document")
    random = RandomState(seed)
    halves = []
    for label in (0, 1):
        half = clear[(clear["stars"] >= LEAST_POSITIVE) == bool(label)]
        drawn = sorted(random.choice(len(half), reviews // 2, replace=False).tolist())
        halves.append(half.iloc[drawn].assign(label=label))
    return pandas.concat(halves).sort_index()[["id", "document", "label", "stars"]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m recipes.outside", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--reviews", type=int, default=16000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    outside(arguments.reviews, arguments.seed).to_csv(arguments.file, index=False)


if __name__ == "__main__":
    main()
