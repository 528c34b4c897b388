"""A classifier's training as a list of stages: tokenized reviews in, a calibrated network out.

    stars -> labels -> table of n-grams, calibrated on the dev part -> attention taught by erasure, calibrated again

Each stage has a folder with its checkpoints and is trained once; `recipe` brings the reviews and writes the bundle.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from .._runtime.mxnet_shim import import_mxnet
from ..evaluation.calibration import FEW_DEV, calibrated, calibration, fit_stacking, log_odds
from ..model import parameters
from ..model.parameters import restore, snapshot
from ..text.encoding import ReviewEncoder
from ..training.checkpoint import Progress
from ..training.distributed.communicator import SINGLE, SingleWorker
from ..training.loop import Stage
from ..training.stage import run_stage
from . import wide
from .batches import Batches
from .objectives import ErasureObjective, LabelsObjective, as_inputs, predict_batches
from .parts import EncodedPart, Parts, encode
from .settings import Config

# The folder of each stage within the run folder, and what it trains for
STAGES: dict[str, tuple[str, type[LabelsObjective]]] = {
    "stars": ("pretraining", LabelsObjective),
    "labels": (".", LabelsObjective),
    "erasure": ("attention", ErasureObjective),
}


@dataclass(frozen=True)
class ClassifierTraining:
    """A classifier's training in the run folder `out`, on an mxnet context `device`.

    `importance` returns for each review the share of each token in what the prediction depends on, (T,); `draw` draws
    the curves of a stage that has ended into its folder; `begin` changes the network's first parameters.
    """

    config: Config
    encoder: ReviewEncoder
    out: Path
    device: Any
    importance: Callable[[Any, EncodedPart], list[NDArray[Any]]]
    draw: Callable[[Progress, Stage, Path], None]
    quiet: bool = False
    group: SingleWorker = SINGLE
    begin: Callable[[Any], None] = lambda network: None

    def run(self, parts: Parts) -> tuple[Any, Progress, dict[str, Any]]:
        """Train all stages; return the calibrated network, the main stage's Progress and the figures of `calibration`.

        The n-grams are not trained on misspelt reviews, which make them worse (docs/accuracy.md).
        """
        train, dev, misspelt = (encode(part, self.encoder) for part in (parts.train, parts.dev, parts.misspelt))
        stars = encode(parts.stars, self.encoder) if parts.stars else None
        training = self.config.training
        dev_batches = self.batches(dev)
        network = self.new_network(dev_batches)
        if stars:
            self.fit(network, "stars", self.batches(stars), dev_batches)
        progress = self.fit(network, "labels", self.batches(misspelt), dev_batches)
        table, ngrams = None, None
        if self.config.text.ngram_buckets:
            fitted = self.group.run_on_first(self.fit_ngrams, stars, train, len(dev.labels))
            table, alone = fitted["table"], float(fitted["alone"])
            ngrams = wide.log_odds(table, [review.tokens for review in dev.reviews]), alone
        network = self.inference_network(network, table)
        dev_batches = self.batches(dev, with_ngrams=True)
        figures = self.calibrate(network, dev_batches, ngrams)
        if ngrams and not self.quiet and self.group.first:
            before, after = (100 * figures[name]["accuracy"] for name in ("before", "after"))
            print(f"n-grams: dev accuracy {after:.2f} % with them, {before:.2f} % without", file=sys.stderr)
        if training.erasure.reviews:
            drawn = numpy.random.RandomState(training.seed).permutation(len(misspelt.labels))
            part = misspelt.take(drawn[: training.erasure.reviews].tolist())
            self.teach_attention(network, part, dev_batches)
            figures = self.calibrate(network, dev_batches, ngrams)
        parameters.round_tables(network)
        return network, progress, figures

    def fit(self, network: Any, name: str, batches: Batches, dev_batches: Batches) -> Progress:
        """Train a stage with checkpoints, history and curves in its folder; if that is done, load its result."""
        training, settings = self.config.training, getattr(self.config.training, name)
        folder, penalty = self.out / STAGES[name][0], self.config.model.attention.penalty
        objective = STAGES[name][1](dev_batches, self.device, self.group, penalty)
        patience = settings.patience if name == "labels" else None
        stage = Stage(name, objective, batches, settings.epochs, settings.learning_rate, patience)
        return run_stage(network, stage, training, folder, self.draw, self.quiet)

    def teach_attention(self, network: Any, part: EncodedPart, dev_batches: Batches) -> None:
        """Train the attention to highlight the tokens whose erasure changes the prediction.

        The labels are the predictions of the deep part alone: the attention is to change, not the prediction.
        Dropout is off: attention cannot learn to point at a dropped token.
        """
        joined = self.group.run_on_first(lambda: {"shares": numpy.concatenate(self.importance(network, part))})
        importance = numpy.split(joined["shares"], numpy.cumsum([len(review) for review in part.reviews])[:-1])
        restore(network, parameters.without_wide(snapshot(network)))
        labels, _ = predict_batches(network, self.batches(part, with_ngrams=True), self.device, self.group)
        batches = self.batches(replace(part, labels=labels), importance, with_ngrams=True)
        self.fit(network, "erasure", batches, dev_batches)

    def batches(
        self, part: EncodedPart, importance: Optional[list[NDArray[Any]]] = None, with_ngrams: bool = False
    ) -> Batches:
        """Return the batches of a part, with n-grams where the config has some: stages before the last have none."""
        encoder = self.encoder if with_ngrams else replace(self.encoder, ngram_buckets=0)
        size, length = self.config.training.batch_size, self.config.fixed_length
        return Batches(part.reviews, part.labels, encoder, size, length, importance)

    def new_network(self, batches: Batches) -> Any:
        """Build the network without its n-grams; one batch through it creates all its parameters."""
        mxnet = import_mxnet()
        mxnet.random.seed(self.config.training.seed)
        network = self.config.network(len(self.encoder), with_ngrams=False)
        network.initialize(mxnet.init.Xavier(), ctx=self.device)
        network(*as_inputs(next(batches.in_order())[1], self.device))
        self.begin(network)
        network.hybridize(static_alloc=True)
        return network

    def inference_network(self, network: Any, table: Optional[NDArray[Any]]) -> Any:
        """Return the network as the bundle holds it, without dropout, and with the table of n-grams if there is one."""
        arrays, config = snapshot(network), self.config
        kept = config.without_dropout().network(len(self.encoder))
        if table is not None:
            arrays = parameters.add_wide_part(arrays, table, config.model.width)
        parameters.fill(kept, arrays, self.device)
        kept.hybridize(static_alloc=True)
        return kept

    def fit_ngrams(self, stars: Optional[EncodedPart], train: EncodedPart, dev_count: int) -> dict[str, NDArray[Any]]:
        """Fit the table of n-grams (`wide.fit_wide`) to the training part and to the clear ones of the raw reviews.

        Those are what NSMC would call negative (1 to 4 stars) or positive (9 and 10). `alone` () is what the log-odds of
        the n-grams by themselves are to be multiplied by: where the dev part is small by cross-fitting on the training
        part, else 1, as the dev part decides.
        """
        reviews, labels = train.reviews, train.labels
        if stars:
            values = stars.frame["stars"].to_numpy()
            clear = numpy.flatnonzero((values <= 4) | (values >= 9)).tolist()
            known = set(stars.frame["id"].astype(str))
            ids = train.frame["id"].astype(str) if "id" in train.frame else [None] * len(train.labels)
            others = [position for position, name in enumerate(ids) if name not in known]
            reviews = [*stars.take(clear).reviews, *train.take(others).reviews]
            labels = numpy.concatenate([values[clear] > 5, labels[others]])
        token_lists, labels, buckets = (
            [review.tokens for review in reviews],
            labels.astype(int),
            self.config.text.ngram_buckets,
        )
        alone = 1.0
        if dev_count < FEW_DEV and not stars and numpy.bincount(labels).min() > 1:
            odds = wide.cross_fitted_log_odds(token_lists, labels, buckets)
            (alone,), _ = fit_stacking(odds[:, None], labels, [1.0])
        return {"table": wide.fit_wide(token_lists, labels, buckets), "alone": numpy.array(alone)}

    def calibrate(
        self, network: Any, dev_batches: Batches, ngrams: Optional[tuple[NDArray[Any], float]]
    ) -> dict[str, Any]:
        """Calibrate the network's last layer on the dev part; return the figures.

        `ngrams` are the log-odds (N,) of the dev part by the n-grams, and what these are worth alone (`fit_ngrams`).
        """
        arrays, (ngram_odds, alone) = snapshot(network), ngrams or (None, 1.0)
        odds = log_odds(predict_batches(network, dev_batches, self.device, self.group)[0])
        deep = odds if ngram_odds is None else odds - parameters.wide_scale(arrays) * ngram_odds
        figures = calibration(deep, dev_batches.labels.astype(int), ngram_odds, alone)
        restore(network, calibrated(arrays, figures))
        return figures
