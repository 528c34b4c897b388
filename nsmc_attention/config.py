"""The settings of a whole training in one value, and the presets.

    text      how a review becomes token ids            (text.settings)
    model     the network: encoder, attention, sizes    (model.settings)
    training  stages, optimizer, checkpoints            (here)

The command line has a flag for each setting of SHORT_NAMES and `--set PATH=VALUE` for all; a bundle stores the whole.
"""

from dataclasses import dataclass, fields
from typing import Any, Optional, Union

from .errors import ConfigError, did_you_mean
from .model.attention import Uniform
from .model.settings import NETWORKS, ArticleConfig, ClassifierConfig, NoEncoder
from .settings import KIND, Settings, check_all, kinds, section, setting
from .text.settings import TextConfig

# Numbers in the attention scores of one review: a few times 512 MB of memory
MAX_SCORES = 2**27


@dataclass(frozen=True)
class StarsConfig(Settings):
    """The first stage: the stars of raw reviews."""

    epochs: int = setting(0, "passes over the raw star reviews before the labels; 0: none", low=0)
    learning_rate: float = setting(2e-3, "Adam's largest step size in these passes", low=0.0)


@dataclass(frozen=True)
class LabelsConfig(Settings):
    """The main stage: the labels of the training part."""

    epochs: int = setting(5, "largest number of passes over the training part", low=1)
    learning_rate: float = setting(2e-3, "Adam's largest step size", low=0.0)
    patience: int = setting(2, "epochs without a better dev loss before stopping", low=1)


@dataclass(frozen=True)
class ErasureConfig(Settings):
    """The last stage: attention is trained to highlight the words that the prediction depends on."""

    reviews: int = setting(40000, "reviews whose words are erased to train the attention at the end; 0: none", low=0)
    epochs: int = setting(6, "passes over these", low=1)
    learning_rate: float = setting(1.5e-3, "Adam's largest step size in these passes", low=0.0)


@dataclass(frozen=True)
class TrainingConfig(Settings):
    """How the network is trained."""

    stars: StarsConfig = section(StarsConfig(), "first stage")
    labels: LabelsConfig = section(LabelsConfig(), "main stage")
    erasure: ErasureConfig = section(ErasureConfig(), "last stage")
    batch_size: int = setting(128, "reviews in a batch", low=1)
    schedule: str = setting("cosine", "learning rate over the steps", choices=("cosine", "constant"))
    warmup: float = setting(0.05, "share of the steps in which the learning rate rises", low=0.0, high=1.0)
    clip_norm: float = setting(1.0, "largest global norm of the gradient", low=1e-9)
    average: float = setting(
        0.99, "decay of the parameters' moving average, which is what is kept; 0: none", low=0.0, high=0.99999
    )
    dev_fraction: float = setting(
        0.05, "share of the training file that is held out to choose the epoch", low=0.001, high=0.5
    )
    misspelt_fraction: float = setting(0.0, "share of the training reviews that are misspelt", low=0.0, high=1.0)
    seed: int = setting(0, "seed of all random numbers", low=0, high=2**31 - 1)
    checkpoint_steps: int = setting(500, "steps between two checkpoints", low=1)
    keep_checkpoints: int = setting(3, "checkpoints kept", low=1)


# Names that are flags on the command line and keyword arguments in Python; the first path that the config has is meant
SHORT_NAMES: dict[str, tuple[str, ...]] = {
    "epochs": ("training.labels.epochs",),
    "learning_rate": ("training.labels.learning_rate",),
    "batch_size": ("training.batch_size",),
    "seed": ("training.seed",),
    "embedding_size": ("model.embedding_size",),
    "hidden_size": ("model.encoder.hidden_size", "model.hidden_size"),
    "attention": ("model.attention.kind",),
    "dropout": ("model.dropout",),
    "tokenizer": ("text.tokenizer",),
    "max_length": ("text.max_length",),
    "vocab_size": ("text.vocab_size",),
    "min_count": ("text.min_count",),
    "rare_words": ("text.rare_words",),
    "ngram_buckets": ("text.ngram_buckets",),
    "encoder": ("model.encoder.kind",),
    "attention_units": ("model.attention.units",),
    "attention_heads": ("model.attention.heads",),
    "attention_dropout": ("model.attention.dropout",),
    "word_dropout": ("model.word_dropout",),
    "patience": ("training.labels.patience",),
    "pretrain_epochs": ("training.stars.epochs",),
    "pretrain_learning_rate": ("training.stars.learning_rate",),
    "erasure_reviews": ("training.erasure.reviews",),
    "erasure_epochs": ("training.erasure.epochs",),
    "erasure_learning_rate": ("training.erasure.learning_rate",),
    "misspelt_fraction": ("training.misspelt_fraction",),
    "dev_fraction": ("training.dev_fraction",),
    "schedule": ("training.schedule",),
    "warmup": ("training.warmup",),
    "clip_norm": ("training.clip_norm",),
    "average": ("training.average",),
    "checkpoint_steps": ("training.checkpoint_steps",),
    "keep_checkpoints": ("training.keep_checkpoints",),
}


