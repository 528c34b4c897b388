"""A sequence-to-sequence network with attention: characters in, characters out. Imports MXNet.

Sutskever et al. 2014 (arXiv:1409.3215), Bahdanau et al. 2015 (arXiv:1409.0473), Luong et al. 2015 (arXiv:1508.04025).
Shapes: N reviews, S source and T target length, E embedding, D units of a source state, H units of the decoder,
V characters of the vocabulary.
"""

from typing import Any

from ..._runtime.mxnet_shim import import_mxnet

mxnet = import_mxnet()

from mxnet.gluon import Block, HybridBlock, nn  # noqa: E402

from .classifier import token_mask  # noqa: E402


class Source(HybridBlock):
    """Reads the source: embedding, a recurrent layer in each direction, the decoder's first states."""

    def __init__(self, settings: Any, embedding: Any, alignment: Any) -> None:
        super().__init__()
        self.has_keys = alignment.key_units is not None
        self.half, self.first, self.states = settings.encoder.hidden_size, settings.first_state, settings.decoder.states
        with self.name_scope():
            self.embedding = embedding
            self.dropout = nn.Dropout(settings.dropout)
            self.encoder = settings.encoder.block()
            if self.has_keys:
                self.key = nn.Dense(
                    alignment.key_units, in_units=settings.width, use_bias=alignment.key_bias, flatten=False
                )
            if self.first == "projection":
                size = settings.decoder.hidden_size * self.states
                self.projection = nn.Dense(size, in_units=2 * self.half, activation="tanh")

    def hybrid_forward(self, F: Any, source_ids: Any, source_length: Any) -> Any:
        """(N, S) int32, (N,) -> memory (N, S, D), keys (N, S, K), mask (N, S), then each first state (N, H)."""
        states = self.encoder(self.dropout(self.embedding(F.transpose(source_ids))), source_length)  # (S, N, D)
        mask = token_mask(F, source_ids, source_length)  # (N, S, 1)
        memory = F.broadcast_mul(F.transpose(states, axes=(1, 0, 2)), mask)
        forward = F.SequenceLast(states, source_length, use_sequence_length=True)  # (N, D)
        forward = F.slice_axis(forward, axis=1, begin=0, end=self.half)
        backward = F.slice_axis(
            F.squeeze(F.slice_axis(states, axis=0, begin=0, end=1), axis=0), axis=1, begin=self.half, end=None
        )
        first = self.begin(F, forward, backward)
        return (memory, self.key(memory) if self.has_keys else memory, F.squeeze(mask, axis=2), *first)

    def begin(self, F: Any, forward: Any, backward: Any) -> Any:
        """Return the decoder's first states of the last states of both directions, (N, D / 2) each."""
        if self.first == "projection":
            both = self.projection(F.concat(forward, backward, dim=1))
            return F.split(both, num_outputs=self.states, axis=1) if self.states > 1 else [both]
        state = (forward + backward) / 2 if self.first == "mean" else F.maximum(forward, backward)
        return [state] * self.states


class Step(HybridBlock):
    """One step of the decoder: the character before in, what the next one is predicted from out."""

    def __init__(self, settings: Any, embedding: Any, alignment: Any) -> None:
        super().__init__()
        size, width = settings.decoder.hidden_size, settings.width
        self.feeds_input, self.before_step = bool(settings.input_feeding), alignment.before_step
        inputs = settings.embedding_size + size * self.feeds_input + width * self.before_step
        with self.name_scope():
            self.embedding, self.alignment = embedding, alignment
            self.dropout = nn.Dropout(settings.dropout)
            self.weights_dropout = nn.Dropout(getattr(settings.attention, "dropout", 0.0))
            self.cell = settings.decoder.cell(inputs)
            self.combine = nn.Dense(size, in_units=size + width, use_bias=False, activation="tanh")

    def hybrid_forward(self, F: Any, ids: Any, memory: Any, keys: Any, mask: Any, before: Any, *states: Any) -> Any:
        """Return h~ (N, H), the weights (N, S) and the new states of ids (N,) and the states before.

        h~ = tanh(W [s; c]) of the state s and the context c, Luong et al. 2015, equation 5; `before` is the one of the
        step before, which input feeding puts beside the embedding (section 3.3).
        """
        parts = [self.embedding(ids), *([before] if self.feeds_input else [])]
        if self.before_step:
            context, weights = self.attend(F, states[0], memory, keys, mask)
            output, states = self.cell(F.concat(*parts, context, dim=1), list(states))
        else:
            output, states = self.cell(F.concat(*parts, dim=1), list(states))
            context, weights = self.attend(F, output, memory, keys, mask)
        return (self.combine(F.concat(self.dropout(output), context, dim=1)), weights, *states)

    def attend(self, F: Any, query: Any, memory: Any, keys: Any, mask: Any) -> Any:
        """Return the context (N, D) and the weights (N, S)."""
        weights = self.alignment(query, keys, mask)
        context = F.batch_dot(F.expand_dims(self.weights_dropout(weights), axis=1), memory)
        return F.reshape(context, shape=(0, -1)), weights


class Restorer(Block):
    """The whole network; `source` and `step` are hybridized, and are what a decoder calls."""

    def __init__(self, vocab_size: int, settings: Any) -> None:
        super().__init__()
        with self.name_scope():
            self.embedding = nn.Embedding(vocab_size, settings.embedding_size)
            self.alignment = settings.attention.alignment(settings.decoder.hidden_size, settings.width)
            self.source = Source(settings, self.embedding, self.alignment)
            self.step = Step(settings, self.embedding, self.alignment)
            self.output = nn.Dense(vocab_size, in_units=settings.decoder.hidden_size, flatten=False)

    def forward(self, source_ids: Any, source_length: Any, target_ids: Any) -> Any:
        """Teacher forcing: return logits (N, T, V) and weights (N, T, S) of the targets before each place (N, T)."""
        memory, keys, mask, *states = self.source(source_ids, source_length)
        combined, outputs, weights = mxnet.nd.zeros_like(states[0]), [], []
        for ids in target_ids.transpose():
            combined, row, *states = self.step(ids, memory, keys, mask, combined, *states)
            outputs.append(combined)
            weights.append(row)
        return self.output(mxnet.nd.stack(*outputs, axis=1)), mxnet.nd.stack(*weights, axis=1)
