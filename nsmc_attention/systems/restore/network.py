"""The networks of `restore`: recurrent layers read the source, and tags or a Transformer's decoder correct it. Imports MXNet.

An editor tags each character of the source with what is written in its place. Malmi et al. 2019 (arXiv:1909.01187) and
Omelianchuk et al. 2020 (arXiv:2005.12592): a text that is to be corrected is mostly copied, so tags are enough. A
writer writes the text anew. Of a target its decoder reads all characters at once, or one more: Vaswani et al. 2017
(arXiv:1706.03762), sections 3.1 and 3.2.
Shapes: N reviews, S source and T target length, W places before these, E embedding, D units of a source state, U units of
a decoder's state, K heads of U / K units each, L layers, V characters of the vocabulary.
"""

from typing import Any

from ...machine.aliases import Array, Arrays, Operators
from ...machine.gluon import Block, HybridBlock, nn
from ...network.blocks import MASKED_SCORE, Bidirectional
from ...network.transformer import Layered, LayerNorm, Sublayers


class Reader(HybridBlock):
    """Reads the source: the sum of a character's rows, then recurrent layers in both directions."""

    def __init__(self, rows: int, settings: Any) -> None:
        super().__init__()
        with self.name_scope():
            self.embedding = nn.Embedding(rows, settings.embedding_size)
            self.dropout = nn.Dropout(settings.dropout)
            self.layers = [Bidirectional(settings.encoder.hidden_size) for _ in range(settings.encoder.layers)]
            for number, layer in enumerate(self.layers):
                self.register_child(layer, f"layer{number}")

    def hybrid_forward(self, F: Operators, source_ids: Array, source_length: Array) -> Array:
        """(N, S, ROWS) int32, (N,) float32 -> states (S, N, D); those at padding are not zero."""
        states = F.transpose(F.sum(self.embedding(source_ids), axis=2), axes=(1, 0, 2))  # (S, N, E)
        for layer in self.layers:
            states = layer(self.dropout(states), source_length)
        return self.dropout(states)


class Editor(HybridBlock):
    """Two tags for each character of the source: what to write, and whether a space follows.

    Whether a character is kept is asked first, and only then what takes its place, as of the classes of a hierarchical
    softmax (Goodman 2001, arXiv:cs/0108006): of most characters the second answer is not needed.
    """

    matrices_as = "float16"

    def __init__(self, rows: int, vocab_size: int, settings: Any) -> None:
        super().__init__()
        self.inputs = settings.graphs["model.onnx"].inputs
        with self.name_scope():
            self.reader = Reader(rows, settings)
            self.change = nn.Dense(2, in_units=settings.width, flatten=False)
            self.narrow = nn.Dense(settings.output_units, in_units=settings.width, use_bias=False, flatten=False)
            self.tag = nn.Dense(vocab_size - 1, in_units=settings.output_units, flatten=False)
            self.space = nn.Dense(2, in_units=settings.width, flatten=False)

    def hybrid_forward(self, F: Operators, source_ids: Array, source_length: Array) -> Array:
        """Return the log-probabilities of the tags (N, S, V) and the logits of no space and a space (N, S, 2).

        A tag is KEEP, the first, DELETE or the id of the character that replaces this one (`systems.sequences.characters`).
        """
        states = F.transpose(self.reader(source_ids, source_length), axes=(1, 0, 2))
        change = F.log_softmax(self.change(states), axis=2)
        others = F.log_softmax(self.tag(self.narrow(states)), axis=2)
        keep, changed = F.slice_axis(change, axis=2, begin=0, end=1), F.slice_axis(change, axis=2, begin=1, end=2)
        return F.concat(keep, F.broadcast_add(others, changed), dim=2), self.space(states)


