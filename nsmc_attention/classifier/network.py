r"""The self-attentive classifier: token ids in, logits and attention weights out. Imports MXNet.

    ids -> embedding -> encoder -> states -> attention -> weights -> weighted mean of values -> Dense
                  \-> values near the token (of states themselves otherwise) -----/

`SelfAttentionClassifier` averages the states, `WordValueClassifier` values near the token. Either reads what its attention
returns by a pooling: one for queries, for heads and for hops. The network of the article is in `classifier.article`.
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
    """The encoder's states (N, T, D) and what is made of them: keys (N, T, D), values (N, T, V), log-odds of n-grams (N, T, 1).

    `heads` has the weights of an encoder that attends. `by_token` is None without n-grams.
    """

    keys: Array
    states: Array
    values: Array
    by_token: Array
    heads: tuple[Array, ...]


class ReviewFeatures(NamedTuple):
    """The last layer's inputs, (N, 1, F), attention weights, (N, T, T) or of hops (N, R, T), and further outputs."""

    features: Array
    weights: Array
    others: tuple[Array, ...] = ()


class EmbeddedClassifier(HybridBlock):
    """Base: a network in two halves, `embed_tokens` and `read_embedded`, between which gradients are taken."""

    output: Network
    explains: bool

    def forward_embedded(
        self, F: Operators, rows: Array, mask: Array = None, valid_length: Array = None
    ) -> tuple[Array, ...]:
        """Return logits, weights and further outputs of what `embed_tokens` returned; mask is (N, T, 1)."""
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
    """Attention of each token to each: the mean of the tokens' contexts."""

    def __init__(self, attention: Network):
        self.attention = attention

    def __call__(self, F: Operators, keys: Array, values: Array, mask: Array, valid_length: Array) -> Pair:
        """Return the mean of the contexts, (N, 1, V), and the weights (N, T, T)."""
        _, weights = self.attention(keys, keys, values, F.batch_dot(mask, mask, transpose_b=True))
        return operators.pool(F, even_shares(F, mask, valid_length), weights, values), weights

    def rows(self, F: Operators, weights: Array, mask: Array, valid_length: Array) -> Array:
        """Return the mean of the weights over the queries, (N, 1, T)."""
        return F.batch_dot(even_shares(F, mask, valid_length), weights, transpose_a=True)

    def by_token(self, F: Operators, rows: Array, values: Array) -> tuple[Array, Array]:
        """Return each token's term of the mean, (N, T, R V), and its mean weight (N, T, 1)."""
        weights = F.transpose(rows, axes=(0, 2, 1))
        return F.broadcast_mul(values, weights), weights


class HeadPooling(QueryPooling):
    """Attention of each token to each by several heads: the mean of the tokens' contexts, and of the heads' weights."""

    def __call__(self, F: Operators, keys: Array, values: Array, mask: Array, valid_length: Array) -> Pair:
        contexts, weights = self.attention(keys, keys, values, F.batch_dot(mask, mask, transpose_b=True))
        mean = F.batch_dot(even_shares(F, mask, valid_length), contexts, transpose_a=True)
        return mean, F.mean(weights, axis=1)


class HopPooling(QueryPooling):
    """Attention of hops to the tokens: each hop's context, (N, R, V), and weights (N, R, T)."""

    def __call__(self, F: Operators, keys: Array, values: Array, mask: Array, valid_length: Array) -> Pair:
        return self.attention(keys, values, F.transpose(mask, axes=(0, 2, 1)))

    def rows(self, F: Operators, weights: Array, mask: Array, valid_length: Array) -> Array:
        return weights

    def by_token(self, F: Operators, rows: Array, values: Array) -> tuple[Array, Array]:
        weights = F.transpose(rows, axes=(0, 2, 1))
        products = F.broadcast_mul(F.expand_dims(weights, axis=3), F.expand_dims(values, axis=2))
        return F.reshape(products, shape=(0, 0, -1)), F.mean(weights, axis=2, keepdims=True)


