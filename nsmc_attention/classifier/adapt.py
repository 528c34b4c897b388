"""Adaptation of a classifier to labelled reviews of another kind: a small table in, a bundle and a comparison out.

    table -> K folds: the network trained on the others predicts the fold -> mean of the K networks, calibrated -> bundle

The accuracy, the calibration and the list of surprising labels come from the predictions of held-out folds.
"""

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional, Union

import numpy
import pandas
from numpy.typing import NDArray
from scipy.special import expit

from ..bundle import load_bundle
from ..corpora.data import Labelled
from ..corpora.labelled import labelled_rows
from ..corpora.nsmc import Reviews
from ..engines.graphs import DeviceName, parameters_of
from ..errors import ConfigError, DataError
from ..machine.aliases import Record
from ..machine.files import write_text
from ..machine.progress import progress_bar
from ..measure.metrics import calibrated, headline, share_interval, temperature
from ..network.parameters import NGRAM_TABLE, Arrays, round_tables, set_parameters, snapshot, wide_scale
from ..scoring.columns import as_csv
from ..sentiment.heads import FILE
from ..text.encoding import ReviewEncoder
from ..training.runs import Run
from ..training.task import manifest_of, options
from .batches import Batches, EncodedPart, Tokenized, encode
from .ngrams import continue_table
from .predictor import Classifier
from .settings import KEPT_ODDS, LABELS, LAYOUT, ClassifierBundle, Config
from .train import USUAL, tokenized, write_classifier

if TYPE_CHECKING:
    from .stages import ClassifierTrainer

