"""The networks' settings, each of which builds its network. Read without MXNet."""

from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import ConfigError
from ..settings import Settings, kinds, paths, setting
from ..text.settings import most_written
from .attention import ALIGNMENTS, ATTENTIONS, POOLINGS, Additive, Attention, General

if TYPE_CHECKING:
    from .interfaces import Axes, Interface

    Graphs = dict[str, Interface]

# Axes of the weights after that of the reviews, both as long as the review. A network may have others before them, each of
# a fixed size: layers, heads, hops
AXES = ("queries", "keys")


class Encoder(Settings):
    """What turns embeddings into states."""

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of tokens: of each layer and head of one whose states attend to each other."""
        return 0

    @property
    def outputs(self) -> dict[str, "Axes"]:
        """What it adds to the outputs of an ONNX graph, {name: axes}."""
        return {}

    def width(self, embedding_size: int) -> int:
        """Return the units of a state (D)."""
        raise NotImplementedError

    def check(self, where: str) -> None:
        """Raise ConfigError where the sizes do not fit each other."""

    def block(self, embedding_size: int, max_length: int) -> Any:
        """Build the HybridBlock: embedded (T, N, E), valid_length (N,) -> states (T, N, D); None for none at all.

        One that attends returns its weights (N, L, K, T, T) beside the states.
        """
        raise NotImplementedError


class GRU(Encoder):
    """A bidirectional GRU."""

    kind = "gru"
    hidden_size: int = setting(128, "units of the GRU in each direction (H)", low=1, high=4096)

    def width(self, embedding_size: int) -> int:
        return 2 * self.hidden_size

    def block(self, embedding_size: int, max_length: int) -> Any:
        from .blocks import Bidirectional

        return Bidirectional(self.kind, self.hidden_size)


class NoEncoder(Encoder):
    """Each token by itself: its state is its embedding."""

    kind = "none"

    def width(self, embedding_size: int) -> int:
        return embedding_size

    def block(self, embedding_size: int, max_length: int) -> None:
        return None


class TransformerSettings(Settings):
    """The sizes of a Transformer's encoder or decoder."""

    kind = "transformer"
    layers: int = setting(2, "layers, one above the other (L)", low=1, high=24)
    heads: int = setting(4, "heads; divides the units of a state (K)", low=1)
    units: int = setting(128, "units of a state (D)", low=1, high=4096)
    feed_forward: int = setting(512, "units of the hidden layer at each position", low=1, high=16384)
    dropout: float = setting(0.1, "dropout of the weights and of each sum", low=0.0, high=0.95)
    norm: str = setting("post", "layer norm: behind each sum (post) or on the way in (pre)", choices=("post", "pre"))

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of places: a weight of each head of each layer."""
        return self.layers * self.heads

    def check(self, where: str) -> None:
        """Raise ConfigError where the sizes do not fit each other."""
        if self.units % self.heads:
            raise ConfigError(
                f"{where}.heads: expected a divisor of {self.units}, the units of a state, found {self.heads}"
            )


class TransformerEncoder(TransformerSettings, Encoder):
    """Self-attention without recurrence, Vaswani et al. 2017 (arXiv:1706.03762)."""

    positions: str = setting(
        "relative",
        "how a token knows its place; relative: how far others are",
        choices=("relative", "learned", "sinusoidal"),
    )

    @property
    def outputs(self) -> dict[str, "Axes"]:
        return {"heads": ("N", self.layers, self.heads, "T", "T")}

    def width(self, embedding_size: int) -> int:
        return self.units

    def block(self, embedding_size: int, max_length: int) -> Any:
        from .transformer import Transformer

        return Transformer(self, embedding_size, max_length)


ENCODERS: dict[str, type[Encoder]] = {each.kind: each for each in (GRU, TransformerEncoder, NoEncoder)}
# Those by which a token knows of others
READERS = {kind: each for kind, each in ENCODERS.items() if each is not NoEncoder}


# What a network with this encoder is, without attention above it and with
DESCRIBED = {
    "gru": ("The average of a bidirectional GRU's states", "A self-attentive bidirectional GRU"),
    "transformer": ("The average of a Transformer's states", "A Transformer under self-attention"),
    "none": ("The average of the words' embeddings", "Self-attention on the words' embeddings"),
}


class ClassifierConfig(Settings):
    """The self-attentive classifier; padding has no influence."""

    kind = "classifier"
    # whether there may be a table of n-grams, and whether attention can be trained on erasures
    uses_ngrams: ClassVar[bool] = True
    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    encoder: Encoder = kinds(ENCODERS, GRU(), "what turns embeddings into states; none: nothing")
    attention: Attention = kinds(ATTENTIONS, Additive(), "scoring function of the self-attention; uniform: none")
    dropout: float = setting(0.4, "dropout after the embedding and before the last layer", low=0.0, high=0.95)
    word_dropout: float = setting(0.2, "share of the tokens whose embedding is dropped whole", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Units of a state (D)."""
        return self.encoder.width(self.embedding_size)

    @property
    def axes(self) -> tuple[str, ...]:
        """Axes of the weights after that of the reviews."""
        return self.attention.rows, "keys"

    @property
    def outputs(self) -> dict[str, "Axes"]:
        """The outputs of its ONNX graph, {name: axes}."""
        weights = ("N", self.attention.row_count, "keys")
        return {"probability": ("N",), "weights": weights, **self.encoder.outputs}

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of tokens: what bounds the longest review."""
        return max(self.attention.numbers_per_pair, self.encoder.numbers_per_pair)

    def check_sizes(self) -> None:
        """Raise ConfigError unless the sizes fit each other."""
        self.encoder.check("model.encoder")
        self.attention.check_width(self.width, "model.attention")

    def fixed_length(self, max_length: int) -> None:
        """Return the only length that the network reads: here it reads any."""

    def describe(self) -> str:
        """Return what the network is, for model cards."""
        averaged, attentive = DESCRIBED[self.encoder.kind]
        return averaged if self.attention.kind == "uniform" else f"{attentive} ({self.attention.description})"

    def network(self, vocab_size: int, max_length: int, ngram_buckets: int) -> Any:
        from .networks.classifier import SelfAttentionClassifier

        return SelfAttentionClassifier(vocab_size, self, max_length, ngram_buckets)


class ArticleConfig(Settings):
    """The original article's network, which takes padding for words."""

    kind = "article"
    uses_ngrams: ClassVar[bool] = False
    axes: ClassVar[tuple[str, ...]] = AXES
    embedding_size: int = setting(64, "units of the embedding (E)", low=1, high=4096)
    hidden_size: int = setting(64, "units of the GRU in each direction (H)", low=1, high=4096)
    # fixed by the article
    attention: ClassVar[Attention] = Additive(units=30, dropout=0.2)

    @property
    def width(self) -> int:
        return 2 * self.hidden_size

    @property
    def outputs(self) -> dict[str, "Axes"]:
        return {"probability": ("N",), "weights": ("N", *self.axes)}

    @property
    def numbers_per_pair(self) -> int:
        return self.attention.numbers_per_pair

    def check_sizes(self) -> None:
        """The article's sizes fit each other."""

    def fixed_length(self, max_length: int) -> int:
        return max_length

    def describe(self) -> str:
        return "The original article's self-attentive bidirectional GRU without a mask (additive score)"

    def network(self, vocab_size: int, max_length: int, ngram_buckets: int) -> Any:
        from .networks.article import ArticleClassifier

        return ArticleClassifier(vocab_size, self.embedding_size, max_length, self.hidden_size)


