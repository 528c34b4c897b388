"""Every setting of a training, its default and its meaning: the one place where a default is written.

Three frozen values (text, model, training) make a `Config`; presets are named configs. The command line
makes a flag of each field; a bundle stores the whole `Config`. Knows nothing of data or networks.
"""

from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any, Collection, Optional

from .errors import ConfigError, did_you_mean

# What a whole number may be that has no upper bound of its own: more than any training has, and no overflow
MOST = 10**9
# Numbers in the scores of one review's attention: some times 512 MB
SCORES = 2**27


def setting(
    default: Any,
    help: str,
    choices: Optional[tuple[str, ...]] = None,
    low: Optional[float] = None,
    high: Optional[float] = None,
) -> Any:
    """Declare a config field with its help text, and its choices or its closed range."""
    return field(default=default, metadata={"help": help, "choices": choices, "low": low, "high": high})


@dataclass(frozen=True)
class TextConfig:
    """How a review becomes token ids."""

    tokenizer: str = setting("mecab", "tokenizer, by name")
    vocab_size: int = setting(16000, "largest vocabulary, special tokens included", low=3)
    min_count: int = setting(2, "a token rarer than this in the training part is unknown", low=1)
    rare_words: str = setting(
        "unknown",
        "a word that the vocabulary lacks is unknown, or cut into pieces it has",
        choices=("unknown", "pieces"),
    )
    ngram_buckets: int = setting(
        2**20, "numbers that character n-grams are hashed to, 0 for no wide part", low=0, high=2**26
    )
    max_length: int = setting(256, "longest review in tokens; what is beyond is not read", low=1, high=1024)


@dataclass(frozen=True)
class ModelConfig:
    """The shape of the network."""

    architecture: str = setting(
        "masked", "masked: padding has no influence; post: the original article's model", choices=("masked", "post")
    )
    encoder: str = setting(
        "gru", "what reads the words in their order; none: each word by itself", choices=("gru", "none")
    )
    embedding_size: int = setting(128, "units of the embedding (E)", low=1, high=4096)
    hidden_size: int = setting(128, "units of the GRU in each direction (H)", low=1, high=4096)
    attention: str = setting(
        "additive",
        "scoring function of the self-attention; uniform: none, every word alike",
        choices=("additive", "dot", "scaled", "general", "multihead", "uniform"),
    )
    attention_units: int = setting(32, "units of the additive score (A)", low=1, high=512)
    attention_heads: int = setting(4, "heads of multihead attention; divides 2H", low=1)
    dropout: float = setting(0.4, "dropout after the embedding and before the last layer", low=0.0, high=0.95)
    word_dropout: float = setting(0.2, "share of the tokens whose embedding is dropped whole", low=0.0, high=0.95)
    attention_dropout: float = setting(0.0, "dropout of the attention weights", low=0.0, high=0.95)

    @property
    def width(self) -> int:
        """Units of what the attention reads: both directions of the GRU, or the embedding itself."""
        return 2 * self.hidden_size if self.encoder == "gru" else self.embedding_size

    @property
    def scores_each(self) -> int:
        """Numbers that the attention holds for each pair of tokens."""
        return {"additive": self.attention_units, "multihead": self.attention_heads}.get(self.attention, 1)


@dataclass(frozen=True)
class TrainingConfig:
    """How the network learns."""

    epochs: int = setting(5, "most passes over the training part", low=1)
    pretrain_epochs: int = setting(0, "passes over the raw star reviews before, 0 for none", low=0)
    pretrain_learning_rate: float = setting(2e-3, "Adam's step size at its highest, in these passes", low=0.0)
    batch_size: int = setting(128, "reviews in a batch", low=1)
    learning_rate: float = setting(2e-3, "Adam's step size at its highest", low=0.0)
    schedule: str = setting("cosine", "learning rate over the steps", choices=("cosine", "constant"))
    warmup: float = setting(0.05, "share of the steps in which the learning rate rises", low=0.0, high=1.0)
    clip_norm: float = setting(1.0, "largest global norm of the gradient", low=1e-9)
    average: float = setting(
        0.99, "decay of the parameters' moving average, which is what is kept; 0 for none", low=0.0, high=0.99999
    )
    erasure_reviews: int = setting(
        40000, "reviews by whose erased words the attention is taught at the end, 0 for none", low=0
    )
    erasure_epochs: int = setting(6, "passes over these", low=1)
    erasure_learning_rate: float = setting(1.5e-3, "Adam's step size at its highest, in these passes", low=0.0)
    dev_fraction: float = setting(0.05, "share of the training file kept for choosing the epoch", low=0.001, high=0.5)
    patience: int = setting(2, "epochs without a better dev loss before stopping", low=1)
    misspelt_fraction: float = setting(
        0.0, "share of the training reviews that are learned misspelt", low=0.0, high=1.0
    )
    seed: int = setting(0, "seed of everything that is drawn", low=0, high=2**31 - 1)
    checkpoint_steps: int = setting(500, "steps between two checkpoints", low=1)
    keep_checkpoints: int = setting(3, "checkpoints kept", low=1)


POST_FIXES = {
    "ngram_buckets": 0,
    "encoder": "gru",
    "attention": "additive",
    "attention_units": 30,
    "dropout": 0.3,
    "word_dropout": 0.0,
    "attention_dropout": 0.2,
    "erasure_reviews": 0,
}


