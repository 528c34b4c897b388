"""The language model: reviews with hidden tokens in, logits of these tokens out. Imports MXNet.

Masked language model, Devlin et al. 2019 (arXiv:1810.04805), section 3.1, with any encoder. Shapes: N reviews, T padded
length, E embedding, D units of a state, M hidden tokens, V vocabulary, L layers, K heads.
"""

from typing import Any

from ...machine.aliases import Array, Operators
from ...machine.gluon import HybridBlock, mxnet, nn
from ...network.blocks import listed
from ...network.transformer import LayerNorm


class MaskedLanguageModel(HybridBlock):
    """Embedding, encoder and, at the hidden tokens, a dense layer and the transposed embedding.

    Input and output share one embedding table: Press & Wolf 2017 (arXiv:1608.05859).
    """

    matrices_as = "float16"

    def __init__(self, vocab_size: int, settings: Any, max_length: int) -> None:
        super().__init__()
        self.inputs = settings.graphs["model.onnx"].inputs
        self.sizes = (vocab_size, settings.embedding_size)
        with self.name_scope():
            # rows of about unit length: for shorter rows, Adam's first steps would be too large
            initial = mxnet.init.Normal(settings.embedding_size**-0.5)
            self.embedding = self.params.get("embedding", shape=self.sizes, init=initial)
            self.bias = self.params.get("bias", shape=(vocab_size,), init="zeros")
            self.dropout = nn.Dropout(settings.dropout)
            self.encoder = settings.encoder.block(settings.embedding_size, max_length)
            self.narrow = nn.Dense(settings.embedding_size, in_units=settings.width, flatten=False)
            self.norm = LayerNorm(settings.embedding_size)

    def hybrid_forward(
        self, F: Operators, token_ids: Array, valid_length: Array, places: Any, embedding: Any, bias: Any
    ) -> Array:
        """(N, T) int32, (N,) float32, places (M,) int32 -> logits (M, V) and, with attention, heads (N, L, K, T, T).

        The place of token t of review n is t * N + n.
        """
        embedded = F.Embedding(F.transpose(token_ids), embedding, *self.sizes)  # (T, N, E)
        states, *heads = listed(self.encoder(self.dropout(embedded), valid_length))  # (T, N, D)
        hidden = F.take(F.reshape(states, shape=(-3, 0)), places)  # (M, D)
        hidden = self.norm(F.LeakyReLU(self.narrow(hidden), act_type="gelu"))
        logits = F.FullyConnected(hidden, embedding, bias, num_hidden=self.sizes[0], flatten=False)  # (M, V)
        return (logits, *heads)