class Decoder(Settings):
    """What writes the target of a writer."""

    # whether a training reads a whole target at once, and so nothing that the network itself has written
    reads_at_once: ClassVar[bool] = False

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of places that were written: of one whose places attend to each other."""
        return 0

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the axes of its graphs that depend on these settings; see `interfaces`."""
        return {}

    @property
    def graphs(self) -> "Graphs":
        """The inputs and outputs of a writer's ONNX graphs, by the names of their files in a bundle."""
        raise NotImplementedError

    def check_writer(self, settings: "WriterConfig") -> None:
        """Raise ConfigError unless the writer's settings fit the decoder."""

    def describe(self, attention: Attention) -> str:
        """Return what it is, as an addition to the encoder."""
        raise NotImplementedError

    def network(self, rows: int, vocab_size: int, settings: "WriterConfig", longest: int) -> Any:
        """Build the writer with these settings, which writes at most `longest` characters."""
        raise NotImplementedError


class GRUDecoder(Decoder):
    """A decoder of GRU cells; `states` is the number of arrays in its state."""

    kind = "gru"
    states: ClassVar[int] = 1
    hidden_size: int = setting(256, "units of the decoder (H)", low=1, high=4096)

    @property
    def sizes(self) -> dict[str, int]:
        return {"H": self.hidden_size}

    @property
    def graphs(self) -> "Graphs":
        from .interfaces import recurrent_writer

        return recurrent_writer(self.states)

    def check_writer(self, settings: "WriterConfig") -> None:
        half, size = settings.encoder.hidden_size, self.hidden_size
        if settings.first_state != "projection" and half != size:
            raise ConfigError(
                f"model.first_state {settings.first_state}: expected a decoder of {half} units, as many as the encoder has "
                f"in each direction, found {size}; or use projection"
            )
        settings.attention.check_decoder(size, settings.width)

    def describe(self, attention: Attention) -> str:
        attends = f"{attention.kind} attention" if attention.kind != "none" else "no attention"
        return f", a {self.kind.upper()} decoder and {attends}"

    def cell(self, inputs: int) -> Any:
        from .blocks import CELLS

        return CELLS[self.kind](self.hidden_size, input_size=inputs)

    def network(self, rows: int, vocab_size: int, settings: "WriterConfig", longest: int) -> Any:
        from .networks.writer import RecurrentWriter

        return RecurrentWriter(rows, vocab_size, settings)


