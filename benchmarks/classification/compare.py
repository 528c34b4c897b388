"""Comparison of presets and baselines, trained and evaluated with several seeds, in one table.

    python -m benchmarks.classification.compare majority tfidf average default --data nsmc
    python -m benchmarks.classification.compare default --seeds 0 1 2 --set model.encoder.hidden_size=64 --out runs/narrow

The evaluation is on the dev part, which decides between models, and with --test also on the test file. The same command
continues after an interruption. The table is printed, and written to comparison.csv and comparison.md in --out.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Optional

import pandas
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline, make_union

from nsmc_attention.apps.evaluation import evaluate
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.classifier.settings import LAYOUT, PRESETS, Config
from nsmc_attention.classifier.train import split, tokenized, train_classifier
from nsmc_attention.corpora.data import Labelled
from nsmc_attention.corpora.labelled import read_reviews
from nsmc_attention.corpora.nsmc import CORPORA, Reviews
from nsmc_attention.errors import ConfigError, did_you_mean, list_names
from nsmc_attention.machine.files import read_json, replaced_file, write_text
from nsmc_attention.measure.metrics import HEADLINE, headline
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.tokenizers import tokenizer
from nsmc_attention.training.runs import Run

BASELINES = ("majority", "tfidf")


def compare(
    source: Labelled,
    names: Sequence[str],
    out: Path,
    seeds: Sequence[int] = (0,),
    test: bool = False,
    changes: Optional[dict[str, Any]] = None,
    quiet: bool = False,
    report: Callable[[dict[str, Any]], None] = print,
) -> pandas.DataFrame:
    """Train and evaluate each of `names` with each seed; finished runs in `out` are not trained again.

    Returns a row for each name and seed: name, seed, seconds, dev_* and test_* figures.

    Parameters
    ----------
    names : list of str
        Presets, and the baselines "majority" and "tfidf", of which only the dev part depends on the seed.
    out : path
        Folder for the runs (NAME-SEED), comparison.csv and comparison.md.
    test : bool
        Evaluate on the test file too; only "nsmc" and "sample" have one.
    changes : dict or None
        Settings changed in every preset, by short name or path.
    report : callable
        Called with each row when it is known.

    Raises
    ------
    ConfigError, DataError
        Before any training: a name is unknown, a change does not fit one of the presets, a table has no test file,
        or a table of other reviews or settings, or of more. Later: it has a run of others.
    """
    if test and source.data not in CORPORA:
        raise ConfigError(f"--test: expected {' or '.join(CORPORA)}, found {source.data}, which has no test file")
    configs = [(name, base(name).with_fields(**(changes or {}), seed=seed)) for name in names for seed in seeds]
    train_file = read_reviews(source, "train")
    test_file = read_reviews(source, "test") if test else None
    named = [f"{name}-{config.training.seed}" for name, config in configs]
    runs = [Run(out / name, quiet=quiet) for name in named]
    as_csv, text = (out / f"comparison.{suffix}" for suffix in ("csv", "md"))
    saved, settings = out / "settings.json", {"sha256": train_file.sha256, **(changes or {})}
    check_table(as_csv, saved, settings, named)
    out.mkdir(parents=True, exist_ok=True)
    write_text(saved, json.dumps({**settings, "rows": named}) + "\n")
    rows = []
    for run, (name, config) in zip(runs, configs):
        if name in BASELINES:
            row = baseline_row(name, config, train_file, test_file)
        else:
            row = preset_row(source, config, run, train_file, test_file)
        rows.append({"name": name, "seed": config.training.seed, **row})
        report(rows[-1])
    table = pandas.DataFrame(rows)
    with replaced_file(as_csv) as temporary:
        table.to_csv(temporary, index=False)
    write_text(text, as_markdown(table))
    return table


def check_table(path: Path, saved: Path, settings: dict[str, Any], rows: list[str]) -> None:
    """Raise ConfigError where there is a table of other reviews or settings, or with rows that this comparison has not."""
    if not path.is_file():
        return
    known = read_json(saved.read_bytes(), saved, ConfigError, "JSON settings") if saved.is_file() else {}
    others = known.pop("rows", [])
    lost = [row for row in others if row not in rows] if isinstance(others, list) else []
    if known != settings or lost:
        found = f"has {list_names(map(str, lost))} too" if known == settings else "is of other reviews or settings"
        raise ConfigError(f"{path}: {found}, and would be replaced; name another folder with --out")


def base(name: str) -> Config:
    """Return the settings that a name begins with; ConfigError with the nearest known name otherwise."""
    known = {**PRESETS, **dict.fromkeys(BASELINES, PRESETS["default"])}
    if name not in known:
        raise ConfigError(f"unknown preset or baseline {name!r}{did_you_mean(name, known)}")
    return known[name]


def finished(run: Path, config: Config, reviews: Reviews) -> bool:
    """Return whether a run is done; ConfigError if it has other settings or other reviews."""
    if not (run / "bundle" / "manifest.json").is_file():
        return False
    bundle = load_bundle(run / "bundle", LAYOUT)
    if bundle.config != config:
        raise ConfigError(f"{run}: has a run with other settings; name another folder with --out")
    if bundle.manifest["data"]["train"]["sha256"] != reviews.sha256:
        raise ConfigError(f"{run}: has a run on other reviews than {reviews.name}; name another folder with --out")
    return True


def preset_row(source: Labelled, config: Config, run: Run, train: Reviews, test: Optional[Reviews]) -> dict[str, Any]:
    """Train, unless the run is finished, and evaluate."""
    seconds = None
    if not finished(run.out, config, train):
        started = time.perf_counter()
        train_classifier(source, config, replace(run, resume=(run.out / "settings.json").is_file()))
        seconds = round(time.perf_counter() - started, 1)
    classifier = load_classifier(run.out / "bundle")
    row = {"seconds": seconds, **figures("dev", classifier.bundle.manifest["metrics"]["dev"])}
    return {**row, **figures("test", evaluate(classifier, test))} if test else row


def tfidf_regression(tokenizer_name: str) -> Pipeline:
    """Return scikit-learn's logistic regression on TF-IDF of tokens (1- and 2-grams) and of characters (1- to 4-grams).

    Wang & Manning 2012 (ACL) found such n-grams hard to beat on reviews.
    """
    shared = {"preprocessor": clean, "lowercase": False, "sublinear_tf": True}
    split_words = tokenizer(tokenizer_name)
    words = TfidfVectorizer(tokenizer=split_words, token_pattern=None, ngram_range=(1, 2), min_df=2, **shared)
    characters = TfidfVectorizer(analyzer="char", ngram_range=(1, 4), min_df=3, **shared)
    # more steps change no reported digit
    return make_pipeline(make_union(words, characters), LogisticRegression(C=4, max_iter=60))


def baseline_row(name: str, config: Config, train_file: Reviews, test_file: Optional[Reviews]) -> dict[str, Any]:
    train_part, dev_part = split(tokenized(train_file, config), config.training)
    scored = {"dev": (dev_part.frame["document"], dev_part.labels)}
    if test_file:
        scored["test"] = (test_file.frame["document"], test_file.labels)
    started, row = time.perf_counter(), {}
    # the more frequent label always, or n-grams
    model = DummyClassifier() if name == "majority" else tfidf_regression(config.text.tokenizer)
    model.fit(train_part.frame["document"], train_part.labels)
    for part, (documents, labels) in scored.items():
        row.update(figures(part, headline(labels, model.predict_proba(documents)[:, 1])))
    return {"seconds": round(time.perf_counter() - started, 1), **row}


def figures(part: str, metrics: dict[str, Any]) -> dict[str, Any]:
    return {f"{part}_{name}": metrics[name] for name in HEADLINE}


def as_markdown(table: pandas.DataFrame) -> str:
    """Return the table as Markdown: a row a name, the mean and, of several seeds, the standard deviation."""
    columns = [name for name in table.columns if name not in ("name", "seed")]
    lines = ["| name | seeds | " + " | ".join(columns) + " |", "|" + "---|" * (len(columns) + 2)]
    for name, rows in table.groupby("name", sort=False):
        lines.append(f"| {name} | {len(rows)} | " + " | ".join(spread(rows[column]) for column in columns) + " |")
    return "\n".join(lines) + "\n"


def spread(values: pandas.Series) -> str:
    values = values.dropna()
    if values.empty:
        return ""
    digits = 1 if values.name == "seconds" else 4
    mean = f"{values.mean():.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {values.std():.{digits}f}"


def say(row: dict[str, Any]) -> None:
    """Print a row on stderr: `tfidf, seed 0: dev_accuracy 0.7778, ...`."""
    shown = ", ".join(f"{name} {value:.4g}" for name, value in row.items() if isinstance(value, float))
    print(f"{row['name']}, seed {row['seed']}: {shown}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", help="presets, majority, tfidf")
    parser.add_argument("--data", default="nsmc", help="nsmc, sample or a labelled file")
    parser.add_argument("--out", type=Path, default=Path("runs/comparison"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--test", action="store_true", help="score the test file too, of nsmc and sample")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="a setting of every preset")
    given = parser.parse_args()
    changes = dict(each.split("=", 1) for each in given.set)
    table = compare(Labelled(given.data), given.names, given.out, given.seeds, given.test, changes, report=say)
    print(as_markdown(table), end="")


if __name__ == "__main__":
    main()
