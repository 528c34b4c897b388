"""What a training does with the tokenized reviews, stage by stage: reviews in, a calibrated network out.

    stars -> training part -> wide part joined on the dev part -> attention taught what matters -> joined again

Each stage keeps checkpoints in a folder of its own and is gone through once; `recipe` brings the reviews and
writes the bundle.
"""

import json
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy
import pandas
from tqdm import tqdm

from .._io.atomic import write_text
from .._runtime.mxnet_shim import import_mxnet
from ..evaluation.calibration import calibrated, calibration
from ..evaluation.calibration import log_odds as logit_of
from ..evaluation.erasure import leave_one_out, shares
from ..inference.engines import OnnxEngine
from ..inference.gradients import GradientEngine
from ..inference.predictor import TokenScorer
from ..model.parameters import NGRAM_TABLE, fill, restore, round_tables, snapshot, wide_scale, widened, without_wide
from ..visualization.curves import save_curves, save_evenness
from .checkpoint import Progress
from .distributed.communicator import ALONE
from .wide import fit_wide, log_odds

# Of the importance that the attention is taught, what gradients say
GRADIENT_SHARE = 0.25
NO_DROPOUT = {"dropout": 0.0, "word_dropout": 0.0, "attention_dropout": 0.0}


@dataclass(frozen=True)
class Part:
    """Tokenized reviews without the blank ones.

    Attributes
    ----------
    token_lists : list of list of str
    labels : (N,) array
        The probability of positive: 0 or 1, or of raw reviews (stars - 1) / 9.
    frame : DataFrame
        The reviews themselves, row by row.
    """

    token_lists: list
    labels: numpy.ndarray
    frame: pandas.DataFrame

    def take(self, members):
        """Answer the Part of these positions, in the order of the file."""
        members = sorted(members)
        return Part([self.token_lists[i] for i in members], self.labels[members], self.frame.iloc[members])

    def in_units(self, encoder):
        """Answer the Part with what of each review gets an id in place of its words."""
        return replace(self, token_lists=[encoder.units(tokens) for tokens in self.token_lists])


@dataclass(frozen=True)
class Learned:
    """The whole network, calibrated; the Progress of the main stage; the figures of `calibration.calibration`."""

    network: object
    progress: Progress
    calibration: dict


