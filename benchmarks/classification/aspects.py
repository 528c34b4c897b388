"""Recall of aspects, and accuracy of their sides.

    NSMC_ATTENTION_DATA=... python -m benchmarks.classification.aspects [--wrong] [--comments FOLDER/val.tsv] [BUNDLE]

aspects.tsv names 400 reviews of 20 characters or more, drawn with seed 60 from the 7,500 of the official training file that
the packaged classifier was not trained on, with the aspects that each praises (+) or blames (-), marked twice by one
reader: `first`, `second`, and `marks` by both. aspect_sentences.tsv has sentences written for this project. The development
half of both was inspected, the report half only scored. An aspect counts once per review, with the side of its clauses.

goods_sentences.tsv has sentences about shops, restaurants and apps, with the aspects of goods_words.tsv; again, only the
development half was inspected. --comments scores KOTE's comments (`benchmarks.classification.adapting`) of at most 40
characters by the distance of their log-odds from 0; an aspect of goods has a side if this distance is at least SURE.
Finally, the share of praise is estimated in tables drawn from these sentences, with 30 to 95 % praise of each aspect.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy
import pandas

from nsmc_attention import Classifier, load_classifier
from nsmc_attention.apps.aspects.aspects import GOODS_WEIGHTS, AspectReader, by_name
from nsmc_attention.apps.aspects.clauses import read_words
from nsmc_attention.apps.report.build import mentions_of
from nsmc_attention.apps.report.statistics import shares_by
from nsmc_attention.corpora import nsmc
from nsmc_attention.machine.files import read_rows
from nsmc_attention.measure.metrics import log_odds

FOLDER = Path(__file__).parent
BINS, LONGEST, SURE = (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 99.0), 40, GOODS_WEIGHTS[2]
# Tables that are drawn from the sentences of goods, and the fewest mentions of an aspect there
TABLES, FEWEST = 40, 10
Marks = dict[str, bool]


def marks_of(cell: str) -> Marks:
    """Return {aspect: whether it is praised} of a cell, as 연기+ 이야기-."""
    return {mark[:-1]: mark.endswith("+") for mark in cell.split()}


def count(text: str, marks: Marks, found: Marks, wrong: bool = False) -> Counter[str]:
    """Count the aspects of a text: found ones, with their sides, those that are missing and those too many."""
    both = marks.keys() & found.keys()
    right = {name for name in both if marks[name] == found[name]}
    if wrong and (right != marks.keys() or marks.keys() != found.keys()):
        print(f"{marks} {found} {text}")
    return Counter(found=len(both), right=len(right), missing=len(marks) - len(both), extra=len(found) - len(both))


def line(name: str, counts: Counter[str]) -> str:
    found, named = counts["found"], counts["found"] + counts["missing"]
    precision, recall = found / (found + counts["extra"]), found / named
    f1, sides = 2 * precision * recall / (precision + recall), counts["right"] / found
    shares = " | ".join(f"{value:.3f}" for value in (precision, recall, f1, sides))
    return f"| {name} | {named} | {shares} | {counts['right']} of {named} |"


def of_goods(classifier: Classifier, wrong: bool) -> None:
    """Print how many aspects of goods have the right side, the wrong one, or none."""
    rows = list(read_rows(FOLDER / "goods_sentences.tsv"))
    reader, counts = AspectReader(classifier, read_words(FOLDER / "goods_words.tsv")), Counter[tuple[str, str]]()
    for row, judged in zip(rows, reader([row["document"] for row in rows])):
        named, sides = {aspect.name for aspect, _ in judged}, by_name(judged)
        for name, praised in marks_of(row["marks"]).items():
            decided = "undecided" if name in named else "missed"
            kind = ("right" if (sides[name] > 0) == praised else "wrong") if name in sides else decided
            counts[row["half"], kind] += 1
            if wrong and kind != "right" and row["half"] == "development":
                print(f"{kind} {name} {row['document']}")
    print("| goods | right | wrong | undecided | missed |\n|---|---|---|---|---|")
    for half in ("development", "report"):
        print(
            f"| {half} | {' | '.join(str(counts[half, kind]) for kind in ('right', 'wrong', 'undecided', 'missed'))} |"
        )


def of_tables(classifier: Classifier) -> None:
    """Print how often the interval of an aspect's praise holds the truth, in TABLES drawn from the sentences of goods."""
    rows = list(read_rows(FOLDER / "goods_sentences.tsv"))
    pairs = [(row["document"], name, praised) for row in rows for name, praised in marks_of(row["marks"]).items()]
    pool, random = pandas.DataFrame(pairs, columns=["text", "aspect", "praised"]), numpy.random.RandomState(0)
    sides = [pool[pool["praised"] == side].groupby("aspect") for side in (True, False)]
    names = [name for name in sides[0].groups if min(len(side.groups.get(name, ())) for side in sides) > 1]
    reader, found = AspectReader(classifier, read_words(FOLDER / "goods_words.tsv")), []
    for _ in range(TABLES):
        table = list[str]()
        for name in names:
            count = random.choice([30, 80])
            praise = random.binomial(count, random.uniform(0.3, 0.95))
            for side, number in zip(sides, (praise, count - praise)):
                table += side.get_group(name)["text"].sample(number, replace=True, random_state=random).tolist()
        mentions = [(row, *each) for row, judged in enumerate(reader(table)) for each in mentions_of(judged)]
        frame = pandas.DataFrame(mentions, columns="row aspect odds label probability start end".split())
        shares = shares_by(frame["aspect"], frame, classifier.prior)
        truth = pandas.Series(table).to_frame("text").merge(pool, on="text").groupby("aspect")["praised"]
        own = shares.join(truth.agg(["mean", "size"]), how="inner")
        found.append(own[own["size"] >= FEWEST])
    whole = pandas.concat(found)
    holds, errors = whole["mean"].between(whole["low"], whole["high"]), (whole["share"] - whole["mean"]).abs()
    print(
        f"{len(whole)} aspects of {TABLES} tables: the interval holds in {holds.mean():.3f}, mean error {errors.mean():.3f}"
    )
    print(
        f"{whole['share'].isna().mean():.3f} without a share; undecided {whole['undecided'].sum() / whole['count'].sum():.3f}"
    )


