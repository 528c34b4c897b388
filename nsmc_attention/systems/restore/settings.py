"""The settings of an editor or a writer and of its training, and the presets. Read without MXNet."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Union

from ...bundle import Bundle, Layout, Manifest, packaged
from ...machine.aliases import Array, Network, Operators
from ...network.encoders import TransformerSettings
from ...network.graphs import Axes, Graphs, Interface, second_of_two
from ...registry import later
from ...schema import LoopConfig, Settings, TaskConfig, check_all, check_scores, kinds, section, setting
from ..sequences import ROWS

if TYPE_CHECKING:
    from .junctions import RestorerCharacters

SOURCE: dict[str, Axes] = {"source_ids": ("N", "S", ROWS), "source_length": ("N",)}
# A writer's text has at most this many characters for each of its source, and more
LONGEST_OUTPUT, MORE_OUTPUT = 2, 10


class CharacterConfig(Settings):
    """The characters that `restore` can write, and the sentences that it learns from."""

    retired: ClassVar[tuple[str, ...]] = ("all_well_spelt",)
    min_count: int = setting(3, "characters rarer than this in the training sentences are copied, never written", low=1)
    max_length: int = setting(140, "longest text in characters that is read at once", low=20, high=1024)


def tagged(F: Operators, tags: Array, spaces: Array) -> tuple[Any, ...]:
    """Logits (N, S, V) and (N, S, 2) -> the likeliest tags, their probability, and that of a space, (N, S) each."""
    certainty = F.max(F.softmax(tags, axis=2), axis=2)
    return F.cast(F.argmax(tags, axis=2), dtype="int32"), certainty, second_of_two(F, spaces, 2)


def most_written(length: int) -> int:
    """Return the most characters that a writer may write for a source of `length`, its end counted."""
    return MORE_OUTPUT + LONGEST_OUTPUT * length


def written(F: Operators, logits: Array, *others: Any) -> tuple[Any, ...]:
    """Logits (N, V) -> log-probabilities (N, V); the rest as it is."""
    return (F.log_softmax(logits, axis=1), *others)


class Stack(Settings):
    """GRU layers in both directions, one above the other."""

    kind = "gru"
    layers: int = setting(2, "number of layers", low=1, high=16)
    hidden_size: int = setting(192, "units of each layer in each direction", low=1, high=4096)


class Decoder(TransformerSettings):
    """Causal self-attention to what was written, and attention of each layer to the source, Vaswani et al. 2017."""

    positions: str = setting("learned", "how a character knows its place", choices=("learned",))


class NetworkConfig(Settings):
    """Settings of the encoder that reads the source; the base of an editor's and a writer's."""

    described: ClassVar[str]
    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    encoder: Stack = kinds({"gru": Stack}, Stack(), "what reads the source")
    output_units: int = setting(128, "units of the last layer before the character", low=1, high=4096)
    dropout: float = setting(0.1, "dropout before and after each layer", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Units of a source state (D)."""
        return 2 * self.encoder.hidden_size

    def describe(self) -> str:
        """Return the network in words, for model cards."""
        layers, size = self.encoder.layers, self.encoder.hidden_size
        return self.described.format(f"{layers} bidirectional GRU layer{'s' * (layers > 1)} of {size}")


class EditorConfig(NetworkConfig):
    """For each character a tag of what to write in its place, for spacing and spelling."""

    kind, described = "editor", "A tag for each character by {}"

    @property
    def graphs(self) -> Graphs:
        """The inputs and outputs of its ONNX graphs, by the names of their files in a bundle."""
        return {"model.onnx": Interface(SOURCE, dict.fromkeys(("tags", "certainty", "spaces"), ("N", "S")), tagged)}

    def network(self, rows: int, vocab_size: int, max_length: int) -> Network:
        from .network import Editor

        return Editor(rows, vocab_size, self)


