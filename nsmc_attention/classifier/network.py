r"""The self-attentive classifier: token ids in, logits and attention weights out. Imports MXNet.

    ids -> embedding -> encoder -> states -> attention -> weights -> weighted mean of values -> Dense
                  \-> values near the token (otherwise the states) ---------------/

`SelfAttentionClassifier` averages the states, `WordValueClassifier` values near the token. Both reduce what the attention
returns by a pooling class: one each for queries, heads and hops. The article's network is in `classifier.article`.
"""

from typing import TYPE_CHECKING, NamedTuple

from ..machine.aliases import Array, Network, Operators
from ..machine.gluon import HybridBlock, mxnet, nn
from ..network import operators
from ..network.blocks import listed
from ..network.graphs import review_inputs
from ..network.parameters import CLASSES, EVIDENCE
from ..text.ngrams import SHARED, SMALLEST_SQUARE

if TYPE_CHECKING:
    from .settings import ClassifierConfig


Pair = tuple[Array, Array]


class TokenFeatures(NamedTuple):
    """Keys (N, T, D), states (N, T, D), values (N, T, V) and n-grams' log-odds (N, T, 1) of the tokens.

    `ngram_odds` is None without n-grams. `heads` holds the weights of an encoder that has attention.
    """

    keys: Array
    states: Array
    values: Array
    ngram_odds: Array
    heads: tuple[Array, ...]


class ReviewFeatures(NamedTuple):
    """The last layer's inputs, (N, 1, F), attention weights, (N, T, T) or (N, R, T) with hops, and further outputs."""

    features: Array
    weights: Array
    others: tuple[Array, ...] = ()


class EmbeddedClassifier(HybridBlock):
    """Base class with two halves, `embed_tokens` and `read_embedded`; gradients are taken between them."""

    output: Network
    explains: bool

    def forward_embedded(
        self, F: Operators, rows: Array, mask: Array = None, valid_length: Array = None
    ) -> tuple[Array, ...]:
        """Return logits, weights and further outputs for the rows of `embed_tokens`; mask is (N, T, 1)."""
        review = self.read_embedded(F, rows, mask, valid_length)
        return (self.classify(F, review.features), review.weights, *review.others)

    def read(self, F: Operators, token_ids: Array, valid_length: Array, *ngram_ids: Array) -> tuple[Array, Array]:
        """Return the last layer's input of each review, (N, F), and the logits (N, C)."""
        rows = self.embed_tokens(F, token_ids, *ngram_ids)
        features = self.read_embedded(F, rows, token_mask(F, token_ids, valid_length), valid_length).features
        return F.flatten(features), self.classify(F, features)

    def classify(self, F: Operators, features: Array) -> Array:
        return self.output(features)


class QueryPooling:
    """Attention between all pairs of tokens; the contexts are averaged over the queries."""

    def __init__(self, attention: Network):
        self.attention = attention

    def __call__(self, F: Operators, keys: Array, values: Array, mask: Array, valid_length: Array) -> Pair:
        """Return the mean of the contexts, (N, 1, V), and the weights (N, T, T)."""
        _, weights = self.attention(keys, keys, values, F.batch_dot(mask, mask, transpose_b=True))
        return operators.pool(F, even_shares(F, mask, valid_length), weights, values), weights

    def rows(self, F: Operators, weights: Array, mask: Array, valid_length: Array) -> Array:
        """Return the mean of the weights over the queries, (N, 1, T)."""
        return F.batch_dot(even_shares(F, mask, valid_length), weights, transpose_a=True)

    def token_terms(self, F: Operators, rows: Array, values: Array) -> tuple[Array, Array]:
        """Return each token's term of the mean, (N, T, R V), and its mean weight (N, T, 1)."""
        weights = F.transpose(rows, axes=(0, 2, 1))
        return F.broadcast_mul(values, weights), weights


class HeadPooling(QueryPooling):
    """Attention between all pairs of tokens by several heads; contexts are averaged over queries, weights over heads."""

    def __call__(self, F: Operators, keys: Array, values: Array, mask: Array, valid_length: Array) -> Pair:
        contexts, weights = self.attention(keys, keys, values, F.batch_dot(mask, mask, transpose_b=True))
        mean = F.batch_dot(even_shares(F, mask, valid_length), contexts, transpose_a=True)
        return mean, F.mean(weights, axis=1)


