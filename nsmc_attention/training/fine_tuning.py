"""The last stage of a film's training: the classifier that reads the reviews is trained along, end to end. Imports MXNet.

    reviews -> token ids -> classifier -> vectors -> film network -> the loss of `training.film`

The frozen classifier's vectors are computed once; here each step computes those of its films, and their gradients.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from .._runtime.mxnet_shim import import_mxnet
from ..model.networks.film import FilmNetwork, HierarchicalNetwork
from ..model.parameters import round_tables
from ..text.encoding import Encoder
from .checkpoint import Progress
from .film import Case, FilmBatches, FilmObjective, Films, FilmTraining
from .loop import Stage
from .stages import run_stage

import_mxnet()

# The stage's folder within the run folder
FOLDER = "fine_tuning"
# Reviews of about the same length that are computed at once
PIECE = 64


class WordBatches(FilmBatches):
    """Films in batches, however many reviews are given, whose inputs are those of a HierarchicalNetwork.

    `documents` are the texts of all reviews there are, none blank.
    """

    def __init__(
        self,
        films: Films,
        batch_size: int,
        most: int,
        documents: Sequence[str],
        encoder: Encoder,
        fixed_length: Optional[int] = None,
    ):
        super().__init__(films, batch_size, most)
        self.documents, self.encoder, self.fixed_length = documents, encoder, fixed_length

    def batches(self, cases: Sequence[Case], factors: NDArray[Any]) -> list[list[Case]]:
        # reviews are not padded to as many a film, and batches of films with few reviews alone would count as much
        order = numpy.argsort(factors, kind="stable")
        return [
            [cases[place] for place in order[start : start + self.batch_size]]
            for start in range(0, len(order), self.batch_size)
        ]

    def inputs(self, given: NDArray[numpy.int64], mask: NDArray[numpy.bool_]) -> tuple[NDArray[Any], ...]:
        reviews = self.encoder.encode_many([self.documents[place] for place in given])
        order = numpy.argsort([len(review) for review in reviews], kind="stable")
        places = numpy.zeros(mask.shape, dtype="int32")
        places[mask] = numpy.argsort(order)
        pieces: list[NDArray[Any]] = []
        for start in range(0, len(order), PIECE):
            part = [reviews[place] for place in order[start : start + PIECE]]
            token_ids, valid_length, *ngram_ids = self.encoder.batch(part, self.fixed_length)
            pieces += [token_ids, valid_length.astype("float32"), *ngram_ids]
        return places, mask.astype("float32"), *pieces


@dataclass(frozen=True)
class FineTuning:
    """The last stage of a film's training; `encoder` and `fixed_length` are the classifier's, `documents` all reviews."""

    training: FilmTraining
    documents: Sequence[str]
    encoder: Encoder
    fixed_length: Optional[int] = None

    def run(self, classifier: Any, film: FilmNetwork, train: Films, dev: Films) -> Progress:
        """Train a classifier and the film network above it, both with their parameters, further; return the Progress.

        The classifier's tables are then rounded to what a bundle's files hold.
        """
        training = self.training
        settings = training.config.training
        network = HierarchicalNetwork(classifier, film)
        network.words.hybridize()
        objective = FilmObjective(self.batches(dev), training.device, settings.seed)
        epochs, rate = settings.fine_tuning.epochs, settings.fine_tuning.learning_rate
        stage = Stage(FOLDER, objective, self.batches(train), epochs, rate, settings.patience)
        progress = run_stage(network, stage, settings, training.out / FOLDER, training.draw, training.quiet)
        round_tables(classifier)
        return progress

    def batches(self, films: Films) -> WordBatches:
        settings = self.training.config.training
        size = settings.fine_tuning.batch_size
        return WordBatches(films, size, settings.given, self.documents, self.encoder, self.fixed_length)
