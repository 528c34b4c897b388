"""The training objective of `film`: some reviews of a film in, the mean stars of its others out. Imports MXNet.

The number of input reviews is drawn log-uniformly for each film and epoch, so that one network handles 1 to 64 reviews.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from ...machine.aliases import Arrays, Device, Network, Numbers
from ...machine.gluon import mxnet
from ...network.parameters import set_parameters, snapshot
from ...training.checkpoint import Progress
from ...training.runs import Run
from ...training.stage import Objective, SeededBatches, Stage, similar_batches
from ...training.task import initialize
from .settings import FilmConfig

QUANTILES = (0.05, 0.5, 0.95)
# Weights of their losses: the median counts twice because it is the prediction
QUANTILE_WEIGHTS = (1, 2, 1)
# Variance of a film's stars divided by the variance between films: the mean of m stars weighs m / (m + 4) in the loss
VARIANCE_RATIO = 4
# Fewest other reviews whose mean is a target, in training and in evaluation
MIN_OTHERS_TRAIN, MIN_OTHERS_EVAL = 3, 10
# Added to standard deviations, so that a constant feature does not divide by zero
SMALLEST_SPREAD = 1e-3
# Relative noise on the numbers of reviews by which films are sorted, so that each epoch has other batches
COUNT_JITTER = 0.3


@dataclass(frozen=True)
class Case:
    """Indices of a film's input reviews, the mean stars of its other reviews, and the number of those."""

    inputs: NDArray[numpy.int64]
    stars: float
    others: int


@dataclass(frozen=True)
class FilmBatch:
    """N films with at most S input reviews: vectors (N, S, F) and mask (N, S), 1 for a review, with their targets."""

    inputs: tuple[Numbers, ...]
    stars: NDArray[numpy.float32]  # (N,)
    weights: NDArray[numpy.float32]  # (N,), increasing with the number of other reviews


@dataclass(frozen=True)
class FilmVectors:
    """N films: the vectors (M, F) and stars (M,) of all reviews, and for each film the indices of its reviews."""

    vectors: Numbers
    stars: NDArray[numpy.float32]
    members: Sequence[NDArray[numpy.int64]]

    def of(self, films: Sequence[int]) -> "FilmVectors":
        return FilmVectors(self.vectors, self.stars, [self.members[film] for film in films])

    def draw(self, count: int, film: int, random: numpy.random.RandomState) -> Case:
        """Draw `count` input reviews of a film; the target is the mean stars of the others."""
        order = random.permutation(self.members[film])
        return Case(order[:count], float(self.stars[order[count:]].mean()), len(order) - count)

    def cases(self, count: int, random: numpy.random.RandomState, draws: int = 1) -> list[Case]:
        """Draw `count` reviews of each film with at least MIN_OTHERS_EVAL others, `draws` times."""
        films = [film for film, reviews in enumerate(self.members) if len(reviews) >= count + MIN_OTHERS_EVAL]
        return [self.draw(count, film, random) for film in films for _ in range(draws)]

    def batch(self, cases: Sequence[Case]) -> FilmBatch:
        counts = numpy.array([len(case.inputs) for case in cases])
        others = numpy.array([case.others for case in cases])
        mask = numpy.arange(counts.max()) < counts[:, None]
        vectors = numpy.zeros((*mask.shape, self.vectors.shape[1]), dtype="float32")
        vectors[mask] = self.vectors[numpy.concatenate([case.inputs for case in cases])]
        stars = numpy.array([case.stars for case in cases], dtype="float32")
        weights = (others / (others + VARIANCE_RATIO)).astype("float32")
        return FilmBatch((vectors, mask.astype("float32")), stars, weights)


