"""A classifier's training as a list of stages: tokenized reviews in, a calibrated network out.

    stars -> labels -> table of n-grams, calibrated on the dev part -> attention taught by erasure, calibrated again

Each stage has a folder with its checkpoints and is trained once; `recipe` brings the reviews and writes the bundle.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional

import numpy
import pandas
from numpy.typing import NDArray

from .._io.atomic import write_text
from .._runtime.mxnet_shim import import_mxnet
from .._runtime.progress import progress_bar
from ..evaluation.calibration import calibrated, calibration, log_odds
from ..model.parameters import (
    NGRAM_TABLE,
    add_wide_part,
    fill,
    restore,
    round_tables,
    snapshot,
    wide_scale,
    without_wide,
)
from . import wide
from .batches import Batches
from .checkpoint import Progress
from .distributed.communicator import SINGLE, SingleWorker
from .loop import Stage, fit
from .objectives import OBJECTIVES
from .objectives.labels import as_inputs, predict_batches
from .parts import EncodedPart, Parts

# Where the checkpoints of a stage are, within the run folder
FOLDERS = {"stars": "pretraining", "labels": ".", "erasure": "attention"}


@dataclass(frozen=True)
class TrainingResult:
    """The whole network, calibrated; the Progress of the main stage; the figures of `evaluation.calibration`."""

    network: Any
    progress: Progress
    calibration: dict[str, Any]


class ClassifierTraining:
    """A classifier's training.

    Parameters
    ----------
    config : config.Config
    encoder : text.encoding.Encoder
    out : Path
        The run folder.
    device : mxnet context
    importance : callable
        (network, EncodedPart) -> for each review the share of each token in what the prediction depends on, (T,).
    draw : callable
        (Progress, Stage, folder): draws the curves of a stage that has ended.
    quiet : bool
        No progress on stderr.
    group : SingleWorker
    """

    def __init__(
        self,
        config: Any,
        encoder: Any,
        out: Path,
        device: Any,
        importance: Callable[[Any, EncodedPart], list[NDArray[Any]]],
        draw: Callable[[Progress, Stage, Path], None],
        quiet: bool = False,
        group: SingleWorker = SINGLE,
    ):
        self.config, self.encoder, self.out, self.device = config, encoder, Path(out), device
        self.importance, self.draw, self.quiet, self.group = importance, draw, quiet, group

    def run(self, parts: Parts) -> TrainingResult:
        """Train all stages.

        The network is trained on misspelt reviews where there are some; the n-grams are not: misspelt reviews make
        them worse (docs/accuracy.md).
        """
        train, dev, misspelt = (part.encode(self.encoder) for part in (parts.train, parts.dev, parts.misspelt))
        stars = parts.stars and parts.stars.encode(self.encoder)
        network = self.new_network(self.batches(train))
        dev_batches = self.batches(dev)
        if stars:
            self.fit(network, self.stage("stars", self.batches(stars), dev_batches))
        progress = self.fit(network, self.stage("labels", self.batches(misspelt), dev_batches))
        table = self.group.run_on_first(self.ngram_table, stars, train)
        ngram_odds = None if table is None else wide.log_odds(table, dev.token_lists)
        network = self.inference_network(network, table)
        dev_batches = self.batches(dev, with_ngrams=table is not None)
        figures = self.calibrate(network, dev_batches, ngram_odds)
        if self.config.training.erasure.reviews:
            self.teach_attention(network, subsample(misspelt, self.config.training), dev_batches)
            figures = self.calibrate(network, dev_batches, ngram_odds)
        round_tables(network)
        return TrainingResult(network, progress, figures)

    def stage(self, name: str, batches: Batches, dev_batches: Batches) -> Stage:
        """Return a stage by its settings; only the main one may stop early."""
        settings = getattr(self.config.training, name)
        objective = OBJECTIVES[name](dev_batches, self.device, self.group)
        patience = getattr(settings, "patience", None)
        return Stage(name, objective, batches, settings.epochs, settings.learning_rate, patience)

    def fit(self, network: Any, stage: Stage) -> Progress:
        """Train a stage with checkpoints, history and curves in its folder; if that is done, load its result."""
        folder, training = self.out / FOLDERS[stage.name], self.config.training
        checkpoints = self.group.checkpoints(folder, training.keep_checkpoints)
        if not self.group.first:
            return fit(network, stage, training, checkpoints, ignore_progress, self.group)
        folder.mkdir(exist_ok=True)
        with Reporter(folder, stage, self.quiet) as report:
            progress = fit(network, stage, training, checkpoints, report, self.group)
            # again: a run that was killed right after its last checkpoint has not written it
            report.write(progress.history)
        self.draw(progress, stage, folder)
        return progress

    def teach_attention(self, network: Any, part: EncodedPart, dev_batches: Batches) -> None:
        """Train the attention to highlight the tokens whose erasure changes the prediction.

        The labels are the predictions of the deep part alone: the attention is to change, not the prediction.
        Dropout is off: attention cannot learn to point at a dropped token.
        """
        with_ngrams = NGRAM_TABLE in snapshot(network)
        importance = self.group.run_on_first(self.importance, network, part)
        restore(network, without_wide(snapshot(network)))
        labels = self.probabilities(network, self.batches(part, with_ngrams=with_ngrams))
        batches = self.batches(replace(part, labels=labels), importance, with_ngrams)
        self.fit(network, self.stage("erasure", batches, dev_batches))

    def batches(
        self, part: EncodedPart, importance: Optional[list[NDArray[Any]]] = None, with_ngrams: bool = False
    ) -> Batches:
        config = self.config
        size, length = config.training.batch_size, config.fixed_length
        return Batches(part.reviews, part.labels, self.encoder, size, length, importance, with_ngrams)

    def new_network(self, batches: Batches) -> Any:
        """Build the network without its n-grams; one batch through it creates all its parameters."""
        mxnet = import_mxnet()
        mxnet.random.seed(self.config.training.seed)
        network = self.config.network(len(self.encoder), with_ngrams=False)
        network.initialize(mxnet.init.Xavier(), ctx=self.device)
        network(*as_inputs(next(batches.in_order())[1], self.device))
        network.hybridize(static_alloc=True)
        return network

    def inference_network(self, network: Any, table: Optional[NDArray[Any]]) -> Any:
        """Return the network as the bundle holds it, without dropout, and with the table of n-grams if there is one."""
        arrays, config = snapshot(network), self.config
        kept = replace(config, model=config.model.without_dropout()).network(len(self.encoder))
        fill(kept, arrays if table is None else add_wide_part(arrays, table), self.device)
        kept.hybridize(static_alloc=True)
        return kept

    def ngram_table(self, stars: Optional[EncodedPart], train: EncodedPart) -> Optional[NDArray[Any]]:
        """Return the table of n-grams (`wide.fit_wide`), None if the config wants none.

        Fitted to the training part and to the raw reviews that NSMC would call negative (1 to 4 stars) or positive
        (9 and 10).
        """
        if not self.config.text.ngram_buckets:
            return None
        token_lists, labels = train.token_lists, train.labels
        if stars:
            values = stars.frame["stars"].to_numpy()
            clear = numpy.flatnonzero((values <= 4) | (values >= 9)).tolist()
            others = not_among(train.frame, stars.frame)
            token_lists = [stars.token_lists[i] for i in clear] + [token_lists[i] for i in others]
            labels = numpy.concatenate([values[clear] > 5, labels[others]])
        return wide.fit_wide(token_lists, labels.astype(int), self.config.text.ngram_buckets)

    def probabilities(self, network: Any, batches: Batches) -> NDArray[numpy.float64]:
        return predict_batches(network, batches, self.device, self.group)[0]

    def calibrate(self, network: Any, dev_batches: Batches, ngram_odds: Optional[NDArray[Any]]) -> dict[str, Any]:
        """Calibrate the network's last layer on the dev part; return the figures."""
        arrays = snapshot(network)
        odds = log_odds(self.probabilities(network, dev_batches))
        deep = odds if ngram_odds is None else odds - wide_scale(arrays) * ngram_odds
        figures = calibration(deep, dev_batches.labels.astype(int), ngram_odds)
        restore(network, calibrated(arrays, figures))
        return figures


