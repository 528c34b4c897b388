"""Why did it say so? A classifier's answer laid on the words, by attention or by one of its rivals."""

from functools import cached_property

import numpy

from ..errors import DataError
from ..evaluation.erasure import leave_one_out
from .attribution import Attribution, check_method
from .engines import load_engine
from .gradients import STEPS, GradientEngine
from .interventions import ReplacedAttention
from .predictor import TokenScorer


class Explainer:
    """Explains what a classifier says; the network that gradients need is loaded once.

    Parameters
    ----------
    classifier : inference.predictor.Classifier
    """

    def __init__(self, classifier):
        self.classifier, self.bundle = classifier, classifier.bundle

    def __call__(self, text, method="attention", seed=0):
        """Answer the Attribution of a review.

        Parameters
        ----------
        text : str
        method : str
            One of `inference.attribution.METHODS`; gradient and integrated need MXNet.
        seed : int
            Of the method random.

        Raises
        ------
        ConfigError
            The method is unknown.
        DataError
            There is no word to explain.
        """
        check_method(method)
        prediction = self.classifier.predict(text)
        if prediction.error:
            raise DataError(f"explain: {prediction.error}")
        tokens = prediction.tokens
        values = {
            "attention": lambda: prediction.token_weights,
            "erasure": lambda: leave_one_out(self.classifier.score, [tokens])[0],
            "random": lambda: numpy.random.RandomState(seed).dirichlet(numpy.ones(len(tokens))),
            "gradient": lambda: self.gradients([tokens])[0],
            "integrated": lambda: self.gradients([tokens], STEPS)[0],
        }[method]()
        return Attribution(
            prediction.text,
            prediction.label,
            prediction.probability,
            tokens,
            prediction.offsets,
            numpy.asarray(values, dtype="float64"),
            method,
            prediction.weights if method == "attention" else None,
            self.bundle.name,
        )

    def gradients(self, token_lists, steps=1):
        """Answer what each token of each review adds to the log-odds, (T,) each (`inference.gradients`)."""
        engine = GradientEngine(self.gluon.network, self.gluon.device, steps)
        return TokenScorer(self.bundle.encoder, engine, self.bundle.config).details(token_lists)[1]

    def replaced(self, token_lists, how, seed=0):
        """Answer the probabilities (N,) with other weights in the attention's place (`inference.interventions`)."""
        engine = ReplacedAttention(self.gluon.network, self.gluon.device, how, seed)
        return TokenScorer(self.bundle.encoder, engine, self.bundle.config)(token_lists)

    @cached_property
    def gluon(self):
        own = self.classifier.engine
        return own if own.name == "gluon" else load_engine(self.bundle, "gluon", "cpu")


def explain(classifier, text, method="attention", seed=0):
    """Answer the Attribution of one review; see `Explainer`, which is for many."""
    return Explainer(classifier)(text, method, seed)


def explain_many(classifiers, texts, methods=("attention",), by_word=False):
    """Return for each review the Attributions of every classifier by every method, for `visualization.pictures`.

    Parameters
    ----------
    classifiers : list of inference.predictor.Classifier
    texts : list of str
    methods : list of str
    by_word : bool
        Over words between white space (eojeol), not tokens.
    """
    explainers = [Explainer(classifier) for classifier in classifiers]
    reviews = [[explainer(text, method) for explainer in explainers for method in methods] for text in texts]
    return [[each.by_word() for each in beside] for beside in reviews] if by_word else reviews
