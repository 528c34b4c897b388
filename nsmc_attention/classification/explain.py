"""Attributions of a classifier's predictions to the words: by contributions, by attention or by one of their rivals."""

from functools import cached_property
from importlib.util import find_spec
from typing import Any, Optional, Sequence

import numpy
from numpy.typing import NDArray

from .._runtime.aliases import Numbers
from .._runtime.progress import progress_bar
from ..errors import ConfigError, DataError, check_kind
from ..evaluation.erasure import leave_one_out
from ..inference.reference import check_text
from ..inference.sessions import GluonGraph
from ..text.encoding import Encoded
from .attribution import Attribution, check_method
from .display import AUTO, METHODS, Method
from .engines import Engine, gluon_graph
from .gradients import STEPS, GradientEngine, ReplacedAttention
from .graphs import CONTRIBUTIONS, HEADS
from .phrases import disputed
from .prediction import Prediction
from .predictor import Classifier, TokenScorer


class Explainer:
    """Explains a classifier's predictions; the network that gradients need is loaded once."""

    def __init__(self, classifier: Classifier):
        self.classifier, self.bundle = classifier, classifier.bundle

    def __call__(self, text: str, method: str = AUTO, seed: int = 0) -> Attribution:
        """Return the Attribution of a review, as `explain` does."""
        method = self.default if check_method(method) == AUTO else method
        review = self.classifier.encoder.encode(check_text(text))
        (prediction,) = self.classifier.predict_encoded([review])
        if prediction.error:
            raise DataError(f"explain: {prediction.error}")
        heads = self.heads(review)
        values = (
            self.rollout(prediction, heads) if method == "rollout" else self.values(review, prediction, method, seed)
        )
        values = numpy.asarray(values, dtype="float64")
        phrases = disputed(self.classifier.score, review, values) if method == "contribution" else []
        sides = tuple(self.classifier.score.sides(review))
        return Attribution(prediction, values, method, self.bundle.name, heads, tuple(phrases), sides)

    def values(self, review: Encoded, prediction: Prediction, method: str, seed: int) -> Any:
        """Return one number a token, by a method that needs no heads."""
        if method == "contribution":
            return self.contributions([review])[0]
        if method == "attention":
            return prediction.token_weights
        if method == "random":
            return numpy.random.RandomState(seed).dirichlet(numpy.ones(len(review)))
        if method == "erasure":
            return leave_one_out(self.classifier.score, [review])[0]
        return self.gradients([review], STEPS if method == "integrated" else 1)[0]

    @property
    def has_heads(self) -> bool:
        """True if the classifier's encoder attends."""
        return HEADS in self.bundle.config.model.outputs

    @property
    def has_contributions(self) -> bool:
        """True if the classifier's log-odds are a sum over its tokens."""
        return CONTRIBUTIONS in self.bundle.config.model.outputs

    @property
    def methods(self) -> list[str]:
        """Those of METHODS that fit the classifier, and what is installed."""
        fit = {
            "contribution": self.has_contributions,
            "rollout": self.has_heads,
            **dict.fromkeys(("gradient", "integrated"), find_spec("mxnet") is not None),
        }
        return [method for method in METHODS if fit.get(method, True)]

    @property
    def default(self) -> str:
        """The method that AUTO is: contribution where the classifier has it, else attention."""
        return self.methods[0]

    def heads(self, review: Encoded) -> Optional[Numbers]:
        """Return the encoder's weights of a review, (L, K, T, T); None where it does not attend."""
        return self.classifier.engine.heads(*self.bundle.codec.batch([review]))[0] if self.has_heads else None

    def rollout(self, prediction: Prediction, heads: Optional[Numbers]) -> Numbers:
        """Return the prediction's weights carried down to the tokens, (T,); ConfigError where there are no heads."""
        if heads is None:
            model: Any = self.bundle.config.model
            raise ConfigError(
                "method rollout: expected a classifier whose encoder is a transformer, found "
                f"{getattr(model, 'encoder', model).kind}; use attention, or train with --encoder transformer"
            )
        return rollout(heads, prediction.token_weights)

    def contributions(self, reviews: Sequence[Encoded]) -> list[Numbers]:
        """Return what each token of each review adds to the log-odds, (T,) each, exactly; ConfigError as `scored`."""
        return self.scored(reviews)[1]

    def scored(self, reviews: Sequence[Encoded]) -> tuple[NDArray[numpy.float64], list[Numbers]]:
        """Return the probabilities (N,) too, in one pass; ConfigError where the log-odds are no sum over the tokens."""
        if not self.has_contributions:
            model: Any = self.bundle.config.model
            raise ConfigError(
                "method contribution: expected a classifier whose values are near the token, found "
                f"{getattr(model, 'values', model).kind}; use attention, or train with --values convolution"
            )
        return self.classifier.score.predict_with_contributions(reviews)

    def gradients(self, reviews: Sequence[Encoded], steps: int = 1) -> list[NDArray[numpy.float32]]:
        """Return what each token of each review adds to the log-odds, (T,) each (`gradients.GradientEngine`)."""
        engine = GradientEngine(self.gluon, steps)
        return self.scorer(engine).predict_with_weights(reviews)[1]

    def replaced(self, reviews: Sequence[Encoded], how: str, seed: int = 0) -> NDArray[numpy.float64]:
        """Return (N,), the probabilities with other attention weights (`gradients.ReplacedAttention`)."""
        return self.scorer(ReplacedAttention(self.gluon, how, seed))(reviews)

    def scorer(self, engine: Engine) -> TokenScorer:
        return TokenScorer(self.classifier.encoder, engine, self.bundle.config)

    @cached_property
    def gluon(self) -> GluonGraph:
        own = self.classifier.engine
        return own.graph if own.name == "gluon" else gluon_graph(self.bundle, "cpu")


