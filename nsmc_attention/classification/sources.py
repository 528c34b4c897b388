"""The optional sources of a training beside its reviews: a bundle to begin with, teachers, and written sentences.

Of another classifier it takes all but the table of n-grams, and so its vocabulary; of a language model the encoder and
the embeddings.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

from .._runtime.mxnet_types import Network
from ..bundle.format import AnyBundle
from ..errors import ConfigError
from ..inference.engines import parameters_of
from ..model.parameters import NGRAM_TABLE, Arrays, set_parameters, snapshot
from ..reviews.corpus import Reviews
from ..schema import paths
from ..systems.language.system import LAYOUT as LANGUAGE_MODEL
from ..text.encoding import ReviewEncoder
from ..training.config import TaskConfig
from ..training.initial import Beginning, check_sizes, first_bundle, sizes_of
from .sentences import read_sentences
from .settings import PRESETS, ClassifierConfig, Config
from .system import LAYOUT, ClassifierBundle

EMBEDDING, ENCODER = "embedding.weight", "encoder."


def sizes_of_classifier(config: TaskConfig) -> dict[str, object]:
    """Return the settings that a classifier shares with another of a config, {path: value}: also its tokens'."""
    text = {path: value for path, value in paths(config) if path.startswith("text.") and path != "text.ngram_buckets"}
    return {**sizes_of(config), **text}


def sizes_of_language_model(config: TaskConfig) -> dict[str, object]:
    """Return the settings that a classifier shares with a language model of a config, {path: value}."""
    return {**sizes_of(config), "model.kind": ClassifierConfig.kind}


def init_from_classifier(network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]) -> None:
    """Give a classifier without n-grams all that another of the same vocabulary, {name: array}, has beside them."""
    if NGRAM_TABLE in arrays:
        arrays = {**arrays, "output.weight": arrays["output.weight"][:, :-1]}
    set_parameters(network, {name: arrays[name] for name in snapshot(network)})


def init_from_language_model(
    network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]
) -> None:
    """Give a classifier the encoder of a language model, {name: array}, and the embeddings of the tokens that it knows."""
    encoder = {name: array for name, array in arrays.items() if name.startswith(ENCODER)}
    embedding = snapshot(network)[EMBEDDING].copy()
    for token, index in token_to_idx.items():
        if token in codec.token_to_idx:
            embedding[index] = arrays["embedding"][codec.token_to_idx[token]]
    set_parameters(network, {**encoder, EMBEDDING: embedding})


class Start(NamedTuple):
    """A kind of bundle that a classifier may begin with: the settings that they share, and what fills the network."""

    sizes: Callable[[Any], Mapping[str, object]]
    fill: Callable[..., None]


STARTS = {
    LAYOUT: Start(sizes_of_classifier, init_from_classifier),
    LANGUAGE_MODEL: Start(sizes_of_language_model, init_from_language_model),
}


@dataclass(frozen=True)
class Sources:
    """The bundle that a training begins with, the classifiers whose probabilities it learns, and sentences with labels."""

    first: Optional[AnyBundle] = None
    teachers: tuple[ClassifierBundle, ...] = ()
    sentences: Optional[Reviews] = None

    @classmethod
    def read(
        cls,
        config: Config,
        init_from: Union[str, Path, None] = None,
        teacher: Union[str, Path, None] = None,
        sentences: Union[str, Path, None] = None,
    ) -> "Sources":
        """Load the sources; BundleError, DataError or ConfigError where one is missing or does not fit the config.

        `teacher` is several paths with commas between.
        """
        first = first_bundle(init_from, *STARTS)
        if first:
            check_sizes(config, first, PRESETS, STARTS[first.layout].sizes)
        folders = str(teacher).split(",") if teacher else []
        teachers = tuple(bundle for bundle in (first_bundle(path, LAYOUT) for path in folders) if bundle)
        return cls(first, teachers, None if sentences is None else checked_sentences(config, Path(sentences)))

    @property
    def vocabulary(self) -> Optional[bytes]:
        """The vocabulary as JSON of a classifier that the training begins with."""
        return self.first.read("vocab.json") if self.first and self.first.layout is LAYOUT else None

    def beginning(self, encoder: ReviewEncoder) -> Optional[Beginning]:
        """Return what gives a network with this encoder its first parameters; None for random numbers."""
        if not self.first:
            return None
        fill, arrays = STARTS[self.first.layout].fill, parameters_of(self.first)[1]
        return partial(fill, arrays=arrays, codec=self.first.codec, token_to_idx=encoder.token_to_idx)

    def names(self) -> dict[str, Optional[str]]:
        """Return the options of the command that repeats the training."""
        return {
            "init_from": self.first.name if self.first else None,
            "teacher": joined(bundle.name for bundle in self.teachers),
            "sentences": self.sentences.name if self.sentences else None,
        }

    def digests(self) -> dict[str, object]:
        """Return what identifies the sources in a run's settings.json."""
        sentences = self.sentences
        return {
            "init_from": self.first and self.first.fingerprint,
            "teacher": joined(bundle.fingerprint for bundle in self.teachers),
            "sentences": sentences and {"name": sentences.name, "sha256": sentences.sha256},
        }

    def describe(self) -> dict[str, object]:
        """Return the manifest's `data` of teachers and sentences, if there are some; `manifest_of` adds the first bundle."""
        described: dict[str, object] = {}
        if self.teachers:
            described["teacher"] = {"name": self.names()["teacher"], "fingerprint": self.digests()["teacher"]}
        if self.sentences:
            positive = int((self.sentences.labels > 0.5).sum())
            described["sentences"] = {**self.sentences.describe(), "positive": positive}
        return described


def checked_sentences(config: Config, path: Path) -> Reviews:
    """Return the sentences of a file; ConfigError where they have signs that nothing can learn."""
    sentences = read_sentences(path)
    signed = isinstance(config.model, ClassifierConfig) and config.model.values.signed
    if any(sentences.frame["signs"]) and not signed:
        raise ConfigError(
            "--sentences: expected signed values; give --values convolution --signed 1, or leave the signs out"
        )
    return sentences


def joined(names: Iterable[str]) -> Optional[str]:
    return ",".join(names) or None


def continuing(config: Config, init_from: Union[str, Path, None]) -> Config:
    """Return a config with the settings that it must share with the classifier that it begins with.

    It stays as it is with another task's bundle or without one, and where the two are of different kinds, which
    training refuses.
    """
    first = first_bundle(init_from, *STARTS)
    if first is None or first.layout is not LAYOUT or first.config.model.kind != config.model.kind:
        return config
    return config.with_settings(sizes_of_classifier(first.config))