# Steps of each fold, batch size (few reviews have the same length), and fewest and most epochs
ADAPT_STEPS, ADAPT_BATCH, ADAPT_EPOCHS = 600, 16, (6, 30)
# Learning rate, chosen for the packaged network on comments of another kind: benchmarks/classification/README.md
ADAPT_RATE = 2e-3
# Labels with a smaller probability are listed as surprising
SURPRISING = 0.1
# Fewest labelled reviews, and fewest of each label: each fold needs one
FEWEST_LABELLED, FEWEST_OF_LABEL = 40, 5
# Largest p-value that shows a classifier better than chance, and that shows a loss, which refuses the bundle
P_CHANCE, P_LOSS = 0.025, 0.05
# Fewest reviews of the rarer label that allow a conclusion
ENOUGH_OF_LABEL = 20
FOLDS = 5
Odds = NDArray[numpy.float64]
Labels = NDArray[numpy.int64]


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

    The manifest of the bundle gets `adapted`: the accuracies `before` and `after`, the 95 % `interval` of `after`, and
    the balanced accuracies, all on reviews that the adapted networks have not seen; `positive` is the share of positive
    labels. `before` is too high on reviews that the first bundle was trained on.

    Parameters
    ----------
    data : path or DataFrame
        A table with a column of reviews and one of labels or stars. Rows that lack one are left out and counted.
    out : path
        A new folder, written at the end: bundle/, and surprising.csv, labels that are mistakes or hard cases.
    bundle : path or None
        The classifier to begin with; None is the packaged one.
    stars_column : str or None
        A column of stars in place of labels, 1 to 5, 1 to 10 or written as "★★★★☆" or "8/10"; the middle is left out.
        None finds a column of labels, else one of stars, by its name or its cells.
    force : bool
        Write the bundle even if it is not better.
    mix : float
        Share of the change that is kept, above 0 and at most 1; a smaller share forgets less.
    columns : str or None
        `text_column`, `label_column`, `encoding`, `positive`, `sheet` and `header`, as for `train`; None finds them.

    Raises
    ------
    DataError
        The table is missing or malformed, or has fewer than FEWEST_LABELLED labelled reviews, or FEWEST_OF_LABEL of a label.
    ConfigError
        The folder is in use, the adapted network is worse or no better than chance, mix is out of range, or columns of
        both labels and stars are named.
    """
    run, columns = Run(Path(out), device=device, quiet=quiet), {"stars_column": stars_column, **columns}
    if not isinstance(data, pandas.DataFrame):
        return adapt_classifier(Labelled(data, **columns), run, bundle, seed, force, mix)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "frame.csv"
        data.to_csv(table, index=False)
        return adapt_classifier(Labelled(table, **{"header": "1", **columns}), run, bundle, seed, force, mix)


def adapt_classifier(
    source: Labelled, run: Run, bundle: Union[str, Path, None], seed: int, force: bool, mix: float
) -> Classifier:
    """Continue a classifier as `adapt` does, in the folder and on the device of `run`."""
    if not 0 < mix <= 1:
        raise ConfigError(f"--mix: expected a number above 0 and at most 1, found {mix:g}")
    # a folder in use is reported before the work
    run.check({})
    first, table = load_bundle(bundle, LAYOUT), labelled_rows(source, once=True)
    examples = tokenized(rows := table.reviews, first.config)
    check_counts(examples.labels, rows.name)
    run.say(f"data: {rows.name}, {len(examples.labels):,} labelled reviews, {int(examples.labels.sum()):,} positive")
    for line in table.in_words():
        run.say(line)
    # imports MXNet
    from .stages import ClassifierTrainer

    encoded, (_, arrays), labels = encode(examples, first.codec), parameters_of(first), examples.labels.astype(int)
    trainer = ClassifierTrainer(adapt_settings(first.config, encoded, first.codec, seed), first.codec, run)
    unchanged = trainer.odds(trainer.network_of(arrays), trainer.batches(encoded, with_ngrams=True))
    arrays, held_out = cross_validated(trainer, encoded, arrays, mix)
    calibration = held_out_calibration(held_out, labels, mix)
    adapted = calibration["scale"] * held_out + calibration["bias"]
    comparison = Comparison(labels, adapted, unchanged, shift=calibration["bias"])
    surprising = surprising_labels(examples, held_out)
    for line in comparison.in_words():
        run.say(line)
    if count := len(surprising):
        listed = ", ".join(map(str, surprising["row"][:5])) + ", ..." * (count > 5)
        run.say(f"labels that are mistakes or hard, {count}: row{'s' * (count > 1)} {listed}")
    if (objection := comparison.objection()) and not force:
        raise ConfigError(f"{rows.name}: {objection}; no bundle is written, --force writes it")
    if warning := comparison.warning():
        run.say(warning)
    run.out.mkdir(parents=True, exist_ok=True)
    written = write(trainer, rows, comparison, calibration, arrays, first, mix)
    write_text(run.out / "surprising.csv", as_csv(surprising))
    return Classifier.from_bundle(written)


def adapt_settings(config: Config, examples: EncodedPart, encoder: ReviewEncoder, seed: int) -> Config:
    """Return the settings of the folds' trainings, with as many epochs as make ADAPT_STEPS steps."""
    batches = len(Batches(examples.reviews, examples.labels, encoder, ADAPT_BATCH, config.fixed_length))
    epochs = min(max(-(-ADAPT_STEPS // batches), ADAPT_EPOCHS[0]), ADAPT_EPOCHS[1])
    stages = {"pretrain_epochs": 0, "erasure_reviews": 0, "epochs": epochs, "learning_rate": ADAPT_RATE, "average": 0.0}
    return config.with_fields(**stages, batch_size=ADAPT_BATCH, seed=seed)


def cross_validated(
    trainer: "ClassifierTrainer", examples: EncodedPart, arrays: Arrays, mix: float
) -> tuple[Arrays, Odds]:
    """Fine-tune the network {name: array} for each fold on the other folds; return the mean of the networks' parameters.

    The second result is the log-odds (N,) of the reviews by networks that have not seen them.
    Networks that began with the same parameters can be averaged, and the mean is mostly better than each (Wortsman et
    al. 2022, arXiv:2203.05482). The share `mix` of each training's change is kept (Wortsman et al. 2022,
    arXiv:2109.01903). A fold takes seconds, so there are no checkpoints.
    """
    from sklearn.model_selection import StratifiedKFold

    labels, settings = examples.labels, trainer.config.training
    held_out_odds, sums = numpy.zeros(len(labels)), {name: numpy.zeros(array.shape) for name, array in arrays.items()}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=settings.seed)
    shown, total = False if trainer.run.quiet else None, FOLDS * settings.labels.epochs
    with progress_bar(shown=shown, total=total, desc="folds") as bar:
        for members, held_out in folds.split(labels, labels):
            parts = map(examples.take, (members.tolist(), held_out.tolist()))
            seen, unseen = (trainer.batches(part, with_ngrams=True) for part in parts)
            network = trainer.network_of(arrays)
            trainer.fine_tune(network, seen, unseen, lambda progress, record=None: bar.update(record is not None))
            for name, array in snapshot(network).items():
                # exactly 0 for parameters that are not trained
                change = mix * (array - arrays[name].astype("float64"))
                sums[name] += change
                set_parameters(network, {name: (arrays[name] + change).astype("float32")})
            held_out_odds[held_out] = trainer.odds(network, unseen)
    mean = {name: (arrays[name] + sums[name] / FOLDS).astype("float32") for name in arrays}
    return with_continued_ngrams(trainer, examples, mean, held_out_odds)


def with_continued_ngrams(
    trainer: "ClassifierTrainer", examples: EncodedPart, arrays: Arrays, odds: Odds
) -> tuple[Arrays, Odds]:
    """Continue the table of n-grams beside the log-odds of held-out reviews, if that improves these."""
    from sklearn.metrics import log_loss

    if not wide_scale(arrays):
        return arrays, odds
    labels, token_lists = examples.labels.astype(int), [review.tokens for review in examples.reviews]
    factors = trainer.factors(trainer.network_of(arrays, dropout=False), examples)
    change, scale, bias, together = continue_table(arrays[NGRAM_TABLE], token_lists, labels, odds, factors)
    # noisy labels can reverse the network's log-odds
    if scale <= 0 or log_loss(labels, expit(together)) >= log_loss(labels, expit(odds / temperature(odds, labels))):
        return arrays, odds
    fitted = {"scale": scale, "bias": bias, "wide_scale": scale * wide_scale(arrays)}
    table = arrays[NGRAM_TABLE].copy()
    table[:, 0] += change / fitted["wide_scale"]
    return {**calibrated(arrays, fitted), NGRAM_TABLE: table}, together


def surprising_labels(examples: Tokenized, odds: NDArray[numpy.float64]) -> pandas.DataFrame:
    """Return the rows whose label has a probability below SURPRISING, the least likely first."""
    labels = examples.labels.astype(int)
    probability = expit(numpy.where(labels == 1, odds, -odds))
    frame = examples.frame.assign(label=[LABELS[label] for label in labels], probability=probability.round(4))
    surprising = frame[probability < SURPRISING].sort_values("probability", kind="stable")
    return surprising[["row", "label", "probability", "document"]]


@dataclass(frozen=True)
class Comparison:
    """Log-odds (N,) of labelled reviews by networks that have not seen them, and by the unchanged bundle.

    `shift` is the `threshold_shift` in `adapted`. Balanced accuracy is shown too, for tables with mostly one label.
    """

    labels: Labels
    adapted: Odds
    unchanged: Odds
    shift: float = 0.0

    @property
    def figures(self) -> Record:
        """The manifest's `adapted`, with the 95 % interval of `after`."""
        from sklearn.metrics import accuracy_score, balanced_accuracy_score

        figures: Record = {"positive": float(self.labels.mean())}
        for name, odds in {"before": self.unchanged, "after": self.adapted}.items():
            figures[name] = float(accuracy_score(self.labels, odds > 0))
            figures[f"balanced_{name}"] = float(balanced_accuracy_score(self.labels, odds > 0))
        return {**figures, "interval": share_interval(figures["after"], len(self.labels))}

    def in_words(self) -> list[str]:
        percent = {name: f"{100 * value:.1f} %" for name, value in self.figures.items() if name != "interval"}
        low, high = (f"{100 * bound:.1f}" for bound in self.figures["interval"])
        plain = f"adapted {percent['after']} ({low} to {high}), as it was {percent['before']}"
        balanced = f"adapted {percent['balanced_after']}, as it was {percent['balanced_before']}"
        return [
            f"accuracy, each review predicted by networks that have not seen it: {plain}",
            f"balanced accuracy, the mean of the shares of both labels: {balanced}",
        ]

    @property
    def rarer(self) -> tuple[str, int]:
        """The rarer label, and its number of reviews."""
        counts = numpy.bincount(self.labels, minlength=2)
        return LABELS[int(counts.argmin())], int(counts.min())

    def objection(self) -> Optional[str]:
        """Return why the adapted bundle should not be used, or None.

        Its log-odds must be higher for positive reviews than for negative ones (Mann-Whitney, one-sided), and its log
        loss, before the threshold is shifted, must not be larger than that of the unchanged bundle, whose temperature
        is fitted too (paired t test, one-sided).
        """
        from scipy.stats import mannwhitneyu

        sides = (self.adapted[self.labels == side] for side in (1, 0))
        if mannwhitneyu(*sides, alternative="greater").pvalue >= P_CHANCE:
            label, count = self.rarer
            return f"no better than chance with {count} {label} reviews: check the labels, or label more"
        if self.larger_loss < P_LOSS:
            return "worse than the bundle as it was: use that, or label more"
        return None

    @property
    def larger_loss(self) -> float:
        """The p-value of a larger log loss than the unchanged bundle's (paired t test, one-sided)."""
        from scipy.stats import ttest_1samp

        unchanged, sign = self.unchanged / temperature(self.unchanged, self.labels), 1 - 2 * self.labels
        gains = numpy.logaddexp(0, sign * unchanged) - numpy.logaddexp(0, sign * (self.adapted - self.shift))
        return float(ttest_1samp(gains, 0, alternative="less").pvalue) if gains.std() else 0.0

    def warning(self) -> Optional[str]:
        """Return advice if the gain is not significant, else None."""
        (label, count), figures = self.rarer, self.figures
        found_less = figures["balanced_after"] < figures["balanced_before"]
        if found_less and figures["after"] >= figures["before"] and count < ENOUGH_OF_LABEL:
            return f"there are few {label} reviews, {count}: label more of them to find them as often as before"
        if self.larger_loss < 1 - P_LOSS or (found_less and figures["after"] < figures["before"]):
            return "the gain may be chance: label more to be sure of it"
        return None


def threshold_shift(labels: Labels, mix: float = 1.0) -> float:
    """Return the shift of log-odds that reduces the learnt odds of the labels to at most KEPT_ODDS.

    A model that learns that 90 % are positive finds few negative reviews. `mix` is the share of the change that is kept.
    """
    positive = numpy.sum(labels == 1)
    learnt = mix * numpy.log((positive + 0.5) / (len(labels) - positive + 0.5))
    return float(-numpy.sign(learnt) * max(abs(learnt) - numpy.log(KEPT_ODDS), 0))


def held_out_calibration(odds: Odds, labels: Labels, mix: float = 1.0) -> Record:
    """Return the `calibration` of held-out log-odds (N,): a temperature, and `threshold_shift` as the bias."""
    scale, bias = 1 / temperature(odds, labels), threshold_shift(labels, mix)
    before, after = (headline(labels, expit(logit)) for logit in (odds, scale * odds + bias))
    return {"scale": scale, "wide_scale": 0.0, "bias": bias, "before": before, "after": after}


def check_counts(labels: NDArray[numpy.float64], name: str) -> None:
    """Raise DataError if there are too few labels (N,)."""
    negative, positive = numpy.bincount(labels.astype(int), minlength=2).tolist()
    if len(labels) < FEWEST_LABELLED or min(negative, positive) < FEWEST_OF_LABEL:
        raise DataError(
            f"{name}: expected at least {FEWEST_LABELLED} different labelled reviews, and {FEWEST_OF_LABEL} of each "
            f"label, found {negative} negative and {positive} positive ones; label more; 100 or more give a better classifier"
        )


def write(
    trainer: "ClassifierTrainer",
    rows: Reviews,
    comparison: Comparison,
    calibration: Record,
    arrays: Arrays,
    first: ClassifierBundle,
    mix: float,
) -> ClassifierBundle:
    """Calibrate the network like the predictions of held-out reviews, and write the bundle."""
    if trainer.config.text.ngram_buckets:
        calibration = {**calibration, "wide_scale": calibration["scale"] * wide_scale(arrays)}
    network = trainer.network_of(calibrated(arrays, calibration), dropout=False)
    round_tables(network)
    flags: Record = {f"{name}_column" if name in USUAL else name: value for name, value in rows.columns.items()}
    flags.update(bundle=None if first.packaged else first.name, seed=trainer.config.training.seed or None)
    flags["mix"] = mix if mix < 1 else None
    command = shlex.join(["nsmc-attention", "adapt", rows.name, *options(flags)])
    data = {"train": {**rows.describe(), "used": len(comparison.labels)}, "dev": {"split_off": rows.name, "used": 0}}
    manifest = {
        **manifest_of(trainer.config, data, calibration["after"], command, first),
        "calibration": calibration,
        "adapted": comparison.figures,
        **({"sentiment": first.manifest["sentiment"]} if "sentiment" in first.manifest else {}),
    }
    files = {name: first.read(name) for name in ("vocab.json", FILE) if name in first.manifest["files"]}
    return write_classifier(trainer.run, network, trainer.config, (files, first.codec), manifest, rows.documents)
