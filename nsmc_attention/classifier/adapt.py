"""A classifier continued on labelled reviews of another kind: a small table in, a bundle and an honest comparison out.

    table -> K folds: the network trained on the others predicts the fold -> mean of the K networks, calibrated -> bundle

The predictions of held-out folds are what the accuracy, the calibration and the list of surprising labels come from.
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

# Steps of each fold, in so many passes: reviews of the same length are few, so batches are small
ADAPT_STEPS, ADAPT_BATCH, PASSES = 600, 16, (6, 30)
# Chosen for the packaged network, on comments of another kind: RESULTS.md
RATE = 2e-3
# A label whose probability is smaller is listed
SURPRISING = 0.1
# Fewest labelled reviews, and of each label: each fold has one
FEWEST_LABELLED, FEWEST_OF_LABEL = 40, 5
# The probability by chance below which something is shown, and that of a loss by which a bundle is refused
CHANCE, LOSS = 0.025, 0.05
# A rarer label with fewer reviews says little
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

    The manifest of its bundle has `adapted`: the accuracies `before` and `after`, the 95 % `interval` of that, and the
    balanced ones, all of reviews that the adapted networks have not seen. With reviews that the first bundle was
    trained on, `before` is too good. `positive` is the share of the labels.

    Parameters
    ----------
    data : path or DataFrame
        A table with a column of reviews and one of labels or stars. Rows without either are left out, and counted.
    out : path
        A new folder, written at the end: bundle/, and surprising.csv, the labels that are mistakes or hard.
    bundle : path or None
        The classifier to begin with; None is the packaged one.
    stars_column : str or None
        A column of stars in place of labels, 1 to 5, 1 to 10 or written as "★★★★☆" or "8/10"; the middle is left out.
        None takes a column with labels, else one with stars, by its name or its cells.
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
        The folder is taken, the adapted network is worse or no better than chance, mix is out of range, or columns of
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
    """Continue a classifier as `adapt` does, where and how `run` says."""
    if not 0 < mix <= 1:
        raise ConfigError(f"--mix: expected a number above 0 and at most 1, found {mix:g}")
    # a folder that is taken is reported before the work
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
    trainer = ClassifierTrainer(adapting(first.config, encoded, first.codec, seed), first.codec, run)
    unchanged = trainer.odds(trainer.network_of(arrays), trainer.batches(encoded, with_ngrams=True))
    arrays, held_out = cross_validated(trainer, encoded, arrays, mix)
    calibration = held_out_calibration(held_out, labels, mix)
    adapted = calibration["scale"] * held_out + calibration["bias"]
    comparison = Comparison(labels, adapted, unchanged, shift=calibration["bias"])
    surprising = surprising_labels(examples, held_out)
    for line in comparison.in_words():
        run.say(line)
    if count := len(surprising):
        found = ", ".join(map(str, surprising["row"][:5])) + ", ..." * (count > 5)
        run.say(f"labels that are mistakes or hard, {count}: row{'s' * (count > 1)} {found}")
    if (objection := comparison.objection()) and not force:
        raise ConfigError(f"{rows.name}: {objection}; no bundle is written, --force writes it")
    if warning := comparison.warning():
        run.say(warning)
    run.out.mkdir(parents=True, exist_ok=True)
    written = write(trainer, rows, comparison, calibration, arrays, first, mix)
    write_text(run.out / "surprising.csv", as_csv(surprising))
    return Classifier.from_bundle(written)


def adapting(config: Config, examples: EncodedPart, encoder: ReviewEncoder, seed: int) -> Config:
    """Return the settings of the folds' trainings: as many passes as make ADAPT_STEPS."""
    batches = len(Batches(examples.reviews, examples.labels, encoder, ADAPT_BATCH, config.fixed_length))
    passes = min(max(-(-ADAPT_STEPS // batches), PASSES[0]), PASSES[1])
    stages = {"pretrain_epochs": 0, "erasure_reviews": 0, "epochs": passes, "learning_rate": RATE, "average": 0.0}
    return config.with_fields(**stages, batch_size=ADAPT_BATCH, seed=seed)


def cross_validated(
    trainer: "ClassifierTrainer", examples: EncodedPart, arrays: Arrays, mix: float
) -> tuple[Arrays, Odds]:
    """Fine-tune the network of {name: array} on all folds but one, for each; return the mean of the networks.

    Beside it are the log-odds (N,) of reviews by networks that have not seen them.

    The mean of networks that began with the same parameters is one network, and mostly better than each (Wortsman et
    al. 2022, arXiv:2203.05482). Of what training changes in a network, the share `mix` is kept (Wortsman et al. 2022,
    arXiv:2109.01903). A fold takes seconds, so there are no checkpoints.
    """
    from sklearn.model_selection import StratifiedKFold

    labels, settings = examples.labels, trainer.config.training
    held_out_odds, sums = numpy.zeros(len(labels)), {name: numpy.zeros(one.shape) for name, one in arrays.items()}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=settings.seed)
    shown, total = False if trainer.run.quiet else None, FOLDS * settings.labels.epochs
    with progress_bar(shown=shown, total=total, desc="folds") as bar:
        for members, held_out in folds.split(labels, labels):
            parts = map(examples.take, (members.tolist(), held_out.tolist()))
            known, other = (trainer.batches(part, with_ngrams=True) for part in parts)
            network = trainer.network_of(arrays)
            trainer.fine_tune(network, known, other, lambda progress, record=None: bar.update(record is not None))
            for name, array in snapshot(network).items():
                # exact for what was not trained
                change = mix * (array - arrays[name].astype("float64"))
                sums[name] += change
                set_parameters(network, {name: (arrays[name] + change).astype("float32")})
            held_out_odds[held_out] = trainer.odds(network, other)
    mean = {name: (arrays[name] + sums[name] / FOLDS).astype("float32") for name in arrays}
    return with_continued_ngrams(trainer, examples, mean, held_out_odds)


def with_continued_ngrams(
    trainer: "ClassifierTrainer", examples: EncodedPart, arrays: Arrays, odds: Odds
) -> tuple[Arrays, Odds]:
    """Continue the table of n-grams beside the log-odds of held-out reviews, where these become better by it."""
    from sklearn.metrics import log_loss

    if not wide_scale(arrays):
        return arrays, odds
    labels, token_lists = examples.labels.astype(int), [review.tokens for review in examples.reviews]
    factors = trainer.factors(trainer.network_of(arrays, dropout=False), examples)
    change, scale, bias, together = continue_table(arrays[NGRAM_TABLE], token_lists, labels, odds, factors)
    # labels of noise can reverse the network's log-odds
    if scale <= 0 or log_loss(labels, expit(together)) >= log_loss(labels, expit(odds / temperature(odds, labels))):
        return arrays, odds
    fitted = {"scale": scale, "bias": bias, "wide_scale": scale * wide_scale(arrays)}
    table = arrays[NGRAM_TABLE].copy()
    table[:, 0] += change / fitted["wide_scale"]
    return {**calibrated(arrays, fitted), NGRAM_TABLE: table}, together


def surprising_labels(examples: Tokenized, odds: NDArray[numpy.float64]) -> pandas.DataFrame:
    """Return the rows whose label the networks find less likely than SURPRISING, the least likely first."""
    labels = examples.labels.astype(int)
    probability = expit(numpy.where(labels == 1, odds, -odds))
    frame = examples.frame.assign(label=[LABELS[label] for label in labels], probability=probability.round(4))
    found = frame[probability < SURPRISING].sort_values("probability", kind="stable")
    return found[["row", "label", "probability", "document"]]


@dataclass(frozen=True)
class Comparison:
    """Log-odds (N,) of labelled reviews: `adapted`, by networks that have not seen them, and by the bundle as it was.

    `shift` is the `threshold_shift` in `adapted`. Accuracy alone misleads where most labels are the same.
    """

    labels: Labels
    adapted: Odds
    unchanged: Odds
    shift: float = 0.0

    @property
    def figures(self) -> Record:
        """The values of `adapted` in the manifest, with the 95 % interval of `after`."""
        from sklearn.metrics import accuracy_score, balanced_accuracy_score

        figures: Record = {"positive": float(self.labels.mean())}
        for name, odds in {"before": self.unchanged, "after": self.adapted}.items():
            figures[name] = float(accuracy_score(self.labels, odds > 0))
            figures[f"balanced_{name}"] = float(balanced_accuracy_score(self.labels, odds > 0))
        return {**figures, "interval": share_interval(figures["after"], len(self.labels))}

    def in_words(self) -> list[str]:
        said = {name: f"{100 * value:.1f} %" for name, value in self.figures.items() if name != "interval"}
        low, high = (f"{100 * bound:.1f}" for bound in self.figures["interval"])
        plain = f"adapted {said['after']} ({low} to {high}), as it was {said['before']}"
        balanced = f"adapted {said['balanced_after']}, as it was {said['balanced_before']}"
        return [
            f"accuracy, each review predicted by networks that have not seen it: {plain}",
            f"balanced accuracy, the mean of the shares of both labels: {balanced}",
        ]

    @property
    def rarer(self) -> tuple[str, int]:
        """The rarer label and how many reviews have it."""
        counts = numpy.bincount(self.labels, minlength=2)
        return LABELS[int(counts.argmin())], int(counts.min())

    def objection(self) -> Optional[str]:
        """Say why the adapted bundle should not be used; None if it should.

        Its log-odds have to be higher for positive reviews than for negative ones (Mann-Whitney, one-sided), and its
        log loss, before the threshold is shifted, must not be larger than that of the bundle as it was, whose
        temperature is fitted too (paired t test, one-sided).
        """
        from scipy.stats import mannwhitneyu

        sides = (self.adapted[self.labels == side] for side in (1, 0))
        if mannwhitneyu(*sides, alternative="greater").pvalue >= CHANCE:
            label, count = self.rarer
            return f"no better than chance with {count} {label} reviews: check the labels, or label more"
        if self.larger_loss < LOSS:
            return "worse than the bundle as it was: use that, or label more"
        return None

    @property
    def larger_loss(self) -> float:
        """The probability of a gain of log loss as small as this one by chance, if there were neither gain nor loss."""
        from scipy.stats import ttest_1samp

        unchanged, sign = self.unchanged / temperature(self.unchanged, self.labels), 1 - 2 * self.labels
        gains = numpy.logaddexp(0, sign * unchanged) - numpy.logaddexp(0, sign * (self.adapted - self.shift))
        return float(ttest_1samp(gains, 0, alternative="less").pvalue) if gains.std() else 0.0

    def warning(self) -> Optional[str]:
        """Say what to do where the gain is not shown yet; None where it is."""
        (label, count), figures = self.rarer, self.figures
        found_less = figures["balanced_after"] < figures["balanced_before"]
        if found_less and figures["after"] >= figures["before"] and count < ENOUGH_OF_LABEL:
            return f"there are few {label} reviews, {count}: label more of them to find them as often as before"
        if self.larger_loss < 1 - LOSS or (found_less and figures["after"] < figures["before"]):
            return "the gain may be chance: label more to be sure of it"
        return None


def threshold_shift(labels: Labels, mix: float = 1.0) -> float:
    """The shift of a model's log-odds that leaves at most KEPT_ODDS of the odds of the labels, which it learnt.

    A model that learns that 90 % are positive finds few of the others. Of what it learnt, the share `mix` was kept.
    """
    positive = numpy.sum(labels == 1)
    learnt = mix * numpy.log((positive + 0.5) / (len(labels) - positive + 0.5))
    return float(-numpy.sign(learnt) * max(abs(learnt) - numpy.log(KEPT_ODDS), 0))


def held_out_calibration(odds: Odds, labels: Labels, mix: float = 1.0) -> Record:
    """Return the `calibration` of held-out log-odds (N,): a temperature, then `threshold_shift` as the bias."""
    scale, bias = 1 / temperature(odds, labels), threshold_shift(labels, mix)
    before, after = (headline(labels, expit(logit)) for logit in (odds, scale * odds + bias))
    return {"scale": scale, "wide_scale": 0.0, "bias": bias, "before": before, "after": after}


def check_counts(labels: NDArray[numpy.float64], name: str) -> None:
    """Raise DataError where labels (N,) are too few."""
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
    """Calibrate the network, as its predictions of held-out reviews were, and write the bundle."""
    if trainer.config.text.ngram_buckets:
        calibration = {**calibration, "wide_scale": calibration["scale"] * wide_scale(arrays)}
    network = trainer.network_of(calibrated(arrays, calibration), dropout=False)
    round_tables(network)
    given: Record = {f"{name}_column" if name in USUAL else name: value for name, value in rows.columns.items()}
    given.update(bundle=None if first.packaged else first.name, seed=trainer.config.training.seed or None)
    given["mix"] = mix if mix < 1 else None
    command = shlex.join(["nsmc-attention", "adapt", rows.name, *options(given)])
    data = {"train": {**rows.describe(), "used": len(comparison.labels)}, "dev": {"split_off": rows.name, "used": 0}}
    manifest = {
        **manifest_of(trainer.config, data, calibration["after"], command, first),
        "calibration": calibration,
        "adapted": comparison.figures,
        **({"sentiment": first.manifest["sentiment"]} if "sentiment" in first.manifest else {}),
    }
    kept = {name: first.read(name) for name in ("vocab.json", FILE) if name in first.manifest["files"]}
    return write_classifier(trainer.run, network, trainer.config, (kept, first.codec), manifest, rows.documents)
