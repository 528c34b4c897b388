"""Fine-tuning by folds: labelled reviews in; the mean of the folds' networks and predictions of held-out reviews out.

The mean of networks that began with the same parameters is one network, and mostly better than each (Wortsman et al. 2022,
arXiv:2203.05482). A fold takes seconds, so there are no checkpoints. Imports MXNet.
"""

from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray
from scipy.special import expit

from ..machine.aliases import Device, Network, Numbers
from ..machine.progress import progress_bar
from ..measure.calibration import calibrated, log_odds, temperature
from ..network.parameters import NGRAM_TABLE, Arrays, set_parameters, snapshot, wide_scale
from ..training.loop import fit
from ..training.stage import Stage
from .batches import Batches, EncodedPart
from .ngrams import continue_table
from .objectives import LabelsObjective, predict_batches
from .stages import ClassifierTrainer

FOLDS = 5
Fold = tuple[NDArray[numpy.int64], NDArray[numpy.int64]]


class Adapted(NamedTuple):
    """The parameters of a network, and the log-odds (N,) of reviews by folds that have not seen them."""

    arrays: Arrays
    held_out: NDArray[numpy.float64]


def fold_splits(labels: Numbers, seed: int) -> list[Fold]:
    """Return (members, held out) of each fold, stratified by label; the seed alone decides."""
    from sklearn.model_selection import StratifiedKFold

    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(labels, labels))


def cross_validated(trainer: ClassifierTrainer, examples: EncodedPart, arrays: Arrays, mix: float = 1.0) -> Adapted:
    """Fine-tune the network of {name: array} on all folds but one, for each; return the mean of the networks.

    Of what training changes in a network, the share `mix` is kept (Wortsman et al. 2022, arXiv:2109.01903).
    """
    held_out_odds, sums = (
        numpy.zeros(len(examples.labels)),
        {name: numpy.zeros(one.shape) for name, one in arrays.items()},
    )
    splits, epochs = fold_splits(examples.labels, trainer.config.training.seed), trainer.config.training.labels.epochs
    bar = progress_bar(shown=False if trainer.run.quiet else None, total=len(splits) * epochs, desc="folds")
    with bar:
        for members, held_out in splits:
            known, other = (
                trainer.batches(examples.take(places.tolist()), with_ngrams=True) for places in (members, held_out)
            )
            network = trainer.network_of(arrays)
            fine_tune(trainer, network, known, other, lambda progress, record=None: bar.update(record is not None))
            for name, array in snapshot(network).items():
                # exact for what was not trained
                change = mix * (array - arrays[name].astype("float64"))
                sums[name] += change
                set_parameters(network, {name: (arrays[name] + change).astype("float32")})
            held_out_odds[held_out] = odds_of(network, other, trainer.run.context)
    mean = {name: (arrays[name] + sums[name] / len(splits)).astype("float32") for name in arrays}
    return with_continued_ngrams(trainer, examples, Adapted(mean, held_out_odds))


def fine_tune(trainer: ClassifierTrainer, network: Network, known: Batches, dev: Batches, report: Any) -> None:
    """Train a network on all its batches, for as many epochs as the settings say."""
    settings, penalty = trainer.config.training, trainer.config.model.attention.penalty
    network.explains = False
    objective = LabelsObjective(dev, trainer.run.context, penalty)
    stage = Stage("labels", objective, known, settings.labels.epochs, settings.labels.learning_rate)
    fit(network, stage, settings, None, report)


def odds_of(network: Network, batches: Batches, context: Device) -> NDArray[numpy.float64]:
    """Return the log-odds (N,) of positive."""
    return log_odds(predict_batches(network, batches, context)[0])


def with_continued_ngrams(trainer: ClassifierTrainer, examples: EncodedPart, adapted: Adapted) -> Adapted:
    """Continue the table of n-grams beside the log-odds of held-out reviews, where these become better by it."""
    from sklearn.metrics import log_loss

    arrays, odds = adapted
    if not wide_scale(arrays):
        return adapted
    labels, token_lists = examples.labels.astype(int), [review.tokens for review in examples.reviews]
    factors = trainer.factors(trainer.network_of(arrays, dropout=False), examples)
    change, scale, bias, together = continue_table(arrays[NGRAM_TABLE], token_lists, labels, odds, factors)
    # labels of noise can reverse the network's log-odds
    if scale <= 0 or log_loss(labels, expit(together)) >= log_loss(labels, expit(odds / temperature(odds, labels))):
        return adapted
    fitted = {"scale": scale, "bias": bias, "wide_scale": scale * wide_scale(arrays)}
    table = arrays[NGRAM_TABLE].copy()
    table[:, 0] += change / fitted["wide_scale"]
    return Adapted({**calibrated(arrays, fitted), NGRAM_TABLE: table}, together)