class HopPooling(QueryPooling):
    """Attention of each hop to the tokens, with its own context, (N, R, V), and weights (N, R, T)."""

    def __call__(self, F: Operators, keys: Array, values: Array, mask: Array, valid_length: Array) -> Pair:
        return self.attention(keys, values, F.transpose(mask, axes=(0, 2, 1)))

    def rows(self, F: Operators, weights: Array, mask: Array, valid_length: Array) -> Array:
        return weights

    def token_terms(self, F: Operators, rows: Array, values: Array) -> tuple[Array, Array]:
        weights = F.transpose(rows, axes=(0, 2, 1))
        products = F.broadcast_mul(F.expand_dims(weights, axis=3), F.expand_dims(values, axis=2))
        return F.reshape(products, shape=(0, 0, -1)), F.mean(weights, axis=2, keepdims=True)


class SelfAttentionClassifier(EmbeddedClassifier):
    """Embedding, encoder, self-attention, the contexts' mean or all hops' contexts concatenated, Dense.

    Padding is masked in the encoder, the attention and the mean: wider padding or other reviews change nothing. With a table
    of `ngram_buckets` n-grams (`classifier.ngrams`), the last layer also reads the review's log-odds by its n-grams (wide &
    deep). Each token's log-odds are added to its query and key, so that attention can point at the token.
    """

    def __init__(self, vocab_size: int, settings: "ClassifierConfig", max_length: int, ngram_buckets: int = 0) -> None:
        super().__init__()
        width, near, self.axes = settings.width, settings.values.near, settings.axes
        self.has_ngrams = bool(ngram_buckets)
        self.inputs = review_inputs(self.has_ngrams)
        with self.name_scope():
            # sparse gradients: a batch touches few rows, and only these are updated
            self.embedding = nn.Embedding(vocab_size, settings.embedding_size, sparse_grad=True)
            # word dropout drops all units of a token at once, Gal & Ghahramani 2016 (arXiv:1512.05287), section 4.2
            self.embedding_dropout = operators.Dropout(settings.dropout, rows=settings.word_dropout)
            self.encoder = settings.encoder.block(settings.embedding_size, max_length)
            self.attention = settings.attention.cell(width)
            self.values = settings.values.block(settings.embedding_size)
            self.output_dropout = operators.Dropout(settings.dropout)
            self.gate = None
            if settings.values.signed:
                # (N, T, D) -> (N, T, 1), about 0.9 before training
                draw, constant = mxnet.init.Normal(0.02), mxnet.init.Constant(1.5)
                layer = {"in_units": width, "flatten": False, "activation": "tanh"}
                self.gate = nn.Dense(1, weight_initializer=draw, bias_initializer=constant, **layer)
            # training leaves contributions out: their gradients of 0 cost a fifth of a step
            self.explains = near
            value_width = settings.values.width(settings.embedding_size, width)
            self.output = nn.Dense(
                CLASSES, in_units=settings.attention.pooled(value_width) + self.has_ngrams, flatten=not near
            )
            if self.has_ngrams:
                self.ngram_table = nn.Embedding(ngram_buckets, 2, weight_initializer="zeros")
                self.ngram_table.weight.grad_req = "null"
            self.use_ngram_evidence = self.has_ngrams and settings.attention.kind != "uniform"
            if self.use_ngram_evidence:
                self.evidence = nn.Dense(width, in_units=EVIDENCE, use_bias=False, flatten=False)
        pooling = HopPooling if "hops" in self.axes else QueryPooling
        self.pooling = (HeadPooling if settings.attention.kind == "multihead" else pooling)(self.attention)

    def hybrid_forward(self, F: Operators, token_ids: Array, valid_length: Array, ngram_ids: Array = None) -> Array:
        """Return logits (N, C) and weights (N, T, T), or (N, R, T) with R hops, float32, for token_ids (N, T) int32.

        valid_length (N,) float32 is the number of tokens, 1 to T; the rest is padding, whatever its id. ngram_ids (N,
        T, NGRAMS) int32 are required with a table of n-grams. Rows of weights sum to 1 over the tokens and are 0 on
        padding; rows of padding are 0. The weights (N, L, K, T, T) of an encoder that has attention follow.
        """
        rows = self.embed_tokens(F, token_ids, ngram_ids)
        return self.forward_embedded(F, rows, token_mask(F, token_ids, valid_length), valid_length)

    def embed_tokens(self, F: Operators, token_ids: Array, ngram_ids: Array = None) -> list[Array]:
        """Return the rows of the tables: [(T, N, E)] and, with n-grams, (N, T, NGRAMS, 2)."""
        rows = [self.embedding(F.transpose(token_ids))]
        return [*rows, self.ngram_table(ngram_ids)] if self.has_ngrams else rows

    def read_embedded(self, F: Operators, rows: Array, mask: Array, valid_length: Array) -> ReviewFeatures:
        """Compute the last layer's input from the rows of `embed_tokens`."""
        tokens = self.encode(F, rows, mask, valid_length)
        pooled, weights = self.pooling(F, tokens.keys, tokens.values, mask, valid_length)
        return ReviewFeatures(self.features(F, pooled, self.review_odds(F, tokens.ngram_odds)), weights, tokens.heads)

    def encode(self, F: Operators, rows: Array, mask: Array, valid_length: Array) -> TokenFeatures:
        """Compute the tokens' features from the rows of `embed_tokens`."""
        embedded = self.embedding_dropout(rows[0])
        states, *heads = listed(self.encoder(embedded, valid_length) if self.encoder else embedded)
        states = F.transpose(states, axes=(1, 0, 2))
        ngram_odds = ngram_log_odds(F, rows[1]) if self.has_ngrams else None
        keys = states + self.evidence(with_previous_token(F, ngram_odds)) if self.use_ngram_evidence else states
        values, ngram_odds = self.values_of(F, embedded, states, ngram_odds, mask)
        return TokenFeatures(keys, states, values, ngram_odds, tuple(heads))

    def values_of(self, F: Operators, embedded: Array, states: Array, ngram_odds: Array, mask: Array) -> Pair:
        """Return the tokens' values, here the states, and their n-grams' log-odds."""
        return states, ngram_odds

    def review_odds(self, F: Operators, ngram_odds: Array) -> Array:
        """Sum the n-grams' log-odds (N, T, 1) over the tokens, (N, 1, 1); None without n-grams."""
        return F.sum(ngram_odds, axis=1, keepdims=True) if self.has_ngrams else None

    def features(self, F: Operators, pooled: Array, review_odds: Array) -> Array:
        """Join contexts (N, 1, D), or (N, R, D) with hops, and log-odds (N, 1, 1) as the last layer's input (N, 1, F)."""
        features = self.output_dropout(F.reshape(pooled, shape=(0, 1, -1)) if "hops" in self.axes else pooled)
        return F.concat(features, review_odds, dim=2) if self.has_ngrams else features