@dataclass(frozen=True)
class Config(Settings):
    """A whole training in one value."""

    text: TextConfig = section(TextConfig(), "how a review becomes token ids")
    model: Union[ClassifierConfig, ArticleConfig] = kinds(NETWORKS, ClassifierConfig(), "the network")
    training: TrainingConfig = section(TrainingConfig(), "how the network is trained")

    def __post_init__(self) -> None:
        check_all(self)
        if self.text.ngram_buckets == 1:
            raise ConfigError("text.ngram_buckets: expected 0 or at least 2, found 1")
        if not self.model.uses_ngrams and (self.text.ngram_buckets or self.training.erasure.reviews):
            raise ConfigError(
                f"model.kind {self.model.kind}: expected text.ngram_buckets and training.erasure.reviews to be 0, found "
                f"{self.text.ngram_buckets} and {self.training.erasure.reviews}"
            )
        attention = self.model.attention
        attention.check_width(self.model.width, "model.attention")
        scores = self.text.max_length**2 * attention.numbers_per_pair
        if scores > MAX_SCORES:
            raise ConfigError(
                f"text.max_length: expected attention scores of at most {MAX_SCORES:,} numbers a review, found {scores:,} "
                "(tokens x tokens x attention units or heads)"
            )

    @property
    def fixed_length(self) -> Optional[int]:
        """The only length in tokens that the network reads; None for any."""
        return self.model.fixed_length(self.text.max_length)

    def network(self, vocab_size: int, with_ngrams: bool = True) -> Any:
        """Build the HybridBlock, its parameters not yet initialized; it is trained without the table of n-grams."""
        buckets = self.text.ngram_buckets if with_ngrams else 0
        return self.model.network(vocab_size, self.text.max_length, buckets)

    def with_fields(self, **changes: Any) -> "Config":
        """Return this Config with some settings changed, each by its short name (SHORT_NAMES) or its path.

        Raises
        ------
        ConfigError
            A name is unknown, a setting is of another kind than the one chosen, or a value is impossible.
        """
        chosen = {path_of(self, name): value for name, value in changes.items() if name_is_kind(name)}
        config = self.with_settings(chosen) if chosen else self
        return config.with_settings(
            {path_of(config, name): value for name, value in changes.items() if not name_is_kind(name)}
        )


def name_is_kind(name: str) -> bool:
    return SHORT_NAMES.get(name, (name,))[0].endswith(f".{KIND}")


def path_of(config: Config, name: str) -> str:
    """Return the path of a setting by its short name; a path stays as it is."""
    if "." in name:
        return name
    if name not in SHORT_NAMES:
        raise ConfigError(f"unknown key {name!r} in config{did_you_mean(name, SHORT_NAMES)}")
    candidates = SHORT_NAMES[name]
    return next((path for path in candidates if config.has(path)), candidates[0])


def field_at(path: str) -> Any:
    """Return the dataclass field of a setting, whatever kinds are chosen; None for the choice of a kind itself."""
    classes: list[Any] = [Config]
    *sections, name = path.split(".")
    for key in sections:
        members = [item for cls in classes for item in fields(cls) if item.name == key]
        registry = members[0].metadata["kinds"]
        classes = list(registry.values())
    return next((item for cls in classes for item in fields(cls) if item.name == name), None)


def choices_at(path: str) -> Optional[tuple[str, ...]]:
    """Return the values that a setting may have, or the kinds that there are; None for any."""
    if path.endswith(f".{KIND}"):
        return tuple(field_at(path[: -len(KIND) - 1]).metadata["kinds"])
    return field_at(path).metadata["choices"]


PRESETS = {
    "default": Config(),
    # the extended track: trained on the raw star reviews first
    "extended": Config().with_fields(rare_words="pieces", pretrain_epochs=6, epochs=3, learning_rate=1e-3),
    # as fastText does it (Joulin et al. 2016, arXiv:1607.01759): the average of the words' embeddings
    "average": Config(
        text=TextConfig(ngram_buckets=0),
        model=ClassifierConfig(encoder=NoEncoder(), attention=Uniform()),
        training=TrainingConfig(erasure=ErasureConfig(reviews=0)),
    ),
    # the original article: 30 tokens, a small embedding and GRU, constant rate, no mask
    "post": Config(
        text=TextConfig(max_length=30, vocab_size=30000, ngram_buckets=0),
        model=ArticleConfig(),
        training=TrainingConfig(
            labels=LabelsConfig(epochs=6, learning_rate=1e-3),
            erasure=ErasureConfig(reviews=0),
            schedule="constant",
            warmup=0.0,
            batch_size=100,
            average=0.0,
        ),
    ),
}


def preset(name: str) -> Config:
    """Return the Config called name; ConfigError with the nearest known name otherwise."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}{did_you_mean(name, PRESETS)}")
    return PRESETS[name]
