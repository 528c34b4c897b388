"""Origins of a classifier besides labels: an initial bundle, teachers, written sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from ..bundle import AnyBundle
from ..corpora.corpus import Reviews
from ..errors import ConfigError
from ..machine.aliases import Record
from ..measure.calibration import log_odds
from ..registry import SYSTEMS, system
from ..text.encoding import ReviewEncoder
from ..training.initial import Beginning, check_sizes, first_bundle
from . import lending, lending_encoder
from .batches import Tokenized
from .long_reviews import NEAREST
from .predictor import Classifier
from .sentences import read_sentences
from .settings import PRESETS, ClassifierConfig, Config
from .system import LAYOUT, ClassifierBundle

PathLike = Union[str, Path]


@dataclass(frozen=True)
class Origins:
    """The bundle that a training begins with, the classifiers that teach it, and the sentences that it learns."""

    first: Optional[AnyBundle] = None
    teachers: tuple[ClassifierBundle, ...] = ()
    sentences: Optional[Reviews] = None

    @classmethod
    def opened(
        cls, config: Config, init_from: Optional[PathLike], teacher: Optional[PathLike], sentences: Optional[PathLike]
    ) -> "Origins":
        """Open what `train` is given; BundleError, ConfigError or DataError where it is missing or does not fit."""
        if first := first_bundle(init_from, *lenders()):
            check_sizes(config, first, PRESETS, lenders()[first.layout].sizes)
        paths = str(teacher).split(",") if teacher else []
        teachers = tuple(bundle for bundle in (first_bundle(path, LAYOUT) for path in paths) if bundle)
        return cls(first, teachers, checked_sentences(config, sentences))

    @property
    def vocabulary(self) -> Optional[bytes]:
        """The vocabulary of the classifier that the training begins with, as JSON."""
        return self.first.read("vocab.json") if self.first and self.first.layout is LAYOUT else None

    def beginning(self, encoder: ReviewEncoder) -> Optional[Beginning]:
        """Return what gives a network with this encoder the parameters of the first bundle."""
        if self.first is None:
            return None
        from ..engines.graphs import parameters_of

        _, arrays = parameters_of(self.first)
        init = lenders()[self.first.layout].init
        return partial(init, arrays=arrays, codec=self.first.codec, token_to_idx=encoder.token_to_idx)

    def settings(self) -> Record:
        """Return what a run's settings.json holds of it."""
        written = self.sentences
        return {
            "init_from": self.first and self.first.fingerprint,
            "teacher": joined([each.fingerprint for each in self.teachers]),
            "sentences": written and {"name": written.name, "sha256": written.sha256},
        }

    def names(self) -> dict[str, Optional[str]]:
        """Return the options of `train` that name it, without whole paths."""
        return {
            "init_from": self.first.name if self.first else None,
            "teacher": joined([each.name for each in self.teachers]),
            "sentences": self.sentences.name if self.sentences else None,
        }

    def describe(self) -> Record:
        """Return what the `data` of a manifest holds of it, but for the first bundle."""
        data: Record = {}
        if self.teachers:
            data["teacher"] = {"name": self.names()["teacher"], "fingerprint": self.settings()["teacher"]}
        if self.sentences:
            positive = int((self.sentences.labels > 0.5).sum())
            data["sentences"] = {**self.sentences.describe(), "positive": positive}
        return data

    def taught(self, reviews: Tokenized) -> Tokenized:
        """Return tokenized reviews with the teachers' probabilities, of several by the mean of their log-odds."""
        if not self.teachers:
            return reviews
        documents = reviews.frame["document"].tolist()
        odds = [log_odds(Classifier.from_bundle(each).probabilities(documents), NEAREST) for each in self.teachers]
        return replace(reviews, taught=1 / (1 + numpy.exp(-numpy.mean(odds, axis=0))))


def lenders() -> dict[Any, Any]:
    """Return {layout of the bundles that a classifier may begin with: what it takes of them}."""
    taken = {"classify": lending, "language": lending_encoder}
    return {system(task).layout: found for task, found in taken.items() if task in SYSTEMS}


def joined(names: Sequence[str]) -> Optional[str]:
    return ",".join(names) or None


def checked_sentences(config: Config, path: Optional[PathLike]) -> Optional[Reviews]:
    """Return the sentences of a file, if there is one; ConfigError where they have signs that nothing can learn."""
    if path is None:
        return None
    written = read_sentences(Path(path))
    signed = isinstance(config.model, ClassifierConfig) and config.model.values.signed
    if any(written.frame["signs"]) and not signed:
        raise ConfigError(
            "--sentences: expected signed values; give --values convolution --signed 1, or leave the signs out"
        )
    return written


def continuing(config: Config, init_from: Optional[PathLike], **others: Any) -> Config:
    """Return a config with the settings that it must share with the classifier that it begins with.

    It stays as it is with another task's bundle or without one, and where the two are of different kinds, which
    training refuses.
    """
    first = first_bundle(init_from, *lenders())
    if first is None or first.layout is not LAYOUT or first.config.model.kind != config.model.kind:
        return config
    return config.with_settings(lending.sizes(first.config))