class WordValueClassifier(SelfAttentionClassifier):
    """A classifier with values near the token: the log-odds of a review are a sum over its tokens.

    Two outputs follow the weights: the tokens' contributions, (N, T), and the features that other networks read, (N, R V
    + D), the weighted means of values and states. Training without n-grams returns the gates (N, T) instead, if there are
    any. With `signed` values, a gate tanh(w . state + b) in -1..1 multiplies each value: near 1 for a word that counts,
    near 0 for one that the context makes irrelevant, below 0 for a negated one.
    """

    values: Network

    def classify(self, F: Operators, features: Array) -> Array:
        return F.squeeze(self.output(features), axis=1)

    def values_of(self, F: Operators, embedded: Array, states: Array, ngram_odds: Array, mask: Array) -> Pair:
        values = self.values(F.broadcast_mul(F.transpose(embedded, axes=(1, 0, 2)), mask))
        ngram_odds = shared_with_next(F, ngram_odds, mask) if self.has_ngrams else None
        if self.gate:
            # (N, T, 1); states at padding are arbitrary
            values = F.broadcast_mul(values, self.gate(states) * mask)
        return values, ngram_odds

    def read_embedded(self, F: Operators, rows: Array, mask: Array, valid_length: Array) -> ReviewFeatures:
        tokens = self.encode(F, rows, mask, valid_length)
        pooled, weights = self.pooling(F, tokens.keys, tokens.values, mask, valid_length)
        if not (self.explains or self.has_ngrams):
            gates = [F.reshape(self.gate(tokens.states), shape=(0, -1))] if self.gate else []
            return ReviewFeatures(self.features(F, pooled, None), weights, (*gates, *tokens.heads))
        mean_weights = self.pooling.rows(F, weights, mask, valid_length)
        terms = self.terms(F, mean_weights, tokens, valid_length)
        ngram_odds = F.slice_axis(terms, axis=2, begin=-1, end=None) if self.has_ngrams else None
        features = self.features(F, pooled, self.review_odds(F, ngram_odds))
        if not self.explains:
            return ReviewFeatures(features, weights, tokens.heads)
        mean = F.batch_dot(F.mean(mean_weights, axis=1, keepdims=True), tokens.states)
        contexts = F.concat(F.reshape(pooled, shape=(0, -1)), F.reshape(mean, shape=(0, -1)), dim=1)
        return ReviewFeatures(features, weights, (self.contributions(F, terms), contexts, *tokens.heads))

    def terms(self, F: Operators, weights: Array, tokens: TokenFeatures, valid_length: Array) -> Array:
        """Return each token's term of the last layer's input, (N, T, F), by its weights (N, R, T) and value.

        Its n-grams' log-odds are multiplied by the root of the number of tokens times its mean weight: equal weights leave
        their sum as it is, and a weight of 0 nearly removes them. Without the root, accuracy is half a point lower.
        """
        terms, weights = self.pooling.token_terms(F, weights, tokens.values)
        if not self.has_ngrams:
            return terms
        shares = F.broadcast_mul(weights, F.reshape(valid_length, shape=(-1, 1, 1)))
        # the root of 0 has no gradient
        return F.concat(terms, F.sqrt(F.maximum(shares, SMALLEST_SQUARE)) * tokens.ngram_odds, dim=2)

    def contributions(self, F: Operators, terms: Array) -> Array:
        """Return each token's contribution to the log-odds of positive, (N, T); they sum to the log-odds less the bias."""
        zeros = 0 * F.slice_axis(terms, axis=1, begin=0, end=1)
        negative, positive = F.split(F.broadcast_sub(self.output(terms), self.output(zeros)), axis=2, num_outputs=2)
        return F.reshape(positive - negative, shape=(0, -1))


