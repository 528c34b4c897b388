"""The classifier as a scikit-learn estimator: in a Pipeline, under cross_val_score, GridSearchCV, clone and pickle.

>>> from nsmc_attention import SentimentEstimator
>>> SentimentEstimator(settings={"epochs": 3}).fit(reviews, labels).predict_proba(["정말 재미있는 영화"])  # doctest: +SKIP
"""

import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, cast

import numpy
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .bundle.format import Bundle, read_contents
from .config import preset as named_preset
from .inference.predictor import Classifier, classifier_of


class SentimentEstimator(ClassifierMixin, BaseEstimator):
    """Trains and predicts through the same functions as the command line.

    `preset` is one of `config.PRESETS`; `settings` are those that differ from it, by short name or path:
    {"hidden_size": 64}, {"model.dropout": 0.1}; `device` is "auto", "cpu" or "gpu".

    Attributes
    ----------
    classes_ : (2,) array
        The two labels, sorted; the second is the bundle's positive one.
    contents_ : dict of file name to bytes
        The trained bundle's files, so that a fitted estimator can be pickled and needs no folder.
    """

    def __init__(
        self, preset: str = "default", settings: Optional[dict[str, Any]] = None, seed: int = 0, device: str = "auto"
    ):
        self.preset, self.settings, self.seed, self.device = preset, settings, seed, device

    def fit(self, X: Sequence[str], y: Any) -> "SentimentEstimator":
        """Train on reviews X (sequence of N str) and their labels y (N, two different values)."""
        from .recipe import train

        texts, labels = as_texts(X), numpy.asarray(y)
        if labels.shape != (len(texts),):
            raise ValueError(f"fit: expected one label for each of {len(texts)} reviews, found {labels.shape}")
        self.classes_, numbers = numpy.unique(labels, return_inverse=True)
        if len(self.classes_) != 2:
            plural = "es" if len(self.classes_) > 1 else ""
            raise ValueError(f"fit: expected labels of two classes, found {len(self.classes_)} class{plural}")
        config = named_preset(self.preset).with_fields(**{"seed": self.seed, **(self.settings or {})})
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "reviews.csv"
            with open(table, "w", encoding="utf-8", newline="", errors="replace") as file:
                csv.writer(file).writerows([["document", "label"], *zip(texts, numbers.tolist())])
            bundle = train(table, config, Path(folder) / "run", device=self.device, quiet=True)
            self.contents_ = read_contents(cast(Bundle, bundle), manifest=True)
        self.__dict__.pop("loaded_", None)
        return self

    def predict_proba(self, X: Sequence[str]) -> NDArray[numpy.float64]:
        """Return (N, 2): the probability of each of `classes_`; 0.5 for a review without a word."""
        check_is_fitted(self, "contents_")
        positive = numpy.nan_to_num(self.classifier().probabilities(as_texts(X)), nan=0.5)
        return numpy.stack([1 - positive, positive], axis=1)

    def predict(self, X: Sequence[str]) -> NDArray[Any]:
        """Return (N,) of `classes_`."""
        positive = self.predict_proba(X)[:, 1] >= 0.5
        return self.classes_[positive.astype(int)]

    def classifier(self) -> Classifier:
        """Return the Classifier within, which has the attention weights too."""
        if "loaded_" not in self.__dict__:
            self.loaded_ = classifier_of(self.contents_)
        return self.loaded_

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "loaded_"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        tags.classifier_tags.multi_class = False
        return tags


def as_texts(X: Any) -> list[str]:
    """Return a list of str; ValueError (as scikit-learn's own) for anything else."""
    if isinstance(X, (str, bytes)):
        raise ValueError("expected a sequence of reviews, found one string; put it into a list")
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) != 1:
        raise ValueError(
            f"expected one dimension of reviews, found {type(X).__name__} of shape {shape}; "
            'pass one column, as table["review"]'
        )
    texts = list(X)
    wrong = next((text for text in texts if not isinstance(text, str)), None)
    if wrong is not None:
        raise ValueError(f"expected reviews as str, found {type(wrong).__name__}: {str(wrong)[:40]!r}")
    return texts
