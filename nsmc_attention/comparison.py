"""Presets and baselines trained and scored beside each other, each with several seeds: one table, one picture.

Everything is scored on the dev part, by which one chooses; the test file only where it is asked for.
"""

import time
from pathlib import Path

import pandas

from ._io.atomic import refuse_links, replaced_file, write_text
from .bundle.format import load_bundle
from .config import PRESETS, preset
from .errors import BundleError, ConfigError, did_you_mean
from .evaluation.metrics import HEADLINE, headline
from .inference.predictor import load_classifier
from .judgement import evaluate
from .recipe import split, tokenized, train
from .reviews import tables
from .training.baselines import BASELINES, probabilities

FILES = ("comparison.csv", "comparison.md", "comparison.png")


def compare(
    data,
    names,
    out,
    seeds=(0,),
    test=False,
    changes=lambda config: config,
    data_dir=None,
    quiet=False,
    report=print,
    text_column="document",
    label_column="label",
):
    """Train and score each of `names` with each seed; what `out` has already is not trained again.

    Parameters
    ----------
    data : "nsmc", "sample" or a path
    names : list of str
        Presets, and the baselines "majority" and "tfidf".
    out : path
        Folder for the runs (NAME-SEED), comparison.csv, comparison.md and comparison.png.
    seeds : tuple of int
        A baseline has no seed of its own, but another seed splits another dev part off.
    test : bool
        Score the test file too, which "nsmc" and "sample" alone have.
    changes : callable
        Config -> Config, applied to every preset.
    report : callable
        Called with each row as it is found.

    Returns
    -------
    DataFrame
        A row for each name and seed: name, seed, seconds, dev_* and test_* figures.

    Raises
    ------
    ConfigError, DataError
        Before any training: a name is unknown, a change does not fit one of the presets, a table has no test file,
        a link stands where `out` is written to. Where its turn comes: `out` has a run of other settings or other data.
    BundleError
        A run in `out` does not tell what it learned from or how it did.
    """
    check_names(names)
    if test and data not in tables.CORPORA:
        raise ConfigError(
            f"{data}: --test: expected {' or '.join(tables.CORPORA)}, found a table, which has no test "
            "file; what is learned from is no test"
        )
    configs = [
        (name, changes(preset("default" if name in BASELINES else name)).with_fields(seed=seed))
        for name in names
        for seed in seeds
    ]
    where = {"data_dir": data_dir, "text_column": text_column, "label_column": label_column}
    train_file, test_file = (tables.load(data, part, **where) if part else None for part in ("train", test and "test"))
    out, rows = Path(out), []
    runs = [out / f"{name}-{config.training.seed}" for name, config in configs]
    refuse_links([*runs, *(out / name for name in FILES)])
    out.mkdir(parents=True, exist_ok=True)
    for run, (name, config) in zip(runs, configs):
        seconds = None
        if name in BASELINES:
            found = baseline_row(name, config, train_file, test_file)
        else:
            if not finished(run, config, train_file):
                started, resume = time.perf_counter(), (run / "settings.json").is_file()
                train(data, config, run, quiet=quiet, resume=resume, **where)
                seconds = round(time.perf_counter() - started, 1)
            found = preset_row(run, seconds, test_file)
        rows.append({"name": name, "seed": config.training.seed, **found})
        report(rows[-1])
    return written(pandas.DataFrame(rows), out)


def written(table, out):
    """Write the table as csv, Markdown and picture into a folder, and answer it."""
    as_csv, text, picture = (out / name for name in FILES)
    with replaced_file(as_csv) as temporary:
        table.to_csv(temporary, index=False)
    write_text(text, as_markdown(table))
    draw(table, picture)
    return table


def check_names(names):
    known = [*PRESETS, *BASELINES]
    for name in names:
        if name not in known:
            raise ConfigError(f"unknown preset or baseline {name!r}{did_you_mean(name, known)}")
    if not names:
        raise ConfigError(f"expected presets or baselines to compare; there are {', '.join(known)}")


def finished(run, config, reviews):
    """Tell whether a run is done; ConfigError where it is of other settings or of other reviews."""
    if not (run / "bundle" / "manifest.json").is_file():
        return False
    bundle = load_bundle(run / "bundle")
    if bundle.config != config:
        raise ConfigError(f"{run}: a run with other settings is there; name another folder with --out")
    if learned_from(bundle) != reviews.sha256:
        raise ConfigError(f"{run}: a run on other reviews than {reviews.name} is there; name another folder with --out")
    return True


def learned_from(bundle):
    """Answer the sha256 of what a bundle learned from."""
    try:
        return bundle.manifest["data"]["train"]["sha256"]
    except (KeyError, TypeError) as problem:
        raise BundleError(
            f"{bundle.folder}: its manifest does not tell what it learned from; name another folder with --out"
        ) from problem


def dev_figures(bundle):
    """Answer how a bundle did on its dev part."""
    try:
        return {name: float(bundle.manifest["metrics"]["dev"][name]) for name in HEADLINE}
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise BundleError(
            f"{bundle.folder}: its manifest does not tell how it did on its dev part; name another folder with --out"
        ) from problem


def preset_row(run, seconds, test_file):
    classifier = load_classifier(run / "bundle")
    row = {"seconds": seconds, **figures("dev", dev_figures(classifier.bundle))}
    if test_file:
        row.update(figures("test", evaluate(classifier, test_file)))
    return row


def baseline_row(name, config, train_file, test_file):
    train_part, dev_part = split(tokenized(train_file, config), config.training)
    others = [("dev", dev_part.frame["document"].tolist(), dev_part.labels)]
    if test_file:
        others.append(("test", test_file.documents, test_file.labels))
    started = time.perf_counter()
    found = probabilities(
        name,
        train_part.frame["document"].tolist(),
        train_part.labels,
        [documents for _, documents, _ in others],
        config.text.tokenizer,
    )
    row = {"seconds": round(time.perf_counter() - started, 1)}
    for (part, _, labels), probability in zip(others, found):
        row.update(figures(part, headline(labels, probability)))
    return row


def figures(part, found):
    return {f"{part}_{name}": found[name] for name in HEADLINE}


def as_markdown(table):
    """Answer the table as Markdown: a row a name, mean and, of several seeds, standard deviation."""
    columns = [name for name in table.columns if name not in ("name", "seed")]
    lines = ["| name | seeds | " + " | ".join(columns) + " |", "|" + "---|" * (len(columns) + 2)]
    for name, rows in table.groupby("name", sort=False):
        lines.append(f"| {name} | {len(rows)} | " + " | ".join(spread(rows[column]) for column in columns) + " |")
    return "\n".join(lines) + "\n"


def spread(values):
    values = values.dropna()
    if values.empty:
        return ""
    digits = 1 if values.name == "seconds" else 4
    mean = f"{values.mean():.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {values.std():.{digits}f}"


def draw(table, path):
    """Draw the accuracy of each name, a dot a seed, in the order given."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(table["name"]))
    figure = Figure(figsize=(7, 1 + 0.4 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    for part, marker in (("dev", "o"), ("test", "s")):
        if f"{part}_accuracy" in table:
            axes.plot(100 * table[f"{part}_accuracy"], table["name"].map(names.index), marker, label=part, alpha=0.7)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("accuracy, %")
    axes.grid(axis="x", alpha=0.3)
    axes.legend()
    with replaced_file(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
