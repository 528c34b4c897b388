"""The settings of a whole training in one value, and the presets.

The command line has a flag for each setting of SHORT_NAMES and `--set PATH=VALUE` for all; a bundle stores the whole.
"""

from collections.abc import Container, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Iterable, Optional, TypeVar, Union

from .errors import ConfigError, did_you_mean
from .model.settings import (
    FILM_NETWORKS,
    GRU,
    LANGUAGE_MODELS,
    NETWORKS,
    RESTORERS,
    ArticleConfig,
    ClassifierConfig,
    EditorConfig,
    MaskedConfig,
    PoolingConfig,
    ReplacedConfig,
    WriterConfig,
)
from .settings import KIND, Settings, check_all, kinds, leaves, paths, section, setting
from .text.settings import CharacterConfig, TextConfig, WordsConfig, most_written

# Numbers in the attention scores of one review: a few times 512 MB of memory
MAX_SCORES = 2**27


class StarsConfig(Settings):
    """The first stage: the stars of raw reviews."""

    epochs: int = setting(0, "passes over the raw star reviews before the labels; 0: none", low=0)
    learning_rate: float = setting(2e-3, "Adam's largest step size in these passes", low=0.0)


class LabelsConfig(Settings):
    """The main stage: the labels of the training part."""

    epochs: int = setting(5, "largest number of passes over the training part", low=1)
    learning_rate: float = setting(2e-3, "Adam's largest step size", low=0.0)
    patience: int = setting(2, "epochs without a better dev loss before stopping", low=1)


class ErasureConfig(Settings):
    """The last stage: attention is trained to highlight the words that the prediction depends on."""

    reviews: int = setting(40000, "reviews whose words are erased to train the attention at the end; 0: none", low=0)
    epochs: int = setting(6, "passes over these", low=1)
    learning_rate: float = setting(1.5e-3, "Adam's largest step size in these passes", low=0.0)


class LoopConfig(Settings):
    """What every training has: see `training.loop`."""

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
    seed: int = setting(0, "seed of all random numbers", low=0, high=2**31 - 1)
    checkpoint_steps: int = setting(500, "steps between two checkpoints", low=1)
    keep_checkpoints: int = setting(3, "checkpoints kept", low=1)


class TrainingConfig(LoopConfig):
    """How the classifier is trained."""

    stars: StarsConfig = section(StarsConfig(), "first stage")
    labels: LabelsConfig = section(LabelsConfig(), "main stage")
    erasure: ErasureConfig = section(ErasureConfig(), "last stage")
    misspelt_fraction: float = setting(0.0, "share of the training reviews that are misspelt", low=0.0, high=1.0)


class RestoreTraining(LoopConfig):
    """How `restore` is trained."""

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


class LanguageTraining(LoopConfig):
    """How a language model is trained."""

    epochs: int = setting(3, "passes over the reviews, each time with other words hidden", low=1)
    learning_rate: float = setting(2e-3, "Adam's largest step size", low=0.0)
    patience: int = setting(2, "epochs without a better dev loss before stopping", low=1)
    masked: float = setting(0.15, "share of the tokens that are to be guessed", low=0.01, high=0.9)
    whole_words: int = setting(0, "1: all pieces of a word that was cut are hidden together", low=0, high=1)


class FineTuningConfig(Settings):
    """The last stage of `film`: the classifier that reads the reviews is trained along, end to end."""

    epochs: int = setting(
        0, "passes over the films in which the classifier is trained along; 0: it stays as it is", low=0
    )
    learning_rate: float = setting(3e-4, "Adam's largest step size in these passes", low=0.0)
    batch_size: int = setting(32, "films in a batch of these passes", low=1)


class FilmTraining(LoopConfig):
    """How `film` is trained; a batch is of films."""

    batch_size: int = setting(64, "films in a batch", low=1)
    dev_fraction: float = setting(
        0.1, "share of the films that choose the epoch and widen the intervals", low=0.01, high=0.4
    )
    test_fraction: float = setting(0.1, "share of the films that the figures are of", low=0.01, high=0.4)
    epochs: int = setting(150, "passes over the films, each time with other reviews of each", low=1)
    learning_rate: float = setting(2e-3, "Adam's largest step size", low=0.0)
    patience: int = setting(30, "epochs without a better dev loss before stopping", low=1)
    given: int = setting(
        64, "most reviews of a film that are given; the stars of the others are to be told", low=1, high=1024
    )
    fine_tuning: FineTuningConfig = section(FineTuningConfig(), "last stage")