class Run:
    """A training under way.

    Parameters
    ----------
    config : Config
    encoder : text.encoding.Encoder
    out : Path
        The run folder.
    device : mxnet context
    quiet : bool
        No progress on stderr.
    workers : distributed.Alone
    """

    def __init__(self, config, encoder, out, device, quiet, workers=ALONE):
        self.config, self.encoder, self.out, self.device, self.quiet = config, encoder, Path(out), device, quiet
        self.workers = workers

    def learn(self, star_part, train_part, dev_part, misspelt_part):
        """Build the network and fit it, to the stars first where there are any; answer what was Learned.

        The network reads the training part as `misspelt_part` has it; the wide part, which learns by heart, as it
        is: misspelt reviews make it worse (benchmarks/ACCURACY.md).
        """
        training = self.config.training
        star_part = star_part and star_part.in_units(self.encoder)
        train_part, dev_part, misspelt_part = (
            part.in_units(self.encoder) for part in (train_part, dev_part, misspelt_part)
        )
        batches, dev_batches = self.batched(misspelt_part), self.batched(dev_part)
        network = self.new_network(batches)
        if star_part:
            self.stage(
                network,
                self.batched(star_part),
                dev_batches,
                pretraining(training),
                self.out / "pretraining",
                keep_last=True,
            )
        progress = self.stage(network, batches, dev_batches, training, self.out)
        table = self.workers.once(self.wide_table, star_part, train_part)
        wide = None if table is None else log_odds(table, dev_part.token_lists)
        network = self.final(network, table)
        dev_batches = self.batched(dev_part, wide=table is not None)
        found = self.calibrate(network, dev_batches, wide)
        if training.erasure_reviews:
            self.teach_attention(network, some(misspelt_part, training), dev_batches)
            found = self.calibrate(network, dev_batches, wide)
        round_tables(network)
        return Learned(network, progress, found)

    def teach_attention(self, network, part, dev_batches):
        """Fit the attention to each token's share of what changes when it is erased.

        The network's own answers are the labels, those of the deep part alone: the attention is to change, not
        what the network says. Nothing is dropped, because what is not seen cannot be pointed at.
        """
        wide = NGRAM_TABLE in snapshot(network)
        importance = self.workers.once(self.importance, network, part)
        restore(network, without_wide(snapshot(network)))
        part = replace(part, labels=self.probabilities(network, self.batched(part, wide=wide)))
        self.stage(
            network,
            self.batched(part, importance, wide),
            dev_batches,
            erasing(self.config.training),
            self.out / "attention",
            keep_last=True,
        )

    def batched(self, part, importance=None, wide=False):
        from .batches import Batches

        length = self.config.text.max_length if self.config.model.architecture == "post" else None
        return Batches(
            part.token_lists, part.labels, self.encoder, self.config.training.batch_size, length, importance, wide
        )

    def new_network(self, batches):
        """Build the network without its wide part, and show it one batch so that all its parameters exist."""
        mxnet = import_mxnet()
        from ..model.networks.classifier import build_network
        from .loop import as_inputs

        mxnet.random.seed(self.config.training.seed)
        network = build_network(len(self.encoder), self.config, wide=False)
        network.initialize(mxnet.init.Xavier(), ctx=self.device)
        network(*as_inputs(next(batches.in_order())[1], self.device))
        network.hybridize(static_alloc=True)
        return network

    def stage(self, network, batches, dev_batches, training, folder, keep_last=False):
        """Fit the network with checkpoints, history and curves in `folder`; where that is done, take its result."""
        from .loop import fit

        checkpoints = self.workers.checkpoints(folder, training.keep_checkpoints)
        fitted = partial(
            fit,
            network,
            batches,
            dev_batches,
            training,
            self.device,
            checkpoints,
            keep_last=keep_last,
            workers=self.workers,
        )
        if not self.workers.first:
            return fitted(report=unheard)
        folder.mkdir(exist_ok=True)
        with Reporter(folder, training.epochs * len(batches), self.quiet) as report:
            progress = fitted(report=report)
            # once more: a run that was killed right after its last checkpoint has not written it
            report.write(progress.history)
        save_curves(progress.history, folder / "curves.png")
        save_evenness(progress, folder / "attention.png")
        return progress

    def wide_table(self, star_part, train_part):
        """Answer the wide part's table (see `wide.fit_wide`), None where the config wants none.

        Learned from the training part and from the raw reviews that NSMC would call negative (1 to 4 stars) or
        positive (9 and 10).
        """
        if not self.config.text.ngram_buckets:
            return None
        token_lists, labels = train_part.token_lists, train_part.labels
        if star_part:
            stars = star_part.frame["stars"].to_numpy()
            clear = numpy.flatnonzero((stars <= 4) | (stars >= 9)).tolist()
            others = not_among(train_part.frame, star_part.frame)
            token_lists = [star_part.token_lists[i] for i in clear] + [token_lists[i] for i in others]
            labels = numpy.concatenate([stars[clear] > 5, labels[others]])
        return fit_wide(token_lists, labels.astype(int), self.config.text.ngram_buckets)

    def probabilities(self, network, batches):
        from .loop import probabilities

        return probabilities(network, batches, self.device, self.workers)

    def calibrate(self, network, dev_batches, wide):
        """Put the calibration that the dev part asks for into the network, and answer it."""
        arrays = snapshot(network)
        odds = logit_of(self.probabilities(network, dev_batches))
        alone = odds if wide is None else odds - wide_scale(arrays) * wide
        found = calibration(alone, dev_batches.labels.astype(int), wide)
        restore(network, calibrated(arrays, found))
        return found

    def final(self, network, table):
        """Answer the network as the bundle will hold it, without dropout, and with its wide part where there is one."""
        from ..model.networks.classifier import build_network

        if self.config.model.architecture == "post":
            return network
        arrays = snapshot(network)
        kept = build_network(len(self.encoder), self.config.with_fields(**NO_DROPOUT))
        fill(kept, arrays if table is None else widened(arrays, table), self.device)
        kept.hybridize(static_alloc=True)
        return kept

    def importance(self, network, part):
        """Answer for each review each token's share of what the answer hangs on, (T,).

        Mostly of what changes when the token is erased; in part of gradient x input, which agrees with erasure
        only in part (benchmarks/ATTENTION.md) and is the other measure that the attention is judged by.
        """
        from ..model.onnx.graph import onnx_model

        # ONNX Runtime, because it answers three times as fast
        engine = OnnxEngine(onnx_model(self.config, snapshot(network)).SerializeToString())
        scorer = TokenScorer(self.encoder, engine, self.config)
        bar = partial(tqdm, desc="erasing words", disable=self.quiet, file=sys.stderr, mininterval=0.5)
        reviews = [self.encoder.encode_words(tokens) for tokens in part.token_lists]
        erased = leave_one_out(scorer, reviews, bar)
        gradients = TokenScorer(self.encoder, GradientEngine(network, self.device), self.config)
        products = gradients.predict_with_weights(reviews)[1]
        return [
            (1 - GRADIENT_SHARE) * shares(one) + GRADIENT_SHARE * shares(other) for one, other in zip(erased, products)
        ]


def pretraining(training):
    """Answer the TrainingConfig of the passes over the raw reviews, all of which are made."""
    return replace(training, epochs=training.pretrain_epochs, learning_rate=training.pretrain_learning_rate)


def erasing(training):
    """Answer the TrainingConfig of the attention's stage, all epochs of which are made."""
    return replace(training, epochs=training.erasure_epochs, learning_rate=training.erasure_learning_rate)


def some(part, training):
    """Answer training.erasure_reviews of the reviews, drawn by the seed."""
    members = numpy.random.RandomState(training.seed).permutation(len(part.labels))
    return part.take(members[: training.erasure_reviews].tolist())


def not_among(frame, others):
    """Answer the positions of the rows whose `id` no row of `others` has; all where there are no ids."""
    if "id" not in frame:
        return list(range(len(frame)))
    known = set(others["id"].astype(str))
    return [place for place, name in enumerate(frame["id"].astype(str)) if name not in known]


def unheard(progress, record=None):
    pass


class Reporter:
    """Shows progress on stderr and writes history.jsonl after each epoch."""

    def __init__(self, out, steps, quiet):
        self.path = out / "history.jsonl"
        self.bar = tqdm(total=steps, unit="step", disable=quiet, file=sys.stderr, mininterval=0.5)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.bar.close()

    def __call__(self, progress, record=None):
        self.bar.update(progress.step - self.bar.n)
        if record is None:
            self.bar.set_postfix_str(f"loss {progress.loss_sum / progress.batch:.3f}", refresh=False)
            return
        self.write(progress.history)
        if not self.bar.disable:
            self.bar.write(
                f"epoch {record['epoch']}: train loss {record['train_loss']:.4f}, dev loss "
                f"{record['dev_log_loss']:.4f}, dev accuracy {100 * record['dev_accuracy']:.2f} %, "
                f"{record['seconds']:.0f} s",
                file=sys.stderr,
            )

    def write(self, history):
        write_text(self.path, "".join(json.dumps(each) + "\n" for each in history))
