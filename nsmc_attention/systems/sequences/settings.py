"""The settings of networks that read characters, and of a writer: sequence to sequence. Read without MXNet."""

from typing import ClassVar

from ..._runtime.aliases import Network
from ...model.encoders import TransformerSettings
from ...model.graphs import Graphs
from ...schema import Settings, kinds, setting
from ...training.config import check_scores
from .graphs import most_written, writer_graphs


class Stack(Settings):
    """GRU layers in both directions, one above the other."""

    kind = "gru"
    layers: int = setting(2, "number of layers", low=1, high=16)
    hidden_size: int = setting(192, "units of each layer in each direction", low=1, high=4096)

    @property
    def summary(self) -> str:
        """Its layers, for model cards."""
        return f"{self.layers} bidirectional GRU layer{'s' * (self.layers > 1)} of {self.hidden_size}"


class Decoder(TransformerSettings):
    """Causal self-attention to what was written, and attention of each layer to the source, Vaswani et al. 2017."""

    positions: str = setting("learned", "how a character knows its place", choices=("learned", "sinusoidal"))


class SourceConfig(Settings):
    """Settings of the encoder of a sequence of characters; the base of the networks that have one."""

    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    encoder: Stack = kinds({"gru": Stack}, Stack(), "what reads the source")
    output_units: int = setting(128, "units of the last layer before the character", low=1, high=4096)
    dropout: float = setting(0.1, "dropout before and after each layer", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Units of a source state (D)."""
        return 2 * self.encoder.hidden_size

    def check_sizes(self, max_length: int) -> None:
        """Raise ConfigError unless the sizes fit each other, and texts of `max_length` characters."""


class WriterConfig(SourceConfig):
    """Sequence to sequence with attention, for spacing and spelling."""

    kind = "writer"
    retired: ClassVar[tuple[str, ...]] = ("first_state", "attention", "input_feeding")
    output_units: int = setting(48, "units of the last layer before the character", low=1, high=4096)
    decoder: Decoder = kinds({"transformer": Decoder}, Decoder(units=56, feed_forward=128), "what writes")

    def describe(self) -> str:
        """Return what the network is, for model cards."""
        return f"Sequence to sequence: {self.encoder.summary} and a Transformer decoder"

    @property
    def graphs(self) -> Graphs:
        """The inputs and outputs of its ONNX graphs, by the names of their files in a bundle."""
        return writer_graphs(self.decoder.layers, self.decoder.heads, self.decoder.units // self.decoder.heads)

    def check_sizes(self, max_length: int) -> None:
        self.decoder.check("model.decoder")
        check_scores(most_written(max_length), self.decoder.numbers_per_pair)

    def network(self, rows: int, vocab_size: int, max_length: int) -> Network:
        from .writer import Writer

        return Writer(rows, vocab_size, self, max_length)