def subsample(part: EncodedPart, training: Any) -> EncodedPart:
    """Return training.erasure.reviews of the reviews, drawn by the seed."""
    members = numpy.random.RandomState(training.seed).permutation(len(part.labels))
    return part.take(members[: training.erasure.reviews].tolist())


def not_among(frame: pandas.DataFrame, others: pandas.DataFrame) -> list[int]:
    """Return the positions of the rows whose `id` no row of `others` has; all if there are no ids."""
    if "id" not in frame:
        return list(range(len(frame)))
    known = set(others["id"].astype(str))
    return [position for position, name in enumerate(frame["id"].astype(str)) if name not in known]


def ignore_progress(progress: Progress, record: Optional[dict[str, float]] = None) -> None:
    pass


class Reporter:
    """Shows progress on stderr and writes history.jsonl after each epoch."""

    def __init__(self, folder: Path, stage: Stage, quiet: bool):
        self.path, self.name, self.metric = folder / "history.jsonl", stage.name, f"dev_{stage.objective.metric}"
        total = stage.epochs * len(stage.batches)
        self.bar = progress_bar(shown=not quiet, total=total, desc=stage.name, unit="step")

    def __enter__(self) -> "Reporter":
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()

    def __call__(self, progress: Progress, record: Optional[dict[str, float]] = None) -> None:
        self.bar.update(progress.step - self.bar.n)
        if record is None:
            self.bar.set_postfix_str(f"loss {progress.loss_sum / progress.batch:.3f}", refresh=False)
            return
        self.write(progress.history)
        if not self.bar.disable:
            others = [name for name in record if name.startswith("dev_") and name != self.metric]
            shown = ["train_loss", self.metric, *others[:1]]
            figures = ", ".join(f"{name.replace('_', ' ')} {record[name]:.4f}" for name in shown)
            self.bar.write(f"epoch {record['epoch']}: {figures}, {record['seconds']:.0f} s", file=sys.stderr)

    def write(self, history: list[dict[str, float]]) -> None:
        write_text(self.path, "".join(json.dumps(each) + "\n" for each in history))
