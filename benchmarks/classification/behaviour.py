"""Behavioural tests of a classifier: 600 hand-written sentences, checked by category.

    python -m benchmarks.classification.behaviour [--bundle BUNDLE] [--failures] [--json]

The sentences test negation, contrast, slang, typos and missing spaces. `--failures` lists the sentences that failed
instead of the categories, `--json` prints one JSON object a row. In the manner of CheckList (Ribeiro et al. 2020, arXiv:2005.04118): minimum functionality (MFT: this sentence has that
label), invariance (INV: a typo or another name changes no label), direction (DIR: added praise does not make a review
less positive).
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional

import numpy
import pandas
from numpy.typing import NDArray

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.machine.files import read_rows

SENTENCES = Path(__file__).with_suffix(".tsv")
# By how much the probability may move against the expected direction (CheckList's own margin)
MARGIN = 0.1


@dataclass(frozen=True)
class Case:
    """One expectation; `other` is the changed text of INV and DIR, None for MFT. Its label is 0 or 1."""

    kind: str
    category: str
    label: int
    text: str
    other: Optional[str]


def cases() -> list[Case]:
    """Return the Cases of the 600 sentences."""
    return [
        Case(row["kind"], row["category"], int(row["label"]), row["text"], row["other"] or None)
        for row in read_rows(SENTENCES)
    ]


def check(score: Callable[[list[str]], NDArray[numpy.float64]], expectations: list[Case]) -> pandas.DataFrame:
    """Check a classifier by its `score`: list of N str -> (N,) probability of positive.

    Returns the fields of each Case, probability, other_probability (NaN for MFT) and passed (bool).
    """
    table = pandas.DataFrame(expectations)
    changed = table["other"].notna()
    table["probability"] = score(table["text"].tolist())
    table["other_probability"] = numpy.nan
    table.loc[changed, "other_probability"] = score(table.loc[changed, "other"].tolist())
    table["passed"] = [passed(row) for row in table.itertuples()]
    return table


def passed(case: Any) -> bool:
    """Return whether probability and other_probability are as the case expects."""
    if case.kind == "DIR":
        change = case.other_probability - case.probability
        return bool((change if case.label else -change) >= -MARGIN)
    probabilities = [case.probability] if case.kind == "MFT" else [case.probability, case.other_probability]
    return all((probability >= 0.5) == bool(case.label) for probability in probabilities)


def summary(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return one row a category, and a last one for all: kind, category, cases, passed, share."""
    rows = table.groupby(["kind", "category"], sort=False)["passed"].agg(["size", "sum"]).reset_index()
    rows.columns = ["kind", "category", "cases", "passed"]
    rows.loc[len(rows)] = ["", "all", rows["cases"].sum(), rows["passed"].sum()]
    return rows.assign(share=rows["passed"] / rows["cases"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.classification.behaviour")
    parser.add_argument("--bundle", help="a bundle or its run folder  [default: the packaged classifier]")
    parser.add_argument("--failures", action="store_true", help="list the sentences that failed")
    parser.add_argument("--json", action="store_true", help="print one JSON object a row")
    options = parser.parse_args()
    table = check(load_classifier(options.bundle).probabilities, cases())
    shown = table[~table["passed"]] if options.failures else summary(table)
    if options.json:
        print(shown.to_json(orient="records", lines=True, force_ascii=False).strip())
    else:
        print(shown.to_string(index=False, na_rep="", float_format="{:.3f}".format))


if __name__ == "__main__":
    main()
