"""Settings of a writer's decoder and of its attention to the source; they build the networks."""

from collections.abc import Mapping
from typing import ClassVar, Union

from ..._runtime.aliases import Network
from ...errors import ConfigError
from ...model.attention import Additive, Attention, Dot, General
from ...model.encoders import TransformerSettings
from ...model.graphs import Graphs
from ...schema import Settings, paths, setting
from .graphs import recurrent_writer, transformer_writer


class Concat(Additive):
    """score(s, h) = v . tanh(W [s; h]), Luong et al. 2015, section 3.1: additive, with the state after the step."""

    kind = "concat"


class LocalPredictive(General):
    """A window around a predicted place, local-p of Luong et al. 2015, section 3.2."""

    kind = "local-p"
    window: int = setting(10, "places on either side of that in the middle (D)", low=1, high=1024)


class LocalMonotonic(LocalPredictive):
    """A window around the place that is as far as the step, local-m of the same section."""

    kind = "local-m"


class NoAttention(Attention):
    """The decoder knows the source by its first state alone, for comparison (Sutskever et al. 2014, arXiv:1409.3215)."""

    kind = "none"


# How a decoder attends to its source
ALIGNMENTS: dict[str, type[Attention]] = {
    kind.kind: kind for kind in (NoAttention, Additive, Dot, General, Concat, LocalMonotonic, LocalPredictive)
}


class GRUDecoder(Settings):
    """A decoder of GRU cells; `states` is the number of arrays in the state of a layer."""

    kind = "gru"
    introduced: ClassVar[Mapping[str, object]] = {"layers": 1}
    # whether a training reads a whole target at once, and so nothing that the network itself has written
    reads_at_once: ClassVar[bool] = False
    # numbers held for each pair of places that were written: none of these attends to another
    numbers_per_pair: ClassVar[int] = 0
    states: ClassVar[int] = 1
    hidden_size: int = setting(256, "units of each layer of the decoder (H)", low=1, high=4096)
    layers: int = setting(1, "number of layers; the last one attends", low=1, high=16)

    def graphs(self, attention: Attention) -> Graphs:
        """Return the inputs and outputs of a writer's ONNX graphs, by the names of their files in a bundle."""
        return recurrent_writer(self.states * self.layers, isinstance(attention, LocalMonotonic))

    def check_writer(self, settings: Settings, attention: Attention, width: int) -> None:
        """Raise ConfigError unless a writer's settings, with this attention to states of `width` units, fit the decoder."""
        if isinstance(attention, Dot) and self.hidden_size != width:
            raise ConfigError(
                f"model.attention.kind dot: expected a decoder of {width} units, as many as a source state has, "
                f"found {self.hidden_size}; give --set model.decoder.hidden_size={width}, or use general"
            )

    def describe(self, attention: Attention) -> str:
        """Return what it is, as an addition to the encoder."""
        attends = f"{attention.kind} attention" if attention.kind != "none" else "no attention"
        layers = f" of {self.layers} layers" if self.layers > 1 else ""
        return f", a {self.kind.upper()} decoder{layers} and {attends}"

    def network(self, rows: int, vocab_size: int, settings: Settings, max_length: int) -> Network:
        """Build the writer with these settings, for sources of at most `max_length` characters."""
        from .writer import RecurrentWriter

        return RecurrentWriter(rows, vocab_size, settings, max_length)


class LSTMDecoder(GRUDecoder):
    """A decoder of LSTM cells."""

    kind = "lstm"
    states = 2


# Settings of a writer that its recurrent decoders alone use
OF_RECURRENT = ("attention.", "input_feeding")


class TransformerDecoder(TransformerSettings):
    """Causal self-attention to what was written, and attention of each layer to the source, Vaswani et al. 2017."""

    reads_at_once: ClassVar[bool] = True
    positions: str = setting("learned", "how a character knows its place", choices=("learned", "sinusoidal"))

    def graphs(self, attention: Attention) -> Graphs:
        return transformer_writer(self.layers, self.heads, self.units // self.heads)

    def check_writer(self, settings: Settings, attention: Attention, width: int) -> None:
        self.check("model.decoder")
        default = dict(paths(type(settings)()))
        for path, value in paths(settings):
            if path.startswith(OF_RECURRENT) and value != default[path]:
                raise ConfigError(
                    f"model.{path}: expected {default[path]}, the default, which a transformer decoder does not use, found "
                    f"{value}; leave it out, or choose model.decoder.kind gru or lstm"
                )

    def describe(self, attention: Attention) -> str:
        return " and a Transformer decoder"

    def network(self, rows: int, vocab_size: int, settings: Settings, max_length: int) -> Network:
        from .transformer_writer import TransformerWriter

        return TransformerWriter(rows, vocab_size, settings, max_length)


Decoder = Union[GRUDecoder, TransformerDecoder]
DECODERS: dict[str, type[Settings]] = {kind.kind: kind for kind in (GRUDecoder, LSTMDecoder, TransformerDecoder)}
