"""The classifier as a scikit-learn estimator: in a Pipeline, under cross_val_score, GridSearchCV, clone and pickle.

>>> from nsmc_attention import SentimentEstimator
>>> SentimentEstimator(epochs=3, hidden_size=64).fit(reviews, labels).predict_proba(["정말 재미있는 영화"])  # doctest: +SKIP
"""

import inspect
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union

import numpy
import pandas
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..bundle import read_contents
from ..corpora.labels import plain_label, sides_of
from ..engines.graphs import DeviceName
from ..errors import ConfigError, did_you_mean
from ..machine.aliases import Numbers
from ..schema import SHORT_NAMES
from ..scoring.reference import check_texts, predictor_of
from .predictor import Classifier
from .settings import Config, PresetName
from .settings import preset as named_preset

# Settings that are parameters of the estimator; the seed has one of its own
NAMED = tuple(name for name in SHORT_NAMES if name != "seed")


class SentimentEstimator(ClassifierMixin, BaseEstimator):
    """A scikit-learn estimator that trains and predicts with the functions of the command line.

    Every setting with a short name in `schema.SHORT_NAMES` is a parameter, for GridSearchCV too:
    SentimentEstimator(hidden_size=64, epochs=3).

    Parameters
    ----------
    preset : str
        One of `config.PRESETS`.
    seed : int
    device : str
        "auto", "cpu" or "gpu".
    init_from : path or "pretrained", optional
        A bundle that every fit begins with, as of `train`; of a classifier ("pretrained": the packaged one) its sizes
        and text settings replace the preset's.
    **named
        Settings by short name; None stands for the preset's. ConfigError for an unknown one.

    Attributes
    ----------
    classes_ : (2,) array
        The two labels, sorted.
    positive_ : label
        The one of them that is the bundle's positive: 긍정 of 긍정 and 부정, and so for other known words, else the second.
    classifier_ : Classifier
        The trained classifier, which also has the attention weights. Its pickle holds the bundle's files.
    """

    def __init__(
        self,
        preset: PresetName = "default",
        seed: int = 0,
        device: DeviceName = "auto",
        init_from: Union[str, Path, None] = None,
        **named: Union[int, float, str, None],
    ):
        if unknown := next((name for name in named if name not in NAMED), None):
            raise ConfigError(f"SentimentEstimator: unknown setting {unknown!r}{did_you_mean(unknown, NAMED)}")
        self.preset, self.seed, self.device, self.init_from = preset, seed, device, init_from
        self.__dict__.update({name: named.get(name) for name in NAMED})

    # scikit-learn reads the parameters from here
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *list(inspect.signature(__init__).parameters.values())[:-1],
            *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in NAMED),
        ]
    )

    @property
    def config(self) -> Config:
        """The preset with changed settings, and with those of the classifier that training starts from."""
        from .origins import continuing

        named = {name: getattr(self, name) for name in NAMED if getattr(self, name) is not None}
        base = continuing(named_preset(self.preset), self.init_from)
        return base.with_fields(seed=self.seed, **named)

    def fit(self, X: Sequence[str], y: ArrayLike) -> "SentimentEstimator":
        """Train on reviews X (sequence of N str) and their labels y (N, two different values of one type)."""
        from .train import train

        texts, labels = list_of(X), numpy.asarray(y)
        self.classes_ = numpy.unique(labels[~pandas.isna(labels)])
        if labels.shape != (len(texts),) or pandas.isna(labels).any() or len(self.classes_) != 2:
            found = f"{labels.shape} with {pandas.isna(labels).sum()} missing and classes {self.classes_.tolist()}"
            raise ValueError(f"fit: expected one of two labels for each of {len(texts)} reviews, found {found}")
        sides = sides_of(self.classes_, None)
        named = [label for label in self.classes_ if sides and sides[plain_label(label)]]
        self.positive_ = named[0] if named else self.classes_[1]
        config, numbers = self.config, (labels == self.positive_).astype(int)
        with tempfile.TemporaryDirectory() as folder:
            table, run = Path(folder) / "reviews.csv", Path(folder) / "run"
            pandas.DataFrame({"document": texts, "label": numbers}).to_csv(table, index=False, errors="replace")
            bundle = train(table, config, run, device=self.device, quiet=True, init_from=self.init_from)
            self.classifier_ = predictor_of(Classifier, bundle.manifest, read_contents(bundle))
        return self

    def predict_proba(self, X: Sequence[str]) -> NDArray[numpy.float64]:
        """Return (N, 2): the probability of each of `classes_`; 0.5 for a review without a word."""
        check_is_fitted(self, "classifier_")
        positive = numpy.nan_to_num(self.classifier_.probabilities(list_of(X)), nan=0.5)
        return numpy.stack([positive if label == self.positive_ else 1 - positive for label in self.classes_], axis=1)

    def predict(self, X: Sequence[str]) -> Numbers:
        """Return (N,) of `classes_`."""
        proba, column = self.predict_proba(X), self.classes_.tolist().index(self.positive_)
        return self.classes_[numpy.where(proba[:, column] >= 0.5, column, 1 - column)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        tags.classifier_tags.multi_class = False
        return tags


def list_of(X: Sequence[str]) -> list[str]:
    return list(check_texts(X, "reviews", "put it into a list"))