@dataclass(frozen=True)
class Config:
    """A whole training in one value; `to_dict` and `from_dict` are inverse."""

    text: TextConfig = TextConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()

    def __post_init__(self) -> None:
        for name, part in self.parts().items():
            for item in fields(part):
                check(f"{name}.{item.name}", getattr(part, item.name), item)
        self.refuse_what_post_fixes()
        if self.text.ngram_buckets == 1:
            raise ConfigError("text.ngram_buckets: expected 0 or at least 2, found 1")
        heads, width = self.model.attention_heads, self.model.width
        if self.model.attention == "multihead" and width % heads:
            raise ConfigError(
                f"model.attention_heads: expected a divisor of {width}, the units of a state, found {heads}"
            )
        scores = self.text.max_length**2 * self.model.scores_each
        if scores > SCORES:
            raise ConfigError(
                f"text.max_length: expected scores of at most {SCORES:,} numbers for a review, found "
                f"{scores:,} (tokens x tokens x attention_units or attention_heads)"
            )

    def refuse_what_post_fixes(self) -> None:
        """The original article's model has no choice in these; a setting without effect would be a lie."""
        for part_name, part in self.parts().items():
            for name, value in POST_FIXES.items():
                found = getattr(part, name, value)
                if self.model.architecture == "post" and found != value:
                    raise ConfigError(f"{part_name}.{name}: the architecture post has {value!r}, found {found!r}")

    @property
    def fixed_length(self) -> Optional[int]:
        """The padded length of every batch, where the network reads reviews of one length alone."""
        return self.text.max_length if self.model.architecture == "post" else None

    def parts(self) -> dict[str, Any]:
        return {"text": self.text, "model": self.model, "training": self.training}

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Config":
        """Build a Config from nested dicts; ConfigError on an unknown key or an impossible value."""
        kinds: dict[str, Any] = {"text": TextConfig, "model": ModelConfig, "training": TrainingConfig}
        refuse_unknown(values, kinds, "config")
        parts: dict[str, Any] = {}
        for name, kind in kinds.items():
            given = values.get(name, {})
            refuse_unknown(given, [item.name for item in fields(kind)], name)
            parts[name] = kind(**given)
        return cls(**parts)

    def with_fields(self, **changes: Any) -> "Config":
        """Return this Config with some fields changed, each named without its part."""
        parts, left = {}, dict(changes)
        for name, part in self.parts().items():
            own = {item.name: left.pop(item.name) for item in fields(part) if item.name in left}
            parts[name] = replace(part, **own)
        refuse_unknown(left, all_fields(), "config")
        return Config(**parts)


def check(where: str, value: Any, item: "Field[Any]") -> None:
    """Raise ConfigError unless value has the type and lies in the range that the field declares."""
    kind: Any = item.type
    if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool):
        raise ConfigError(f"{where}: expected {kind.__name__}, found {value!r}")
    choices, low, high = (item.metadata[key] for key in ("choices", "low", "high"))
    if isinstance(value, int) and high is None and value > MOST:
        raise ConfigError(f"{where}: expected at most {MOST}, found {value}")
    if choices and value not in choices:
        raise ConfigError(f"{where}: unknown value {value!r}{did_you_mean(value, choices)}")
    if low is not None and not value >= low or high is not None and not value <= high:
        span = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ConfigError(f"{where}: expected {span}, found {value}")


def refuse_unknown(given: object, known: Collection[str], where: str) -> None:
    if not isinstance(given, dict):
        raise ConfigError(f"{where}: expected named settings, found {type(given).__name__}")
    for key in given:
        if key not in known:
            raise ConfigError(f"unknown key {key!r} in {where}{did_you_mean(key, known)}")


def difference(key: str, saved: Any, given: Any) -> str:
    """Name the innermost setting that differs: `hidden_size: the run has 64, found 128`."""
    if isinstance(saved, dict) and isinstance(given, dict):
        for name in given:
            if saved.get(name) != given[name]:
                return difference(name, saved.get(name), given[name])
    return f"{key}: the run has {saved!r}, found {given!r}"


def all_fields() -> dict[str, "Field[Any]"]:
    """Answer {field name: dataclass field} over the three parts; names are unique across them."""
    return {item.name: item for kind in (TextConfig, ModelConfig, TrainingConfig) for item in fields(kind)}


PRESETS = {
    "default": Config(),
    # Learns from the raw star reviews too: the extended track.
    "extended": Config(
        text=TextConfig(rare_words="pieces"), training=TrainingConfig(pretrain_epochs=6, epochs=3, learning_rate=1e-3)
    ),
    # As fastText does it (Joulin et al. 2016, arXiv:1607.01759): the average of the words' embeddings.
    "average": Config().with_fields(encoder="none", attention="uniform", ngram_buckets=0, erasure_reviews=0),
    # The original article: 30 tokens, embedding and GRU as small as there, constant rate, no mask.
    "post": Config().with_fields(
        **{"architecture": "post", **POST_FIXES},
        max_length=30,
        vocab_size=30000,
        embedding_size=64,
        hidden_size=64,
        schedule="constant",
        warmup=0.0,
        learning_rate=1e-3,
        batch_size=100,
        average=0.0,
        epochs=6,
    ),
}


def preset(name: str) -> Config:
    """Answer the Config called name; ConfigError with the nearest known name otherwise."""
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}{did_you_mean(name, PRESETS)}")
    return PRESETS[name]