class WriterConfig(NetworkConfig):
    """Sequence to sequence with attention, for spacing and spelling."""

    kind, described = "writer", "Sequence to sequence: {} and a Transformer decoder"
    retired: ClassVar[tuple[str, ...]] = ("attention", "input_feeding")
    output_units: int = setting(48, "units of the last layer before the character", low=1, high=4096)
    decoder: Decoder = kinds({"transformer": Decoder}, Decoder(units=56, feed_forward=128), "what writes")

    @property
    def graphs(self) -> Graphs:
        """The inputs and outputs of its ONNX graphs; W are the places that the decoder attends to.

        `keys` and `memory` are the keys and values of the source for all heads of all layers, the state those of what was
        written for each layer in turn. The first of the W places has no influence: no array of MXNet is empty.
        """
        layers, heads = self.decoder.layers, self.decoder.heads
        size = self.decoder.units // heads
        encoded: dict[str, Axes] = dict.fromkeys(("memory", "keys"), ("N", layers * heads, "S", size))
        encoded["mask"] = ("N", "S")
        state, after = ([f"{name}{number}" for number in range(2 * layers)] for name in ("state", "next_state"))
        outputs: dict[str, Axes] = {"log_probability": ("N", "V"), "weights": ("N", "S")}
        outputs |= dict.fromkeys(after, ("N", heads, "W+1", size))
        before: dict[str, Axes] = dict.fromkeys(state, ("N", heads, "W", size))
        return {
            "source.onnx": Interface(SOURCE, {**encoded, **dict.fromkeys(state, ("N", heads, 1, size))}),
            "step.onnx": Interface({"ids": ("N",), **encoded, **before}, outputs, written),
        }

    def network(self, rows: int, vocab_size: int, max_length: int) -> Network:
        from .network import Writer

        return Writer(rows, vocab_size, self, most_written(max_length))


class RestoreTraining(LoopConfig):
    """The training of `restore`."""

    retired: ClassVar[tuple[str, ...]] = (*LoopConfig.retired, "sampling")
    introduced: ClassVar[Mapping[str, object]] = {"slipped": 0.0, "pairs": ""}
    epochs: int = setting(6, "maximum number of epochs, each with other noise", low=1)
    learning_rate: float = setting(2e-3, "maximum step size of Adam", low=0.0)
    patience: int = setting(2, "epochs without a smaller character error before stopping", low=1)
    joined: float = setting(0.1, "additional texts of joined sentences, as a share", low=0.0, high=10.0)
    slipped: float = setting(0.0, "share of texts with two misspellings at most", low=0.0, high=1.0)
    pairs: str = setting("", "a table of texts as they were typed and meant, learnt beside the sentences")
    label_smoothing: float = setting(0.0, "probability taken from the correct character", low=0.0, high=0.9)


class RestoreConfig(TaskConfig):
    """A whole training of `restore` in one value."""

    task: ClassVar[str] = "restore"
    text: CharacterConfig = section(CharacterConfig(), "which characters are known, and how long a text is")
    model: Union[EditorConfig, WriterConfig] = kinds(
        {"editor": EditorConfig, "writer": WriterConfig}, EditorConfig(), "the network"
    )
    training: RestoreTraining = section(RestoreTraining(), "how the network is trained")

    def __post_init__(self) -> None:
        check_all(self)
        if isinstance(self.model, WriterConfig):
            self.model.decoder.check("model.decoder")
            check_scores(most_written(self.text.max_length), self.model.decoder.numbers_per_pair)

    @property
    def graphs(self) -> Graphs:
        return self.model.graphs

    def network(self, rows: int, vocab_size: int) -> Network:
        """Build the network; see `sequences.characters.Characters` for its sizes."""
        return self.model.network(rows, vocab_size, self.text.max_length)


# A Transformer's decoder learns with a smaller step size
RESTORE_PRESETS = {
    "editor": RestoreConfig(),
    "writer": RestoreConfig(model=WriterConfig(), training=RestoreTraining(learning_rate=1e-3)),
}


def card_values(config: RestoreConfig, manifest: Manifest) -> dict[str, object]:
    metrics = manifest["metrics"]["dev"]
    figures = {"exact": 100 * metrics["exact"], "error": metrics["character_error"]}
    return {**figures, config.model.kind: True, "pairs": config.training.pairs}


LAYOUT: "Layout[RestoreConfig, RestorerCharacters]" = Layout(
    RestoreConfig,
    "vocab.json",
    later("systems.restore.junctions:RestorerCharacters.read"),
    packaged("pretrained_editor", "pretrained_writer"),
    card_values,
    RESTORE_PRESETS,
)
EDITOR, WRITER = LAYOUT.packaged
RestorerBundle = Bundle[RestoreConfig, "RestorerCharacters"]
