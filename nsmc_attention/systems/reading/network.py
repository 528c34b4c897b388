"""The network of `read`: the picture of a line in, its letters out, with the weights of where each was read. Imports MXNet.

Show, attend and tell (Xu et al. 2015, arXiv:1502.03044) on one line of text: the places of a convolutional network's
feature map are the keys. Its location features are of Chorowski et al. 2015 (arXiv:1506.07503), the CTC beside it of Kim et
al. 2017 (arXiv:1609.06773). Shapes: N lines, S strips, D units of a strip's state, H units of the decoder, P parts of letters.
"""

from typing import Any

from ..._runtime.aliases import Array, Arrays, Operators
from ..._runtime.gluon import Block, HybridBlock, mxnet, nn
from ...model.blocks import Bidirectional
from ..sequences.alignment import AdditiveAlignment
from ..sequences.writer import RecurrentStep
from .graphs import HEIGHT, PICTURE

# Convolutions over (columns, rows): channels, kernel, stride, padding. Columns are halved twice, once for each 2 of STRIP,
# rows until one is left
CONVOLUTIONS = (
    (32, (5, 5), (2, 2), (2, 2)),
    (64, (3, 3), (2, 2), (1, 1)),
    (96, (3, 3), (1, 2), (1, 1)),
    (128, (3, 3), (1, 2), (1, 1)),
    (192, (1, 2), (1, 1), (0, 0)),
)


class LocationAlignment(AdditiveAlignment):
    """score = v . tanh(W s + V h + U f), f being features of the last weights and of their sum; Chorowski et al., equation 9."""

    carries_place = True

    def __init__(self, decoder_size: int, attention: Any) -> None:
        super().__init__(decoder_size, attention.units)
        window = attention.window
        with self.name_scope():
            self.features = nn.Conv2D(
                attention.features, (window, 1), padding=(window // 2, 0), in_channels=2, use_bias=False
            )
            self.location = nn.Dense(attention.units, in_units=attention.features, use_bias=False, flatten=False)

    def hybrid_forward(self, F: Operators, query: Array, keys: Array, mask: Array, *place: Array) -> Arrays:
        """(N, H), (N, S, K), (N, S) of 0 and 1, last weights and their sum (N, S) -> (N, S), and the new ones of both."""
        before = F.expand_dims(F.stack(*place, axis=1), axis=3)  # (N, 2, S, 1)
        features = F.transpose(F.reshape(self.features(before), shape=(0, 0, -1)), axes=(0, 2, 1))
        weights = super().hybrid_forward(F, query, keys + self.location(features), mask)
        return weights, weights, place[1] + weights


class PictureSource(HybridBlock):
    """Reads the picture: what the decoder attends to, and the logits of what CTC spells."""

    inputs = PICTURE

    def __init__(self, count: int, settings: Any) -> None:
        super().__init__()
        with self.name_scope():
            self.convolutions = nn.HybridSequential()
            channels = 1
            for size, kernel, stride, padding in CONVOLUTIONS:
                self.convolutions.add(
                    nn.Conv2D(size, kernel, stride, padding, in_channels=channels, use_bias=False),
                    nn.BatchNorm(in_channels=size),
                    nn.Activation("relu"),
                )
                channels = size
            self.dropout = nn.Dropout(settings.dropout)
            self.encoder = Bidirectional("gru", settings.hidden_size)
            self.direct = nn.Dense(settings.width, in_units=channels, flatten=False)
            self.key = nn.Dense(settings.attention.units, in_units=settings.width, flatten=False)
            self.spelling = nn.Dense(count, in_units=settings.width, flatten=False)

    def hybrid_forward(self, F: Operators, strips: Array, source_length: Array) -> Array:
        """(N, S, HEIGHT * STRIP), (N,) -> memory (N, S, D), keys (N, S, K), mask (N, S), logits (N, S, P)."""
        columns = F.reshape(strips, shape=(0, 1, -1, HEIGHT))
        features = F.reshape(self.convolutions(columns), shape=(0, 0, -1))  # (N, channels, S)
        by_strip = self.dropout(F.transpose(features, axes=(2, 0, 1)))
        states = F.transpose(self.encoder(by_strip, source_length) + self.direct(by_strip), axes=(1, 0, 2))
        ones = F.ones_like(F.slice_axis(states, axis=2, begin=0, end=1))
        mask = F.SequenceMask(ones, source_length, use_sequence_length=True, axis=1)
        memory = self.dropout(F.broadcast_mul(states, mask))
        return memory, self.key(memory), F.squeeze(mask, axis=2), self.spelling(memory)


class Reader(Block):
    """The whole network; `source` and `step` are hybridized, and are what a search calls."""

    matrices_as = "float16"

    def __init__(self, vocab_size: int, count: int, settings: Any) -> None:
        super().__init__()
        attention, size = settings.attention, settings.decoder_size
        self.state_size, alignment = size, LocationAlignment(size, attention)
        self.source, self.step = PictureSource(count, settings), RecurrentStep(vocab_size, settings, alignment, count)
        self.parts = (self.source, self.step)

    def begin(self, strips: Array, source_length: Array) -> tuple[list[Any], list[Any], Any]:
        """Return what does not change between steps, [memory, keys, mask], the first state, and CTC's logits (N, S, P)."""
        memory, keys, mask, logits = self.source(strips, source_length)
        zeros = mxnet.nd.zeros((len(mask), self.state_size), ctx=mask.context)
        return [memory, keys, mask], [zeros, *[mxnet.nd.zeros_like(mask)] * 2], logits

    def forward(self, strips: Array, source_length: Array, previous_ids: Array) -> Arrays:
        """Return logits (N, T, P), weights (N, T, S) and CTC's logits (N, S, P), given the letter before each, (N, T)."""
        nd, steps = mxnet.nd, list[Any]()
        source, state, logits = self.begin(strips, source_length)
        for ids in previous_ids.transpose():
            written, weights, *state = self.step(ids, *source, *state)
            steps.append((written, weights))
        return (*(nd.stack(*arrays, axis=1) for arrays in zip(*steps)), logits)
