"""A classifier's training as a list of stages: tokenized reviews in, a calibrated network out.

    stars -> labels -> table of n-grams, calibrated on the dev part -> attention, or contributions of values near the token,
    trained on erasure, calibrated again

A stage has an objective: the loss of a batch, the evaluation on the dev part, the metric that selects the epoch. Each
stage has a folder with its checkpoints and is trained once; `train` reads the reviews and writes the bundle.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from ..corpora.nsmc import Reviews
from ..engines.graphs import GluonGraph, OnnxGraph
from ..engines.onnx.graph import lower
from ..machine.aliases import Array, Device, Network, Record
from ..machine.gluon import mxnet
from ..machine.processes import cores
from ..machine.progress import progress_bar
from ..measure.faithfulness import leave_one_out, shares
from ..measure.metrics import FEW_DEV, calibrated, calibration, evenness, fit_stacking, headline, log_odds
from ..network import parameters
from ..network.parameters import set_parameters, snapshot
from ..text.encoding import ReviewEncoder
from ..text.ngrams import SHARED, SMALLEST_SQUARE
from ..training.checkpoint import Progress
from ..training.loop import fit
from ..training.runs import Run
from ..training.stage import SMALLEST_WEIGHT, Objective, Stage
from ..training.task import Beginning, initialize
from .batches import Batch, Batches, EncodedPart, Tokenized, encode
from .engines import GradientEngine, GraphEngine
from .ngrams import NgramTable, cross_fitted_log_odds, fit_table
from .origins import gates_of, unmarked, with_sentences
from .predictor import TokenScorer
from .settings import Config

# Share of gradients in the importance that the attention is trained on
GRADIENT_SHARE = 0.25
# The folder of each stage within the run folder
STAGES = {"stars": "pretraining", "labels": ".", "erasure": "attention"}
# Weights in the loss of the contributions' error and of the gates' error; cross entropy has 1
ADDITIVITY_WEIGHT, GATES_WEIGHT = 0.1, 0.5


class LabelsObjective(Objective):
    """Cross entropy with labels of 0 and 1, or with probabilities from raw stars or the network's own predictions.

    The loss includes `penalty` times the redundancy of the attention's hops, and the gates' error if a batch has gates.
    """

    metric = "log_loss"

    def __init__(self, dev_batches: Optional[Batches], device: Device, penalty: float = 0.0):
        super().__init__(dev_batches, device)
        self.penalty = penalty

    def loss(self, network: Network, batch: Batch) -> Array:
        logits, weights, *others = network(*as_inputs(batch, self.device))
        loss = self.loss_of(logits, weights, batch)
        if batch.gates is None:
            return loss
        # squared error over the tokens with a known gate, averaged over the reviews
        arrays = ~numpy.isnan(batch.gates), numpy.nan_to_num(batch.gates)
        mask, targets = (mxnet.nd.array(array, ctx=self.device) for array in arrays)
        return loss + GATES_WEIGHT * (mask * (others[0] - targets).square()).sum() / len(batch.gates)

    def loss_of(self, logits: Array, weights: Array, batch: Batch) -> Array:
        """Return the loss (1,) of the network's outputs for a batch."""
        loss = self.cross_entropy(logits, batch)
        return loss + self.penalty * redundancy(weights) if self.penalty else loss

    def cross_entropy(self, logits: Array, batch: Batch) -> Array:
        """Return the mean cross entropy (1,) of logits (N, C), in nats."""
        # equals Gluon's SoftmaxCELoss, in half the time
        targets = mxnet.nd.array(numpy.stack([1 - batch.labels, batch.labels], axis=1), ctx=self.device)
        return -(logits.log_softmax() * targets).sum(axis=1).mean()

    def evaluate(self, network: Network) -> dict[str, float]:
        """Return `measure.metrics.headline`, and how evenly the attention is spread (`evenness`, 0 to 1)."""
        probability, token_weights = predict_batches(network, self.dev_batches, self.device)
        labels = self.dev_batches.labels.astype(int)
        return {**headline(labels, probability), "entropy": evenness(token_weights)}


class ErasureObjective(LabelsObjective):
    """Cross entropy with the network's own predictions, plus the divergence of its attention from the importance."""

    def loss_of(self, logits: Array, weights: Array, batch: Batch) -> Array:
        return super().loss_of(logits, weights, batch) + self.divergence(weights, batch.importance)

    def divergence(self, weights: Array, targets: Optional[NDArray[numpy.float32]]) -> Array:
        """Return the mean over reviews of KL(importance || attention averaged over its queries or hops), (1,), nats."""
        nd = mxnet.nd
        importance = nd.array(targets, ctx=self.device)  # (N, T)
        rows = nd.ones((len(importance), 1, weights.shape[1]), ctx=self.device)
        # rows of padding are 0
        counts = (weights.sum(axis=2) > 0).sum(axis=1, keepdims=True)
        attended = nd.batch_dot(rows, weights).reshape((0, -1)) / counts  # (N, T)
        gap = nd.log(importance + SMALLEST_WEIGHT) - nd.log(attended + SMALLEST_WEIGHT)
        return (importance * gap).sum(axis=1).mean()


