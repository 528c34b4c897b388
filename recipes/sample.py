"""The sample corpus `data/sample`, from reviews written for this project, which a small network can learn.

    python -m recipes.sample [FOLDER]

The corpus has the reviews of `first_sample.tsv` (the tests train on their parts) and reviews of `reviews/`. Its test part
has reviews that are held out (`is_held_out`) from packaged trainings, and its train part others in the order of their hash.
Neutral and short reviews are left out, and kinds whose label a small network cannot learn from a few thousand reviews.
Each part has as many positive reviews as negative ones.
"""

import hashlib
import sys
from pathlib import Path

import pandas

from nsmc_attention.corpora.nsmc import FILES

from .sentences import NEWER, is_held_out, read, texts, written

ROOT = Path(__file__).parents[1]
HARD = ["comparison", "double negation", "irony", "litotes"]
# Fewest characters of a review, and reviews of a label that the train part gets from `reviews/`
SHORTEST, OF_LABEL = 12, 2700
# Lines that writers of NSMC thought of too
IN_NSMC = ["best movie ever", "기억에서 지워지지 않는 영화"]


def by_hash(documents: "pandas.Series[str]") -> "pandas.Series[str]":
    return documents.map(lambda text: hashlib.sha256(text.encode()).hexdigest())


def balanced(frame: pandas.DataFrame, most: int) -> pandas.DataFrame:
    """The first reviews of each label in the order of their hash, as many of one as of the other, at most so many."""
    ordered, of_label = frame.sort_values("document", key=by_hash), frame["label"].value_counts().min()
    return ordered.groupby("label").head(min(most, of_label))


def first_sample() -> dict[str, pandas.DataFrame]:
    """{part: documents and labels} of the sample's first 720 reviews."""
    frame = read(ROOT / "recipes/first_sample.tsv")
    return {part: frame[frame["part"] == part] for part in FILES}


def sample() -> dict[str, pandas.DataFrame]:
    """{part: its documents and labels, in the order of their hash}."""
    frame, parts = written(NEWER), {}
    held_out, long_enough = is_held_out(frame), frame["document"].str.len() >= SHORTEST
    first = first_sample()
    others = [*IN_NSMC, *pandas.concat([*first.values(), texts()])["document"]]
    usable = frame["label"].isin([0, 1]) & ~frame["kind"].isin(HARD) & long_enough & ~frame["document"].isin(others)
    for part, members in {"train": usable & ~held_out, "test": usable & held_out}.items():
        both = pandas.concat([first[part], balanced(frame[members], OF_LABEL)])[["document", "label"]]
        parts[part] = both.astype({"label": int}).sort_values("document", key=by_hash)
    return parts


def write(parts: dict[str, pandas.DataFrame], folder: Path) -> None:
    """Write parts as files of NSMC's names and format."""
    ids = iter(range(1, 1 + sum(map(len, parts.values()))))
    for part, frame in parts.items():
        rows = [f"{next(ids)}\t{row.document}\t{row.label}\n" for row in frame.itertuples()]
        (folder / FILES[part]).write_text("id\tdocument\tlabel\n" + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    write(sample(), Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "data/sample")
