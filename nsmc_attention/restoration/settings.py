"""The settings of an editor or a writer and of its training, and the presets. Read without MXNet."""

from typing import Any, ClassVar, Union

from ..config import LoopConfig, TaskConfig, check_scores
from ..errors import ConfigError
from ..model.attention import Attention, General
from ..model.interfaces import Graphs
from ..settings import Settings, check_all, kinds, section, setting
from .decoders import ALIGNMENTS, DECODERS, Decoder, GRUDecoder
from .interface import EDITOR


class CharacterConfig(Settings):
    """The characters that `restore` can write."""

    min_count: int = setting(3, "characters rarer than this in the training sentences are copied, never written", low=1)
    max_length: int = setting(140, "longest text in characters that is read at once", low=20, high=1024)


# A writer's text has at most this many characters for each of its source, and more
LONGEST, MORE = 2, 10


def most_written(length: int) -> int:
    """Return the most characters that a writer may write for a source of `length`, its end counted."""
    return MORE + LONGEST * length


class Stack(Settings):
    """Recurrent layers in both directions, one above the other; `width` is the units of a state."""

    kind = "gru"
    layers: int = setting(2, "layers, one above the other", low=1, high=16)
    hidden_size: int = setting(192, "units of each layer in each direction", low=1, high=4096)

    def width(self, embedding_size: int) -> int:
        return 2 * self.hidden_size


class LSTMStack(Stack):
    """The same of LSTM layers."""

    kind = "lstm"


STACKS: dict[str, type[Settings]] = {"gru": Stack, "lstm": LSTMStack}


class EditorConfig(Settings):
    """For each character a tag of what to write in its place, for spacing and spelling."""

    kind = "editor"
    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    encoder: Stack = kinds(STACKS, Stack(), "what reads the source")
    output_units: int = setting(128, "units of what the character is predicted from", low=1, high=4096)
    dropout: float = setting(0.1, "dropout before and after each layer", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Units of a source state (D)."""
        return self.encoder.width(self.embedding_size)

    def describe(self) -> str:
        """Return what the network is, for model cards."""
        kind = self.encoder.kind.upper()
        return f"A tag for each character by {self.encoder.layers} bidirectional {kind} layers of {self.encoder.hidden_size}"

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the axes of its graphs that depend on these settings; see `interfaces`."""
        return {"D": self.width}

    @property
    def graphs(self) -> Graphs:
        """The inputs and outputs of its ONNX graphs, by the names of their files in a bundle."""
        return EDITOR

    def network(self, rows: int, vocab_size: int, max_length: int) -> Any:
        from .editor import Editor

        return Editor(rows, vocab_size, self)


class WriterConfig(EditorConfig):
    """Sequence to sequence with attention, for spacing and spelling."""

    kind = "writer"
    retired: ClassVar[tuple[str, ...]] = ("first_state",)
    encoder: Stack = kinds(STACKS, Stack(layers=1), "what reads the source")
    decoder: Decoder = kinds(DECODERS, GRUDecoder(256), "what writes the target")
    attention: Attention = kinds(ALIGNMENTS, General(), "how the decoder attends to the source; none: it does not")
    input_feeding: int = setting(1, "1: the decoder reads its last h~ beside the last character", low=0, high=1)

    def describe(self) -> str:
        return f"Sequence to sequence: a bidirectional encoder{self.decoder.describe(self.attention)}"

    @property
    def sizes(self) -> dict[str, int]:
        return {**super().sizes, **self.decoder.sizes}

    @property
    def graphs(self) -> Graphs:
        return self.decoder.graphs

    def check_sizes(self) -> None:
        """Raise ConfigError unless the sizes fit each other."""
        self.decoder.check_writer(self)

    def network(self, rows: int, vocab_size: int, max_length: int) -> Any:
        return self.decoder.network(rows, vocab_size, self, most_written(max_length))


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
        if isinstance(self.model, WriterConfig):
            self.model.check_sizes()
            check_scores(most_written(self.text.max_length), self.model.decoder.numbers_per_pair)
            if self.training.sampling and self.model.decoder.reads_at_once:
                raise ConfigError(
                    "training.sampling: expected 0, because a transformer decoder reads a whole target at once in training, "
                    f"found {self.training.sampling}; leave it out, or choose model.decoder.kind gru or lstm"
                )

    @property
    def graphs(self) -> Graphs:
        return self.model.graphs

    def network(self, rows: int, vocab_size: int) -> Any:
        """Build the network; see `restoration.characters.Characters` for its sizes."""
        return self.model.network(rows, vocab_size, self.text.max_length)


RESTORE_PRESETS = {
    "editor": RestoreConfig(),
    # sequence to sequence with attention
    "writer": RestoreConfig(model=WriterConfig()),
}