def of_comments(classifier: Classifier, path: Path) -> None:
    """Print the share of short comments whose side is right, by the distance of their log-odds from 0."""
    from .adapting import comments

    frame = comments(path)
    frame = frame[frame["review"].str.len() <= LONGEST]
    odds, positive = log_odds(classifier.probabilities(frame["review"])), frame["label"].to_numpy() == 1
    print("| log-odds | right of those above 0 | right of those below |\n|---|---|---|")
    for low, high in [*zip(BINS, BINS[1:]), (SURE, BINS[-1])]:
        inside = (abs(odds) >= low) & (abs(odds) < high)
        sides = [positive[inside & (odds > 0)], ~positive[inside & (odds <= 0)]]
        print(f"| {low} to {high} | {' | '.join(f'{side.sum()} of {len(side)}' for side in sides)} |")
    print(f"{numpy.mean((odds > 0) == positive):.3f} of all {len(frame):,}")


def main(bundle: str | None, wrong: bool, path: Path | None) -> None:
    frame = nsmc.load("nsmc", "train").frame
    texts = dict(zip(map(str, frame["id"]), frame["document"]))
    reader = AspectReader(load_classifier(bundle))
    print("| texts | aspects | precision | recall | F1 | sides | found and right |\n|---|---|---|---|---|---|---|")
    for name in ("aspects", "aspect_sentences"):
        rows = list(read_rows(FOLDER / f"{name}.tsv"))
        documents = [row["document"] if "document" in row else texts[row["id"]] for row in rows]
        counts: dict[str, Counter[str]] = {}
        for row, text, judged in zip(rows, documents, reader(documents)):
            found = {aspect: odds > 0 for aspect, odds in by_name(judged).items()}
            halves = counts.setdefault(row["half"], Counter())
            halves.update(count(text, marks_of(row["marks"]), found, wrong and row["half"] == "development"))
        for half, counted in counts.items():
            print(line(f"{'reviews' if name == 'aspects' else 'sentences'}, {half}", counted))
        whole = sum(counts.values(), Counter[str]())
        print(line(f"{'reviews' if name == 'aspects' else 'sentences'}, both", whole))
        if name == "aspects":
            print(line("second reading beside the first", agreement(rows)))
    of_goods(reader.classifier, wrong)
    of_tables(reader.classifier)
    if path:
        of_comments(reader.classifier, path)


def agreement(rows: list[dict[str, str]]) -> Counter[str]:
    counts = Counter[str]()
    for row in rows:
        counts.update(count("", marks_of(row["first"]), marks_of(row["second"])))
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", nargs="?")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--comments", type=Path)
    arguments = parser.parse_args()
    main(arguments.bundle, arguments.wrong, arguments.comments)