# Names that are flags on the command line and keyword arguments in Python; the first path that the config has is meant
SHORT_NAMES: dict[str, tuple[str, ...]] = {
    "epochs": ("training.labels.epochs", "training.epochs"),
    "learning_rate": ("training.labels.learning_rate", "training.learning_rate"),
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
    "attention_hops": ("model.attention.hops",),
    "attention_penalty": ("model.attention.penalty",),
    "attention_dropout": ("model.attention.dropout",),
    "word_dropout": ("model.word_dropout",),
    "patience": ("training.labels.patience", "training.patience"),
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


Self = TypeVar("Self", bound="TaskConfig")


class TaskConfig(Settings):
    """A whole training of one task in one value."""

    task: ClassVar[str]

    @property
    def model(self) -> Any:
        """The settings of the network, a field of each task."""
        raise NotImplementedError

    def with_fields(self: Self, **changes: Any) -> Self:
        """Return this config with some settings changed, each by its short name (SHORT_NAMES) or its path.

        ConfigError where a name is unknown, the kind chosen has no such setting, or a value is impossible.
        """
        named = {path_of(name, dict(paths(self))): value for name, value in changes.items()}
        chosen = {path: value for path, value in named.items() if path.endswith(f".{KIND}")}
        # a kind may have other settings; whether they fit is known once all are changed
        known = dict(leaves(self.changed(chosen)))
        return self.with_settings({**chosen, **{path_of(name, known): value for name, value in changes.items()}})

    def without_dropout(self: Self) -> Self:
        return self.with_settings({path: 0.0 for path, _ in paths(self) if path.endswith("dropout")})


def path_of(name: str, known: Container[str]) -> str:
    """Return the path of a setting by its short name, one that is known if there is one; a path stays as it is."""
    if "." in name:
        return name
    if name not in SHORT_NAMES:
        raise ConfigError(f"unknown key {name!r} in config{did_you_mean(name, SHORT_NAMES)}")
    candidates = SHORT_NAMES[name]
    return next((path for path in candidates if path in known), candidates[0])


class Config(TaskConfig):
    """A whole training of the classifier in one value."""

    task: ClassVar[str] = "classify"
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
        self.model.check_sizes()
        check_scores(self.text.max_length, self.model.numbers_per_pair)

    @property
    def fixed_length(self) -> Optional[int]:
        """The only length in tokens that the network reads; None for any."""
        return self.model.fixed_length(self.text.max_length)

    def network(self, vocab_size: int, with_ngrams: bool = True) -> Any:
        """Build the HybridBlock, its parameters not yet initialized; it is trained without the table of n-grams."""
        buckets = self.text.ngram_buckets if with_ngrams else 0
        return self.model.network(vocab_size, self.text.max_length, buckets)


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

    def network(self, rows: int, vocab_size: int) -> Any:
        """Build the network; see `text.characters.Characters` for its sizes."""
        return self.model.network(rows, vocab_size, self.text.max_length)


class LanguageConfig(TaskConfig):
    """A whole training of a language model in one value."""

    task: ClassVar[str] = "language"
    text: WordsConfig = section(WordsConfig(), "how a review becomes token ids")
    model: MaskedConfig = kinds(LANGUAGE_MODELS, MaskedConfig(), "the network")
    training: LanguageTraining = section(LanguageTraining(), "how the network is trained")

    def __post_init__(self) -> None:
        check_all(self)
        self.model.check_sizes()
        check_scores(self.text.max_length, self.model.encoder.numbers_per_pair)

    def network(self, vocab_size: int) -> Any:
        """Build the HybridBlock, its parameters not yet initialized."""
        return self.model.network(vocab_size, self.text.max_length)

    def training_network(self, vocab_size: int) -> Any:
        """Build the HybridBlock that is trained, its parameters not yet initialized."""
        return self.model.training_network(vocab_size, self.text.max_length)


class FilmConfig(TaskConfig):
    """A whole training of `film` in one value."""

    task: ClassVar[str] = "film"
    model: PoolingConfig = kinds(FILM_NETWORKS, PoolingConfig(), "the network")
    training: FilmTraining = section(FilmTraining(), "how the network is trained")

    def __post_init__(self) -> None:
        check_all(self)

    def network(self, inputs: int) -> Any:
        """Build the network, its parameters not yet initialized, for reviews of so many numbers each."""
        return self.model.network(inputs)


def check_scores(max_length: int, numbers_per_pair: int) -> None:
    """Raise ConfigError where the attention scores of one review are too many."""
    scores = max_length**2 * numbers_per_pair
    if scores > MAX_SCORES:
        found = f"found {scores:,} (tokens x tokens x attention units, or layers and heads)"
        raise ConfigError(
            f"text.max_length: expected attention scores of at most {MAX_SCORES:,} numbers a review, {found}"
        )


# What a bundle can do, by the name of the task that it was trained for
TASKS: dict[str, type[TaskConfig]] = {each.task: each for each in (Config, RestoreConfig, LanguageConfig, FilmConfig)}


def field_at(path: str) -> Any:
    """Return the dataclass field of a setting, whatever kinds are chosen; for the choice of a kind, of its group."""
    item: Any = None
    classes: Iterable[Any] = TASKS.values()
    for key in path.split("."):
        item = next((each for cls in classes for each in fields(cls) if each.name == key), item)
        classes = item.metadata.get("kinds", {}).values()
    return item


def choices_at(path: str) -> Optional[tuple[str, ...]]:
    """Return the values that a setting may have, or the kinds that there are in any task; None for any value."""
    metadata = field_at(path).metadata
    if "kinds" not in metadata:
        return metadata["choices"]
    *groups, name, _ = path.split(".")
    found: dict[str, Any] = {}
    for config in (PRESETS["default"], RESTORE_PRESETS["writer"], LANGUAGE_PRESETS["transformer"]):
        group: Any = config
        for each in groups:
            group = getattr(group, each)
        found.update(next((each.metadata["kinds"] for each in fields(group) if each.name == name), {}))
    return tuple(found)


PRESETS = {
    "default": Config(),
    # the extended track: trained on the raw star reviews first
    "extended": Config().with_fields(rare_words="pieces", pretrain_epochs=6, epochs=3, learning_rate=1e-3),
    # as fastText does it (Joulin et al. 2016, arXiv:1607.01759): the average of the words' embeddings
    "average": Config().with_fields(ngram_buckets=0, encoder="none", attention="uniform", erasure_reviews=0),
    # the original article: 30 tokens, a small embedding and GRU, constant rate, no mask
    "post": Config(
        TextConfig(max_length=30, vocab_size=30000, ngram_buckets=0),
        ArticleConfig(),
        TrainingConfig(erasure=ErasureConfig(reviews=0), schedule="constant", warmup=0.0, batch_size=100, average=0.0),
    ).with_fields(epochs=6, learning_rate=1e-3),
}

RESTORE_PRESETS = {
    "editor": RestoreConfig(),
    # sequence to sequence with attention
    "writer": RestoreConfig(model=WriterConfig()),
}

LANGUAGE_PRESETS = {
    "transformer": LanguageConfig(),
    "gru": LanguageConfig(model=MaskedConfig(encoder=GRU())),
    # as ELECTRA does it: learns from every token, not from the hidden ones alone
    "replaced": LanguageConfig(model=ReplacedConfig()),
}
FILM_PRESETS = {"pooling": FilmConfig()}
# By the name of the task; the first of each is its default
TASK_PRESETS: dict[str, Mapping[str, TaskConfig]] = {
    "classify": PRESETS,
    "restore": RESTORE_PRESETS,
    "language": LANGUAGE_PRESETS,
    "film": FILM_PRESETS,
}


def preset(name: str) -> Config:
    """Return the Config called name; ConfigError with the nearest known name otherwise."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}{did_you_mean(name, PRESETS)}")
    return PRESETS[name]


def task_preset(name: Optional[str], task: str) -> TaskConfig:
    """Return the config of a task called name, None for its first one; ConfigError where it has none of that name."""
    known = TASK_PRESETS[task]
    name = name or next(iter(known))
    if name not in known:
        raise ConfigError(f"--task {task}: unknown preset {name!r}{did_you_mean(name, known)}")
    return known[name]
