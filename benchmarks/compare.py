"""Presets and baselines trained and evaluated with several seeds, in one table of Markdown.

    python -m benchmarks.compare majority tfidf average default --data nsmc [--seeds 0,1,2] [--test] [--out RUNS]
    python -m benchmarks.compare default --set hidden_size=64 --out runs/narrow

NAMEs are presets, or `majority` (always the more frequent label) and `tfidf` (logistic regression). The figures are those
of the dev part, and with --test those of the test file. A run that is finished in the folder of --out is not trained
again, and one that was interrupted continues.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pandas
from sklearn.dummy import DummyClassifier

from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.classification.adapt import tfidf_model
from nsmc_attention.classification.evaluation import evaluate
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.classification.settings import PRESETS, Config, PresetName, preset
from nsmc_attention.classification.system import LAYOUT
from nsmc_attention.classification.train import split, tokenized, train_classifier
from nsmc_attention.errors import ConfigError
from nsmc_attention.evaluation.metrics import HEADLINE, headline
from nsmc_attention.reviews.corpus import Reviews
from nsmc_attention.reviews.data import Labelled
from nsmc_attention.training.runs import Run

BASELINES = {"majority": lambda tokenizer: DummyClassifier(strategy="prior"), "tfidf": tfidf_model}
Row = dict[str, Any]


def compare(
    source: Labelled,
    names: list[str],
    out: Path,
    seeds: tuple[int, ...] = (0,),
    test: bool = False,
    changes: Mapping[str, Any] = {},
    report: Callable[[Row], None] = print,
) -> pandas.DataFrame:
    """Train and evaluate each name with each seed; return a row for each, with name, seed, seconds, dev_* and test_*."""
    # a change that does not fit one of the presets is told before any training
    configs = [(name, base(name).with_fields(**changes, seed=seed)) for name in names for seed in seeds]
    train, test_file, rows = source.load("train"), source.load("test") if test else None, []
    for name, config in configs:
        if name in BASELINES:
            row = baseline_row(name, config, train, test_file)
        else:
            row = preset_row(source, config, out / f"{name}-{config.training.seed}", train, test_file)
        rows.append({"name": name, "seed": config.training.seed, **row})
        report(rows[-1])
    return pandas.DataFrame(rows)


def base(name: str) -> Config:
    return PRESETS["default"] if name in BASELINES else preset(cast("PresetName", name))


def preset_row(source: Labelled, config: Config, folder: Path, train: Reviews, test: "Reviews | None") -> Row:
    seconds = float("nan")
    if not (folder / "bundle" / "manifest.json").is_file():
        started = time.perf_counter()
        train_classifier(source, config, Run(folder, resume=(folder / "settings.json").is_file()))
        seconds = round(time.perf_counter() - started, 1)
    bundle = load_bundle(folder / "bundle", LAYOUT)
    if bundle.config != config or bundle.manifest["data"]["train"]["sha256"] != train.sha256:
        raise ConfigError(f"{folder}: has a run with other settings or reviews; name another folder with --out")
    row = {"seconds": seconds, **figures("dev", bundle.manifest["metrics"]["dev"])}
    return {**row, **figures("test", evaluate(load_classifier(bundle.folder), test))} if test else row


def baseline_row(name: str, config: Config, train: Reviews, test: "Reviews | None") -> Row:
    known, dev = split(tokenized(train, config), config.training)
    scored = {"dev": (dev.frame["document"], dev.labels)}
    if test:
        scored["test"] = (test.frame["document"], test.labels)
    started, row = time.perf_counter(), {}
    model = BASELINES[name](config.text.tokenizer).fit(known.frame["document"], known.labels)
    for part, (documents, labels) in scored.items():
        row.update(figures(part, headline(labels, model.predict_proba(documents)[:, 1])))
    return {"seconds": round(time.perf_counter() - started, 1), **row}


def figures(part: str, metrics: Mapping[str, float]) -> Row:
    return {f"{part}_{name}": metrics[name] for name in HEADLINE}


def as_markdown(table: pandas.DataFrame) -> str:
    """Return a row for each name: the mean and, of several seeds, the standard deviation."""
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--data", default="nsmc")
    parser.add_argument("--out", type=Path, default=Path("runs/comparison"))
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    changes = dict(change.split("=", 1) for change in options.set)
    seeds = tuple(map(int, options.seeds.split(",")))
    print(
        as_markdown(compare(Labelled(options.data), options.names, options.out, seeds, options.test, changes)), end=""
    )
