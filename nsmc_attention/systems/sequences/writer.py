"""A sequence-to-sequence network with attention: characters in, characters out. Imports MXNet.

Sutskever et al. 2014 (arXiv:1409.3215), Bahdanau et al. 2015 (arXiv:1409.0473), Luong et al. 2015 (arXiv:1508.04025).
Shapes: N reviews, S source and T target length, E embedding, D units of a source state, H units of the decoder,
V characters of the vocabulary.
"""

from typing import Any, Optional

from ..._runtime.aliases import Array, Arrays, Operators
from ..._runtime.gluon import Block, HybridBlock, mxnet, nn
from ...model.blocks import CELLS, listed
from .alignment import build_alignment
from .graphs import SOURCE


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


class RecurrentSource(HybridBlock):
    """Reads the source, and makes of it what the decoder attends to and its first states."""

    inputs = SOURCE

    def __init__(self, rows: int, settings: Any, alignment: Any, max_length: int) -> None:
        super().__init__()
        self.has_keys, self.carries_place = alignment.key_units is not None, alignment.carries_place
        # of a Transformer, no state has read the whole source
        self.half = None if settings.encoder.kind == "transformer" else settings.encoder.hidden_size
        self.states = settings.decoder.states * settings.decoder.layers
        with self.name_scope():
            self.reader = Reader(rows, settings, max_length)
            if self.has_keys:
                self.key = nn.Dense(
                    alignment.key_units, in_units=settings.width, use_bias=alignment.key_bias, flatten=False
                )
            size = settings.decoder.hidden_size * self.states
            self.projection = nn.Dense(size, in_units=settings.width, activation="tanh")

    def hybrid_forward(self, F: Operators, source_ids: Array, source_length: Array) -> Array:
        """(N, S, ROWS) int32, (N,) -> memory (N, S, D), keys (N, S, K), mask (N, S), then each first state (N, H).

        Then the first place (N, 1), 0, where the alignment carries one.
        """
        by_review, mask = read(F, self.reader, source_ids, source_length)
        memory = F.broadcast_mul(by_review, mask)
        if self.half:
            whole = self.last_states(F, by_review, source_length)
        else:
            whole = F.broadcast_div(F.sum(memory, axis=1), F.sum(mask, axis=1))  # the mean
        projected = self.projection(whole)
        first = F.split(projected, num_outputs=self.states, axis=1) if self.states > 1 else [projected]
        mask = F.squeeze(mask, axis=2)
        place = [F.slice_axis(mask, axis=1, begin=0, end=1) * 0] if self.carries_place else []
        return (memory, self.key(memory) if self.has_keys else memory, mask, *first, *place)

    def last_states(self, F: Operators, by_review: Array, source_length: Array) -> Any:
        """Return the last state of each direction (N, D): the backward one is at the first place."""
        last = F.SequenceLast(by_review, source_length, use_sequence_length=True, axis=1)  # (N, D)
        forward = F.slice_axis(last, axis=1, begin=0, end=self.half)
        start = F.squeeze(F.slice_axis(by_review, axis=1, begin=0, end=1), axis=1)
        return F.concat(forward, F.slice_axis(start, axis=1, begin=self.half, end=None), dim=1)


def read(F: Operators, reader: Any, source_ids: Array, source_length: Array) -> tuple[Any, Any]:
    """Return the states of a source (N, S, D) and its mask (N, S, 1) of 0 and 1; states at padding are not zero."""
    by_review = F.transpose(reader(source_ids, source_length), axes=(1, 0, 2))
    ones = F.ones_like(F.slice_axis(by_review, axis=2, begin=0, end=1))
    return by_review, F.SequenceMask(ones, source_length, use_sequence_length=True, axis=1)


