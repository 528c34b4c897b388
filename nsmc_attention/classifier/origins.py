"""Training inputs besides labelled reviews: an initial bundle, teachers, and sentences written for training.

    document,label,signs        재미있지 않다,0,0:2:-1        characters 0 and 1 are negated
                                호불호가 갈릴 영화,0.5,       half positive, no gate is known

A sentence's label is 0, 1 or a probability of positive. A mark is start:end:sign, positions of characters in the
document and a sign from -1 to 1; a cell has any number of marks, separated by spaces.
"""

import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

import numpy
import pandas
from numpy.typing import NDArray

from ..bundle import AnyBundle, sha256
from ..corpora.data import columns_of
from ..corpora.nsmc import Reviews, read_bytes
from ..engines.graphs import parameters_of
from ..errors import ConfigError, DataError
from ..machine.aliases import Network, Record
from ..measure.metrics import log_odds
from ..network.parameters import NGRAM_TABLE, Arrays, set_parameters, snapshot
from ..registry import SYSTEMS
from ..schema import paths
from ..text.encoding import ReviewEncoder, clean
from ..training.task import Beginning, check_sizes, first_bundle, sizes_of
from .batches import EncodedPart, Tokenized, TrainingPart
from .engines import EMBEDDING
from .predictor import EPSILON, Classifier
from .settings import LAYOUT, PRESETS, ClassifierBundle, ClassifierConfig, Config

PathLike = Union[str, Path]
COLUMNS = ("document", "label", "signs")
# Weight of a sentence without marks in the table of n-grams, however often the file has it
REPETITIONS = 3
MARK = re.compile(r"(\d{1,9}):(\d{1,9}):(-?\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Origins:
    """The bundle that a training begins with, its teachers, and its sentences."""

    first: Optional[AnyBundle] = None
    teachers: tuple[ClassifierBundle, ...] = ()
    sentences: Optional[Reviews] = None

    @classmethod
    def opened(
        cls, config: Config, init_from: Optional[PathLike], teacher: Optional[PathLike], sentences: Optional[PathLike]
    ) -> "Origins":
        """Open the arguments of `train`; BundleError, ConfigError or DataError if one is missing or does not fit."""
        if first := first_bundle(init_from, *lenders()):
            check_sizes(config, first, PRESETS, lenders()[first.layout][0])
        paths = str(teacher).split(",") if teacher else []
        teachers = tuple(bundle for bundle in (first_bundle(path, LAYOUT) for path in paths) if bundle)
        written = None if sentences is None else read_sentences(Path(sentences))
        signed = isinstance(config.model, ClassifierConfig) and config.model.values.signed
        if written and any(written.frame["signs"]) and not signed:
            advice = "give --values convolution --signed 1, or leave the signs out"
            raise ConfigError(f"--sentences: expected signed values; {advice}")
        return cls(first, teachers, written)

    @property
    def vocabulary(self) -> Optional[bytes]:
        """The vocabulary of the classifier that the training begins with, as JSON."""
        return self.first.read("vocab.json") if self.first and self.first.layout is LAYOUT else None

    def beginning(self, encoder: ReviewEncoder) -> Optional[Beginning]:
        """Return a function that sets a network's parameters, with this encoder, from the first bundle."""
        if self.first is None:
            return None
        (_, arrays), (_, init) = parameters_of(self.first), lenders()[self.first.layout]
        return partial(init, arrays=arrays, codec=self.first.codec, token_to_idx=encoder.token_to_idx)

    def named(self, by: str) -> dict[str, Optional[str]]:
        """Return the options of `train` for these inputs, each by "name" or by "fingerprint"."""
        sentences = {"name": self.sentences.name, "fingerprint": self.sentences.sha256} if self.sentences else {}
        return {
            "init_from": getattr(self.first, by) if self.first else None,
            "teacher": ",".join(getattr(teacher, by) for teacher in self.teachers) or None,
            "sentences": sentences.get(by),
        }

    def describe(self) -> Record:
        """Return the values for the `data` of a manifest, except the first bundle."""
        data: Record = {}
        if self.teachers:
            data["teacher"] = {by: self.named(by)["teacher"] for by in ("name", "fingerprint")}
        if self.sentences:
            data["sentences"] = {**self.sentences.describe(), "positive": int((self.sentences.labels > 0.5).sum())}
        return data

    def taught(self, reviews: Tokenized) -> Tokenized:
        """Return tokenized reviews with the teachers' probabilities, averaged as log-odds."""
        if not self.teachers:
            return reviews
        documents = reviews.frame["document"].tolist()
        odds = [log_odds(Classifier.from_bundle(bundle).probabilities(documents), EPSILON) for bundle in self.teachers]
        return replace(reviews, taught=1 / (1 + numpy.exp(-numpy.mean(odds, axis=0))))


def lenders() -> dict[Any, tuple[Any, Any]]:
    """Return {layout: (sizes, init)} of the bundles that a classifier can begin with: shared settings, and parameters."""
    language: Any = (lambda config: {**sizes_of(config), "model.kind": "classifier"}), init_encoder
    functions = {"classify": (sizes, init), "language": language}
    return {SYSTEMS[task].layout: pair for task, pair in functions.items() if task in SYSTEMS}


def init_encoder(network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]) -> None:
    """Set a classifier's encoder from a language model, {name: array}, and the embeddings of the tokens it knows."""
    encoder = {name: array for name, array in arrays.items() if name.startswith("encoder.")}
    embedding = snapshot(network)[EMBEDDING].copy()
    for token, index in token_to_idx.items():
        if token in codec.token_to_idx:
            embedding[index] = arrays["embedding"][codec.token_to_idx[token]]
    set_parameters(network, {**encoder, EMBEDDING: embedding})


