"""The encoder of a sequence network: a tagger's or a writer's. Imports MXNet.

Shapes: N texts, S source length in characters without spaces, E embedding, D units of a state.
"""

from typing import Any

from ..._runtime.gluon import HybridBlock, nn
from ..._runtime.mxnet_types import Array, Operators
from ...model.blocks import listed


class Reader(HybridBlock):
    """Reads the source: the sum of a character's rows, then recurrent layers in both directions, or a Transformer."""

    def __init__(self, rows: int, settings: Any, max_length: int) -> None:
        super().__init__()
        with self.name_scope():
            self.embedding = nn.Embedding(rows, settings.embedding_size)
            self.dropout = nn.Dropout(settings.dropout)
            self.layers = settings.encoder.blocks(settings.embedding_size, max_length)
            for number, layer in enumerate(self.layers):
                self.register_child(layer, f"layer{number}")

    def hybrid_forward(self, F: Operators, source_ids: Array, source_length: Array) -> Array:
        """(N, S, ROWS) int32, (N,) float32 -> states (S, N, D); those at padding are not zero."""
        return self.encode(F, source_ids, source_length)[0]

    def encode(self, F: Operators, source_ids: Array, source_length: Array) -> tuple[Array, list[Array]]:
        """Return the states beside the weights (N, L, K, S, S) of a Transformer, or none of recurrent layers."""
        embedded = F.sum(self.embedding(source_ids), axis=2)  # (N, S, E)
        states, weights = F.transpose(embedded, axes=(1, 0, 2)), list[Array]()
        for layer in self.layers:
            states, *weights = listed(layer(self.dropout(states), source_length))
        return self.dropout(states), weights
