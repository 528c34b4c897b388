"""The settings of a classifier and of its training, and the presets. Read without MXNet."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Optional, Union

from ..bundle import Bundle, Layout, Manifest, in_yaml, packaged, read_encoder
from ..errors import BundleError, ConfigError, did_you_mean
from ..machine.aliases import Network
from ..network.attention import ATTENTIONS, Additive, Attention
from ..network.encoders import ENCODERS, GRU, VALUES, EncoderSettings, States, Values
from ..network.graphs import AXES, Axes, Graphs, Interface, classified, review_inputs
from ..schema import LoopConfig, Settings, TaskConfig, check_scores, kinds, section, setting
from ..text.tokenizers import TextConfig

if TYPE_CHECKING:
    from ..text.encoding import ReviewEncoder

LABELS = ("negative", "positive")
# Largest odds between the labels that `adapt` keeps; with more, the rarer label is found less often than before
KEPT_ODDS = 1.75


class ClassifierConfig(Settings):
    """The self-attentive classifier; padding has no influence."""

    kind = "classifier"
    introduced: ClassVar[Mapping[str, object]] = {"values": {"kind": "states"}}
    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    encoder: EncoderSettings = kinds(ENCODERS, GRU(), "network that turns embeddings into states")
    attention: Attention = kinds(
        ATTENTIONS, Additive(), "scoring function of the self-attention; uniform: equal weights"
    )
    values: Values = kinds(VALUES, States(), "values that attention averages; states: the encoder's states")
    dropout: float = setting(0.4, "dropout after the embedding and before the last layer", low=0.0, high=0.95)
    word_dropout: float = setting(0.2, "share of the tokens whose whole embedding is dropped", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Units of a state (D)."""
        return self.encoder.width(self.embedding_size)

    @property
    def axes(self) -> tuple[str, ...]:
        """Axes of the weights after the axis of reviews."""
        return self.attention.rows, "keys"

    @property
    def outputs(self) -> dict[str, Axes]:
        """Outputs of the ONNX graph, {name: axes}."""
        token_outputs: dict[str, Axes] = {}
        if self.values.near:
            pooled = self.attention.pooled(self.values.width(self.embedding_size, self.width))
            token_outputs = {"contributions": ("N", "T"), "contexts": ("N", pooled + self.width)}
        return {"probability": ("N",), "weights": ("N", *self.axes), **token_outputs, **self.encoder.outputs}

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of tokens; they bound the longest review."""
        return max(self.attention.numbers_per_pair, self.encoder.numbers_per_pair)

    def check_sizes(self) -> None:
        """Raise ConfigError unless the sizes fit each other."""
        self.encoder.check("model.encoder")
        self.attention.check_width(self.width, "model.attention")
        self.values.check("model.values")
        if self.values.near and self.attention.kind == "multihead":
            raise ConfigError(
                f"model.values.kind {self.values.kind}: expected one weight a token, found the heads of multihead attention; "
                "use another attention, or the values states"
            )

    def describe(self) -> str:
        """Describe the network for model cards."""
        averaged, attentive = self.encoder.described
        return averaged if self.attention.kind == "uniform" else f"{attentive} ({self.attention.description})"

    def network(self, vocab_size: int, max_length: int, ngram_buckets: int) -> Network:
        from .network import SelfAttentionClassifier, WordValueClassifier

        kind = WordValueClassifier if self.values.near else SelfAttentionClassifier
        return kind(vocab_size, self, max_length, ngram_buckets)


class ArticleConfig(Settings):
    """The original article's network, which takes padding for words: reviews of one length, no n-grams, no erasure."""

    kind = "article"
    axes: ClassVar[tuple[str, ...]] = AXES
    embedding_size: int = setting(64, "units of the embedding (E)", low=1, high=4096)
    hidden_size: int = setting(64, "units of the GRU in each direction (H)", low=1, high=4096)
    # fixed by the article
    attention: ClassVar[Attention] = Additive(units=30, dropout=0.2)

    @property
    def width(self) -> int:
        return 2 * self.hidden_size

    @property
    def outputs(self) -> dict[str, Axes]:
        return {"probability": ("N",), "weights": ("N", *self.axes)}

    @property
    def numbers_per_pair(self) -> int:
        return self.attention.numbers_per_pair

    def describe(self) -> str:
        return "The original article's self-attentive bidirectional GRU without a mask (additive score)"

    def network(self, vocab_size: int, max_length: int, ngram_buckets: int) -> Network:
        from .article import ArticleClassifier

        return ArticleClassifier(vocab_size, self.embedding_size, max_length, self.hidden_size)


NETWORKS: dict[str, type[Settings]] = {"classifier": ClassifierConfig, "article": ArticleConfig}


class StarsConfig(Settings):
    """The first stage: the stars of raw reviews."""

    epochs: int = setting(0, "epochs on the raw star reviews before the labels; 0: none", low=0)
    learning_rate: float = setting(2e-3, "maximum step size of Adam in these epochs", low=0.0)


class LabelsConfig(Settings):
    """The main stage: the labels of the training part."""

    retired: ClassVar[tuple[str, ...]] = ("templates",)
    epochs: int = setting(5, "maximum number of epochs", low=1)
    learning_rate: float = setting(2e-3, "maximum step size of Adam", low=0.0)
    patience: int = setting(2, "epochs without a better dev loss before stopping", low=1)