class RecurrentStep(HybridBlock):
    """One step of the decoder: the character before in, the logits of the next one out."""

    def __init__(self, vocab_size: int, settings: Any, alignment: Any, outputs: Optional[int] = None) -> None:
        """Build it for so many ids; `outputs` is the number of logits where that is another one."""
        super().__init__()
        size, width, self.states = settings.decoder.hidden_size, settings.width, settings.decoder.states
        cell = CELLS[settings.decoder.kind]
        self.feeds_input, self.before_step = bool(settings.input_feeding), alignment.before_step
        inputs = settings.embedding_size + size * self.feeds_input + width * self.before_step
        sizes = {"D": width, "H": size, "K": alignment.key_units or width}
        given = settings.graphs["step.onnx"].inputs
        self.inputs = {name: tuple(sizes.get(axis, axis) for axis in axes) for name, axes in given.items()}
        self.carries_attentional_state = "before" in given
        with self.name_scope():
            self.embedding, self.alignment = nn.Embedding(vocab_size, settings.embedding_size), alignment
            self.dropout = nn.Dropout(settings.dropout)
            self.weights_dropout = nn.Dropout(getattr(settings.attention, "dropout", 0.0))
            self.cell = cell(size, input_size=inputs)
            self.cells = [self.cell, *(cell(size, input_size=size) for _ in range(1, settings.decoder.layers))]
            for number, upper in enumerate(self.cells[1:], 1):
                self.register_child(upper, f"cell{number}")
            self.combine = nn.Dense(size, in_units=size + width, use_bias=False, activation="tanh")
            self.narrow = nn.Dense(settings.output_units, in_units=size, use_bias=False)
            self.output = nn.Dense(outputs or vocab_size, in_units=settings.output_units)

    def hybrid_forward(self, F: Operators, ids: Array, memory: Array, keys: Array, mask: Array, *states: Any) -> Array:
        """Return logits (N, V), the weights (N, S) and the new states of ids (N,) and the states before.

        The first state, where the graph has it, is h~ (N, H) = tanh(W [s; c]), the attentional state of the state s and the
        context c, Luong et al. 2015, equation 5; the previous step's is what input feeding puts beside the embedding
        (section 3.3).
        """
        previous, states = states[: self.carries_attentional_state], states[self.carries_attentional_state :]
        parts = [self.embedding(ids), *(previous if self.feeds_input else ())]
        count = self.states * len(self.cells)
        own, place = list(states[:count]), list(states[count:])
        if self.before_step:
            context, weights, *place = self.attend(F, own[-self.states], memory, keys, mask, *place)
            output, own = self.decode(F.concat(*parts, context, dim=1), own)
        else:
            output, own = self.decode(F.concat(*parts, dim=1), own)
            context, weights, *place = self.attend(F, output, memory, keys, mask, *place)
        combined = self.combine(F.concat(self.dropout(output), context, dim=1))
        attentional_state = [combined] if self.carries_attentional_state else []
        return (self.output(self.narrow(combined)), weights, *attentional_state, *own, *place)

    def decode(self, given: Array, states: list[Any]) -> tuple[Any, list[Any]]:
        """Return the topmost layer's output (N, H) and the new states of all layers."""
        after: list[Any] = []
        for number, cell in enumerate(self.cells):
            first = number * self.states
            given, own = cell(self.dropout(given) if number else given, states[first : first + self.states])
            after += own
        return given, after

    def attend(self, F: Operators, query: Array, memory: Array, keys: Array, mask: Array, *place: Array) -> Arrays:
        """Return the context (N, D), the weights (N, S) and, where the alignment carries one, the new place (N, 1)."""
        weights, *after = listed(self.alignment(query, keys, mask, *place))
        context = F.batch_dot(F.expand_dims(self.weights_dropout(weights), axis=1), memory)
        return (F.reshape(context, shape=(0, -1)), weights, *after)


class Writer(Block):
    """Base of the whole networks; `source` and `step` are hybridized, and are what a search calls."""

    matrices_as = "float16"

    def __init__(self, source: Array, step: Any) -> None:
        super().__init__()
        self.source, self.step = source, step
        self.parts = (source, step)

    def begin(self, source_ids: Array, source_length: Array) -> tuple[list[Any], list[Any]]:
        """Return what does not change between steps, [memory, keys, mask], and the first state."""
        memory, keys, mask, *states = self.source(source_ids, source_length)
        # a recurrent decoder's attentional state
        attentional_state = [mxnet.nd.zeros_like(states[0])] if "before" in self.step.inputs else []
        return [memory, keys, mask], [*attentional_state, *states]

    def forward(self, source_ids: Array, source_length: Array, previous_ids: Array, sampled: Any = None) -> Arrays:
        """Return logits (N, T, V) and weights (N, T, S) of the targets, given the character before each, (N, T).

        `sampled` (N, T) of 0 and 1: where it is 1, what the network itself finds most likely is read instead, as
        scheduled sampling does (Bengio et al. 2015, arXiv:1506.03099); None is teacher forcing.
        """
        raise NotImplementedError


class RecurrentWriter(Writer):
    """A writer that reads its target step by step."""

    def __init__(self, rows: int, vocab_size: int, settings: Any, max_length: int) -> None:
        alignment = build_alignment(settings.attention, settings.decoder.hidden_size)
        source = RecurrentSource(rows, settings, alignment, max_length)
        super().__init__(source, RecurrentStep(vocab_size, settings, alignment))

    def forward(self, source_ids: Array, source_length: Array, previous_ids: Array, sampled: Any = None) -> Arrays:
        nd, steps = mxnet.nd, list[Any]()
        source, state = self.begin(source_ids, source_length)
        for place, ids in enumerate(previous_ids.transpose()):
            if sampled is not None and place:
                ids = nd.where(sampled[:, place], steps[-1][0].detach().argmax(axis=1).astype("int32"), ids)
            logits, weights, *state = self.step(ids, *source, *state)
            steps.append((logits, weights))
        return tuple(nd.stack(*arrays, axis=1) for arrays in zip(*steps))