class DecoderLayer(Sublayers):
    """Causal self-attention, attention to a source, then the feed-forward units; section 3.1.

    It reads T places after W earlier ones, of which it is given the keys and values: all of a target at once, or one.
    Here states are (N, T, D), and the heads have an axis of their own.
    """

    def __init__(self, settings: Any) -> None:
        super().__init__(settings)
        self.heads = settings.heads
        with self.name_scope():
            self.query = nn.Dense(settings.units, in_units=settings.units, flatten=False)
            self.output = nn.Dense(settings.units, in_units=settings.units, flatten=False)
            self.source_norm = LayerNorm(settings.units)

    def hybrid_forward(
        self, F: Operators, states: Array, written: Array, hidden: Array, source: Array, padding: Array
    ) -> Array:
        """(N, T, D) -> states (N, T, D), weights (N, K, T, W + T) and (N, K, T, S), keys and values of W + T places.

        `written` are the keys and values (N, K, W, D / K) of the places before, `source` those (N, K, S, D / K) of the
        source; `hidden` (1, 1, T, W + T) and `padding` (N, 1, 1, S) are added to the scores: minus infinity, or 0.
        """
        projected = self.attention.projection(self.pre_norm(self.attention_norm, states))
        query, *new = F.split(by_head(F, projected, self.heads), num_outputs=3, axis=3)
        keys, values = (F.concat(earlier, later, dim=2) for earlier, later in zip(written, new))
        contexts, weights = self.attend(F, query, keys, values, hidden)
        states = self.add_and_norm(self.attention_norm, states, self.attention.output(contexts))
        query = by_head(F, self.query(self.pre_norm(self.source_norm, states)), self.heads)
        contexts, of_source = self.attend(F, query, source[0], source[1], padding)
        states = self.add_and_norm(self.source_norm, states, self.output(contexts))
        return self.feed_forward(F, states), weights, of_source, keys, values

    def attend(self, F: Operators, query: Array, keys: Array, values: Array, hidden: Array) -> tuple[Array, Array]:
        """Return the contexts (N, T, D) and the weights of all heads, section 3.2.1."""
        scores = F.linalg.gemm2(F.contrib.div_sqrt_dim(query), keys, transpose_b=True)
        weights = F.softmax(F.broadcast_add(scores, hidden), axis=-1)
        contexts = F.linalg.gemm2(self.attention.dropout(weights), values)
        return F.reshape(F.transpose(contexts, axes=(0, 2, 1, 3)), shape=(0, 0, -1)), weights


def by_head(F: Operators, states: Array, heads: int) -> Array:
    """(N, T, D) -> (N, K, T, D / K)."""
    return F.transpose(F.reshape(states, shape=(0, 0, heads, -1)), axes=(0, 2, 1, 3))


class Source(HybridBlock):
    """Reads the source, and makes of it the keys and values of all layers."""

    def __init__(self, rows: int, settings: Any) -> None:
        super().__init__()
        self.inputs = settings.graphs["source.onnx"].inputs
        self.layers, self.heads = settings.decoder.layers, settings.decoder.heads
        units = self.layers * settings.decoder.units
        with self.name_scope():
            self.reader = Reader(rows, settings)
            self.key = nn.Dense(units, in_units=settings.width, flatten=False)
            self.value = nn.Dense(units, in_units=settings.width, flatten=False)

    def hybrid_forward(self, F: Operators, source_ids: Array, source_length: Array) -> Array:
        """(N, S, ROWS) int32, (N,) -> values and keys (N, L * K, S, U / K), mask (N, S), then the first states: one place of 0."""
        states = F.transpose(self.reader(source_ids, source_length), axes=(1, 0, 2))
        ones = F.ones_like(F.slice_axis(states, axis=2, begin=0, end=1))
        mask = F.SequenceMask(ones, source_length, use_sequence_length=True, axis=1)  # (N, S, 1)
        states = F.broadcast_mul(states, mask)
        values, keys = (by_head(F, part(states), self.layers * self.heads) for part in (self.value, self.key))
        place = F.slice_axis(F.slice_axis(keys, axis=1, begin=0, end=self.heads), axis=2, begin=0, end=1)
        return (values, keys, F.squeeze(mask, axis=2), *[place * 0] * (2 * self.layers))


