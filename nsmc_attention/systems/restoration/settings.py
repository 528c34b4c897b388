"""The settings of an editor or a writer and of its training, and the presets. Read without MXNet."""

from typing import Any, ClassVar, Union

from ..._runtime.aliases import Array, Network, Operators
from ...model.graphs import Graphs, Interface, second_of_two
from ...schema import Settings, check_all, kinds, section, setting
from ...training.config import LoopConfig, TaskConfig
from ..sequences.graphs import SOURCE
from ..sequences.settings import SourceConfig, WriterConfig


class CharacterConfig(Settings):
    """The characters that `restore` can write, and the sentences that it learns from."""

    retired: ClassVar[tuple[str, ...]] = ("all_well_spelt",)
    min_count: int = setting(3, "characters rarer than this in the training sentences are copied, never written", low=1)
    max_length: int = setting(140, "longest text in characters that is read at once", low=20, high=1024)


def tagged(F: Operators, tags: Array, spaces: Array) -> tuple[Any, ...]:
    """Logits (N, S, V) and (N, S, 2) -> the likeliest tags, their probability, and that of a space, (N, S) each."""
    certainty = F.max(F.softmax(tags, axis=2), axis=2)
    return F.cast(F.argmax(tags, axis=2), dtype="int32"), certainty, second_of_two(F, spaces, 2)


# Of an editor's graph: the tag of each character (`systems.restoration.tags`), its probability, and the probability that a space follows
EDITOR = {"model.onnx": Interface(SOURCE, dict.fromkeys(("tags", "certainty", "spaces"), ("N", "S")), tagged)}


class EditorConfig(SourceConfig):
    """For each character a tag of what to write in its place, for spacing and spelling."""

    kind = "editor"

    def describe(self) -> str:
        """Return what the network is, for model cards."""
        return f"A tag for each character by {self.encoder.summary}"

    @property
    def graphs(self) -> Graphs:
        """The inputs and outputs of its ONNX graphs, by the names of their files in a bundle."""
        return EDITOR

    def network(self, rows: int, vocab_size: int, max_length: int) -> Network:
        from .editor import Editor

        return Editor(rows, vocab_size, self)


RESTORERS: dict[str, type[Settings]] = {"editor": EditorConfig, "writer": WriterConfig}


class RestoreTraining(LoopConfig):
    """The training of `restore`."""

    retired: ClassVar[tuple[str, ...]] = ("sampling",)
    epochs: int = setting(6, "maximum number of epochs, each with other noise", low=1)
    learning_rate: float = setting(2e-3, "maximum step size of Adam", low=0.0)
    patience: int = setting(2, "epochs without a smaller character error before stopping", low=1)
    joined: float = setting(0.1, "additional texts of joined sentences, as a share", low=0.0, high=10.0)
    label_smoothing: float = setting(0.0, "probability taken from the correct character", low=0.0, high=0.9)


class RestoreConfig(TaskConfig):
    """A whole training of `restore` in one value."""

    task: ClassVar[str] = "restore"
    text: CharacterConfig = section(CharacterConfig(), "which characters are known, and how long a text is")
    model: Union[EditorConfig, WriterConfig] = kinds(RESTORERS, EditorConfig(), "the network")
    training: RestoreTraining = section(RestoreTraining(), "how the network is trained")

    def __post_init__(self) -> None:
        check_all(self)
        self.model.check_sizes(self.text.max_length)

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