class SelfAttentionClassifier(EmbeddedClassifier):
    """Embedding, encoder, self-attention, mean over the contexts or all hops' contexts side by side, Dense.

    Padding is masked in the encoder, the attention and the mean: wider padding or other reviews change nothing. With a table
    of `ngram_buckets` n-grams (`classifier.ngrams`), the last layer reads the review's log-odds by them beside the pooled
    contexts (wide & deep), and each token's are added to its query and key, so that attention can point at such a word.
    """

    def __init__(self, vocab_size: int, settings: "ClassifierConfig", max_length: int, ngram_buckets: int = 0) -> None:
        super().__init__()
        width, near, self.axes = settings.width, settings.values.near, settings.axes
        self.has_ngrams = bool(ngram_buckets)
        self.inputs = review_inputs(self.has_ngrams)
        with self.name_scope():
            # sparse: a batch touches few rows, and only these are updated
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
            # a training does without what each token adds, whose gradients of 0 cost a fifth of a step
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
        """Return logits (N, C) float32 and weights (N, T, T), of R hops (N, R, T), float32 of token_ids (N, T) int32.

        valid_length (N,) float32 is the number of tokens, 1 to T; the rest is padding, whatever its id. ngram_ids (N,
        T, NGRAMS) int32 are given if there is a table of n-grams. Rows of weights sum to 1 over the tokens, are 0 on
        padding, and 0 altogether for padding. Of an encoder that attends, its weights follow: (N, L, K, T, T).
        """
        rows = self.embed_tokens(F, token_ids, ngram_ids)
        return self.forward_embedded(F, rows, token_mask(F, token_ids, valid_length), valid_length)

    def embed_tokens(self, F: Operators, token_ids: Array, ngram_ids: Array = None) -> list[Array]:
        """Return the rows of the tables: [(T, N, E)] and, with n-grams, (N, T, NGRAMS, 2)."""
        rows = [self.embedding(F.transpose(token_ids))]
        return [*rows, self.ngram_table(ngram_ids)] if self.has_ngrams else rows

    def read_embedded(self, F: Operators, rows: Array, mask: Array, valid_length: Array) -> ReviewFeatures:
        """Compute the last layer's input from what `embed_tokens` returned."""
        tokens = self.encode(F, rows, mask, valid_length)
        pooled, weights = self.pooling(F, tokens.keys, tokens.values, mask, valid_length)
        return ReviewFeatures(self.features(F, pooled, self.by_review(F, tokens.by_token)), weights, tokens.heads)

    def encode(self, F: Operators, rows: Array, mask: Array, valid_length: Array) -> TokenFeatures:
        """Return the states of what `embed_tokens` returned, and what is made of them."""
        embedded = self.embedding_dropout(rows[0])
        states, *heads = listed(self.encoder(embedded, valid_length) if self.encoder else embedded)
        states = F.transpose(states, axes=(1, 0, 2))
        by_token = ngram_log_odds(F, rows[1]) if self.has_ngrams else None
        keys = states + self.evidence(with_previous_token(F, by_token)) if self.use_ngram_evidence else states
        values, by_token = self.values_of(F, embedded, states, by_token, mask)
        return TokenFeatures(keys, states, values, by_token, tuple(heads))

    def values_of(self, F: Operators, embedded: Array, states: Array, by_token: Array, mask: Array) -> Pair:
        """Return the tokens' values, of states here, and their n-grams' log-odds."""
        return states, by_token

    def by_review(self, F: Operators, by_token: Array) -> Array:
        """Return n-grams' log-odds by review, (N, 1, 1), from those by token, (N, T, 1); None without n-grams."""
        return F.sum(by_token, axis=1, keepdims=True) if self.has_ngrams else None

    def features(self, F: Operators, pooled: Array, by_review: Array) -> Array:
        """(N, 1, D), of hops (N, R, D), and (N, 1, 1) or None -> what the last layer reads, (N, 1, F)."""
        features = self.output_dropout(F.reshape(pooled, shape=(0, 1, -1)) if "hops" in self.axes else pooled)
        return F.concat(features, by_review, dim=2) if self.has_ngrams else features