class ErasureConfig(Settings):
    """The last stage: attention is trained to highlight the words that the prediction depends on."""

    reviews: int = setting(40000, "reviews whose words are erased to train the attention at the end; 0: none", low=0)
    epochs: int = setting(6, "epochs on these reviews", low=1)
    learning_rate: float = setting(1.5e-3, "maximum step size of Adam in these epochs", low=0.0)


class TrainingConfig(LoopConfig):
    """The training of the classifier."""

    stars: StarsConfig = section(StarsConfig(), "first stage")
    labels: LabelsConfig = section(LabelsConfig(), "main stage")
    erasure: ErasureConfig = section(ErasureConfig(), "last stage")


class Config(TaskConfig):
    """All settings of a training of the classifier."""

    task: ClassVar[str] = "classify"
    text: TextConfig = section(TextConfig(), "how a review becomes token ids")
    model: Union[ClassifierConfig, ArticleConfig] = kinds(NETWORKS, ClassifierConfig(), "the network")
    training: TrainingConfig = section(TrainingConfig(), "how the network is trained")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.text.ngram_buckets == 1:
            raise ConfigError("text.ngram_buckets: expected 0 or at least 2, found 1")
        if isinstance(self.model, ClassifierConfig):
            self.model.check_sizes()
        elif self.text.ngram_buckets or self.training.erasure.reviews:
            raise ConfigError(
                f"model.kind {self.model.kind}: expected text.ngram_buckets and training.erasure.reviews to be 0, found "
                f"{self.text.ngram_buckets} and {self.training.erasure.reviews}"
            )
        check_scores(self.text.max_length, self.model.numbers_per_pair)

    @property
    def fixed_length(self) -> Optional[int]:
        """The one length in tokens that the network reads; None if it reads any."""
        return self.text.max_length if isinstance(self.model, ArticleConfig) else None

    @property
    def graphs(self) -> Graphs:
        return {"model.onnx": Interface(review_inputs(self.text.ngram_buckets > 0), self.model.outputs, classified)}

    def network(self, vocab_size: int, with_ngrams: bool = True) -> Network:
        """Build the HybridBlock with uninitialized parameters; training leaves out the table of n-grams."""
        buckets = self.text.ngram_buckets if with_ngrams else 0
        return self.model.network(vocab_size, self.text.max_length, buckets)


PresetName = Literal["default", "extended", "distilled", "average", "post"]
PRESETS = {
    "default": Config(),
    # extended: trained on the raw star reviews first
    "extended": Config().with_fields(rare_words="pieces", pretrain_epochs=6, epochs=3, learning_rate=1e-3),
    # half as wide, with signed values of one word; the extended model is its --teacher, and it learns --sentences too
    "distilled": Config()
    .with_fields(rare_words="pieces", symbols=1, pretrain_epochs=12, epochs=3, learning_rate=1e-3)
    .with_fields(values="convolution", window=1, signed=1, hidden_size=48)
    .with_fields(erasure_reviews=120000, erasure_epochs=1, erasure_learning_rate=1e-3),
    # as in fastText (Joulin et al. 2016, arXiv:1607.01759): the average of the words' embeddings
    "average": Config().with_fields(ngram_buckets=0, encoder="none", attention="uniform", erasure_reviews=0),
    # the original article: 30 tokens, a small embedding and GRU, constant rate, no mask
    "post": Config(
        TextConfig(max_length=30, vocab_size=30000, ngram_buckets=0),
        ArticleConfig(),
        TrainingConfig(erasure=ErasureConfig(reviews=0), schedule="constant", warmup=0.0, batch_size=100, average=0.0),
    ).with_fields(epochs=6, learning_rate=1e-3),
}


def preset(name: PresetName) -> Config:
    """Return the Config of a preset; ConfigError with the nearest known name otherwise."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}{did_you_mean(name, PRESETS)}")
    return PRESETS[name]


def read_codec(content: bytes, path: Path, manifest: Manifest, config: Config) -> "ReviewEncoder":
    """Return the encoder; BundleError if the labels differ or the vocabulary does not fit."""
    if manifest.get("labels") != list(LABELS):
        labels = str(manifest.get("labels"))[:60]
        raise BundleError(f"{path.with_name('manifest.json')}: expected the labels {list(LABELS)}, found {labels}")
    return read_encoder(content, path, manifest, config)


def card_values(config: Config, manifest: Manifest) -> dict[str, object]:
    data, attention, ngrams = manifest["data"], config.model.attention, config.text.ngram_buckets
    rows = [
        f"| {part} | {100 * figures['accuracy']:.2f} % | {figures['f1']:.4f} | {figures['log_loss']:.4f} "
        f"| {figures['ece']:.4f} |"
        for part, figures in manifest["metrics"].items()
    ]
    return {
        "begun": "adapted" not in manifest,
        "continued": "init_from" in data and "adapted" not in manifest,
        "datasets": in_yaml(data["train"]["name"]),
        "tokenizer": manifest["tokenizer_version"] or config.text.tokenizer,
        "rows": "\n".join(rows),
        "fixed_length": config.fixed_length,
        "attentive": attention.kind != "uniform",
        "pieces": config.text.rare_words == "pieces",
        "symbols": config.text.symbols,
        "ngrams": ngrams,
        "last_bucket": ngrams - 1,
        f"rows_of_{attention.rows}": True,
        "contributions": "contributions" in config.model.outputs,
    }


LAYOUT = Layout(Config, "vocab.json", read_codec, packaged("pretrained"), card_values, PRESETS)
ClassifierBundle = Bundle[Config, "ReviewEncoder"]
