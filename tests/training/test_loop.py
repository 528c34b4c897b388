"""The training loop knows nothing of the task: here it fits a line."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention.classifier.settings import TrainingConfig
from nsmc_attention.errors import ConfigError
from nsmc_attention.machine.gluon import mxnet
from nsmc_attention.training.checkpoint import Checkpoint
from nsmc_attention.training.loop import fit
from nsmc_attention.training.stage import Objective, Stage

nd = mxnet.nd
X = numpy.linspace(-1, 1, 32, dtype="float32").reshape(-1, 1)


class Line(Objective):
    metric = "error"

    def loss(self, network, batch):
        return ((network(nd.array(batch)) - 2 * nd.array(batch)) ** 2).mean()

    def evaluate(self, network):
        return {"error": float(abs(network(nd.array(X)) - 2 * nd.array(X)).mean().asscalar())}


class Worse(Line):
    """Its metric grows with each evaluation."""

    calls = 0

    def evaluate(self, network):
        self.calls += 1
        return {"error": float(self.calls)}


class Batches:
    def __init__(self, count=4):
        self.count = count

    def __len__(self):
        return self.count

    def epoch(self, seed, epoch):
        order = numpy.random.RandomState([seed, epoch]).permutation(32)
        return (X[part] for part in numpy.split(order, self.count))


def network():
    mxnet.random.seed(0)
    layer = mxnet.gluon.nn.Dense(1, in_units=1)
    layer.initialize()
    return layer


def train(folder, objective=Line, layer=None, report=lambda *progress: None, **changes):
    stage = replace(Stage("labels", objective(None, None), Batches(), 20, 0.1, patience=3), **changes)
    config = TrainingConfig(average=0.0, warmup=0.0)
    layer = layer or network()
    folder.mkdir(exist_ok=True)
    return layer, fit(layer, stage, config, Checkpoint(folder), report)


def test_the_best_epoch_is_kept_and_patience_ends_the_stage_without_which_the_last_one_is_kept(tmp_path):
    _, progress = train(tmp_path / "patient", Worse)
    assert (progress.best_epoch, progress.epoch, len(progress.history)) == (0, 4, 4)
    _, progress = train(tmp_path / "all", Worse, epochs=6, patience=None)
    assert (progress.best_epoch, progress.epoch) == (5, 6)


@pytest.mark.parametrize(
    "rate, batches, message",
    [
        (1e30, 4, "expected a loss of at most 10,000, found (inf|nan): the training diverges; lower --learning-rate"),
        (1e9, 4, r"expected a loss of at most 10,000, found .* which is 1e\+09, in a new --out"),
        (1e9, 1, "expected parameters of at most 1,000,000, found 1e.09: the training diverges"),
    ],
)
def test_a_training_that_diverges_ends_with_what_to_do(tmp_path, rate, batches, message):
    with pytest.raises(ConfigError, match=f"step 1 of labels: {message}"):
        train(tmp_path, epochs=1, learning_rate=rate, batches=Batches(batches))
    assert not list(tmp_path.iterdir())
