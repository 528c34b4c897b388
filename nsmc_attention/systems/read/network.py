"""The network of `read`: the picture of a line in, its letters and their attention weights out. Imports MXNet.

Show, attend and tell (Xu et al. 2015, arXiv:1502.03044) on a line of text: the keys are the columns of a feature map.
Location features: Chorowski et al. 2015 (arXiv:1506.07503); joint CTC: Kim et al. 2017 (arXiv:1609.06773).
Shapes: N lines, S strips, D units of a strip's state, H units of the decoder, K units of a key, P parts of letters.
"""

from typing import Any

from ...machine.aliases import Array, Arrays, Operators
from ...machine.gluon import Block, HybridBlock, mxnet, nn, rnn
from ...network.blocks import Bidirectional, masked_softmax

# Convolutions over (columns, rows): channels, kernel, stride, padding. Two strides halve the columns (STRIP is 4), and
# five steps reduce HEIGHT rows to one
CONVOLUTIONS = (
    (32, (5, 5), (2, 2), (2, 2)),
    (64, (3, 3), (2, 2), (1, 1)),
    (96, (3, 3), (1, 2), (1, 1)),
    (128, (3, 3), (1, 2), (1, 1)),
    (192, (1, 2), (1, 1), (0, 0)),
)


class LocationAlignment(HybridBlock):
    """score = v . tanh(W s + V h + U f), with features f of the last and summed weights; Chorowski et al., eq. 9."""

    def __init__(self, decoder_size: int, attention: Any) -> None:
        super().__init__()
        units, features, window = attention.units, attention.features, attention.window
        with self.name_scope():
            self.query = nn.Dense(units, in_units=decoder_size, use_bias=False)
            self.value = nn.Dense(1, in_units=units, use_bias=False, flatten=False)
            self.features = nn.Conv2D(features, (window, 1), padding=(window // 2, 0), in_channels=2, use_bias=False)
            self.location = nn.Dense(units, in_units=features, use_bias=False, flatten=False)

    def hybrid_forward(self, F: Operators, query: Array, keys: Array, mask: Array, *place: Array) -> Arrays:
        """(N, H), (N, S, K), (N, S) of 0 and 1, last weights and sum (N, S) -> weights, new last, new sum (N, S)."""
        location = F.expand_dims(F.stack(*place, axis=1), axis=3)  # (N, 2, S, 1)
        features = F.transpose(F.reshape(self.features(location), shape=(0, 0, -1)), axes=(0, 2, 1))
        keys = keys + self.location(features)
        # a product with a column of 1 instead of a broadcast, whose slow gradient took a third of a step's time
        ones = F.ones_like(F.slice_axis(keys, axis=2, begin=0, end=1))  # (N, S, 1)
        queries = F.batch_dot(ones, F.expand_dims(self.query(query), axis=1))
        pairs = F.Activation(keys + queries, act_type="tanh")  # (N, S, A)
        weights = masked_softmax(F, F.reshape(self.value(pairs), shape=(0, 0)), mask)
        return weights, weights, place[1] + weights


class Step(HybridBlock):
    """One step of the decoder: the previous letter in, logits of the parts of the next letter out."""

    def __init__(self, vocab_size: int, count: int, settings: Any) -> None:
        super().__init__()
        size, width = settings.decoder_size, settings.width
        sizes, inputs = {"D": width, "H": size, "K": settings.attention.units}, settings.graphs["step.onnx"].inputs
        self.inputs = {name: tuple(sizes.get(axis, axis) for axis in axes) for name, axes in inputs.items()}
        with self.name_scope():
            self.embedding = nn.Embedding(vocab_size, settings.embedding_size)
            self.alignment = LocationAlignment(size, settings.attention)
            self.dropout = nn.Dropout(settings.dropout)
            self.weights_dropout = nn.Dropout(settings.attention.dropout)
            self.cell = rnn.GRUCell(size, input_size=settings.embedding_size + width)
            self.combine = nn.Dense(size, in_units=size + width, use_bias=False, activation="tanh")
            self.narrow = nn.Dense(settings.output_units, in_units=size, use_bias=False)
            self.output = nn.Dense(count, in_units=settings.output_units)

    def hybrid_forward(self, F: Operators, ids: Array, memory: Array, keys: Array, mask: Array, *state: Array) -> Array:
        """Return logits (N, P), weights (N, S), and the new state (N, H), last weights and their sum, for ids (N,).

        The query is the state before the step, as in Bahdanau et al. 2015 (arXiv:1409.0473).
        """
        weights, *location = self.alignment(state[0], keys, mask, *state[1:])
        contexts = F.batch_dot(F.expand_dims(self.weights_dropout(weights), axis=1), memory)
        context = F.reshape(contexts, shape=(0, -1))
        output, next_state = self.cell(F.concat(self.embedding(ids), context, dim=1), [state[0]])
        combined = self.combine(F.concat(self.dropout(output), context, dim=1))
        return (self.output(self.narrow(combined)), weights, *next_state, *location)


class PictureSource(HybridBlock):
    """The encoder: the picture of a line in, memory and keys for the decoder and CTC's logits out."""

    def __init__(self, count: int, settings: Any) -> None:
        super().__init__()
        self.inputs, self.height = settings.graphs["source.onnx"].inputs, settings.height
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
            self.encoder = Bidirectional(settings.hidden_size)
            self.direct = nn.Dense(settings.width, in_units=channels, flatten=False)
            self.key = nn.Dense(settings.attention.units, in_units=settings.width, flatten=False)
            self.spelling = nn.Dense(count, in_units=settings.width, flatten=False)

    def hybrid_forward(self, F: Operators, strips: Array, source_length: Array) -> Array:
        """(N, S, HEIGHT * STRIP), (N,) -> memory (N, S, D), keys (N, S, K), mask (N, S), logits (N, S, P)."""
        columns = F.reshape(strips, shape=(0, 1, -1, self.height))
        features = F.reshape(self.convolutions(columns), shape=(0, 0, -1))  # (N, channels, S)
        by_strip = self.dropout(F.transpose(features, axes=(2, 0, 1)))
        states = F.transpose(self.encoder(by_strip, source_length) + self.direct(by_strip), axes=(1, 0, 2))
        ones = F.ones_like(F.slice_axis(states, axis=2, begin=0, end=1))
        mask = F.SequenceMask(ones, source_length, use_sequence_length=True, axis=1)
        memory = self.dropout(F.broadcast_mul(states, mask))
        return memory, self.key(memory), F.squeeze(mask, axis=2), self.spelling(memory)


class Reader(Block):
    """The whole network; a search calls its hybridized blocks `source` and `step`."""

    matrices_as = "float16"

    def __init__(self, vocab_size: int, count: int, settings: Any) -> None:
        super().__init__()
        self.state_size = settings.decoder_size
        self.source, self.step = PictureSource(count, settings), Step(vocab_size, count, settings)
        self.parts = (self.source, self.step)

    def begin(self, strips: Array, source_length: Array) -> tuple[list[Any], list[Any], Any]:
        """Return the constant inputs of steps (memory, keys, mask), the initial state and CTC's logits (N, S, P)."""
        memory, keys, mask, logits = self.source(strips, source_length)
        zeros = mxnet.nd.zeros((len(mask), self.state_size), ctx=mask.context)
        return [memory, keys, mask], [zeros, *[mxnet.nd.zeros_like(mask)] * 2], logits

    def forward(self, strips: Array, source_length: Array, previous_ids: Array) -> Arrays:
        """Return logits (N, T, P), weights (N, T, S) and CTC's logits (N, S, P) for the previous letters (N, T)."""
        nd, steps = mxnet.nd, list[Any]()
        source, state, ctc_logits = self.begin(strips, source_length)
        for ids in previous_ids.transpose():
            logits, weights, *state = self.step(ids, *source, *state)
            steps.append((logits, weights))
        return (*(nd.stack(*arrays, axis=1) for arrays in zip(*steps)), ctc_logits)
