"""The original article's network, padding and all: for comparison, not for use. Imports MXNet."""

from typing import Any

from .._runtime.gluon import HybridBlock, gluonnlp, nn, rnn
from .._runtime.mxnet_types import Array, Operators
from ..model.interfaces import AXES
from ..model.parameters import CLASSES


class ArticleClassifier(HybridBlock):
    """Dropout 0.3, a bidirectional GRU, `gluonnlp.model.MLPAttentionCell(30, dropout=0.2)`, all contexts flattened into Dense(2).

    It reads reviews of exactly seq_len tokens and treats padding as words.
    """

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

    def __call__(self, token_ids: Array, valid_length: Array = None) -> Any:
        """Accept valid_length, so that all networks are called alike, and ignore it."""
        return super().__call__(token_ids)

    def hybrid_forward(self, F: Operators, token_ids: Array) -> Array:
        """(N, seq_len) -> logits (N, C) and weights (N, seq_len, seq_len), rows sum to 1 over all positions."""
        return self.forward_embedded(F, self.embed_tokens(F, token_ids))

    def embed_tokens(self, F: Operators, token_ids: Array) -> Any:
        """Return the rows of the table: [(T, N, E)]."""
        return [self.embed(F.transpose(token_ids))]

    def forward_embedded(self, F: Operators, rows: Array, mask: Array = None, valid_length: Array = None) -> Any:
        """Classify what `embed_tokens` returned, for gradients with respect to it."""
        contexts, weights = self.read_embedded(F, rows)
        return self.dense(contexts), weights

    def read(self, F: Operators, token_ids: Array, valid_length: Array = None) -> tuple[Any, Any]:
        """Return what the last layer reads of each review, (N, F), and the logits (N, C)."""
        contexts, _ = self.read_embedded(F, self.embed_tokens(F, token_ids))
        return F.flatten(contexts), self.dense(contexts)

    def read_embedded(self, F: Operators, rows: Array) -> Any:
        """Return the contexts (N, T, 2H) and weights (N, T, T) of what `embed_tokens` returned."""
        embedded = F.transpose(rows[0], axes=(1, 0, 2))  # (N, T, E)
        states = self.bigru(self.drop(embedded))  # (N, T, 2H)
        return self.attention(states, states)