def rollout(heads: Numbers, weights: Numbers) -> Numbers:
    """Carry weights of the last layer's states, (T,) or (Q, T), down to the tokens; each row keeps its sum.

    Abnar & Zuidema 2020 (arXiv:2005.00928), section 3, equation 1: rollout(l) = A(l) rollout(l - 1), rollout(0) = I. A is
    0.5 W + 0.5 I, of the mean W of a layer's heads (L, K, T, T), the first layer first, and the identity for the residual
    connection. The product is taken from the top down, so that no T x T matrices are multiplied.
    """
    for layer in numpy.mean(heads, axis=1)[::-1]:
        weights = (weights @ layer + weights) / 2
    return weights


def explain(classifier: Classifier, text: str, method: Method = "auto", seed: int = 0) -> Attribution:
    """Return the Attribution of one review; for many, use `Explainer`. `classification.display.METHODS` lists the methods.

    auto is contribution, which needs a classifier trained with values near the token, else attention. gradient and
    integrated need MXNet, rollout a classifier whose encoder is a transformer; `seed` is for random.
    ConfigError if the method is unknown or does not fit the classifier, DataError if there is no word to explain.
    """
    check_kind("explain", classifier, Classifier, advice="; get one from load_classifier()")
    return Explainer(classifier)(text, method, seed)


def explain_many(
    classifiers: Sequence[Classifier], texts: Sequence[str], methods: Sequence[str] = (AUTO,), by_word: bool = False
) -> list[list[Attribution]]:
    """Return for each review the Attributions of every classifier by every method; see `Attribution.by_word`."""
    explainers = [Explainer(classifier) for classifier in classifiers]
    bar = progress_bar(texts, desc="explaining", unit=" reviews", delay=2)
    reviews = [[explainer(text, method) for explainer in explainers for method in methods] for text in bar]
    return [[attribution.by_word() for attribution in beside] for beside in reviews] if by_word else reviews
