"""A classifier continued on labelled reviews of another kind: a small table in, a bundle and an honest comparison out.

    table -> K folds: the network trained on the others predicts the fold -> mean of the K networks, calibrated -> bundle

The predictions of held-out folds are what the accuracy, the calibration and the list of surprising labels come from.
"""

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Optional, Union

import numpy
import pandas
from numpy.typing import NDArray
from scipy.special import expit

from ..bundle import load_bundle
from ..corpora import nsmc
from ..corpora.corpus import Reviews, read_bytes, sha256
from ..corpora.data import Labelled
from ..corpora.labelled import labelled_rows
from ..corpora.raw import folded
from ..engines.graphs import DeviceName, parameters_of
from ..errors import ConfigError
from ..machine.aliases import Record
from ..machine.files import write_text
from ..measure.calibration import calibrated
from ..network.parameters import Arrays, round_tables, wide_scale
from ..tables.writers import as_csv
from ..text.encoding import ReviewEncoder
from ..training.description import manifest_of, options
from ..training.runs import Run
from .batches import Batches, EncodedPart, Tokenized, encode
from .comparison import Comparison, check_counts, held_out_calibration
from .predictor import Classifier
from .settings import LABELS, Config
from .system import LAYOUT, ClassifierBundle
from .train import tokenized, write_classifier

if TYPE_CHECKING:
    from .stages import ClassifierTrainer

# Steps of each fold, in so many passes: reviews of the same length are few, so batches are small
STEPS, BATCH, PASSES = 600, 16, (6, 30)
# Chosen for the packaged network, on comments of another kind: RESULTS.md
RATE = 2e-3
# A label whose probability is smaller is listed
SURPRISING = 0.1
# A larger share of reviews that were trained on before is said: of them the packaged classifier gets 94 % right, not 90 %
SEEN = 0.1


def adapt(
    data: Union[str, Path, pandas.DataFrame],
    out: Union[str, Path],
    bundle: Union[str, Path, None] = None,
    stars_column: Optional[str] = None,
    seed: int = 0,
    force: bool = False,
    mix: float = 1.0,
    device: DeviceName = "auto",
    quiet: bool = False,
    **columns: Optional[str],
) -> Classifier:
    """Continue a classifier on labelled reviews, and return it loaded from out/bundle.

    The manifest of its bundle has `adapted`: the accuracies `before` and `after`, the 95 % `interval` of that, the balanced
    ones, and that of a `baseline`, all of reviews that the judged model has not seen; but for those that the first bundle was
    trained on, whose number is `seen` where they are known and many. `positive` is the share of the labels.

    Parameters
    ----------
    data : path or DataFrame
        A table with a column of reviews and one of labels or stars. Rows without either are left out, and counted.
    out : path
        A new folder, written at the end: bundle/, and surprising.csv, the labels that are mistakes or hard.
    bundle : path or None
        The classifier to begin with; None is the packaged one.
    stars_column : str or None
        A column of stars in place of labels, 1 to 5, 1 to 10 or written as "★★★★☆" or "8/10"; the middle is left out. None
        takes a column with labels, else one with stars, by its name or its cells.
    force : bool
        Write the bundle even if it is no better.
    mix : float
        The share of the change that is kept, above 0 and at most 1: a smaller one forgets less.
    columns : str or None
        `text_column`, `label_column`, `encoding`, `positive`, `sheet` and `header`, as of `train`; None finds them.

    Raises
    ------
    DataError
        The table is missing or malformed, or has fewer than FEWEST_LABELLED labelled reviews, or FEWEST_OF_LABEL of a label.
    ConfigError
        The folder is taken, the adapted network is worse or no better than chance, mix is out of range, or columns of both
        labels and stars are named.
    """
    run, columns = Run(Path(out), device=device, quiet=quiet), {"stars_column": stars_column, **columns}
    if not isinstance(data, pandas.DataFrame):
        return adapt_classifier(Labelled(data, **columns), run, bundle, seed, force, mix)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "frame.csv"
        data.to_csv(table, index=False)
        # a frame has names, so that none is looked for among its rows
        return adapt_classifier(Labelled(table, **{"header": "1", **columns}), run, bundle, seed, force, mix)


