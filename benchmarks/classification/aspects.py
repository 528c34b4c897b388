"""How many aspects are found, and how many sides of those are right.

    NSMC_ATTENTION_DATA=... python -m benchmarks.classification.aspects [--wrong] [BUNDLE]

aspects.tsv names 400 reviews of 20 characters or more, drawn with seed 60 from the 7,500 of the official training file that
the packaged classifier has not learnt from, with the aspects that each praises (+) or blames (-) by two readings of one
reader: `first`, `second`, and `marks` by both. aspect_sentences.tsv has sentences written for this project. Of both, the
development half was looked at and the report half was not. An aspect counts once a review, with the side of its clauses.
"""

import argparse
from collections import Counter
from pathlib import Path

from nsmc_attention import load_classifier
from nsmc_attention._io.tab_separated import read_rows
from nsmc_attention.apps.aspects.aspects import AspectReader, by_name
from nsmc_attention.reviews import nsmc

FOLDER = Path(__file__).parent
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


def main(bundle: str | None, wrong: bool) -> None:
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


def agreement(rows: list[dict[str, str]]) -> Counter[str]:
    counts = Counter[str]()
    for row in rows:
        counts.update(count("", marks_of(row["first"]), marks_of(row["second"])))
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", nargs="?")
    parser.add_argument("--wrong", action="store_true")
    arguments = parser.parse_args()
    main(arguments.bundle, arguments.wrong)