class ContributionsObjective(LabelsObjective):
    """Cross entropy with the network's own predictions, plus the error of a token's contribution.

    The error is the Huber loss between the contribution and the change of the log-odds when the token is erased.
    """

    def loss(self, network: Network, batch: Batch) -> Array:
        assert batch.without is not None
        logits, _, contributions, *_ = network(*as_inputs(batch, self.device))
        erased_logits, *_ = network(*as_inputs(batch.without, self.device))
        contribution = contributions.pick(mxnet.nd.array(batch.erased, ctx=self.device), axis=1)
        change = logits - erased_logits
        error = change[:, 1] - change[:, 0] - contribution
        return self.cross_entropy(logits, batch) + ADDITIVITY_WEIGHT * mxnet.nd.smooth_l1(error, scalar=1).mean()


def redundancy(weights: Array) -> Array:
    """Return the penalty on rows of weights A (N, R, T) that attend to the same tokens, (1,).

    The mean over reviews of ||A A^T - I||_F^2, Lin et al. 2017 (arXiv:1703.03130), equation 8: 0 if each row has one
    token, and no two rows the same.
    """
    gram = mxnet.nd.batch_dot(weights, weights, transpose_b=True)  # (N, R, R)
    gap = mxnet.nd.broadcast_sub(gram, mxnet.nd.eye(weights.shape[1], ctx=weights.context).expand_dims(0))
    return gap.square().sum(axis=(1, 2)).mean()


def as_inputs(batch: Batch, device: Device) -> tuple[Array, ...]:
    """Return the arrays of a batch as the network's inputs on a device."""
    ids = [batch.token_ids] if batch.ngram_ids is None else [batch.token_ids, batch.ngram_ids]
    token_ids, *ngram_ids = (mxnet.nd.array(array, ctx=device, dtype="int32") for array in ids)
    return token_ids, mxnet.nd.array(batch.valid_length, ctx=device), *ngram_ids


def predict_batches(
    network: Network, batches: Batches, device: Device
) -> tuple[NDArray[numpy.float64], list[NDArray[numpy.float32]]]:
    """Return the reviews' probabilities of positive (N,), in their order, and the token weights (T,) of each."""
    probability = numpy.zeros(len(batches.labels))
    token_weights = [numpy.zeros(length, dtype="float32") for length in batches.lengths]
    for members, batch in batches.in_order():
        logits, weights, *_ = network(*as_inputs(batch, device))
        probability[members] = logits.softmax()[:, 1].asnumpy()
        rows = weights.sum(axis=1).asnumpy()
        for member, row, length in zip(members, rows, batch.valid_length.astype(int)):
            token_weights[member] = row[:length] / row[:length].sum()
    return probability, token_weights


def ngram_evidence(network: Network, batches: Batches, device: Device) -> NDArray[numpy.float64]:
    """Return the n-grams' log-odds (N,) that the last layer reads, in the order of the reviews."""
    odds = numpy.zeros(len(batches.labels))
    for members, batch in batches.in_order():
        features, _ = network.read(mxnet.nd, *as_inputs(batch, device))
        odds[members] = features[:, -1].asnumpy()
    return odds