def sizes(config: Config) -> dict[str, object]:
    """Return the settings that a classifier shares with its initial bundle, {path: value}, those of the text included."""
    text = {path: value for path, value in paths(config) if path.startswith("text.") and path != "text.ngram_buckets"}
    return {**sizes_of(config), **text}


def init(network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]) -> None:
    """Set a classifier's parameters from another with the same vocabulary, {name: array}, all but its n-grams."""
    if NGRAM_TABLE in arrays:
        arrays = {**arrays, "output.weight": arrays["output.weight"][:, :-1]}
    set_parameters(network, {name: arrays[name] for name in snapshot(network)})


def continuing(config: Config, init_from: Optional[PathLike]) -> Config:
    """Return a config with the settings that it must share with its initial classifier.

    The config stays as it is without an initial classifier, or if its network is of another kind, which training refuses.
    """
    first = first_bundle(init_from, *lenders())
    if first is None or first.layout is not LAYOUT or first.config.model.kind != config.model.kind:
        return config
    return config.with_settings(sizes(first.config))


def read_sentences(path: Path) -> Reviews:
    """Read a table of sentences; `signs` of its frame are lists of (start, end, sign), positions in the clean text.

    DataError, with the row, if a column is missing, a sentence has no text or a mark is malformed.
    """
    rows, documents, labels, cells = columns_of(path, COLUMNS)
    if not documents:
        raise DataError(f"{path}: the file has no sentences")
    signs = [marks_of(text, cell, f"{path} row {row}") for row, text, cell in zip(rows, documents, cells)]
    frame = pandas.DataFrame({"document": documents, "signs": signs})
    frame["label"] = pandas.to_numeric(pandas.Series(labels), errors="coerce").astype("float64")
    for place in numpy.flatnonzero(~frame["label"].between(0, 1))[:1]:
        raise DataError(f"{path} row {rows[place]}: expected a label from 0 to 1, found {labels[place][:30]!r}")
    return Reviews(frame, path.name, sha256(read_bytes(path)))


def marks_of(document: str, cell: str, where: str) -> list[tuple[int, int, float]]:
    """Parse the marks `start:end:sign ...`; DataError, which begins with `where`, if one is malformed."""
    length, marks = len(clean(document)), []
    if not length:
        raise DataError(f"{where}: expected a sentence, found none")
    for word in cell.split():
        match = MARK.fullmatch(word)
        start, end, sign = (int(match[1]), int(match[2]), float(match[3])) if match else (0, 0, 0.0)
        if not start < end <= length or abs(sign) > 1:
            expected = f"start:end:sign of some of the {length} characters of its document, a sign from -1 to 1"
            raise DataError(f"{where}: expected {expected}, found {word[:30]!r}")
        marks.append((start, end, sign))
    return marks


def unmarked(sentences: pandas.DataFrame) -> pandas.DataFrame:
    """Return the sentences that have a label of 0 or 1 and no mark: templates would only repeat n-grams."""
    clear = sentences["label"].isin([0, 1]) & ~sentences["signs"].astype(bool)
    return pandas.concat([sentences[clear].drop_duplicates("document")] * REPETITIONS, ignore_index=True)


def with_sentences(examples: EncodedPart, sentences: pandas.DataFrame, encoder: ReviewEncoder) -> EncodedPart:
    """Append sentences to the reviews of a part."""
    labels, reviews = sentences["label"].to_numpy(dtype="float64"), encoder.encode_many(list(sentences["document"]))
    frame = pandas.concat([examples.frame, sentences], ignore_index=True)
    return TrainingPart([*examples.reviews, *reviews], numpy.concatenate([examples.targets, labels]), frame)


def gates_of(examples: EncodedPart) -> list[NDArray[numpy.float32]]:
    """Return the tokens' gates (T,): the sign of the last mark that overlaps with the token, NaN without one."""
    gates = [numpy.full(len(review), numpy.nan, dtype="float32") for review in examples.reviews]
    for review_gates, review, marks in zip(gates, examples.reviews, examples.frame["signs"]):
        # reviews have no marks
        for start, end, sign in marks if isinstance(marks, list) else ():
            review_gates[[first < end and last > start for first, last in review.offsets]] = sign
    return gates