class WordValueClassifier(SelfAttentionClassifier):
    """A classifier whose values are near the token: the log-odds of a review are a sum over its tokens.

    After the weights it returns what each token adds, (N, T), and what a network above reads of the review, (N, R V +
    D): the means by the weights of values and states; in a training without n-grams the gates (N, T), if it has some,
    instead. With `signed` values, a gate tanh(w . state + b) in -1..1 multiplies each value: near 1 for a word that
    counts, near 0 for one that the context makes irrelevant, below 0 for a negated one.
    """

    values: Network

    def classify(self, F: Operators, features: Array) -> Array:
        return F.squeeze(self.output(features), axis=1)

    def values_of(self, F: Operators, embedded: Array, states: Array, by_token: Array, mask: Array) -> Pair:
        values = self.values(F.broadcast_mul(F.transpose(embedded, axes=(1, 0, 2)), mask))
        by_token = shared_with_next(F, by_token, mask) if self.has_ngrams else None
        if self.gate:
            # (N, T, 1); states at padding are anything
            values = F.broadcast_mul(values, self.gate(states) * mask)
        return values, by_token

    def read_embedded(self, F: Operators, rows: Array, mask: Array, valid_length: Array) -> ReviewFeatures:
        tokens = self.encode(F, rows, mask, valid_length)
        pooled, weights = self.pooling(F, tokens.keys, tokens.values, mask, valid_length)
        if not (self.explains or self.has_ngrams):
            gates = [F.reshape(self.gate(tokens.states), shape=(0, -1))] if self.gate else []
            return ReviewFeatures(self.features(F, pooled, None), weights, (*gates, *tokens.heads))
        rows_of = self.pooling.rows(F, weights, mask, valid_length)
        terms = self.terms(F, rows_of, tokens, valid_length)
        by_token = F.slice_axis(terms, axis=2, begin=-1, end=None) if self.has_ngrams else None
        features = self.features(F, pooled, self.by_review(F, by_token))
        if not self.explains:
            return ReviewFeatures(features, weights, tokens.heads)
        mean = F.batch_dot(F.mean(rows_of, axis=1, keepdims=True), tokens.states)
        contexts = F.concat(F.reshape(pooled, shape=(0, -1)), F.reshape(mean, shape=(0, -1)), dim=1)
        return ReviewFeatures(features, weights, (self.contributions(F, terms), contexts, *tokens.heads))

    def terms(self, F: Operators, weights: Array, tokens: TokenFeatures, valid_length: Array) -> Array:
        """Return each token's term of the last layer's input, (N, T, F), by its weights (N, R, T) and value.

        Its n-grams' log-odds are multiplied by the root of how many even shares its mean weight is: weights that are all
        the same leave their sum as it is, and a weight of 0 all but silences them. Without the root, accuracy is half a point less.
        """
        terms, weights = self.pooling.by_token(F, weights, tokens.values)
        if not self.has_ngrams:
            return terms
        shares = F.broadcast_mul(weights, F.reshape(valid_length, shape=(-1, 1, 1)))
        # the root of 0 has no gradient
        return F.concat(terms, F.sqrt(F.maximum(shares, SMALLEST_SQUARE)) * tokens.by_token, dim=2)

    def contributions(self, F: Operators, terms: Array) -> Array:
        """(N, T, F) -> what each token adds to the log-odds of positive, (N, T): their sum is these less the bias."""
        zeros = 0 * F.slice_axis(terms, axis=1, begin=0, end=1)
        negative, positive = F.split(F.broadcast_sub(self.output(terms), self.output(zeros)), axis=2, num_outputs=2)
        return F.reshape(positive - negative, shape=(0, -1))


def ngram_log_odds(F: Operators, rows: Array) -> Array:
    """Rows of the table (N, T, NGRAMS, 2) -> log-odds by token (N, T, 1), whose sum is that of the review."""
    weight, square = F.split(F.sum(rows, axis=2), axis=2, num_outputs=2)  # (N, T, 1) each
    square = F.sum(square, axis=1, keepdims=True)
    return F.broadcast_div(weight, F.sqrt(F.maximum(square, SMALLEST_SQUARE)))


def with_previous_token(F: Operators, by_token: Array) -> Array:
    """(N, T, 1) -> (N, T, EVIDENCE): of each token and of the one before it, whose last n-grams reach into it."""
    return F.concat(by_token, of_previous(F, by_token), dim=2)


def shared_with_next(F: Operators, by_token: Array, mask: Array) -> Array:
    """Log-odds of n-grams by the token they begin in (N, T, 1) -> by the tokens they are in, with the same sum."""
    none = 0 * F.slice_axis(mask, axis=1, begin=0, end=1)
    has_next = F.slice_axis(F.concat(mask, none, dim=1), axis=1, begin=1, end=None)
    moved = SHARED * by_token * has_next
    return by_token - moved + of_previous(F, moved)


def of_previous(F: Operators, by_token: Array) -> Array:
    """(N, T, 1) -> (N, T, 1): of the token before each, of the first 0."""
    zero = F.zeros_like(F.slice_axis(by_token, axis=1, begin=0, end=1))
    return F.slice_like(F.concat(zero, by_token, dim=1), by_token, axes=(1,))


def even_shares(F: Operators, mask: Array, valid_length: Array) -> Array:
    """mask (N, T, 1) -> the same share of each token, which sum to 1, 0 for padding, (N, T, 1)."""
    return F.broadcast_div(mask, F.reshape(valid_length, shape=(-1, 1, 1)))


def token_mask(F: Operators, token_ids: Array, valid_length: Array) -> Array:
    """Return (N, T, 1) float32: 1 for a token, 0 for padding."""
    ones = F.ones_like(F.expand_dims(F.cast(token_ids, dtype="float32"), axis=2))
    return F.SequenceMask(ones, valid_length, use_sequence_length=True, axis=1)