def adapt_classifier(
    source: Labelled,
    run: Run,
    bundle: Union[str, Path, None] = None,
    seed: int = 0,
    force: bool = False,
    mix: float = 1.0,
) -> Classifier:
    """Continue a classifier as `adapt` does, where and how `run` says."""
    if not 0 < mix <= 1:
        raise ConfigError(f"--mix: expected a number above 0 and at most 1, found {mix:g}")
    # a folder that is taken is reported before the work
    run.check({})
    first, table = load_bundle(bundle, LAYOUT), labelled_rows(source, once=True)
    rows = table.reviews
    examples = tokenized(rows, first.config)
    check_counts(examples.labels, rows.name)
    run.say(f"data: {rows.name}, {len(examples.labels):,} labelled reviews, {int(examples.labels.sum()):,} positive")
    for line in table.in_words():
        run.say(line)
    # imports MXNet
    from .cross_validation import baseline_accuracy, cross_validated, odds_of
    from .stages import ClassifierTrainer

    encoded, (_, arrays) = encode(examples, first.codec), parameters_of(first)
    trainer = ClassifierTrainer(adapting(first.config, encoded, first.codec, seed), first.codec, run)
    adapted = cross_validated(trainer, encoded, arrays, mix)
    labels = examples.labels.astype(int)
    calibration = held_out_calibration(adapted.held_out, labels, mix)
    comparison = Comparison(
        labels,
        adapted=calibration["scale"] * adapted.held_out + calibration["bias"],
        unchanged=odds_of(trainer.network_of(arrays), trainer.batches(encoded, with_ngrams=True), run.context),
        baseline=baseline_accuracy(examples, trainer.config),
        shift=calibration["bias"],
        seen=seen_before(examples, rows.sha256, first),
    )
    surprising = surprising_labels(examples, adapted.held_out)
    for line in [*comparison.in_words(), *in_words(surprising)]:
        run.say(line)
    if (objection := comparison.objection()) and not force:
        raise ConfigError(f"{rows.name}: {objection}; no bundle is written, --force writes it")
    if warning := comparison.warning():
        run.say(warning)
    run.out.mkdir(parents=True, exist_ok=True)
    written = write(trainer, rows, comparison, calibration, adapted.arrays, first, mix)
    write_text(run.out / "surprising.csv", as_csv(surprising))
    return Classifier.from_bundle(written)


def adapting(config: Config, examples: EncodedPart, encoder: ReviewEncoder, seed: int) -> Config:
    """Return the settings of the folds' trainings: as many passes as make STEPS."""
    batches = len(Batches(examples.reviews, examples.labels, encoder, BATCH, config.fixed_length))
    passes = min(max(-(-STEPS // batches), PASSES[0]), PASSES[1])
    stages = {"pretrain_epochs": 0, "erasure_reviews": 0, "epochs": passes, "learning_rate": RATE, "average": 0.0}
    return config.with_fields(**stages, batch_size=BATCH, seed=seed)


def seen_before(examples: Tokenized, sha256_of_data: str, first: ClassifierBundle) -> int:
    """Return how many reviews the bundle was trained on, 0 where these are at most SEEN of them or not known.

    Known are those of its training file, if that is the user's, or NSMC's and at its place; nothing is downloaded.
    """
    learnt, official = first.manifest["data"]["train"]["sha256"], nsmc.present("train")
    if learnt == sha256_of_data:
        return len(examples.labels)
    if official is None or sha256(read_bytes(official)) != learnt:
        return 0
    known = set(map(folded, nsmc.read(official).documents))
    seen = sum(folded(text) in known for text in examples.frame["document"])
    return seen if seen > SEEN * len(examples.labels) else 0


def surprising_labels(examples: Tokenized, odds: NDArray[numpy.float64]) -> pandas.DataFrame:
    """Return the rows whose label the networks find less likely than SURPRISING, the least likely first."""
    labels = examples.labels.astype(int)
    probability = expit(numpy.where(labels == 1, odds, -odds))
    frame = examples.frame.assign(label=[LABELS[label] for label in labels], probability=probability.round(4))
    return frame[probability < SURPRISING].sort_values("probability", kind="stable")[
        ["row", "label", "probability", "document"]
    ]


def in_words(surprising: pandas.DataFrame) -> list[str]:
    """Return the line about surprising labels, if there are some."""
    rows = ", ".join(map(str, surprising["row"][:5])) + ", ..." * (len(surprising) > 5)
    plural = "s" * (len(surprising) > 1)
    return [f"labels that are mistakes or hard, {len(surprising)}: row{plural} {rows}"] if rows else []


def write(
    trainer: "ClassifierTrainer",
    rows: Reviews,
    comparison: Comparison,
    calibration: Record,
    arrays: Arrays,
    first: ClassifierBundle,
    mix: float,
) -> ClassifierBundle:
    """Calibrate the network, as its predictions of held-out reviews were, and write the bundle."""
    if trainer.config.text.ngram_buckets:
        calibration = {**calibration, "wide_scale": calibration["scale"] * wide_scale(arrays)}
    network = trainer.network_of(calibrated(arrays, calibration), dropout=False)
    round_tables(network)
    columns = {
        f"{name}_column" if name in ("text", "label", "stars") else name: rows.columns[name] for name in rows.columns
    }
    words = options(
        {
            **columns,
            "bundle": None if first.folder in LAYOUT.packaged else first.name,
            "seed": trainer.config.training.seed or None,
            "mix": mix if mix < 1 else None,
        }
    )
    command = shlex.join(["nsmc-attention", "adapt", rows.name, *words])
    data = {"train": {**rows.describe(), "used": len(comparison.labels)}, "dev": {"split_off": rows.name, "used": 0}}
    manifest = {
        "labels": list(LABELS),
        "tokenizer_version": first.manifest["tokenizer_version"],
        "vocabulary": len(first.codec),
        **manifest_of(trainer.config, data, calibration["after"], command, first),
        "calibration": calibration,
        "adapted": comparison.figures,
    }
    codec = first.read("vocab.json"), first.codec
    return write_classifier(trainer.run, network, trainer.config, codec, manifest, rows.documents)