def ngram_log_odds(F: Operators, rows: Array) -> Array:
    """Return log-odds by token (N, T, 1), which sum to the review's, from the table's rows (N, T, NGRAMS, 2)."""
    weight, square = F.split(F.sum(rows, axis=2), axis=2, num_outputs=2)  # (N, T, 1) each
    square = F.sum(square, axis=1, keepdims=True)
    return F.broadcast_div(weight, F.sqrt(F.maximum(square, SMALLEST_SQUARE)))


def with_previous_token(F: Operators, ngram_odds: Array) -> Array:
    """Append the previous token's log-odds, whose last n-grams reach into the token: (N, T, 1) -> (N, T, EVIDENCE)."""
    return F.concat(ngram_odds, shifted(F, ngram_odds), dim=2)


def shared_with_next(F: Operators, ngram_odds: Array, mask: Array) -> Array:
    """Give the share SHARED of each token's log-odds (N, T, 1) to the next token; the sum stays the same."""
    zero = 0 * F.slice_axis(mask, axis=1, begin=0, end=1)
    has_next = F.slice_axis(F.concat(mask, zero, dim=1), axis=1, begin=1, end=None)
    share = SHARED * ngram_odds * has_next
    return ngram_odds - share + shifted(F, share)


def shifted(F: Operators, token_values: Array) -> Array:
    """Shift values (N, T, 1) to the next token; the first token gets 0."""
    zero = F.zeros_like(F.slice_axis(token_values, axis=1, begin=0, end=1))
    return F.slice_like(F.concat(zero, token_values, dim=1), token_values, axes=(1,))


def even_shares(F: Operators, mask: Array, valid_length: Array) -> Array:
    """Return equal weights of the tokens, which sum to 1, and 0 for padding, (N, T, 1); mask is (N, T, 1)."""
    return F.broadcast_div(mask, F.reshape(valid_length, shape=(-1, 1, 1)))


def token_mask(F: Operators, token_ids: Array, valid_length: Array) -> Array:
    """Return (N, T, 1) float32: 1 for a token, 0 for padding."""
    ones = F.ones_like(F.expand_dims(F.cast(token_ids, dtype="float32"), axis=2))
    return F.SequenceMask(ones, valid_length, use_sequence_length=True, axis=1)