@dataclass(frozen=True)
class ClassifierTrainer:
    """Trains a classifier in a Run; `begin` changes the network's first parameters."""

    config: Config
    encoder: ReviewEncoder
    run: Run
    begin: Optional[Beginning] = None

    def train(
        self,
        train_part: Tokenized,
        dev_part: Tokenized,
        star_part: Optional[Tokenized],
        sentences: Optional[Reviews] = None,
    ) -> tuple[Network, Progress, Record]:
        """Train all stages; return the calibrated network, the main stage's Progress and the figures of `calibration`.

        The stages of stars and labels include the `sentences`; the table of n-grams includes those without marks.
        """
        train, dev = encode(train_part, self.encoder), encode(dev_part, self.encoder)
        stars = encode(star_part, self.encoder) if star_part else None
        training = self.config.training
        network = self.new_network(dev_batches := self.batches(dev))
        if stars:
            self.fit(network, self.stage("stars", self.batches_with(stars, sentences), dev_batches))
        progress = self.fit(network, self.stage("labels", self.batches_with(train, sentences), dev_batches))
        labelled = replace(train, taught=None)
        labelled = with_sentences(labelled, unmarked(sentences.frame), self.encoder) if sentences else labelled
        ngrams = self.fit_ngrams(network, stars, labelled, len(dev.labels)) if self.config.text.ngram_buckets else None
        arrays = snapshot(network)
        if ngrams:
            arrays = parameters.add_wide_part(arrays, ngrams.table, self.config.model.width)
        network, dev_batches = self.network_of(arrays, dropout=False), self.batches(dev, with_ngrams=True)
        figures = self.calibrate(network, dev_batches, ngrams)
        if ngrams:
            before, after = (100 * figures[name]["accuracy"] for name in ("before", "after"))
            self.run.say(f"n-grams: dev accuracy {after:.2f} % with them, {before:.2f} % without")
        if training.erasure.reviews:
            order = numpy.random.RandomState(training.seed).permutation(len(train.labels))
            examples = train.take(order[: training.erasure.reviews].tolist())
            teach = self.teach_contributions if network.values else self.teach_attention
            teach(network, examples, dev_batches)
            figures = self.calibrate(network, dev_batches, ngrams)
        parameters.round_tables(network)
        return network, progress, figures

    def batches_with(self, examples: EncodedPart, sentences: Optional[Reviews]) -> Batches:
        """Return the batches of a part with the sentences, if any, whose marks are targets of the gates."""
        if sentences is None:
            return self.batches(examples)
        joined = with_sentences(examples, sentences.frame, self.encoder)
        return self.batches(joined, gates=gates_of(joined) if any(sentences.frame["signs"]) else None)

    def fit(self, network: Network, stage: Stage) -> Progress:
        """Train a stage, or load the result of a finished one."""
        patience = self.config.training.labels.patience if stage.name == "labels" else None
        return self.run.fit(network, replace(stage, patience=patience), self.config.training, STAGES[stage.name])

    def stage(self, name: str, batches: Batches, dev: Batches, kind: type[LabelsObjective] = LabelsObjective) -> Stage:
        """Return a stage with its epochs and learning rate from the settings."""
        settings = getattr(self.config.training, name)
        objective = kind(dev, self.run.context, self.config.model.attention.penalty)
        return Stage(name, objective, batches, settings.epochs, settings.learning_rate)

    def teach_attention(self, network: Network, examples: EncodedPart, dev_batches: Batches) -> None:
        """Train the attention to highlight the tokens whose erasure changes the prediction.

        The labels are the predictions of the deep part alone, so that the attention changes and the prediction does not.
        Dropout is off: attention cannot learn to point at a dropped token.
        """
        importance = self.importance(network, examples)
        set_parameters(network, parameters.without_wide(snapshot(network)))
        labels, _ = predict_batches(network, self.batches(examples, with_ngrams=True), self.run.context)
        batches = self.batches(replace(examples, labels=labels, taught=None), importance=importance, with_ngrams=True)
        self.fit(network, self.stage("erasure", batches, dev_batches, ErasureObjective))

    def teach_contributions(self, network: Network, examples: EncodedPart, dev_batches: Batches) -> None:
        """Train contributions to equal the change by erasing a token; the labels are the network's own predictions.

        One random token of each review is erased. Dropout is off, as in prediction.
        """
        examples = examples.take([number for number, review in enumerate(examples.reviews) if len(review) > 1])
        if not examples.reviews:
            return
        labels, _ = predict_batches(network, self.batches(examples, with_ngrams=True), self.run.context)
        random = numpy.random.RandomState(self.config.training.seed)
        erased = random.randint([len(review) for review in examples.reviews])
        batches = self.batches(replace(examples, labels=labels, taught=None), with_ngrams=True, erased=erased)
        self.fit(network, self.stage("erasure", batches, dev_batches, ContributionsObjective))

    def importance(self, network: Network, examples: EncodedPart) -> list[NDArray[numpy.float64]]:
        """Return the importance of each review's tokens for the prediction, (T,), which sums to 1.

        Mostly the change of the prediction when the token is erased; the rest is gradient x input, the other measure of
        faithfulness, which agrees with erasure only in part (docs/faithfulness.md).
        """
        # ONNX Runtime is three times as fast
        (content,), (interface,) = lower(network, self.config.graphs).values(), self.config.graphs.values()
        engine = GraphEngine(OnnxGraph(content, interface, threads=cores()))
        bar = partial(progress_bar, shown=not self.run.quiet, desc="erasing words")
        erased = leave_one_out(TokenScorer(self.encoder, engine, self.config), examples.reviews, bar)
        by_gradient = GradientEngine(GluonGraph(network, interface, self.run.context))
        products = TokenScorer(self.encoder, by_gradient, self.config).read(examples.reviews)[1]
        pairs = ((shares(by_erasure), shares(product)) for by_erasure, product in zip(erased, products))
        return [by_erasure + GRADIENT_SHARE * (product - by_erasure) for by_erasure, product in pairs]

    def batches(self, examples: EncodedPart, with_ngrams: bool = False, **token_targets: Any) -> Batches:
        """Return the batches of a part, with n-grams if the config has them, and with further targets."""
        encoder = self.encoder if with_ngrams else replace(self.encoder, ngram_buckets=0)
        size, length = self.config.training.batch_size, self.config.fixed_length
        return Batches(examples.reviews, examples.targets, encoder, size, length, **token_targets)

    def new_network(self, batches: Batches) -> Network:
        """Build the network without n-grams; a first batch creates its parameters."""
        network, device = self.config.network(len(self.encoder), with_ngrams=False), self.run.context
        network.explains = False
        _, batch = next(batches.in_order())
        initialize(network, self.config.training.seed, device, lambda: network(*as_inputs(batch, device)), self.begin)
        network.hybridize(static_alloc=True)
        return network

    def network_of(self, arrays: parameters.Arrays, dropout: bool = True) -> Network:
        """Build the network with these parameters, {name: array}."""
        network = (self.config if dropout else self.config.without_dropout()).network(len(self.encoder))
        parameters.initialize_from(network, arrays, self.run.context)
        network.hybridize(static_alloc=True)
        return network

    def fit_ngrams(
        self, network: Network, stars: Optional[EncodedPart], train: EncodedPart, dev_count: int
    ) -> NgramTable:
        """Fit the table of n-grams to the training part and to the raw reviews with a clear label.

        Clear are 1 to 4 stars, negative in NSMC, and 9 and 10, positive. If the dev part is too small to calibrate the
        table, cross-fitting on the training part does.
        """
        reviews, labels = train.reviews, train.labels
        if stars:
            values = stars.frame["stars"].to_numpy()
            clear = numpy.flatnonzero((values <= 4) | (values >= 9)).tolist()
            star_ids = set(stars.frame["id"].astype(str))
            ids = train.frame["id"].astype(str) if "id" in train.frame else [None] * len(train.labels)
            others = [position for position, name in enumerate(ids) if name not in star_ids]
            reviews = [*stars.take(clear).reviews, *train.take(others).reviews]
            labels = numpy.concatenate([values[clear] > 5, labels[others]])
        token_lists, labels = [review.tokens for review in reviews], labels.astype(int)
        factors = self.factors(network, replace(train, reviews=reviews, labels=labels, taught=None))
        table, worth = fit_table(token_lists, labels, self.config.text.ngram_buckets, factors), 1.0
        if dev_count < FEW_DEV and not stars and numpy.bincount(labels).min() > 1:
            odds = cross_fitted_log_odds(token_lists, labels, len(table))
            (worth,), _ = fit_stacking(odds[:, None], labels, [1.0])
        return NgramTable(table, worth)

    def factors(self, network: Network, examples: EncodedPart) -> Optional[list[NDArray[numpy.float32]]]:
        """Return the network's factors of the n-grams (see `terms`) by token, (T,) for each review; None if all are 1."""
        if network.values is None:
            return None
        _, weights = predict_batches(network, self.batches(examples, with_ngrams=network.has_ngrams), self.run.context)
        roots = [numpy.sqrt(numpy.maximum(len(tokens) * tokens, SMALLEST_SQUARE)) for tokens in weights]
        return [root + SHARED * (numpy.append(root[1:], root[-1]) - root) for root in roots]

    def calibrate(self, network: Network, dev_batches: Batches, ngrams: Optional[NgramTable]) -> Record:
        """Calibrate the network's last layer on the dev part; return the figures of `calibration`."""
        arrays = snapshot(network)
        odds, ngram_odds = self.odds(network, dev_batches), None
        if ngrams:
            ngram_odds = ngram_evidence(network, dev_batches, self.run.context)
            odds = odds - parameters.wide_scale(arrays) * ngram_odds
        figures = calibration(odds, dev_batches.labels.astype(int), ngram_odds, ngrams.worth if ngrams else 1.0)
        set_parameters(network, calibrated(arrays, figures))
        return figures

    def odds(self, network: Network, batches: Batches) -> NDArray[numpy.float64]:
        """Return the log-odds (N,) of positive."""
        return log_odds(predict_batches(network, batches, self.run.context)[0])

    def fine_tune(self, network: Network, train: Batches, dev: Batches, report: Callable[..., None]) -> None:
        """Train a network on all batches, for all epochs of the settings, without checkpoints."""
        network.explains = False
        fit(network, self.stage("labels", train, dev), self.config.training, None, report)
