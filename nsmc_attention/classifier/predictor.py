"""The classifier: reviews in, predictions out, in the same order.

Reviews are read in windows and sorted by length within one, so that batches hold little padding and memory does not
grow with their number.

A long review is cut into pieces of whole sentences, which the network reads one by one. Its log-odds are the mean of
its pieces' log-odds, weighted by the root of their lengths. Contributions are weighted alike, so that they still sum to
the log-odds. Reviews as long as those of training are read whole.
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from sys import getsizeof
from typing import Any, Iterable, Iterator, Optional, Sequence, Union

import numpy
from numpy.typing import NDArray

from ..engines.graphs import DeviceName, EngineName
from ..errors import BundleError, ConfigError
from ..machine.aliases import Record
from ..measure.metrics import log_odds
from ..measure.share import NOTHING, Evidence, bins_of
from ..network.graphs import AXES
from ..scoring.reference import Predictor, Row, check_text, check_texts, or_packaged
from ..sentiment.heads import FIGURES, Grams, Heads, Opinion
from ..tables.parts import cut
from ..text.encoding import Encoded, ReviewEncoder
from .abstention import Abstention
from .domain_shift import shift_of
from .engines import Engine, NativeEngine, load_engine
from .prediction import IN_WORDS, TYPES, WITH_SENTIMENT, Prediction, opinion_in_words, output_rows
from .settings import KEPT_ODDS, LABELS, LAYOUT, ClassifierBundle, Config
from .windows import Reviews, Window, read_window

# Reviews, and bytes of their texts, that are encoded at a time
WINDOW, WINDOW_BYTES = 4096, 2**21
Floats = NDArray[numpy.float32]
Members = NDArray[numpy.int64]
# Upper limit of a batch's padded pairs of tokens (N x T x T) with NUMBERS_PER_PAIR numbers each (units of the additive
# score, heads); networks with more numbers get fewer pairs
BATCH_PAIRS, NUMBERS_PER_PAIR = 32 * 48 * 48, 32
# Tokens of the longest review with a matrix of weights; a longer one has one weight a token
MATRIX_TOKENS = 512
# More tokens than the 10,000 characters of a review can have
UNLIMITED = 2**20
# Longest review read whole, and longest piece, in tokens. Raw reviews of up to 100 tokens are classified better whole. For
# 600 texts of 8, 20 and 60 reviews, accuracy is 79, 92 and 99 % in pieces of 64, 78, 83 and 82 % by the first 256 tokens.
WHOLE_TOKENS, PIECE_TOKENS = 160, 64
# A last piece of fewer tokens joins the one before it
FEWEST_TOKENS = 4
# A token that ends a sentence, and one that may
SENTENCE_END, VERB_ENDING = re.compile(r"[.!?…~;ㅋㅎㅠㅜ]+"), re.compile(".*[다요죠음함임됨네군]")
# Smallest distance from 0 and 1 that single precision can hold
EPSILON = 1e-7


@dataclass(frozen=True)
class Pieces:
    """Reviews cut into pieces; `owners` (P,) are the positions of the pieces' reviews.

    `shares` (P,) are the weights of the pieces in the mean of their review, and sum to 1 over it.
    """

    reviews: Reviews
    owners: NDArray[numpy.int64]
    shares: NDArray[numpy.float64]

    @classmethod
    def of(cls, reviews: Reviews, longest: int) -> "Pieces":
        """Cut reviews longer than WHOLE_TOKENS tokens, or than the network can read; a Window has none of them."""
        limit = min(WHOLE_TOKENS, longest)
        if isinstance(reviews, Window) or all(len(review) <= limit for review in reviews):
            return cls(reviews, numpy.arange(len(reviews)), numpy.ones(len(reviews)))
        cuts = [spans(review.tokens, limit, min(PIECE_TOKENS, longest)) for review in reviews]
        owners = numpy.repeat(numpy.arange(len(reviews)), [*map(len, cuts)])
        pairs = ((review, span) for review, review_spans in zip(reviews, cuts) for span in review_spans)
        pieces = [review if span == (0, len(review)) else review.take(range(*span)) for review, span in pairs]
        roots = numpy.sqrt([max(1, len(piece)) for piece in pieces])
        return cls(pieces, owners, roots / numpy.bincount(owners, roots, len(reviews))[owners])

    def probabilities(self, probabilities: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
        """Combine the pieces' probabilities (P,) into those of the reviews (N,); a single piece's stays as it is."""
        joined = 1 / (1 + numpy.exp(-numpy.bincount(self.owners, self.shares * log_odds(probabilities, EPSILON))))
        is_whole = self.shares == 1
        joined[self.owners[is_whole]] = probabilities[is_whole]
        return numpy.asarray(joined)

    def means(self, figures: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
        """Average the figures (P, K) of the pieces for each review, (N, K)."""
        return numpy.stack([numpy.bincount(self.owners, self.shares * column) for column in figures.T], axis=1)

    def joined(self, arrays: Sequence[Any], axes: Sequence[str]) -> list[Any]:
        """Join the pieces' arrays, whose last axis is the tokens, into one a review; None stays.

        Weights of queries stay within a piece; others are multiplied by the piece's share.
        """
        if (self.shares == 1).all():
            return list(arrays)
        from scipy.linalg import block_diag

        ends = numpy.cumsum(numpy.bincount(self.owners)).tolist()
        shares, joined = self.shares.astype("float32"), list[Any]()
        for start, end in zip([0, *ends], ends):
            group = arrays[start:end]
            if len(group) == 1:
                joined += group
            elif "queries" in axes and group[0].ndim == len(axes):
                joined.append(block_diag(*group))
            else:
                joined.append(numpy.concatenate([a * share for a, share in zip(group, shares[start:end])], axis=-1))
        return joined


def spans(tokens: Sequence[str], limit: int, longest: int) -> list[tuple[int, int]]:
    """Return (start, end) of a review's pieces: one up to `limit` tokens, else pieces of at most `longest` tokens.

    A piece ends with the last sentence that ends in its second half, else with a verb's ending, else with any word.
    """
    if len(tokens) <= limit:
        return [(0, len(tokens))]
    cuts = [0]
    while len(tokens) - cuts[-1] > longest:
        cuts.append(end_of_piece(tokens, cuts[-1], longest))
    if len(tokens) - cuts[-1] < FEWEST_TOKENS and cuts[-1] - cuts[-2] + FEWEST_TOKENS <= longest:
        cuts.pop()
    return list(zip(cuts, [*cuts[1:], len(tokens)]))


def end_of_piece(tokens: Sequence[str], start: int, longest: int) -> int:
    """Return the end of the piece that begins at `start`."""
    ends = range(start + longest, start + longest // 2, -1)
    for pattern in (SENTENCE_END, VERB_ENDING):
        for end in ends:
            if pattern.fullmatch(tokens[end - 1]) and not SENTENCE_END.fullmatch(tokens[end]):
                return end
    return start + longest


class TokenScorer:
    """Scores encoded reviews by one engine, in batches of similar length."""

    def __init__(self, encoder: ReviewEncoder, engine: Engine, config: Config):
        self.encoder, self.engine, self.fixed_length = encoder, engine, config.fixed_length
        self.longest = config.text.max_length
        self.pairs = BATCH_PAIRS * NUMBERS_PER_PAIR // max(NUMBERS_PER_PAIR, config.model.numbers_per_pair)

    def __call__(self, reviews: Reviews) -> NDArray[numpy.float64]:
        """Return the probability of positive of each review, (N,); NaN for one without tokens."""
        return self.read(reviews, weighted=False)[0]

    def read(
        self, reviews: Reviews, heads: Optional[Heads] = None, weighted: bool = True
    ) -> tuple[NDArray[numpy.float64], list[Any], NDArray[numpy.float64]]:
        """Return the probabilities (N,), the weights of each review, and the figures of the heads, (N, FIGURES).

        Weights have the engine's axes, without padding, and are None for a review without tokens, or [] unless
        `weighted`. Pairs of tokens are averaged over the queries, (T,), in a review of more than MATRIX_TOKENS tokens.
        Rows of a network of a fixed length, which may attend to padding, are renormalized to sum to 1.
        """
        pieces, axes = Pieces.of(reviews, self.longest), self.engine.axes
        units: Any = pieces.reviews
        probabilities, figures = numpy.full(len(units), numpy.nan), numpy.zeros((len(units), FIGURES))
        weights: list[Any] = [None] * len(units)
        texts = units.texts if isinstance(units, Window) else [unit.text or " ".join(unit.tokens) for unit in units]
        for members, probability, arrays, features in self.outputs(units, heads is not None):
            probabilities[members] = probability
            if heads:
                grams = Grams.of([texts[i] for i in members], len(heads.table))
                figures[members] = heads(features, grams.read(heads.table))
            for member, array in zip(members, arrays if weighted else ()):
                inside = slice(len(units[member]))
                # a copy: a view would keep the whole batch in memory
                array = numpy.array(array[tuple([inside if axis in AXES else slice(None) for axis in axes])])
                if "queries" in axes:
                    array = renormalize_rows(array) if self.fixed_length else array
                    array = array.mean(axis=-2) if len(reviews[pieces.owners[member]]) > MATRIX_TOKENS else array
                weights[member] = array
        weights = pieces.joined(weights, axes) if weighted else []
        return pieces.probabilities(probabilities), weights, pieces.means(figures)

    def outputs(self, reviews: Reviews, with_features: bool) -> Iterator[tuple[Members, Floats, Any, Any]]:
        """Yield (members, probability (N,), weights, None for a Window, and features (N, F) or None, which are contexts and
        log-odds) of batches of the reviews that have tokens."""
        engine: Any = self.engine
        if isinstance(reviews, Window):
            windows = ((members, reviews.tokens(members)) for members in self.by_length(reviews.lengths))
            results: Any = ((members, engine.in_window(with_features, *tokens)) for members, tokens in windows)
        else:
            compute = engine.read if with_features else engine
            results = ((members, compute(*batch)) for members, batch in self.batches(reviews))
        for members, (probability, weights, *contexts) in results:
            if not numpy.isfinite(probability).all():
                raise BundleError("expected a probability from the network, found none; use another bundle")
            columns = [*contexts, log_odds(probability, EPSILON)]
            features = numpy.column_stack(columns).astype("float32") if with_features else None
            yield members, probability, weights, features

    def batches(self, reviews: Sequence[Encoded]) -> Iterator[tuple[Members, tuple[NDArray[numpy.int32], ...]]]:
        """Yield (members, `ReviewEncoder.batch` of them) over the reviews that have tokens."""
        for members in self.by_length(numpy.array([*map(len, reviews)])):
            yield members, self.encoder.batch([reviews[member] for member in members], self.fixed_length)

    def by_length(self, lengths: NDArray[numpy.int32]) -> Iterator[Members]:

        order = numpy.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        while len(order):
            members = order[-self.max_batch_size(self.fixed_length or lengths[order[-1]]) :]
            order = order[: -len(members)]
            yield members

    def max_batch_size(self, length: int) -> int:
        return max(1, min(self.engine.batch_size, self.pairs // int(length) ** 2))


def renormalize_rows(weights: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """Scale the weights to sum to 1 over the last axis; rows whose weights were all on padding become equal weights."""
    total = weights.sum(axis=-1, keepdims=True)
    return numpy.divide(weights, total, out=numpy.full_like(weights, 1 / weights.shape[-1]), where=total > 0)


class Classifier(Predictor):
    """A bundle of the task `classify` and the engine that runs it."""

    layout, load_engine = LAYOUT, staticmethod(load_engine)

    def __init__(self, bundle: ClassifierBundle, engine: Engine, sentiment: str = ""):
        super().__init__(bundle, engine)
        # its columns in tables: none, two ("columns"), or one ("in words")
        self.sentiment, self.types = sentiment, {"": TYPES, "columns": WITH_SENTIMENT, "in words": IN_WORDS}[sentiment]
        # long reviews are read in pieces instead of being cut off
        longest = UNLIMITED if bundle.config.fixed_length is None else bundle.codec.max_length
        self.encoder = replace(bundle.codec, max_length=longest)
        self.abstention = Abstention(self.encoder)
        self.score = TokenScorer(self.encoder, engine, bundle.config)

    def __repr__(self) -> str:
        return f"Classifier(bundle={self.bundle.name!r}, engine={self.engine.name!r}, labels={LABELS})"

    @cached_property
    def heads(self) -> Optional[Heads]:
        """The heads of the sentiment; None for a bundle without them."""
        return Heads.of(self.bundle)

    @property
    def options(self) -> dict[str, object]:
        return {"sentiment": self.sentiment} if self.sentiment else {}

    def with_sentiment(self, sentiment: str = "columns") -> "Classifier":
        """Return the classifier with sentiment and stars in its tables; ConfigError if the bundle has no heads."""
        if not self.heads:
            advice = "add them by python -m recipes.sentiment, in a checkout"
            raise ConfigError(f"{self.bundle.folder}: expected heads of the sentiment, found none; {advice}")
        return type(self)(self.bundle, self.engine, sentiment)

    @property
    def judge(self) -> "Classifier":
        return self

    @property
    def prior(self) -> float:
        """The log-odds of positive labels in the calibration data, 0 for equal shares; `adapt` keeps KEPT_ODDS at most."""
        if adapted := self.bundle.manifest.get("adapted"):
            largest = float(numpy.log(KEPT_ODDS))
            return float(numpy.clip(log_odds(adapted.get("positive", 0.5), 1e-2), -largest, largest))
        # a dev part split off the training data has its shares of labels
        parts = [self.bundle.manifest["data"].get(name, {}) for name in ("dev", "train")]
        counted = next((part for part in parts if part.get("rows") and "positive" in part), None)
        return float(log_odds(counted["positive"] / counted["rows"], 1e-2)) if counted else 0.0

    def __call__(self, texts: Union[str, Iterable[str]]) -> list[Record]:
        """Return [{"label": "positive", "score": 0.98}, ...], as Hugging Face pipelines do.

        `texts` is a str, or any argument of `predict_many`.
        """
        many = [check_text(texts)] if isinstance(texts, str) else texts
        return [{"label": prediction.label, "score": prediction.score} for prediction in self.predict_stream(many)]

    def predict(self, text: str) -> Prediction:
        """Return the Prediction of one review."""
        (prediction,) = self.predict_encoded([self.encoder.encode(check_text(text, "predict_many()"))])
        return prediction

    def predict_many(self, texts: Iterable[str]) -> list[Prediction]:
        """Return the Prediction of each review, in order.

        `texts` may be a list, a column, an array or a generator of str, or a DataFrame whose column of texts has a
        known name. DataError for any other argument, and for an item that is not a str.
        """
        return list(self.predict_stream(texts))

    def predict_stream(self, texts: Iterable[str]) -> Iterator[Prediction]:
        """Yield Predictions in order while reading `texts` window by window."""
        for reviews in self.windows(texts):
            yield from self.predict_encoded(reviews)

    def predict_encoded(self, reviews: Sequence[Encoded]) -> Iterator[Prediction]:
        """Yield the Predictions of reviews that the bundle's encoder encoded."""
        probabilities, arrays, figures = self.score.read(reviews, self.heads)
        rows = self.labels_of(reviews, probabilities)
        for review, (*row, error), weights, sentiment in zip(reviews, rows, arrays, self.sentiments(rows, figures)):
            if weights is None:
                weights = numpy.zeros((0,) * len(self.engine.axes), dtype="float32")
            fields: Any = review.tokens, review.offsets, weights, error, self.engine.axes[-weights.ndim :], *sentiment
            yield Prediction(review.text, *row, *fields)

    def probabilities(self, texts: Iterable[str]) -> NDArray[numpy.float64]:
        """Return the probability of positive of each review, (N,); NaN if it is blank."""
        return numpy.concatenate([numpy.zeros(0), *map(self.score, self.windows(texts))])

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return the output columns (`types`) of each review."""
        return [row for window in self.windows(texts, list) for row in self.rows_in(window)]

    def rows_in(self, texts: list[str]) -> list[Row]:
        """Return `rows` of a window, most of whose reviews the compiled kernels read as arrays."""
        if not isinstance(self.engine, NativeEngine):
            return self.rows_of(self.encoder.encode_many(texts))
        window, others = read_window(self.encoder, texts, min(WHOLE_TOKENS, self.score.longest))
        rows = self.rows_of(window)
        for place, row in zip(others, self.rows_of([*others.values()]) if others else ()):
            rows[place] = row
        return rows

    def rows_of(self, reviews: Reviews) -> list[Row]:
        """Return `rows` of encoded reviews."""
        probabilities, _, figures = self.score.read(reviews, self.heads if self.sentiment else None, weighted=False)
        rows = self.labels_of(reviews, probabilities)
        if not self.sentiment:
            return rows
        sentiments: list[Row] = [*self.sentiments(rows, figures)]
        if self.sentiment == "in words":
            sentiments = [(opinion_in_words(row[0], *sentiment),) for row, sentiment in zip(rows, sentiments)]
        return [(*row[:2], *sentiment, *row[2:]) for row, sentiment in zip(rows, sentiments)]

    def labels_of(self, reviews: Reviews, probabilities: Any) -> list[Row]:
        """Return (label, score, probability, error) of encoded reviews, by their probabilities (N,)."""
        return output_rows(probabilities, self.abstention.reasons(reviews, probabilities))

    def sentiments(self, rows: Sequence[Row], figures: NDArray[numpy.float64]) -> list[Opinion]:
        """Return the sentiment and the stars of reviews, by their `labels_of` and the heads' figures (N, FIGURES)."""
        labels = [label for label, *_ in rows]
        return self.heads.sentiments(labels, figures) if self.heads else [(label, None) for label in labels]

    def sample(self, texts: Sequence[str], worth: float = 1.0) -> Evidence:
        """Return the heads' Evidence from the distinct texts, each of which stands for `worth` rows of a table.

        NOTHING without heads, for texts unlike film reviews, and for an adapted classifier: heads are trained on films.
        """
        if not (self.heads and texts) or "adapted" in self.bundle.manifest:
            return NOTHING
        reviews = self.encoder.encode_many([*dict.fromkeys(texts)])
        probabilities, _, figures = self.score.read(reviews, self.heads, weighted=False)
        shifted = self.bundle.packaged and shift_of(self.encoder, reviews, probabilities)
        labelled = [not shifted and row[0] is not None for row in self.labels_of(reviews, probabilities)]
        places, stars = bins_of(probabilities[labelled], self.prior), figures[labelled, 3:]
        return replace(NOTHING, sample=numpy.column_stack([numpy.full(len(places), worth), places, stars]))

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[Record]:
        """Yield `Prediction.to_dict()` of each review."""
        return (prediction.to_dict(weights) for prediction in self.predict_stream(texts))

    def windows(self, texts: Iterable[str], encode: Any = None) -> Iterator[Any]:
        """Yield lists of at most WINDOW encoded reviews, and of about WINDOW_BYTES bytes of text."""
        encode = encode or self.encoder.encode_many
        if isinstance(texts, list) and set(map(type, texts)) == {str} and sum(map(getsizeof, texts)) < WINDOW_BYTES:
            return map(encode, (texts[start : start + WINDOW] for start in range(0, len(texts), WINDOW)))
        reviews = check_texts(texts, "reviews", "use predict() for one review")
        return map(encode, cut(reviews, WINDOW, getsizeof, WINDOW_BYTES))


def load_classifier(
    bundle: Optional[Union[str, Path]] = None, engine: EngineName = "auto", device: DeviceName = "auto"
) -> Classifier:
    """Load a classifier from a bundle folder; None is the packaged one.

    The engine is "native" (compiled kernels), "native-bf16" (the same in bfloat16, if the processor has it), "onnx",
    "gluon", which needs MXNet, or "auto": native if it was built and supports the bundle's network, else onnx if the
    bundle has it, else gluon. The device is "auto", "cpu" or, for gluon, "gpu". BundleError if the bundle is missing,
    damaged or made with other versions; ConfigError if the engine or device is unknown, or the engine supports neither
    the bundle nor the device; MissingPackage if the engine's package is not installed.
    """
    return Classifier.load(bundle, engine, device)


packaged = lru_cache(maxsize=1)(load_classifier)


def predict(text: str, classifier: Optional[Classifier] = None) -> Prediction:
    """Return the Prediction of one review by a classifier, or by the packaged one, loaded once."""
    return or_packaged(classifier, Classifier, packaged).predict(text)
