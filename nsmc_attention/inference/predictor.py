"""The classifier: reviews in, predictions out, in the order given.

Reviews are read in windows, sorted by length within one, so that batches hold little padding and memory
does not grow with their number. Text becomes ids by the bundle's encoder, the only way there is.
"""

from functools import lru_cache
from itertools import islice

import numpy

from ..bundle.format import load_bundle
from ..errors import BundleError, DataError
from .engines import load_engine
from .prediction import Prediction, blank, verdict

WINDOW = 4096
# A batch holds at most this many padded pairs of tokens (N x T x T), each with so many numbers (the additive score's
# units, the heads) at most, which bounds the memory of its scores
PAIRS, EACH = 32 * 48 * 48, 32


class TokenScorer:
    """Tokens in, probabilities and weights out: reviews batched by length, through one engine.

    Parameters
    ----------
    encoder : text.encoding.Encoder
    engine : callable
        See `engines`.
    config : Config
    """

    def __init__(self, encoder, engine, config):
        self.encoder, self.engine = encoder, engine
        self.fixed_length = config.fixed_length
        self.pairs = PAIRS * EACH // max(EACH, config.model.attention.numbers_per_pair)

    def __call__(self, token_lists):
        """Answer (N,) float64, the probability of positive for each list of tokens; NaN where it is empty."""
        found = numpy.full(len(token_lists), numpy.nan)
        for members, probability, _ in self.run(token_lists):
            found[members] = probability
        return found

    def details(self, token_lists):
        """Answer the probabilities, as the call does, and of each list what the engine answers beside them.

        Weights are (T, T), what a `gradients.GradientEngine` answers (T,); None where a list is empty. The share that
        weights of a fixed length lay on the padding is left out: a reader sees the review's own tokens alone, among
        which a row sums to 1 for every architecture.
        """
        found, beside = numpy.full(len(token_lists), numpy.nan), [None] * len(token_lists)
        for members, probability, arrays in self.run(token_lists):
            found[members] = probability
            for member, array in zip(members, arrays):
                size = len(token_lists[member])
                # a copy: a view would keep the whole batch in memory
                own = numpy.array(array[(slice(size),) * array.ndim])
                beside[member] = among_themselves(own) if self.fixed_length and own.ndim == 2 else own
        return found, beside

    def run(self, token_lists):
        """Yield (members, probability, weights) over the lists that are not empty, batched by length."""
        lengths = numpy.array([len(tokens) for tokens in token_lists])
        order = numpy.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        while len(order):
            members = order[-self.fitting(self.fixed_length or lengths[order[-1]]) :]
            order = order[: -len(members)]
            batch = self.encoder.batch([token_lists[member] for member in members], self.fixed_length)
            probability, beside = self.engine(*batch)
            if not numpy.isfinite(probability).all():
                raise BundleError(
                    "expected a probability from the network, found what is no number: its parameters "
                    "are too large; train again, or take another bundle"
                )
            yield members, probability, beside

    def fitting(self, longest):
        """Answer how many reviews, padded to `longest` tokens, make a batch."""
        return max(1, min(self.engine.batch_size, self.pairs // int(longest) ** 2))


def among_themselves(weights):
    """Answer (T, T) weights with rows that sum to 1; equal ones where all of a row was laid on the padding."""
    total = weights.sum(axis=1, keepdims=True)
    return numpy.divide(weights, total, out=numpy.full_like(weights, 1 / len(weights)), where=total > 0)


class Classifier:
    """A bundle and the engine that runs it.

    Parameters
    ----------
    bundle : Bundle
    engine : callable
        See `engines`.
    """

    def __init__(self, bundle, engine):
        self.bundle, self.engine = bundle, engine
        self.score = TokenScorer(bundle.encoder, engine, bundle.config)

    def __call__(self, texts):
        """Answer [{"label": "positive", "score": 0.98}, ...], the shape that HF pipelines return."""
        many = [texts] if isinstance(texts, str) else texts
        return [{"label": each.label, "score": each.score} for each in self.predict_stream(many)]

    def predict(self, text):
        """Answer the Prediction of one review."""
        return self.predict_many([text])[0]

    def predict_many(self, texts):
        """Answer a list of Predictions, one a review, in order."""
        return list(self.predict_stream(texts))

    def predict_stream(self, texts):
        """Yield Predictions in order while reading `texts` (any iterable of str) window by window."""
        for window in windows(texts):
            encoded = [self.bundle.encoder.encode(check_text(text)) for text in window]
            for each, probability, weights in zip(encoded, *self.score.details([each.tokens for each in encoded])):
                yield blank(each.text) if weights is None else prediction(each, float(probability), weights)

    def probabilities(self, texts):
        """Answer (N,) float64, the probability of positive for each review; NaN where it is blank."""
        encode = self.bundle.encoder.encode
        parts = [self.score([encode(check_text(text)).tokens for text in window]) for window in windows(texts)]
        return numpy.concatenate(parts) if parts else numpy.zeros(0)


def windows(texts):
    if isinstance(texts, (str, bytes)):
        raise DataError("expected a list of reviews, found one string; use predict() for one review")
    iterator = iter(texts)
    while window := list(islice(iterator, WINDOW)):
        yield window


def check_text(text):
    if not isinstance(text, str):
        raise DataError(f"expected a review as str, found {type(text).__name__}: {str(text)[:40]!r}")
    return text


def prediction(encoded, probability, weights):
    label, score, _, _ = verdict(probability)
    return Prediction(encoded.text, label, score, probability, encoded.tokens, encoded.offsets(), weights)


def load_classifier(bundle=None, engine="auto", device="auto"):
    """Load a classifier.

    Parameters
    ----------
    bundle : path or None
        A bundle folder; None is the one that ships with the package.
    engine : "auto", "onnx" or "gluon"
        auto takes onnx, which needs no MXNet.
    device : "auto", "cpu" or "gpu"
        For the gluon engine; onnx runs on the CPU.

    Raises
    ------
    BundleError, ConfigError, MissingPackage
    """
    verified = load_bundle(bundle)
    return Classifier(verified, load_engine(verified, engine, device))


@lru_cache(maxsize=1)
def packaged():
    return load_classifier()


def predict(text):
    """Answer the Prediction of one review by the bundle that ships with the package, loaded once."""
    return packaged().predict(text)
