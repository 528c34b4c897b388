"""The settings of a language model and of its training, and the presets. Read without MXNet."""

from typing import TYPE_CHECKING, Any, ClassVar

from ...bundle import Bundle, Layout, Manifest, packaged, read_encoder
from ...machine.aliases import Array, Network, Operators
from ...network.encoders import CONTEXTUAL_ENCODERS, GRU, EncoderSettings, TransformerEncoder
from ...network.graphs import Axes, Graphs, Interface
from ...schema import LoopConfig, Settings, TaskConfig, check_scores, kinds, section, setting
from ...text.tokenizers import WordsConfig

if TYPE_CHECKING:
    from ...text.encoding import ReviewEncoder


def guessed(F: Operators, logits: Array, *heads: Any) -> tuple[Any, ...]:
    """Logits (N, V) of the hidden tokens and heads -> probabilities (N, V) and the same heads."""
    return (F.softmax(logits, axis=1), *heads)


class MaskedConfig(Settings):
    """A language model that predicts hidden words from the words on both sides."""

    kind = "masked"
    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    # no dropout: each epoch already hides other words
    encoder: EncoderSettings = kinds(
        CONTEXTUAL_ENCODERS, TransformerEncoder(dropout=0.0), "network that turns embeddings into states"
    )
    dropout: float = setting(0.0, "dropout after the embedding", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Number of units of a state (D)."""
        return self.encoder.width(self.embedding_size)

    def describe(self) -> str:
        """Return the network in words, for model cards."""
        return {"gru": "A bidirectional GRU", "transformer": "A Transformer"}[self.encoder.kind]

    @property
    def graphs(self) -> Graphs:
        """The ONNX graph, for one hidden token per review; the place of token t of review n is t * N + n."""
        inputs: dict[str, Axes] = {"token_ids": ("N", "T"), "valid_length": ("N",), "places": ("N",)}
        outputs: dict[str, Axes] = {"probability": ("N", "V"), **self.encoder.outputs}
        return {"model.onnx": Interface(inputs, outputs, guessed)}


class LanguageTraining(LoopConfig):
    """Settings of a language model's training."""

    retired: ClassVar[tuple[str, ...]] = (*LoopConfig.retired, "whole_words")
    epochs: int = setting(3, "epochs, each with other hidden words", low=1)
    learning_rate: float = setting(2e-3, "maximum step size of Adam", low=0.0)
    patience: int = setting(2, "epochs without a better dev loss before stopping", low=1)
    masked: float = setting(0.15, "share of the tokens to guess", low=0.01, high=0.9)


class LanguageConfig(TaskConfig):
    """A whole training of a language model in one value."""

    task: ClassVar[str] = "language"
    text: WordsConfig = section(WordsConfig(), "how a review becomes token ids")
    model: MaskedConfig = kinds({"masked": MaskedConfig}, MaskedConfig(), "the network")
    training: LanguageTraining = section(LanguageTraining(), "how the network is trained")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.model.encoder.check("model.encoder")
        check_scores(self.text.max_length, self.model.encoder.numbers_per_pair)

    def network(self, vocab_size: int) -> Network:
        """Build the HybridBlock, its parameters not yet initialized."""
        from .network import MaskedLanguageModel

        return MaskedLanguageModel(vocab_size, self.model, self.text.max_length)


LANGUAGE_PRESETS = {"transformer": LanguageConfig(), "gru": LanguageConfig(model=MaskedConfig(encoder=GRU()))}


def card_values(config: LanguageConfig, manifest: Manifest) -> dict[str, object]:
    metrics = manifest["metrics"]["dev"]
    shares = {name: 100 * metrics[name] for name in ("accuracy", "among_five")}
    return {**shares, "perplexity": metrics["perplexity"], "heads": "heads" in config.graphs["model.onnx"].outputs}


LAYOUT: "Layout[LanguageConfig, ReviewEncoder]" = Layout(
    LanguageConfig, "vocab.json", read_encoder, packaged("pretrained_language"), card_values, LANGUAGE_PRESETS
)
LanguageBundle = Bundle[LanguageConfig, "ReviewEncoder"]
