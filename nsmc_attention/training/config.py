"""The settings of a whole training in one value, and the presets.

The command line has a flag for each setting of SHORT_NAMES and `--set PATH=VALUE` for all; a bundle stores the whole.
"""

import json
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ..errors import ConfigError, did_you_mean
from ..schema import KIND, Settings, check_all, leaves, paths, setting

if TYPE_CHECKING:
    from ..network.graphs import Graphs

# Numbers in the attention scores of one review: a few times 512 MB of memory
MAX_SCORES = 2**27


class LoopConfig(Settings):
    """Settings of every training, see `training.loop`."""

    retired: ClassVar[tuple[str, ...]] = ("checkpoint_steps", "keep_checkpoints")
    batch_size: int = setting(128, "reviews in a batch", low=1)
    schedule: str = setting("cosine", "learning rate over the steps", choices=("cosine", "constant"))
    warmup: float = setting(0.05, "share of the steps in which the learning rate rises", low=0.0, high=1.0)
    clip_norm: float = setting(1.0, "largest global norm of the gradient", low=1e-9)
    average: float = setting(0.99, "decay of the kept moving average of the parameters; 0: none", low=0.0, high=0.99999)
    dev_fraction: float = setting(0.05, "share of the training file held out to choose the epoch", low=0.001, high=0.5)
    seed: int = setting(0, "seed of all random numbers", low=0, high=2**31 - 1)


# Names that are flags on the command line and keyword arguments in Python; the first path that the config has is meant
SHORT_NAMES: dict[str, list[str]] = json.loads(Path(__file__).with_name("short_names.json").read_text(encoding="utf-8"))
FLAGS = {path: f"--{name.replace('_', '-')}" for name, known in SHORT_NAMES.items() for path in known}


Self = TypeVar("Self", bound="TaskConfig")


class TaskConfig(Settings):
    """A whole training of one task in one value."""

    task: ClassVar[str]

    def __post_init__(self) -> None:
        check_all(self)

    @property
    def model(self) -> Any:
        """The settings of the network, a field of each task."""
        raise NotImplementedError

    @property
    def graphs(self) -> "Graphs":
        """The inputs and outputs of its ONNX graphs, by the names of their files in a bundle."""
        raise NotImplementedError

    def with_fields(self: Self, **changes: object) -> Self:
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


def check_scores(max_length: int, numbers_per_pair: int) -> None:
    """Raise ConfigError where the attention scores of one review are too many."""
    scores = max_length**2 * numbers_per_pair
    if scores > MAX_SCORES:
        raise ConfigError(
            f"text.max_length: expected attention scores of at most {MAX_SCORES:,} numbers a review, found {scores:,} "
            "(tokens x tokens x attention units, or layers and heads)"
        )
