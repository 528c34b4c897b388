"""The last stage of a film's training: the classifier that reads the reviews is trained along, end to end. Imports MXNet.

    reviews -> token ids -> classifier -> vectors -> film network -> the loss of `training.film`

The frozen classifier's vectors are computed once; here each step computes those of its films, and their gradients.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from ..config import Config
from ..model.networks.film import FilmNetwork, HierarchicalNetwork
from ..model.parameters import Arrays, fill, round_tables
from ..text.encoding import Encoder
from .checkpoint import Progress
from .film import Case, FilmBatches, FilmObjective, Films, FilmTraining
from .loop import Stage
from .stages import run_stage

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
    """The last stage of a film's training; `classifier` and `encoder` are those of the classifier, `documents` all reviews."""

    training: FilmTraining
    documents: Sequence[str]
    classifier: Config
    encoder: Encoder

    def run(self, arrays: Arrays, film: FilmNetwork, train: Films, dev: Films) -> tuple[Any, Progress]:
        """Train the classifier from its parameters {name: array} on, and the film network above it.

        Return the classifier's network, its tables rounded to what a bundle's files hold, and the Progress.
        """
        training, settings = self.training, self.training.config.training
        classifier = self.new_classifier(arrays)
        network = HierarchicalNetwork(classifier, film)
        network.words.hybridize()
        objective = FilmObjective(self.batches(dev), training.device, settings.seed)
        epochs, rate = settings.fine_tuning.epochs, settings.fine_tuning.learning_rate
        stage = Stage(FOLDER, objective, self.batches(train), epochs, rate, settings.patience)
        progress = run_stage(network, stage, settings, training.out / FOLDER, training.draw, training.quiet)
        round_tables(classifier)
        return classifier, progress

    def new_classifier(self, arrays: Arrays) -> Any:
        """Build the classifier's network without its dropout, with which the films are told worse (docs/film.md)."""
        network = self.classifier.without_dropout().network(len(self.encoder))
        fill(network, arrays, self.training.device)
        return network

    def batches(self, films: Films) -> WordBatches:
        settings = self.training.config.training
        size, length = settings.fine_tuning.batch_size, self.classifier.fixed_length
        return WordBatches(films, size, settings.given, self.documents, self.encoder, length)