class FilmBatches(SeededBatches[FilmBatch]):
    """Batches of films with similar numbers of input reviews, at most `max_reviews` per film."""

    def __init__(self, films: FilmVectors, batch_size: int, max_reviews: int):
        self.films, self.batch_size, self.max_reviews = films, batch_size, max_reviews
        self.usable = [film for film, reviews in enumerate(films.members) if len(reviews) > MIN_OTHERS_TRAIN]

    def __len__(self) -> int:
        """Return the number of batches per epoch."""
        return -(-len(self.usable) // self.batch_size)

    def drawn(self, random: numpy.random.RandomState, shuffled: bool) -> Iterator[FilmBatch]:
        cases = [self.case(film, random) for film in self.usable]
        counts = numpy.array([len(case.inputs) for case in cases])
        keys = counts * (1 + COUNT_JITTER * random.random_sample(len(cases))) if shuffled else counts
        for members in similar_batches(keys, self.batch_size, random if shuffled else None):
            yield self.films.batch([cases[i] for i in members])

    def case(self, film: int, random: numpy.random.RandomState) -> Case:
        """Draw input reviews of a film; the logarithm of their number is uniform."""
        limit = min(self.max_reviews, len(self.films.members[film]) - MIN_OTHERS_TRAIN)
        count = max(1, int(math.exp(random.random_sample() * math.log(limit + 1))))
        return self.films.draw(count, film, random)


class FilmObjective(Objective):
    """The quantile (pinball) loss, Koenker & Bassett 1978, weighted by the number of stars in each target."""

    metric = "loss"

    def quantiles(self, network: Network, batch: FilmBatch) -> Arrays:
        """Return the network's quantiles for a batch, (N, 3), in the order of QUANTILES."""
        return network(*(mxnet.nd.array(array, ctx=self.device, dtype=array.dtype) for array in batch.inputs))[0]

    def loss(self, network: Network, batch: FilmBatch) -> Arrays:
        return self.pinball(self.quantiles(network, batch), batch)

    def pinball(self, quantiles: Any, batch: FilmBatch) -> Arrays:
        """Return the loss (1,) of the quantiles (N, 3) of a batch."""
        nd = mxnet.nd
        stars, weights = (nd.array(values, ctx=self.device).expand_dims(1) for values in (batch.stars, batch.weights))
        levels, level_weights = (nd.array([row], ctx=self.device) for row in (QUANTILES, QUANTILE_WEIGHTS))
        gap = stars - quantiles
        losses = nd.maximum(levels * gap, (levels - 1) * gap)  # (N, 3)
        return (losses * level_weights * weights).sum() / float(batch.weights.sum())

    def evaluate(self, network: Network) -> dict[str, float]:
        """Return the mean loss and the mean absolute error in stars, both weighted as in training."""
        sums = numpy.zeros(3)
        for batch in self.dev_batches.in_order(self.seed):
            quantiles, weight = self.quantiles(network, batch), batch.weights.sum()
            error = abs(quantiles.asnumpy()[:, 1] - batch.stars)
            sums += [self.pinball(quantiles, batch).asscalar() * weight, (error * batch.weights).sum(), weight]
        return {"loss": sums[0] / sums[2], "absolute_error": sums[1] / sums[2]}


def train_network(
    config: FilmConfig, run: Run, train: FilmVectors, dev: FilmVectors
) -> tuple[Network, Progress, FilmObjective]:
    """Train the network; return it, its Progress and the objective that evaluates it."""
    settings, network = config.training, new_network(config, train, run.context)
    batches, dev_batches = (FilmBatches(films, settings.batch_size, settings.given) for films in (train, dev))
    objective = FilmObjective(dev_batches, run.context, settings.seed)
    stage = Stage("film", objective, batches, settings.epochs, settings.learning_rate, settings.patience)
    return network, run.fit(network, stage, settings), objective


def new_network(config: FilmConfig, films: FilmVectors, device: Device) -> Network:
    """Build the network and set its standardization of inputs and outputs."""
    network = config.network(films.vectors.shape[1])
    initialize(network, config.training.seed, device, lambda: None)
    set_parameters(network, standardized(snapshot(network), films))
    for part in network.parts:
        part.hybridize()
    return network


def standardized(arrays: dict[str, Numbers], films: FilmVectors) -> dict[str, Numbers]:
    """Return the parameters {name: array} with mean and deviation of these films' vectors and mean stars."""
    vectors = films.vectors[numpy.concatenate(films.members)].astype("float32")
    stars = numpy.array([films.stars[reviews].mean() for reviews in films.members])
    scales = {
        "reviews.mean": vectors.mean(axis=0),
        "reviews.unit": vectors.std(axis=0) + SMALLEST_SPREAD,
        "film.mean": stars.mean(),
        "film.unit": stars.std() + SMALLEST_SPREAD,
    }
    return {**arrays, **{name: numpy.asarray(scale, "float32").reshape(1, -1) for name, scale in scales.items()}}
