"""The network of the original article, unchanged, for comparison. Imports MXNet.

    ids -> Embedding -> bidirectional GRU -> MLPAttentionCell (query and key: the GRU's states) -> all contexts -> Dense(2)

It reads reviews of exactly seq_len tokens and treats padding as words. `notebooks/article.py` trains it in 70 lines.
"""

from ..machine.aliases import Array, Network, Operators
from ..machine.gluon import gluonnlp, nn, rnn
from ..network.graphs import AXES
from ..network.parameters import CLASSES
from .network import EmbeddedClassifier, ReviewFeatures


class ArticleClassifier(EmbeddedClassifier):
    """Token ids (N, seq_len) -> logits (N, C) and attention weights (N, seq_len, seq_len)."""

    axes = AXES

    def __init__(self, vocab_size: int, num_embed: int, seq_len: int, hidden_size: int) -> None:
        super().__init__()
        self.inputs = {"token_ids": ("N", seq_len), "valid_length": ("N",)}
        with self.name_scope():
            self.embed = nn.Embedding(vocab_size, num_embed)
            self.drop = nn.Dropout(0.3)
            # dropout of a GRU acts between layers: with one layer it does nothing, as in the article
            self.bigru = rnn.GRU(hidden_size, layout="NTC", dropout=0.2, bidirectional=True)
            self.attention = gluonnlp.model.MLPAttentionCell(30, act=nn.Activation("tanh"), dropout=0.2)
            self.dense = nn.Dense(CLASSES, in_units=2 * hidden_size * seq_len)

    def __call__(self, token_ids: Array, valid_length: Array = None) -> tuple[Array, Array]:
        """Accept valid_length, so that all networks share one signature, and ignore it."""
        return super().__call__(token_ids)

    def hybrid_forward(self, F: Operators, token_ids: Array) -> tuple[Array, Array]:
        """Return logits (N, C) and weights (N, T, T), whose rows sum to 1 over all positions, padding included."""
        return self.forward_embedded(F, self.embed_tokens(F, token_ids))

    def embed_tokens(self, F: Operators, token_ids: Array) -> list[Array]:
        """Return the rows of the table: [(T, N, E)]."""
        return [self.embed(F.transpose(token_ids))]

    def read_embedded(self, F: Operators, rows: Array, mask: Array, valid_length: Array) -> ReviewFeatures:
        """Return contexts (N, T, 2H), the last layer's input, and weights (N, T, T) for the rows of `embed_tokens`."""
        states = self.bigru(self.drop(F.transpose(rows[0], axes=(1, 0, 2))))  # (N, T, 2H)
        contexts, weights = self.attention(states, states)
        return ReviewFeatures(contexts, weights)

    @property
    def output(self) -> Network:
        return self.dense
