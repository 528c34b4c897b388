"""The HybridBlocks: token ids in, logits and attention weights out.

`SelfAttentionClassifier` masks its padding; `PostClassifier` is the original article's model, kept as it was.
Shapes are defined at the head of `attention`. Knows nothing of text; trained by `training.fit`.
"""

from ..._runtime.mxnet_shim import import_mxnet
from ...errors import ConfigError, did_you_mean

mxnet = import_mxnet()

from gluonnlp.model import MLPAttentionCell  # noqa: E402
from mxnet.gluon import HybridBlock, nn, rnn  # noqa: E402

from ...text.ngrams import SMALLEST  # noqa: E402
from ..attention import attention_cell  # noqa: E402
from ..parameters import CLASSES, EVIDENCE  # noqa: E402

DEVICES = ("auto", "cpu", "gpu")


class BidirectionalGRU(HybridBlock):
    """A GRU in each direction, neither of which ever reads padding before a token.

    Cho et al. 2014 (arXiv:1406.1078). MXNet's `bidirectional=True` starts the backward direction in the
    padding (apache/mxnet#19323), so the backward GRU reads each review reversed within its own length.
    """

    def __init__(self, hidden_size, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.forward_gru = rnn.GRU(hidden_size, layout="TNC")
            self.backward_gru = rnn.GRU(hidden_size, layout="TNC")

    def hybrid_forward(self, F, embedded, valid_length):
        """(T, N, E), (N,) -> (T, N, 2H); states at padding are not zero, mask them."""
        turn = turned_rows(F, embedded, valid_length)
        forward = self.forward_gru(embedded)
        backward = rearranged(F, self.backward_gru(rearranged(F, embedded, turn)), turn)
        return side_by_side(F, forward, backward)


def turned_rows(F, sequences, valid_length):
    """Answer (T * N,): for each row of (T, N, ...) the row that stands there when every sequence is turned round.

    Turning twice gives the first order back.
    """
    places = F.contrib.arange_like(F.slice_axis(sequences, axis=2, begin=0, end=1))  # (T, N, 1)
    return F.reshape(F.SequenceReverse(places, valid_length, use_sequence_length=True), shape=(-1,))


def rearranged(F, sequences, rows):
    """Pick rows of (T, N, E). SequenceReverse takes three times as long (benchmarks/operators.py)."""
    return F.reshape_like(
        F.take(F.reshape(sequences, shape=(-3, 0)), rows), sequences, lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2
    )


def side_by_side(F, forward, backward):
    """Two (T, N, H) -> (T, N, 2H). Concatenated they take six times as long (benchmarks/operators.py).

    As matrices twice as long, and on a CPU each backward pass keeps 1.8 kB for good.
    """
    return F.reshape(F.stack(forward, backward, axis=2), shape=(0, 0, -1))


class SelfAttentionClassifier(HybridBlock):
    """Embedding, bidirectional GRU, self-attention, mean over the contexts, Dense.

    Query and key of the attention are both the GRU's output. Padding is masked in both GRU directions, in the
    attention and in the mean, so wider padding or other reviews in the batch change nothing.

    Where there is a table of n-grams, learned apart by `training.wide`, the last layer reads what it says of the
    review beside the pooled contexts (wide & deep), and what it says of each token is added, projected, to the
    token's query and key: the attention can point at a word that only the n-grams know.

    Parameters
    ----------
    vocab_size : int
    config : ModelConfig
    ngram_buckets : int
        Rows of the table of n-grams; 0 for a network without.
    """

    axes = ("queries", "keys")

    def __init__(self, vocab_size, config, ngram_buckets=0, **kwargs):
        super().__init__(**kwargs)
        self.multihead = config.attention == "multihead"
        self.ngrams = bool(ngram_buckets)
        with self.name_scope():
            # sparse: a batch touches few rows, and only these are updated
            self.embedding = nn.Embedding(vocab_size, config.embedding_size, sparse_grad=True)
            # of a token all units at once, Gal & Ghahramani 2016 (arXiv:1512.05287), section 4.2
            self.word_dropout = nn.Dropout(config.word_dropout, axes=(2,))
            self.embedding_dropout = nn.Dropout(config.dropout)
            self.encoder = BidirectionalGRU(config.hidden_size) if config.encoder == "gru" else None
            self.attention = attention_cell(config, config.width)
            self.output_dropout = nn.Dropout(config.dropout)
            self.output = nn.Dense(CLASSES, in_units=config.width + self.ngrams)
            if self.ngrams:
                self.ngram_table = nn.Embedding(ngram_buckets, 2, weight_initializer="zeros")
                self.ngram_table.weight.grad_req = "null"
            self.told = self.ngrams and config.attention != "uniform"
            if self.told:
                self.evidence = nn.Dense(config.width, in_units=EVIDENCE, use_bias=False, flatten=False)

    def hybrid_forward(self, F, token_ids, valid_length, ngram_ids=None):
        """Classify a batch.

        Parameters
        ----------
        token_ids : (N, T) int32
        valid_length : (N,) float32
            Tokens of each review, 1 to T; what stands behind is padding, whatever its id.
        ngram_ids : (N, T, NGRAMS) int32 or None
            See `text.ngrams`; given where, and only where, there is a table of n-grams.

        Returns
        -------
        logits : (N, C) float32
        weights : (N, T, T) float32
            Row i says how much token i looks at each token: non-negative, sums to 1 over the tokens, 0 on
            padding. Rows of padding are 0.
        """
        rows = self.look_up(F, token_ids, ngram_ids)
        return self.read(F, rows, token_mask(F, token_ids, valid_length), valid_length)

    def look_up(self, F, token_ids, ngram_ids=None):
        """Answer what stands in the tables: [(T, N, E)] and, with n-grams, (N, T, NGRAMS, 2)."""
        rows = [self.embedding(F.transpose(token_ids))]
        return [*rows, self.ngram_table(ngram_ids)] if self.ngrams else rows

    def read(self, F, rows, mask, valid_length):
        """Classify what `look_up` answered, for gradients with respect to it; mask is (N, T, 1)."""
        states, seen, by_review = self.encode(F, rows, valid_length)
        pairs = F.batch_dot(mask, mask, transpose_b=True)  # (N, T, T)
        contexts, weights = self.attention(seen, seen, states, pairs)
        mean = F.broadcast_div(mask, F.reshape(valid_length, shape=(-1, 1, 1)))  # (N, T, 1)
        if self.multihead:
            weights = F.mean(weights, axis=1)
            pooled = F.batch_dot(mean, contexts, transpose_a=True)  # (N, 1, 2H)
        else:
            # mean_i sum_j w_ij v_j = sum_j (mean_i w_ij) v_j: the (N, T, 2H) contexts are never built
            looked_at = F.batch_dot(mean, weights, transpose_a=True)  # (N, 1, T)
            pooled = F.batch_dot(looked_at, states)
        return self.answer(F, pooled, by_review), weights

    def encode(self, F, rows, valid_length):
        """Answer the states (N, T, 2H), what the attention sees of them, the n-grams' log-odds (N, 1, 1) or None."""
        embedded = self.embedding_dropout(self.word_dropout(rows[0]))
        states = self.encoder(embedded, valid_length) if self.encoder else embedded
        states = F.transpose(states, axes=(1, 0, 2))
        by_token, by_review = ngram_log_odds(F, rows[1]) if self.ngrams else (None, None)
        seen = states + self.evidence(with_neighbour(F, by_token)) if self.told else states
        return states, seen, by_review

    def answer(self, F, pooled, by_review):
        """(N, 1, 2H), (N, 1, 1) or None -> logits (N, C)."""
        features = self.output_dropout(pooled)
        return self.output(F.concat(features, by_review, dim=2) if self.ngrams else features)

    def looking(self, F, rows, looked_at, valid_length):
        """Answer the logits that given weights (N, 1, T) lead to, in place of the attention's own."""
        states, _, by_review = self.encode(F, rows, valid_length)
        values = self.attention.proj_value(states) if self.multihead else states
        return self.answer(F, F.batch_dot(looked_at, values), by_review)


def ngram_log_odds(F, rows):
    """Rows of the table (N, T, NGRAMS, 2) -> the log-odds of `training.wide` by token (N, T, 1) and review (N, 1, 1).

    Those of the tokens add up to the review's.
    """
    weight, square = F.split(F.sum(rows, axis=2), axis=2, num_outputs=2)  # (N, T, 1) each
    square = F.sum(square, axis=1, keepdims=True)
    by_token = F.broadcast_div(weight, F.sqrt(F.maximum(square, SMALLEST * F.ones_like(square))))
    return by_token, F.sum(by_token, axis=1, keepdims=True)


def with_neighbour(F, by_token):
    """(N, T, 1) -> (N, T, EVIDENCE): of each token and of the one before it, whose last n-grams reach into it."""
    nothing = F.zeros_like(F.slice_axis(by_token, axis=1, begin=0, end=1))
    before = F.slice_like(F.concat(nothing, by_token, dim=1), by_token, axes=(1,))
    return F.concat(by_token, before, dim=2)


def token_mask(F, token_ids, valid_length):
    """Answer (N, T, 1) float32: 1 for a token, 0 for padding."""
    ones = F.expand_dims(F.cast(F.ones_like(token_ids), dtype="float32"), axis=2)
    return F.SequenceMask(ones, valid_length, use_sequence_length=True, axis=1)


class PostClassifier(HybridBlock):
    """The original article's model, padding and all.

    Dropout 0.3 after the embedding, a bidirectional GRU, `MLPAttentionCell(30, dropout=0.2)` called as
    attention(h, h), and the contexts of all positions, flattened, into Dense(2). It reads reviews of exactly
    seq_len tokens and takes its padding for words: it is here to compare with, not to be used.

    Parameters
    ----------
    vocab_size, num_embed, seq_len, hidden_size : int
    """

    axes = ("queries", "keys")

    def __init__(self, vocab_size, num_embed, seq_len, hidden_size, **kwargs):
        super().__init__(**kwargs)
        self.seq_len = seq_len
        with self.name_scope():
            self.embed = nn.Embedding(vocab_size, num_embed)
            self.drop = nn.Dropout(0.3)
            # dropout of a GRU acts between layers: with one layer it does nothing, as in the article
            self.bigru = rnn.GRU(hidden_size, layout="NTC", dropout=0.2, bidirectional=True)
            self.attention = MLPAttentionCell(30, act=nn.Activation("tanh"), dropout=0.2)
            self.dense = nn.Dense(CLASSES, in_units=2 * hidden_size * seq_len)

    def __call__(self, token_ids, valid_length=None):
        """Here valid_length is taken, so that both models are called alike, and not used."""
        return super().__call__(token_ids)

    def hybrid_forward(self, F, token_ids):
        """(N, seq_len) -> logits (N, C) and weights (N, seq_len, seq_len), rows sum to 1 over all positions."""
        return self.read(F, self.look_up(F, token_ids))

    def look_up(self, F, token_ids):
        """Answer what stands in the table: [(T, N, E)]."""
        return [self.embed(F.transpose(token_ids))]

    def read(self, F, rows, mask=None, valid_length=None):
        """Classify what `look_up` answered, for gradients with respect to it."""
        embedded = F.transpose(rows[0], axes=(1, 0, 2))  # (N, T, E)
        states = self.bigru(self.drop(embedded))  # (N, T, 2H)
        contexts, weights = self.attention(states, states)  # (N, T, 2H), (N, T, T)
        return self.dense(contexts), weights


def build_network(vocab_size, config, wide=True):
    """Build the network of a Config, parameters not yet initialized; without its table of n-grams to train it."""
    model = config.model
    if model.architecture == "post":
        return PostClassifier(vocab_size, model.embedding_size, config.text.max_length, model.hidden_size)
    return SelfAttentionClassifier(vocab_size, model, config.text.ngram_buckets if wide else 0)


def choose_device(name):
    """Answer the MXNet context for "auto", "cpu" or "gpu"; auto is the GPU where MXNet sees one.

    ConfigError for another name, and for "gpu" where there is none: MXNet itself would abort the process.
    """
    if name not in DEVICES:
        raise ConfigError(f"unknown device {name!r}{did_you_mean(name, DEVICES)}")
    gpus = mxnet.context.num_gpus() if name in ("auto", "gpu") else 0
    if name == "gpu" and not gpus:
        raise ConfigError(
            "--device gpu: expected a GPU that MXNet sees, found none; install a CUDA build "
            "(pip install mxnet-cu112==1.9.1) or use --device cpu"
        )
    return mxnet.gpu() if gpus else mxnet.cpu()
