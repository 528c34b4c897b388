"""The training objective of `film`: some reviews of a film in, the mean stars of its others out. Imports MXNet.

How many are given is drawn anew each time, few as often as many, so that one network reads one review and 64.
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
# Weights of their losses: the middle one is what is told first
PART_SHARES = (1, 2, 1)
# The mean of m stars varies by the film's own variance and by that of one review, four times as large, divided by m:
# a film counts m / (m + 4)
STARS_SPREAD = 4
# Fewest others whose mean is a target in training, and in what a network is judged by
MIN_OTHERS_TRAIN, MIN_OTHERS_EVAL = 3, 10
# A unit of numbers that do not vary
SMALLEST_SPREAD = 1e-3
# How far films in a batch may differ in how many reviews are given, so that it is another batch in each epoch
STARS_JITTER = 0.3


@dataclass(frozen=True)
class Case:
    """Places of the reviews that are given of a film, the mean stars of its others, and how many these are."""

    given: NDArray[numpy.int64]
    stars: float
    others: int


@dataclass(frozen=True)
class FilmBatch:
    """N films with at most S reviews given: the network's inputs, vectors (N, S, F) and mask (N, S), 1 for a review."""

    inputs: tuple[Numbers, ...]
    stars: NDArray[numpy.float32]  # (N,)
    weights: NDArray[numpy.float32]  # (N,), by how many the others are


@dataclass(frozen=True)
class FilmVectors:
    """N films: the vectors (M, F) and stars (M,) of all reviews there are, and for each film the places of its own."""

    vectors: Numbers
    stars: NDArray[numpy.float32]
    members: Sequence[NDArray[numpy.int64]]

    def of(self, films: Sequence[int]) -> "FilmVectors":
        return FilmVectors(self.vectors, self.stars, [self.members[film] for film in films])

    def draw(self, count: int, film: int, random: numpy.random.RandomState) -> Case:
        """Draw so many reviews of a film; the others are its target."""
        order = random.permutation(self.members[film])
        return Case(order[:count], float(self.stars[order[count:]].mean()), len(order) - count)

    def cases(self, count: int, random: numpy.random.RandomState, draws: int = 1) -> list[Case]:
        """Draw so many reviews of each film that has MIN_OTHERS_EVAL others, several times."""
        enough = [film for film, own in enumerate(self.members) if len(own) >= count + MIN_OTHERS_EVAL]
        return [self.draw(count, film, random) for film in enough for _ in range(draws)]

    def batch(self, cases: Sequence[Case]) -> FilmBatch:
        counts, others = (numpy.array(each) for each in zip(*((len(case.given), case.others) for case in cases)))
        mask = numpy.arange(counts.max()) < counts[:, None]
        vectors = numpy.zeros((*mask.shape, self.vectors.shape[1]), dtype="float32")
        vectors[mask] = self.vectors[numpy.concatenate([case.given for case in cases])]
        stars = numpy.array([case.stars for case in cases], dtype="float32")
        return FilmBatch((vectors, mask.astype("float32")), stars, (others / (others + STARS_SPREAD)).astype("float32"))


class FilmBatches(SeededBatches[FilmBatch]):
    """Films in batches of about as many reviews given, at most `most`."""

    def __init__(self, films: FilmVectors, batch_size: int, most: int):
        self.films, self.batch_size, self.most = films, batch_size, most
        self.usable = [film for film, own in enumerate(films.members) if len(own) > MIN_OTHERS_TRAIN]

    def __len__(self) -> int:
        """Batches in an epoch."""
        return -(-len(self.usable) // self.batch_size)

    def drawn(self, random: numpy.random.RandomState, shuffled: bool) -> Iterator[FilmBatch]:
        cases = [self.case(film, random) for film in self.usable]
        counts = numpy.array([len(case.given) for case in cases])
        keys = counts * (1 + STARS_JITTER * random.random_sample(len(cases))) if shuffled else counts
        for members in similar_batches(keys, self.batch_size, random if shuffled else None):
            yield self.films.batch([cases[i] for i in members])

    def case(self, film: int, random: numpy.random.RandomState) -> Case:
        """Draw reviews of a film, a power of two of them as often as the next."""
        most = min(self.most, len(self.films.members[film]) - MIN_OTHERS_TRAIN)
        count = max(1, int(math.exp(random.random_sample() * math.log(most + 1))))
        return self.films.draw(count, film, random)


class FilmObjective(Objective):
    """The quantile (pinball) loss, Koenker & Bassett 1978, weighted by how many stars a target is the mean of."""

    metric = "loss"

    def quantiles(self, network: Network, batch: FilmBatch) -> Arrays:
        """The quantiles of QUANTILES, (N, 3)."""
        return network(*(mxnet.nd.array(array, ctx=self.device, dtype=array.dtype) for array in batch.inputs))[0]

    def loss(self, network: Network, batch: FilmBatch) -> Arrays:
        return self.pinball(self.quantiles(network, batch), batch)

    def pinball(self, quantiles: Any, batch: FilmBatch) -> Arrays:
        """The loss (1,) of the quantiles (N, 3) that the network returned for a batch."""
        nd = mxnet.nd
        stars, weights = (nd.array(values, ctx=self.device).expand_dims(1) for values in (batch.stars, batch.weights))
        below, shares = (nd.array([row], ctx=self.device) for row in (QUANTILES, PART_SHARES))
        gap = stars - quantiles
        losses = nd.maximum(below * gap, (below - 1) * gap)  # (N, 3)
        return (losses * shares * weights).sum() / float(batch.weights.sum())

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
    """Train the network; return it, the Progress and what judges it."""
    settings, network = config.training, new_network(config, train, run.context)
    batches, dev_batches = (FilmBatches(films, settings.batch_size, settings.given) for films in (train, dev))
    objective = FilmObjective(dev_batches, run.context, settings.seed)
    stage = Stage("film", objective, batches, settings.epochs, settings.learning_rate, settings.patience)
    return network, run.fit(network, stage, settings), objective


def new_network(config: FilmConfig, films: FilmVectors, device: Device) -> Network:
    """Build the network, with the means and units of what it reads and tells."""
    network = config.network(films.vectors.shape[1])
    initialize(network, config.training.seed, device, lambda: None)
    set_parameters(network, in_units(snapshot(network), films))
    for part in network.parts:
        part.hybridize()
    return network


def in_units(arrays: dict[str, Numbers], films: FilmVectors) -> dict[str, Numbers]:
    """Return {name: array} of the parameters with the means and units of these films' vectors and mean stars."""
    vectors = films.vectors[numpy.concatenate(films.members)].astype("float32")
    stars = numpy.array([films.stars[own].mean() for own in films.members])
    units = {
        "reviews.mean": vectors.mean(axis=0),
        "reviews.unit": vectors.std(axis=0) + SMALLEST_SPREAD,
        "film.mean": stars.mean(),
        "film.unit": stars.std() + SMALLEST_SPREAD,
    }
    return {**arrays, **{name: numpy.asarray(unit, "float32").reshape(1, -1) for name, unit in units.items()}}
