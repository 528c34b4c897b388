"""What a training does with the tokenized reviews, stage by stage: reviews in, a calibrated network out.

    stars -> training part -> wide part joined on the dev part -> attention taught by erasure -> joined again

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

from ..analysis.erasure import leave_one_out, shares
from ..atomic import write_text
from ..inference.engines import OnnxEngine
from ..inference.predictor import TokenScorer
from ..mxnet_shim import import_mxnet
from .calibration import calibrated, calibration
from .checkpoint import Checkpoints, Progress
from .curves import save_curves
from .wide import fit_wide, log_odds


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
    encoder : preprocessing.encoding.Encoder
    out : Path
        The run folder.
    device : mxnet context
    quiet : bool
        No progress on stderr.
    """

    def __init__(self, config, encoder, out, device, quiet):
        self.config, self.encoder, self.out, self.device, self.quiet = config, encoder, Path(out), device, quiet

    def learn(self, star_part, train_part, dev_part):
        """Build the network and fit it, to the stars first where there are any; answer what was Learned."""
        training = self.config.training
        star_part = star_part and star_part.in_units(self.encoder)
        train_part, dev_part = train_part.in_units(self.encoder), dev_part.in_units(self.encoder)
        batches, dev_batches = self.batched(train_part), self.batched(dev_part)
        network = self.new_network(batches)
        if star_part:
            self.stage(network, self.batched(star_part), dev_batches, pretraining(training), self.out / "pretraining")
        progress = self.stage(network, batches, dev_batches, training, self.out)
        table = self.wide_table(star_part, train_part)
        wide = None if table is None else log_odds(table, dev_part.token_lists)
        if training.erasure_reviews:
            part = some(train_part, training)
            found = self.calibration(network, dev_batches, wide)
            importance = self.importance(self.whole(network, found, table), part)
            # its own answers are the labels: the attention is to change, not what the network says
            part = replace(part, labels=self.probabilities(network, self.batched(part)))
            self.stage(network, self.batched(part, importance), dev_batches, erasing(training),
                       self.out / "attention")
        found = self.calibration(network, dev_batches, wide)
        return Learned(self.whole(network, found, table), progress, found)

    def batched(self, part, importance=None):
        from ..preprocessing.gluon_data import Batches

        length = self.config.text.max_length if self.config.model.architecture == "post" else None
        return Batches(part.token_lists, part.labels, self.encoder, self.config.training.batch_size, length, importance)

    def new_network(self, batches):
        """Build the network without its wide part, and show it one batch so that all its parameters exist."""
        mxnet = import_mxnet()
        from ..model.classifier import build_network
        from .fit import as_inputs

        mxnet.random.seed(self.config.training.seed)
        network = build_network(len(self.encoder), self.config, wide=False)
        network.initialize(mxnet.init.Xavier(), ctx=self.device)
        network(*as_inputs(next(batches.in_order())[1], self.device))
        network.hybridize(static_alloc=True)
        return network

    def stage(self, network, batches, dev_batches, training, folder):
        """Fit the network with checkpoints, history and curves in `folder`; where that is done, take its result."""
        from .fit import fit

        folder.mkdir(exist_ok=True)
        checkpoints = Checkpoints(folder, training.keep_checkpoints)
        with Reporter(folder, training.epochs * len(batches), self.quiet) as report:
            progress = fit(network, batches, dev_batches, training, self.device, checkpoints, report)
        save_curves(progress.history, folder / "curves.png")
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
        from .fit import probabilities

        return probabilities(network, batches, self.device)

    def calibration(self, network, dev_batches, wide):
        return calibration(self.probabilities(network, dev_batches), dev_batches.labels.astype(int), wide)

    def whole(self, network, found, table):
        """Answer a network with the calibration `found` and the wide part in it, as a bundle's files will hold it."""
        from ..model.classifier import build_network
        from ..model.parameters import fill, round_tables, snapshot

        whole = build_network(len(self.encoder), self.config)
        fill(whole, calibrated(snapshot(network), found, table), self.device)
        round_tables(whole)
        whole.hybridize(static_alloc=True)
        return whole

    def importance(self, network, part):
        """Answer for each review each token's share of what changes when it is erased, (T,)."""
        from ..export import onnx_model
        from ..model.parameters import snapshot

        # ONNX Runtime, because it answers three times as fast
        engine = OnnxEngine(onnx_model(self.config, snapshot(network)).SerializeToString())
        scorer = TokenScorer(self.encoder, engine, self.config)
        bar = partial(tqdm, desc="erasing words", disable=self.quiet, file=sys.stderr, mininterval=0.5)
        return [shares(found) for found in leave_one_out(scorer, part.token_lists, bar)]


def pretraining(training):
    """Answer the TrainingConfig of the passes over the raw reviews, all of which are made."""
    epochs = training.pretrain_epochs
    return replace(training, epochs=epochs, patience=epochs, learning_rate=training.pretrain_learning_rate)


def erasing(training):
    """Answer the TrainingConfig of the attention's stage, all epochs of which are made."""
    epochs = training.erasure_epochs
    return replace(training, epochs=epochs, patience=epochs, learning_rate=training.erasure_learning_rate)


def some(part, training):
    """Answer training.erasure_reviews of the reviews, drawn by the seed."""
    members = numpy.random.RandomState(training.seed).permutation(len(part.labels))
    return part.take(members[:training.erasure_reviews].tolist())


def not_among(frame, others):
    """Answer the positions of the rows whose `id` no row of `others` has; all where there are no ids."""
    if "id" not in frame:
        return list(range(len(frame)))
    known = set(others["id"].astype(str))
    return [place for place, name in enumerate(frame["id"].astype(str)) if name not in known]


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
        write_text(self.path, "".join(json.dumps(each) + "\n" for each in progress.history))
        if not self.bar.disable:
            self.bar.write(f"epoch {record['epoch']}: train loss {record['train_loss']:.4f}, dev loss "
                           f"{record['dev_log_loss']:.4f}, dev accuracy {100 * record['dev_accuracy']:.2f} %, "
                           f"{record['seconds']:.0f} s", file=sys.stderr)