class LSTMDecoder(GRUDecoder):
    """A decoder of LSTM cells."""

    kind = "lstm"
    states = 2


# Settings of a writer that its recurrent decoders alone use
OF_RECURRENT = ("attention.", "input_feeding", "first_state")


class TransformerDecoder(TransformerSettings, Decoder):
    """Causal self-attention to what was written, and attention of each layer to the source, Vaswani et al. 2017."""

    reads_at_once = True
    positions: str = setting("learned", "how a character knows its place", choices=("learned", "sinusoidal"))

    @property
    def graphs(self) -> "Graphs":
        from .interfaces import transformer_writer

        return transformer_writer(self.layers, self.heads, self.units // self.heads)

    def check_writer(self, settings: "WriterConfig") -> None:
        self.check("model.decoder")
        default = dict(paths(WriterConfig()))
        for path, found in paths(settings):
            if path.startswith(OF_RECURRENT) and found != default[path]:
                raise ConfigError(
                    f"model.{path}: expected {default[path]}, the default, which a transformer decoder does not use, found "
                    f"{found}; leave it out, or choose model.decoder.kind gru or lstm"
                )

    def describe(self, attention: Attention) -> str:
        return " and a Transformer decoder"

    def network(self, rows: int, vocab_size: int, settings: "WriterConfig", longest: int) -> Any:
        from .networks.transformer_writer import TransformerWriter

        return TransformerWriter(rows, vocab_size, settings, longest)


DECODERS: dict[str, type[Settings]] = {each.kind: each for each in (GRUDecoder, LSTMDecoder, TransformerDecoder)}


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
    def graphs(self) -> dict[str, "Interface"]:
        """The inputs and outputs of its ONNX graphs, by the names of their files in a bundle."""
        from .interfaces import EDITOR

        return EDITOR

    def network(self, rows: int, vocab_size: int, max_length: int) -> Any:
        from .networks.editor import Editor

        return Editor(rows, vocab_size, self)


class WriterConfig(EditorConfig):
    """Sequence to sequence with attention, for spacing and spelling."""

    kind = "writer"
    encoder: Stack = kinds(STACKS, Stack(layers=1), "what reads the source")
    decoder: Decoder = kinds(DECODERS, GRUDecoder(256), "what writes the target")
    attention: Attention = kinds(ALIGNMENTS, General(), "how the decoder attends to the source; none: it does not")
    input_feeding: int = setting(1, "1: the decoder reads its last h~ beside the last character", low=0, high=1)
    first_state: str = setting(
        "projection", "the decoder's first state of the encoder's last two", choices=("projection", "mean", "maximum")
    )

    def describe(self) -> str:
        return f"Sequence to sequence: a bidirectional encoder{self.decoder.describe(self.attention)}"

    @property
    def sizes(self) -> dict[str, int]:
        return {**super().sizes, **self.decoder.sizes}

    @property
    def graphs(self) -> dict[str, "Interface"]:
        return self.decoder.graphs

    def check_sizes(self) -> None:
        """Raise ConfigError unless the sizes fit each other."""
        self.decoder.check_writer(self)

    def network(self, rows: int, vocab_size: int, max_length: int) -> Any:
        return self.decoder.network(rows, vocab_size, self, most_written(max_length))


class MaskedConfig(Settings):
    """A language model that guesses hidden words from both sides."""

    kind = "masked"
    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    # without dropout: the words that are hidden are others in each pass
    encoder: Encoder = kinds(READERS, TransformerEncoder(dropout=0.0), "what turns embeddings into states")
    dropout: float = setting(0.0, "dropout after the embedding", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Units of a state (D)."""
        return self.encoder.width(self.embedding_size)

    @property
    def outputs(self) -> dict[str, "Axes"]:
        """The outputs of its ONNX graph, {name: axes}."""
        return {"probability": ("N", "V"), **self.encoder.outputs}

    def check_sizes(self) -> None:
        """Raise ConfigError unless the sizes fit each other."""
        self.encoder.check("model.encoder")

    def describe(self) -> str:
        """Return what the network is, for model cards."""
        return {"gru": "A bidirectional GRU", "transformer": "A Transformer"}[self.encoder.kind]

    def network(self, vocab_size: int, max_length: int) -> Any:
        from .networks.language import MaskedLanguageModel

        return MaskedLanguageModel(vocab_size, self, max_length)

    def training_network(self, vocab_size: int, max_length: int) -> Any:
        """Build the network that is trained, which contains that of the bundle."""
        return self.network(vocab_size, max_length)


class ReplacedConfig(MaskedConfig):
    """A language model that also tells which tokens are not the text's: Clark et al. 2020, ELECTRA (arXiv:2003.10555)."""

    kind = "replaced"
    detection: float = setting(50.0, "weight of the loss of telling replaced tokens", low=0.0)

    def training_network(self, vocab_size: int, max_length: int) -> Any:
        from .networks.language import ReplacedLanguageModel

        return ReplacedLanguageModel(vocab_size, self, max_length)


class PoolingConfig(Settings):
    """The mean stars of a film from its reviews, whose order has no influence."""

    kind = "pooling"
    units: int = setting(64, "units of a review's value (D)", low=1, high=4096)
    attention: Attention = kinds(POOLINGS, Additive(), "how reviews are weighed; uniform: all alike")
    output_units: int = setting(64, "units of the hidden layer behind the pooling", low=1, high=4096)
    dropout: float = setting(0.2, "dropout of what is pooled", low=0.0, high=0.95)

    @property
    def graphs(self) -> "Graphs":
        """The inputs and outputs of its ONNX graphs, by the names of their files in a bundle."""
        from .interfaces import FILM

        return FILM

    def describe(self) -> str:
        """Return what the network is, for model cards."""
        return "Attention over reviews" if self.attention.kind != "uniform" else "The average of reviews"

    def network(self, inputs: int) -> Any:
        """Build the network for reviews of so many numbers each."""
        from .networks.film import FilmNetwork

        return FilmNetwork(inputs, self)


NETWORKS: dict[str, type[Settings]] = {"classifier": ClassifierConfig, "article": ArticleConfig}
RESTORERS: dict[str, type[Settings]] = {"editor": EditorConfig, "writer": WriterConfig}
LANGUAGE_MODELS: dict[str, type[Settings]] = {"masked": MaskedConfig, "replaced": ReplacedConfig}
FILM_NETWORKS: dict[str, type[Settings]] = {"pooling": PoolingConfig}
