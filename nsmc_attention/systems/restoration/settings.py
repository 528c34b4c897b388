"""The settings of an editor or a writer and of its training, and the presets. Read without MXNet."""

from collections.abc import Mapping
from typing import Any, ClassVar, Union

from ..._runtime.mxnet_types import Network
from ...errors import ConfigError
from ...model.attention import Attention, General
from ...model.encoders import EncoderSettings, TransformerEncoder
from ...model.graphs import Graphs
from ...schema import Settings, check_all, kinds, section, setting
from ...training.config import LoopConfig, TaskConfig, check_scores
from ..sequences.decoders import ALIGNMENTS, DECODERS, Decoder, GRUDecoder
from ..sequences.graphs import EDITOR, most_written


class CharacterConfig(Settings):
    """The characters that `restore` can write, and the sentences that it learns from."""

    introduced: ClassVar[Mapping[str, object]] = {"all_well_spelt": 0}
    min_count: int = setting(3, "characters rarer than this in the training sentences are copied, never written", low=1)
    max_length: int = setting(140, "longest text in characters that is read at once", low=20, high=1024)
    all_well_spelt: int = setting(0, "1: take all sentences; 0: those that seem to be spelt well", low=0, high=1)


class Stack(EncoderSettings):
    """Recurrent layers in both directions, one above the other."""

    kind = "gru"
    layers: int = setting(2, "layers, one above the other", low=1, high=16)
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


class EditorConfig(Settings):
    """For each character a tag of what to write in its place, for spacing and spelling."""

    kind = "editor"
    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    encoder: SourceEncoder = kinds(SOURCE_ENCODERS, Stack(), "what reads the source")
    output_units: int = setting(128, "units of what the character is predicted from", low=1, high=4096)
    dropout: float = setting(0.1, "dropout before and after each layer", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Units of a source state (D)."""
        return self.encoder.width(self.embedding_size)

    def describe(self) -> str:
        """Return what the network is, for model cards."""
        return f"A tag for each character by {self.encoder.summary}"

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the axes of its graphs that depend on these settings; see `interfaces`."""
        return {"D": self.width}

    @property
    def graphs(self) -> Graphs:
        """The inputs and outputs of its ONNX graphs, by the names of their files in a bundle."""
        return EDITOR

    def check_sizes(self, max_length: int) -> None:
        """Raise ConfigError unless the sizes fit each other, and texts of `max_length` characters."""
        self.encoder.check("model.encoder")
        check_scores(max_length, self.encoder.numbers_per_pair)

    def network(self, rows: int, vocab_size: int, max_length: int) -> Any:
        from .editor import Editor

        return Editor(rows, vocab_size, self, max_length)


class WriterConfig(EditorConfig):
    """Sequence to sequence with attention, for spacing and spelling."""

    kind = "writer"
    retired: ClassVar[tuple[str, ...]] = ("first_state",)
    encoder: SourceEncoder = kinds(SOURCE_ENCODERS, Stack(layers=1), "what reads the source")
    decoder: Decoder = kinds(DECODERS, GRUDecoder(256), "what writes the target")
    attention: Attention = kinds(ALIGNMENTS, General(), "how the decoder attends to the source; none: it does not")
    input_feeding: int = setting(1, "1: the decoder reads its last h~ beside the last character", low=0, high=1)

    def describe(self) -> str:
        return f"Sequence to sequence: {self.encoder.summary}{self.decoder.describe(self.attention)}"

    @property
    def sizes(self) -> dict[str, int]:
        return {**super().sizes, **self.decoder.sizes}

    @property
    def graphs(self) -> Graphs:
        return self.decoder.graphs(self.attention)

    def check_sizes(self, max_length: int) -> None:
        super().check_sizes(max_length)
        self.decoder.check_writer(self, self.attention, self.width)
        check_scores(most_written(max_length), self.decoder.numbers_per_pair)

    def network(self, rows: int, vocab_size: int, max_length: int) -> Any:
        return self.decoder.network(rows, vocab_size, self, max_length)


RESTORERS: dict[str, type[Settings]] = {"editor": EditorConfig, "writer": WriterConfig}


class RestoreTraining(LoopConfig):
    """The training of `restore`."""

    epochs: int = setting(6, "largest number of passes over the sentences, each time with other noise", low=1)
    learning_rate: float = setting(2e-3, "Adam's largest step size", low=0.0)
    patience: int = setting(2, "epochs without a smaller character error before stopping", low=1)
    joined: float = setting(0.1, "more of the sentences, joined to longer texts, as a share", low=0.0, high=10.0)
    label_smoothing: float = setting(0.0, "probability that is taken from the right character", low=0.0, high=0.9)
    sampling: float = setting(
        0.0,
        "share of the characters that a writer reads of its own in the last epoch; 0: teacher forcing",
        low=0.0,
        high=1.0,
    )


class RestoreConfig(TaskConfig):
    """A whole training of `restore` in one value."""

    task: ClassVar[str] = "restore"
    text: CharacterConfig = section(CharacterConfig(), "which characters are known, and how long a text is")
    model: Union[EditorConfig, WriterConfig] = kinds(RESTORERS, EditorConfig(), "the network")
    training: RestoreTraining = section(RestoreTraining(), "how the network is trained")

    def __post_init__(self) -> None:
        check_all(self)
        self.model.check_sizes(self.text.max_length)
        if isinstance(self.model, WriterConfig) and self.training.sampling and self.model.decoder.reads_at_once:
            raise ConfigError(
                "training.sampling: expected 0, because a transformer decoder reads a whole target at once in training, "
                f"found {self.training.sampling}; leave it out, or choose model.decoder.kind gru or lstm"
            )

    @property
    def graphs(self) -> Graphs:
        return self.model.graphs

    def network(self, rows: int, vocab_size: int) -> Any:
        """Build the network; see `systems.sequences.characters.Characters` for its sizes."""
        return self.model.network(rows, vocab_size, self.text.max_length)


RESTORE_PRESETS = {
    "editor": RestoreConfig(),
    # sequence to sequence with attention
    "writer": RestoreConfig(model=WriterConfig()),
}
