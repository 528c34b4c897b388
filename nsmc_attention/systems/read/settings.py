"""The settings of a reader of pictures and of its training, and the presets. Read without MXNet."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ...bundle import Bundle, Layout, Manifest, packaged
from ...machine.aliases import Array, Network, Operators
from ...network.attention import Additive
from ...network.graphs import Axes, Graphs, Interface
from ...registry import later
from ...schema import LoopConfig, Settings, TaskConfig, kinds, section, setting
from ...text.hangul import FINALS, VOWELS

if TYPE_CHECKING:
    from .decoding import Letters


# Numbers of vowels and of finals, each with "none"; they follow the initials and other letters among the parts
VOWEL_PARTS, FINAL_PARTS = len(VOWELS) + 1, len(FINALS) + 1
# Inputs of the location features, for each strip: the last attention weight and the sum of all weights so far
LOOKED_AT, LOOKED_AT_NEXT = ("last", "total"), ("next_last", "next_total")
HEIGHT, STRIP = 32, 4  # A line is HEIGHT pixels high and is read in strips of STRIP columns
PICTURE: dict[str, Axes] = {"strips": ("N", "S", HEIGHT * STRIP), "source_length": ("N",)}
# The encoder's outputs, which are constant inputs of all steps
ENCODED: dict[str, Axes] = {"memory": ("N", "S", "D"), "keys": ("N", "S", "K"), "mask": ("N", "S")}


def divided(F: Operators, parts: Array) -> list[Any]:
    """(..., P) -> initials and other letters, vowels, finals."""
    vowels, finals = -VOWEL_PARTS - FINAL_PARTS, -FINAL_PARTS
    bounds = (0, vowels), (vowels, finals), (finals, None)
    return [F.slice_axis(parts, axis=-1, begin=begin, end=end) for begin, end in bounds]


def spelt(F: Operators, logits: Array) -> Any:
    """Logits of parts (..., P) -> log-probabilities (..., P), with a softmax for each of the three kinds."""
    return F.concat(*(F.log_softmax(kind, axis=-1) for kind in divided(F, logits)), dim=-1)


# The graphs of a reader: the encoder with CTC, and a step of the decoder, whose outputs `next_...` are inputs of the
# following step
READER_GRAPHS = {
    "source.onnx": Interface(
        PICTURE, {**ENCODED, "parts": ("N", "S", "P")}, lambda F, *kept: (*kept[:-1], spelt(F, kept[-1]))
    ),
    "step.onnx": Interface(
        {"ids": ("N",), **ENCODED, "state0": ("N", "H"), **dict.fromkeys(LOOKED_AT, ("N", "S"))},
        {
            "parts": ("N", "P"),
            "weights": ("N", "S"),
            "next_state0": ("N", "H"),
            **dict.fromkeys(LOOKED_AT_NEXT, ("N", "S")),
        },
        lambda F, logits, *others: (spelt(F, logits), *others),
    ),
}


class LineConfig(Settings):
    """The vocabulary of letters and the maximum length of a drawn line."""

    min_count: int = setting(20, "rarer letters of the reviews are unknown", low=1)
    max_length: int = setting(40, "maximum length of a drawn line in letters", low=5, high=200)


class Location(Additive):
    """Additive attention with location features of previous weights, Chorowski et al. 2015 (arXiv:1506.07503)."""

    kind = "location"
    features: int = setting(16, "features of the last weights and of their sum", low=1, high=256)
    window: int = setting(15, "strips that a feature sees, an odd number", low=1, high=255)


class ReaderConfig(Settings):
    """A convolutional and recurrent encoder of the picture, and a decoder of its letters with attention."""

    height: ClassVar[int] = HEIGHT
    hidden_size: int = setting(128, "units of the encoder's GRU in each direction (H)", low=1, high=4096)
    attention: Location = kinds({"location": Location}, Location(units=64), "how the decoder attends to the picture")
    decoder_size: int = setting(256, "units of the decoder's GRU (H)", low=1, high=4096)
    embedding_size: int = setting(64, "units of the embedding of the last letter (E)", low=1, high=4096)
    output_units: int = setting(128, "units of the last layer before the parts of a letter", low=1, high=4096)
    dropout: float = setting(0.1, "dropout before and after each layer", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Number of units of a strip's state (D)."""
        return 2 * self.hidden_size

    def describe(self) -> str:
        """Return the network in words, for model cards."""
        encoder = f"Five convolutions and a bidirectional GRU of {self.hidden_size} with CTC"
        return f"{encoder}, and a GRU decoder of {self.decoder_size} with location attention"

    @property
    def graphs(self) -> Graphs:
        """Inputs and outputs of the ONNX graphs, by their file names in a bundle."""
        return READER_GRAPHS

    def network(self, vocab_size: int, count: int) -> Network:
        """Build the network for `vocab_size` letters (V) and `count` parts of letters (P)."""
        from .network import Reader

        return Reader(vocab_size, count, self)


class ReadTraining(LoopConfig):
    """Settings of the training of `read`."""

    retired: ClassVar[tuple[str, ...]] = (*LoopConfig.retired, "coverage")
    introduced: ClassVar[Mapping[str, object]] = {"signs": 0.0, "others": ""}
    batch_size: int = setting(32, "lines in a batch", low=1)
    lines: int = setting(20_000, "lines drawn per epoch, different each time", low=1)
    epochs: int = setting(12, "maximum number of epochs", low=1)
    learning_rate: float = setting(1e-3, "maximum step size of Adam", low=0.0)
    patience: int = setting(3, "epochs without a smaller error before stopping", low=1)
    ctc: float = setting(0.3, "weight of the CTC loss of the encoder beside the decoder's", low=0.0, high=1.0)
    guide: float = setting(0.1, "weight of the loss that pulls attention to the middle of its letter", low=0.0)
    invented: float = setting(0.4, "additional lines of random syllables and letters, as a share", low=0.0, high=10.0)
    others: str = setting("", "a file of other texts to draw, as stars, dates and counts")
    signs: float = setting(0.0, "share of lines of this file's texts", low=0.0, high=1.0)
    fonts: str = setting("", "a folder of fonts with Korean letters; empty: those of this system")
    unused_fonts: str = setting("", "parts of the names of font files to leave out, separated by commas")


class ReadConfig(TaskConfig):
    """A whole training of `read` in one value."""

    task: ClassVar[str] = "read"
    text: LineConfig = section(LineConfig(), "which letters are known, and how long a line is")
    model: ReaderConfig = section(ReaderConfig(), "the network")
    training: ReadTraining = section(ReadTraining(), "how the network is trained")

    def network(self, vocab_size: int, count: int) -> Network:
        return self.model.network(vocab_size, count)


READ_PRESETS = {"reader": ReadConfig()}


def card_values(config: ReadConfig, manifest: Manifest) -> dict[str, object]:
    metrics = manifest["metrics"]["dev"]
    return {name: 100 * metrics[name] for name in ("character_error", "ctc_error")}


LAYOUT: "Layout[ReadConfig, Letters]" = Layout(
    ReadConfig,
    "vocab.json",
    later("systems.read.decoding:Letters.read"),
    packaged("pretrained_reader"),
    card_values,
    READ_PRESETS,
)
(READER,) = LAYOUT.packaged
ReaderBundle = Bundle[ReadConfig, "Letters"]
