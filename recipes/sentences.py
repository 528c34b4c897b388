"""Additional training sentences of the packaged classifier: written reviews, and negations from templates.

    python -m recipes.sentences FILE.csv [--held-out OTHER.csv] [--templates 20000] [--times 5] [--also contrast]
        [--neither]
    python -m recipes.sentences --judge OTHER.csv [--bundle BUNDLE]

The written reviews are in `reviews/`, tables of document, label (0, 1, or 0.5 for neutral ones), kind, year of the newest
word (0: any), frame (the pattern of the sentence) and pair (the number that minimal pairs share). A twentieth of the frames
is held out, with all pairs that have a sentence in one of them. No sentence shares SHARED letters in a row with the
behavioural suite, which a test checks. --also adds files that are newer than the first training of the packaged
classifier, and --neither adds the texts of `neither/`, which may have no side.
"""

import argparse
import csv
import hashlib
import re
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Optional

import numpy
import pandas

from benchmarks.classification.behaviour import cases
from nsmc_attention import load_classifier
from nsmc_attention.corpora import nsmc

from .negations import sentences as from_templates

FOLDER, NEITHER = Path(__file__).parent / "reviews", Path(__file__).parent / "neither"
COLUMNS = ["document", "label", "kind", "year", "frame", "pair", "file"]
# Written after the packaged classifier was trained, whose manifest records the sha256 of its sentences
NEWER = ("contrast",)
LABELS = {"negative": 0.0, "neutral": 0.5, "none": 0.5, "positive": 1.0}
# Of the texts of `neither/`, how often those of a side are learnt, and the others
TIMES = (3, 1)
# One frame of so many is held out
HELD_OUT, SHARED = 20, 8


def read(path: Path) -> pandas.DataFrame:
    """Return the reviews of a file of `reviews/`, with the file's name, or of a table made of them."""
    options = {"sep": "\t", "quoting": csv.QUOTE_NONE} if path.suffix == ".tsv" else {}
    frame = pandas.read_csv(path, keep_default_na=False, dtype={"pair": str}, **options)
    return frame if "file" in frame else frame.assign(file=path.stem)


def written(also: Collection[str] = ()) -> pandas.DataFrame:
    """Return the written reviews of all files, of the newer ones only those in `also`."""
    paths = [path for path in sorted(FOLDER.glob("*.tsv")) if path.stem not in NEWER or path.stem in also]
    return pandas.concat(map(read, paths), ignore_index=True)


def texts() -> pandas.DataFrame:
    """Return the texts of `neither/`, with a label, 0.5 of a neutral one or no opinion, and the name of their file."""
    frame = pandas.concat(map(read, sorted(NEITHER.glob("*.tsv"))), ignore_index=True)
    return frame.assign(label=frame["side"].map(LABELS))


def is_held_out(frame: pandas.DataFrame) -> pandas.Series:
    """Return which rows are kept from training: by kind and frame, and those that share a pair with one."""
    names = frame["kind"] + " " + frame["frame"]
    chosen = names.map(lambda name: int(hashlib.sha256(name.encode()).hexdigest(), 16) % HELD_OUT == 0)
    pairs = frame["file"] + frame["pair"]
    return chosen | (pairs.isin(set(pairs[chosen])) & (frame["pair"] != ""))


def letters(text: str) -> str:
    """Return the letters that tell sentences apart: no spaces, punctuation or ㅋㅋ."""
    return re.sub("[^가-힣0-9a-z]", "", text)


def shared_with_suite(documents: "pandas.Series[str]") -> list[str]:
    """Return the sentences with SHARED letters in a row of a sentence of the behavioural suite."""
    suite = [letters(text) for case in cases() for text in (case.text, case.other or "")]
    known = {text[at : at + SHARED] for text in suite for at in range(len(text) - SHARED + 1)}
    runs = ((text, letters(text)) for text in documents)
    return [
        text for text, plain in runs if any(plain[at : at + SHARED] in known for at in range(len(plain) - SHARED + 1))
    ]


def training_table(templates: int, times: int, also: Collection[str] = (), neither: bool = False) -> pandas.DataFrame:
    """Return document, label and signs: the sentences from templates once, the written ones `times`, and maybe `texts`."""
    frame = written(also)
    own = frame[~is_held_out(frame)].assign(signs="")[["document", "label", "signs"]]
    more = texts()
    more = more[~is_held_out(more)].assign(signs="")
    has_side = more["label"] != 0.5
    others = [*[more[has_side][own.columns]] * TIMES[0], *[more[~has_side][own.columns]] * TIMES[1]]
    made = from_templates(templates, 0, nsmc.load("nsmc", "train")) if templates else []
    rows = [(each.text, each.label, str(each)) for each in made]
    parts = [pandas.DataFrame(rows, columns=own.columns)] * bool(rows) + [own] * times + others * neither
    return pandas.concat(parts, ignore_index=True)


def judge(frame: pandas.DataFrame, bundle: Optional[Path]) -> pandas.DataFrame:
    """Return for each kind of sentence how many there are and how many a classifier gets right, in percent.

    A neutral one is right where the probability is from 0.2 to 0.8, a pair where all its sentences are right.
    """
    found = load_classifier(bundle).probabilities(frame["document"].tolist())
    neutral = frame["label"] == 0.5
    right = numpy.where(neutral, (found >= 0.2) & (found <= 0.8), (found >= 0.5) == (frame["label"] > 0.5))
    named = frame.assign(right=100.0 * right)
    table = named.groupby("kind")["right"].agg(["size", "mean"])
    table.loc["all"] = [len(named), named["right"].mean()]
    pairs = named[named["pair"] != ""].groupby(["file", "pair"])["right"].min()
    table.loc["pairs"] = [len(pairs), pairs.mean()]
    return table.round(1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m recipes.sentences", description=__doc__)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--held-out", type=Path)
    parser.add_argument("--templates", type=int, default=20000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--also", choices=NEWER, action="append", default=[])
    parser.add_argument("--neither", action="store_true")
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--bundle", type=Path)
    arguments = parser.parse_args()
    if arguments.judge:
        print(judge(read(arguments.judge), arguments.bundle).to_string())
        return
    if not arguments.file:
        sys.exit("expected a FILE.csv to write, or --judge OTHER.csv")
    table = training_table(arguments.templates, arguments.times, arguments.also, arguments.neither)
    table.to_csv(arguments.file, index=False)
    if arguments.held_out:
        frame = written(arguments.also)
        frame[is_held_out(frame)][COLUMNS].to_csv(arguments.held_out, index=False)


if __name__ == "__main__":
    main()
