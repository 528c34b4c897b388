"""Attributions of a classifier's predictions to the tokens, by contributions, attention, gradients or erasure."""

from functools import cached_property
from importlib.util import find_spec
from typing import Any, Optional, Sequence

import numpy
from numpy.typing import NDArray

from ..engines.graphs import GluonGraph
from ..errors import ConfigError, DataError
from ..machine.aliases import Numbers
from ..machine.progress import progress_bar
from ..measure.faithfulness import leave_one_out
from ..network.graphs import CONTRIBUTIONS, HEADS
from ..scoring.reference import check_text, or_packaged
from ..text.encoding import Encoded
from .attribution import Attribution, check_method
from .engines import ContributionEngine, Engine, GradientEngine, gluon_graph
from .prediction import AUTO, METHODS, Method, Prediction
from .predictor import Classifier, TokenScorer, packaged


class Explainer:
    """Explains a classifier's predictions; the network that gradients need is loaded once."""

    def __init__(self, classifier: Classifier):
        self.classifier, self.bundle = classifier, classifier.bundle

    def __call__(self, text: str, method: str = AUTO) -> Attribution:
        """Return the Attribution of a review, as `explain` does."""
        method = self.methods[0] if check_method(method) == AUTO else method
        review = self.classifier.encoder.encode(check_text(text))
        (prediction,) = self.classifier.predict_encoded([review])
        if prediction.error:
            raise DataError(f"explain: {prediction.error}")
        values = numpy.asarray(self.values(review, prediction, method), dtype="float64")
        return Attribution(prediction, values, method, self.bundle.name, self.heads(review))

    def values(self, review: Encoded, prediction: Prediction, method: str) -> Any:
        """Return one number a token, (T,)."""
        if method == "contribution":
            return self.scored([review])[1][0]
        if method == "attention":
            return prediction.token_weights
        if method == "erasure":
            return leave_one_out(self.classifier.score, [review])[0]
        return self.gradients([review])[0]

    @property
    def has_heads(self) -> bool:
        """True if the classifier's encoder has attention."""
        return HEADS in self.bundle.config.model.outputs

    @property
    def has_contributions(self) -> bool:
        """True if the classifier's log-odds are a sum over its tokens."""
        return CONTRIBUTIONS in self.bundle.config.model.outputs

    @property
    def methods(self) -> list[str]:
        """The METHODS that fit the classifier and the installed packages; AUTO is the first."""
        fit = {"contribution": self.has_contributions, "gradient": find_spec("mxnet") is not None}
        return [method for method in METHODS if fit.get(method, True)]

    def heads(self, review: Encoded) -> Optional[Numbers]:
        """Return the encoder's attention weights for a review, (L, K, T, T); None for an encoder without attention."""
        return self.classifier.engine.heads(*self.bundle.codec.batch([review]))[0] if self.has_heads else None

    def scored(self, reviews: Sequence[Encoded]) -> tuple[NDArray[numpy.float64], list[Numbers]]:
        """Return the probabilities (N,) and the exact contributions of each review's tokens to its log-odds, (T,).

        ConfigError if the log-odds are not a sum over the tokens.
        """
        if not self.has_contributions:
            kind = getattr(self.bundle.config.model, "values", self.bundle.config.model).kind
            expected = f"expected a classifier whose values are near the token, found {kind}"
            raise ConfigError(f"method contribution: {expected}; use attention, or train with --values convolution")
        return self.scorer(ContributionEngine(self.classifier.engine)).read(reviews)[:2]

    def gradients(self, reviews: Sequence[Encoded]) -> list[NDArray[numpy.float32]]:
        """Return gradient x input of each review's tokens, (T,) (`engines.GradientEngine`)."""
        return self.scorer(GradientEngine(self.gluon)).read(reviews)[1]

    def scorer(self, engine: Engine) -> TokenScorer:
        return TokenScorer(self.classifier.encoder, engine, self.bundle.config)

    @cached_property
    def gluon(self) -> GluonGraph:
        engine = self.classifier.engine
        return engine.graph if engine.name == "gluon" else gluon_graph(self.bundle, "cpu")


def explain(text: str, classifier: Optional[Classifier] = None, method: Method = "auto") -> Attribution:
    """Return the Attribution of one review by a classifier, or by the packaged one; use `Explainer` for many reviews.

    `method` is one of `classifier.prediction.METHODS`: auto is contribution if the classifier was trained with values
    near the token, else attention; gradient needs MXNet. ConfigError if the method is unknown or does not fit the
    classifier, DataError if there is no word to explain.
    """
    return Explainer(or_packaged(classifier, Classifier, packaged))(text, method)


def explain_many(
    classifiers: Sequence[Classifier], texts: Sequence[str], methods: Sequence[str] = (AUTO,), by_word: bool = False
) -> list[list[Attribution]]:
    """Return each review's Attributions by every classifier and method; see `Attribution.by_word`."""
    explainers = [Explainer(classifier) for classifier in classifiers]
    bar = progress_bar(texts, desc="explaining", unit=" reviews", delay=2)
    reviews = [[explainer(text, method) for explainer in explainers for method in methods] for text in bar]
    return [[attribution.by_word() for attribution in review] for review in reviews] if by_word else reviews
