"""The training loop, on one screen: a stage's batches in, a trained network and its history out.

It is independent of text, files and task: the stage has an objective and batches.
"""

import math
import time
from collections.abc import Callable
from typing import Any, Optional

import numpy

from ..errors import ConfigError
from ..machine.aliases import Network, Trainer
from ..machine.gluon import mxnet
from ..network.operators import FastAdam
from ..network.parameters import snapshot
from ..schema import FLAGS, LoopConfig
from .checkpoint import Average, Checkpoint, Progress
from .stage import Objective, Stage

# Larger values mean divergence; a bundle cannot hold parameters above 8e6
LARGEST_LOSS, LARGEST_PARAMETER = 1e4, 1e6


def fit(
    network: Network, stage: Stage, config: LoopConfig, checkpoint: Optional[Checkpoint], report: Callable[..., None]
) -> Progress:
    """Train an initialized network from its last complete epoch on; it ends with the parameters of the selected epoch.

    Without a checkpoint nothing is saved, and the network ends with the parameters of the last epoch. `report` is called
    with Progress after each step and, with the epoch's record as second argument, after each epoch: epoch, steps,
    train_loss, dev_* of the objective's figures, and seconds.
    """
    trainer, average = make_trainer(network, stage.learning_rate), Average(network, config.average)
    progress = checkpoint.load(network, trainer, average) if checkpoint else Progress()
    total_steps, metric = stage.epochs * len(stage.batches), f"dev_{stage.objective.metric}"
    patience = math.inf if stage.patience is None else stage.patience
    if not progress.step:
        progress.before = dev_figures(network, stage)
    while progress.epoch < stage.epochs and progress.epoch - progress.best_epoch <= patience:
        started, losses = time.perf_counter(), 0.0
        # MXNet cannot save its generator's state, so each epoch seeds it
        mxnet.random.seed((config.seed * 1_000_003 + progress.step) % 2**31)
        for count, batch in enumerate(stage.batches.epoch(config.seed, progress.epoch), 1):
            trainer.set_learning_rate(learning_rate(progress.step, total_steps, stage.learning_rate, config))
            loss = train_step(network, trainer, stage.objective, batch, config.clip_norm)
            refuse_divergence("a loss", loss, LARGEST_LOSS, progress, stage)
            losses += loss
            progress.step, progress.train_loss = progress.step + 1, losses / count
            average.update(progress.step)
            report(progress)
        with average.applied(progress.step):
            largest = numpy.max([numpy.abs(array).max() for array in snapshot(network).values()])
            refuse_divergence("parameters", float(largest), LARGEST_PARAMETER, progress, stage)
            record = {
                "epoch": progress.epoch + 1,
                "steps": progress.step,
                "train_loss": progress.train_loss,
                **dev_figures(network, stage),
                "seconds": time.perf_counter() - started,
            }
            progress.history.append(record)
            if stage.patience is None or record[metric] < progress.best:
                progress.best, progress.best_epoch = record[metric], progress.epoch
                if checkpoint:
                    checkpoint.save_best(network)
        progress.epoch += 1
        if checkpoint:
            checkpoint.save(network, trainer, average, progress)
        report(progress, record)
    if checkpoint:
        checkpoint.load_best(network)
    return progress


def dev_figures(network: Network, stage: Stage) -> dict[str, float]:
    return {f"dev_{name}": value for name, value in stage.objective.evaluate(network).items()}


def refuse_divergence(name: str, value: float, largest: float, progress: Progress, stage: Stage) -> None:
    """Raise ConfigError if a value of a training is too large or not finite, which means divergence."""
    if not abs(value) <= largest:
        flag = FLAGS.get(f"training.{stage.name}.learning_rate", "--learning-rate")
        raise ConfigError(
            f"step {progress.step} of {stage.name}: expected {name} of at most {largest:,.0f}, found {value:.4g}: the "
            f"training diverges; lower {flag}, which is {stage.learning_rate:g}, in a new --out"
        )


def make_trainer(network: Network, rate: float) -> Trainer:
    """Return a Trainer with Adam, Kingma & Ba 2015 (arXiv:1412.6980), which updates only a batch's embedding rows."""
    trained = {name: parameter for name, parameter in network.collect_params().items() if parameter.grad_req != "null"}
    options = {"learning_rate": rate, "lazy_update": True}
    return mxnet.gluon.Trainer(trained, FastAdam.__name__.lower(), options, kvstore=None)


def train_step(network: Network, trainer: Trainer, objective: Objective, batch: Any, clip_norm: float) -> float:
    """Update the parameters by one batch; return its mean loss (nats)."""
    with mxnet.autograd.record():
        loss = objective.loss(network, batch)
    loss.backward()
    mean_loss = float(loss.asscalar())
    # Trainer divides gradients by its argument, so clipping needs no extra pass
    trainer.step(max(1.0, gradient_norm(trainer) / clip_norm))
    return mean_loss


def gradient_norm(trainer: Trainer) -> float:
    """Return the global L2 norm of the gradients; a row-sparse gradient only has the rows that a batch uses."""
    gradients = [parameter.list_grad()[0] for parameter in trainer._params]
    arrays = [gradient.data if gradient.stype == "row_sparse" else gradient for gradient in gradients]
    return math.sqrt(mxnet.nd.multi_sum_sq(*arrays, num_arrays=len(arrays)).sum().asscalar())


def learning_rate(step: int, total_steps: int, largest: float, config: LoopConfig) -> float:
    """Return the rate of a step: a linear warm-up, then a half cosine down to 0, or a constant."""
    warmup = config.warmup * total_steps
    if step < warmup:
        return largest * min(1, (step + 1) / warmup)
    if config.schedule == "constant":
        return largest
    fraction = (step - warmup) / max(1, total_steps - warmup)
    return largest * 0.5 * (1 + math.cos(math.pi * fraction))
