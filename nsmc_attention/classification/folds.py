"""Fine-tuning by folds: labelled reviews in; the mean of the folds' networks and predictions of held-out reviews out.

The mean of networks that began with the same parameters is one network, and mostly better than each (Wortsman et al. 2022,
arXiv:2203.05482). A fold takes seconds, so there are no checkpoints. Imports MXNet.
"""

from collections.abc import Iterator

import numpy
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from .._runtime.aliases import Device, Network, Numbers
from .._runtime.progress import progress_bar
from ..evaluation.calibration import log_odds
from ..model.parameters import Arrays, set_parameters, snapshot
from ..training.loop import learning_rate, make_trainer, seed_dropout, train_step
from .batches import Batches, EncodedPart
from .objectives import LabelsObjective, predict_batches
from .stages import ClassifierTrainer

FOLDS = 5
Fold = tuple[NDArray[numpy.int64], NDArray[numpy.int64]]


def fold_splits(labels: Numbers, seed: int) -> list[Fold]:
    """Return (members, held out) of each fold, stratified by label; the seed alone decides."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return list(folds.split(labels, labels))


def fine_tuned(
    trainer: ClassifierTrainer, examples: EncodedPart, arrays: Arrays, mix: float = 1.0
) -> tuple[Arrays, NDArray[numpy.float64], NDArray[numpy.float64]]:
    """Return the mean of the folds' networks, and the log-odds (N,) of reviews before and, held out, after training.

    Of what training changes in a network, the share `mix` is kept (Wortsman et al. 2022, arXiv:2109.01903).
    """
    context, settings = trainer.run.context, trainer.config.training
    before = odds_of(trainer.network_of(arrays), trainer.batches(examples, with_ngrams=True), context)
    after, sums = numpy.zeros(len(before)), {name: numpy.zeros(array.shape) for name, array in arrays.items()}
    folds = fold_splits(examples.labels, settings.seed)
    with progress_bar(
        shown=False if trainer.run.quiet else None, total=len(folds) * settings.labels.epochs, desc="folds"
    ) as bar:
        for members, held_out in folds:
            known, other = (
                trainer.batches(examples.take(places.tolist()), with_ngrams=True) for places in (members, held_out)
            )
            network = trainer.network_of(arrays)
            network.explains = False
            for _ in passes(trainer, network, known):
                bar.update(1)
            for name, array in snapshot(network).items():
                # exact for what was not trained
                change = mix * (array - arrays[name].astype("float64"))
                sums[name] += change
                set_parameters(network, {name: (arrays[name] + change).astype("float32")})
            after[held_out] = odds_of(network, other, context)
    return {name: (arrays[name] + sums[name] / len(folds)).astype("float32") for name in arrays}, before, after


def odds_of(network: Network, batches: Batches, context: Device) -> NDArray[numpy.float64]:
    """Return the log-odds (N,) of positive."""
    return log_odds(predict_batches(network, batches, context)[0])


def passes(trainer: ClassifierTrainer, network: Network, batches: Batches) -> Iterator[int]:
    """Train a network; yield the number of each pass over the batches when it is done."""
    settings, penalty = trainer.config.training, trainer.config.model.attention.penalty
    objective = LabelsObjective(batches, trainer.run.context, penalty=penalty)
    rate, epochs = settings.labels.learning_rate, settings.labels.epochs
    adam, total = make_trainer(network, rate), epochs * len(batches)
    seed_dropout(settings.seed, 0)
    for epoch in range(epochs):
        for step, batch in enumerate(batches.epoch(settings.seed, epoch), start=epoch * len(batches)):
            adam.set_learning_rate(learning_rate(step, total, rate, settings))
            train_step(network, adam, objective, batch, settings.clip_norm)
        yield epoch