class Step(Layered):
    """The decoder: the characters before in, the logits of the next ones out."""

    layer = DecoderLayer

    def __init__(self, vocab_size: int, settings: Any, longest: int) -> None:
        super().__init__(settings.decoder, settings.embedding_size, longest)
        self.heads, self.embedding_size = settings.decoder.heads, settings.embedding_size
        self.inputs = settings.graphs["step.onnx"].inputs
        with self.name_scope():
            self.embedding = nn.Embedding(vocab_size, settings.embedding_size)
            self.narrow = nn.Dense(settings.output_units, in_units=self.units, use_bias=False)
            self.output = nn.Dense(vocab_size, in_units=settings.output_units)

    def hybrid_forward(
        self, F: Operators, ids: Array, memory: Array, keys: Array, mask: Array, *states: Any, positions: Array
    ) -> Array:
        """Return logits (N * T, V), the weights (N * T, S) and the states of W + T places.

        `ids` are (N, T), or (N,) for T = 1; the states are keys and values (N, K, W, U / K) of each layer, the first place
        being none. The weights are the mean of the last layer's heads.
        """
        decoded, weights, after = self.decode(F, ids, memory, keys, mask, states, positions)
        decoded = F.reshape(self.norm(decoded) if self.norm_first else decoded, shape=(-3, 0))
        _, of_source = weights[-1]
        logits = self.output(self.narrow(decoded))
        return (logits, F.reshape(F.mean(of_source, axis=1), shape=(-3, 0)), *after)

    def decode(
        self, F: Operators, ids: Array, memory: Array, keys: Array, mask: Array, states: Array, positions: Array
    ) -> Arrays:
        """Return the last layer's states (N, T, U), each layer's weights (N, K, T, W + T) and (N, K, T, S), the new states."""
        embedded = F.reshape(self.embedding(ids), shape=(0, -1, self.embedding_size))  # (N, T, E)
        before = F.contrib.arange_like(states[0], axis=2)  # (W,)
        new = F.contrib.arange_like(embedded, axis=1)  # (T,)
        places = F.broadcast_add(F.slice_axis(before, axis=0, begin=-1, end=None), new)
        decoded = self.placed(F, embedded, places, positions, axis=0)
        hidden = causal_mask(F, before, new)
        padding = F.expand_dims(F.expand_dims((mask - 1) * -MASKED_SCORE, axis=1), axis=1)
        after, weights = list[Any](), list[tuple[Any, Any]]()
        for number, layer in enumerate(self.layers):
            first = number * self.heads
            source = [F.slice_axis(array, axis=1, begin=first, end=first + self.heads) for array in (keys, memory)]
            written = list(states[2 * number : 2 * number + 2])
            decoded, *both, own_keys, own_values = layer(decoded, written, hidden, source, padding)
            weights.append(tuple(both))
            after += [own_keys, own_values]
        return decoded, weights, after


def causal_mask(F: Operators, before: Array, new: Array) -> Any:
    """Return the mask (1, 1, T, W + T) that hides the first place, which is none, and later ones from each of T."""
    none = F.expand_dims((before <= 0) * MASKED_SCORE, axis=0)  # (1, W)
    column = F.expand_dims(new, axis=1)
    after = F.broadcast_lesser(column, F.expand_dims(new, axis=0)) * MASKED_SCORE  # (T, T)
    hidden = F.concat(F.broadcast_add(column * 0, none), after, dim=1)
    return F.expand_dims(F.expand_dims(hidden, axis=0), axis=0)


class Writer(Block):
    """The whole network, which writes at most `longest` characters; a search calls `source` and `step`."""

    matrices_as = "float16"

    def __init__(self, rows: int, vocab_size: int, settings: Any, longest: int) -> None:
        super().__init__()
        self.source, self.step = Source(rows, settings), Step(vocab_size, settings, longest)
        self.parts = (self.source, self.step)

    def begin(self, source_ids: Array, source_length: Array) -> tuple[list[Any], list[Any]]:
        """Return the inputs of every step, [memory, keys, mask], and the first state."""
        memory, keys, mask, *state = self.source(source_ids, source_length)
        return [memory, keys, mask], state

    def forward(self, source_ids: Array, source_length: Array, previous_ids: Array) -> Arrays:
        """Return logits (N, T, V) and weights (N, T, S) of the targets, given the character before each, (N, T).

        In place of steps, a causal mask hides what comes later.
        """
        source, state = self.begin(source_ids, source_length)
        logits, weights, *_ = self.step(previous_ids, *source, *state)
        return tuple(array.reshape((*previous_ids.shape, -1)) for array in (logits, weights))
