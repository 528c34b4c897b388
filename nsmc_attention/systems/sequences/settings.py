"""The settings of networks that read characters, and of a writer: sequence to sequence. Read without MXNet."""

from typing import ClassVar, Union

from ..._runtime.aliases import Network
from ...model.attention import Attention, General
from ...model.encoders import EncoderSettings, TransformerEncoder
from ...model.graphs import Graphs
from ...schema import Settings, kinds, setting
from ...training.config import check_scores
from .decoders import ALIGNMENTS, DECODERS, Decoder, GRUDecoder
from .graphs import most_written


class Stack(EncoderSettings):
    """Recurrent layers in both directions, one above the other."""

    kind = "gru"
    layers: int = setting(2, "number of layers", low=1, high=16)
    hidden_size: int = setting(192, "units of each layer in each direction", low=1, high=4096)

    @property
    def summary(self) -> str:
        """Its layers, for model cards."""
        return f"{self.layers} bidirectional {self.kind.upper()} layer{'s' * (self.layers > 1)} of {self.hidden_size}"

    def width(self, embedding_size: int) -> int:
        return 2 * self.hidden_size

    def blocks(self, embedding_size: int, max_length: int) -> list[Network]:
        from ...model.blocks import Bidirectional

        return [Bidirectional(self.kind, self.hidden_size) for _ in range(self.layers)]


class LSTMStack(Stack):
    """The same of LSTM layers."""

    kind = "lstm"


SourceEncoder = Union[Stack, TransformerEncoder]
SOURCE_ENCODERS: dict[str, type[Settings]] = {kind.kind: kind for kind in (Stack, LSTMStack, TransformerEncoder)}


class SourceConfig(Settings):
    """Settings of the encoder of a sequence of characters; the base of the networks that have one."""

    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    encoder: SourceEncoder = kinds(SOURCE_ENCODERS, Stack(), "what reads the source")
    output_units: int = setting(128, "units of the last layer before the character", low=1, high=4096)
    dropout: float = setting(0.1, "dropout before and after each layer", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Units of a source state (D)."""
        return self.encoder.width(self.embedding_size)

    def check_sizes(self, max_length: int) -> None:
        """Raise ConfigError unless the sizes fit each other, and texts of `max_length` characters."""
        self.encoder.check("model.encoder")
        check_scores(max_length, self.encoder.numbers_per_pair)


class WriterConfig(SourceConfig):
    """Sequence to sequence with attention, for spacing and spelling."""

    kind = "writer"
    retired: ClassVar[tuple[str, ...]] = ("first_state",)
    encoder: SourceEncoder = kinds(SOURCE_ENCODERS, Stack(layers=1), "what reads the source")
    decoder: Decoder = kinds(DECODERS, GRUDecoder(256), "kind of decoder")
    attention: Attention = kinds(ALIGNMENTS, General(), "how the decoder attends to the source; none: not at all")
    input_feeding: int = setting(1, "1: the decoder reads its last h~ beside the last character", low=0, high=1)

    def describe(self) -> str:
        """Return what the network is, for model cards."""
        return f"Sequence to sequence: {self.encoder.summary}{self.decoder.describe(self.attention)}"

    @property
    def graphs(self) -> Graphs:
        """The inputs and outputs of its ONNX graphs, by the names of their files in a bundle."""
        return self.decoder.graphs(self.attention)

    def check_sizes(self, max_length: int) -> None:
        super().check_sizes(max_length)
        self.decoder.check_writer(self, self.attention, self.width)
        check_scores(most_written(max_length), self.decoder.numbers_per_pair)

    def network(self, rows: int, vocab_size: int, max_length: int) -> Network:
        return self.decoder.network(rows, vocab_size, self, max_length)
