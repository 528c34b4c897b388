"""Nested settings: immutable dataclasses, checked, written to JSON and read back.

A field may hold settings of one of several kinds (`kinds`), which are written with their kind, as `encoder: {kind: gru,
hidden_size: 128}`. Paths such as `model.encoder.hidden_size` name a setting. Tagged structs of msgspec do not serve: their
messages lack the nearest name and the value out of range, a setting with a default may be missing, and the import takes
20 ms.
"""

import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import Field, FrozenInstanceError, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Optional, TypeVar

from .errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**options: object) -> Any:
        """Do nothing at run time; type checkers use the one in `typing`, which Python has from 3.11 on."""
        return lambda cls: cls


# Upper limit of integer settings that declare none
MAX_INTEGER = 10**9
KIND = "kind"


def setting(
    default: object,
    help: str,
    choices: Optional[tuple[str, ...]] = None,
    low: Optional[float] = None,
    high: Optional[float] = None,
) -> Any:
    """Declare a setting with its help text, and its choices or its range, limits included."""
    return field(default=default, metadata={"help": help, "choices": choices, "low": low, "high": high})


def kinds(registry: Mapping[str, "type[Settings]"], default: "Settings", help: str) -> Any:
    """Declare a field that holds settings of one of the kinds in a registry."""
    return field(default=default, metadata={"help": help, "kinds": registry})


def section(default: "Settings", help: str) -> Any:
    """Declare a field that holds settings of one class."""
    return kinds({"": type(default)}, default, help)


Self = TypeVar("Self", bound="Settings")


@dataclass_transform(frozen_default=True, kw_only_default=False)
class Settings:
    """Base class of settings; each class is a dataclass whose fields all have defaults. `from_dict` inverts `to_dict`.

    The methods of a frozen dataclass are written here once: `dataclass` would compile them for each class, which would take
    most of the import time of the settings, with which every command begins.
    """

    kind: ClassVar[str] = ""
    # names in bundles of earlier versions that have no effect any more
    retired: ClassVar[tuple[str, ...]] = ()
    # settings that bundles of earlier versions lack, with their values there
    introduced: ClassVar[Mapping[str, object]] = {}
    __dataclass_fields__: ClassVar[dict[str, "Field[Any]"]]

    def __init_subclass__(cls) -> None:
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, *values: object, **named: object) -> None:
        items = {item.name: item for item in fields(self)}
        arguments = {**dict(zip(items, values)), **named}
        if len(arguments) < len(values) + len(named) or not arguments.keys() <= items.keys():
            found = [*values, *named]
            raise TypeError(f"{type(self).__name__}: expected each of {', '.join(items)} at most once, found {found}")
        vars(self).update({name: arguments.get(name, item.default) for name, item in items.items()})
        self.__post_init__()

    def __post_init__(self) -> None:
        """Raise ConfigError unless the values fit each other."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def to_dict(self) -> dict[str, Any]:
        """Return nested plain values, with `kind` if there are several kinds."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        plain = {name: value.to_dict() if isinstance(value, Settings) else value for name, value in values.items()}
        return {KIND: self.kind, **plain} if self.kind else plain

    @classmethod
    def from_dict(cls: type[Self], values: object, where: str = "") -> Self:
        """Build settings from the result of `to_dict`; ConfigError if a key is unknown or missing."""
        if not isinstance(values, dict):
            raise ConfigError(f"{where or 'config'}: expected named settings, found {type(values).__name__}")
        values = {**cls.introduced, **values}
        items = {item.name: item for item in fields(cls)}
        allowed = {*items, *cls.retired, *([KIND] if cls.kind else [])}
        for key in values:
            if key not in allowed:
                raise ConfigError(f"unknown key {key!r} in {where or 'config'}{did_you_mean(key, items)}")
        for key in items:
            if key not in values:
                raise ConfigError(f"{join(where, key)}: expected a value, found none")
        return cls(**{name: read(item, values[name], join(where, name)) for name, item in items.items()})

    def with_settings(self: Self, changes: Mapping[str, Any]) -> Self:
        """Return these settings with the values at some paths changed; a new kind begins with its defaults."""
        return self.from_dict(self.changed(changes))

    def changed(self, changes: Mapping[str, Any], where: str = "") -> dict[str, Any]:
        """Return `to_dict` of `with_settings`, without checking that the values fit each other."""
        values, items, groups = self.to_dict(), {item.name: item for item in fields(self)}, dict[str, dict[str, Any]]()
        for path, value in changes.items():
            name, _, rest = path.partition(".")
            if name not in items:
                of_kind_name = f" of the kind {self.kind}" if self.kind else ""
                hint = did_you_mean(name, items)
                raise ConfigError(f"{join(where, path)}: unknown setting {name!r}{of_kind_name}{hint}")
            if ("kinds" in items[name].metadata) != bool(rest):
                actual = (
                    "a single value, not a group of settings" if rest else "a group of settings, not a single value"
                )
                raise ConfigError(f"{join(where, path)}: {name} is {actual}")
            if rest:
                groups.setdefault(name, {})[rest] = value
            else:
                values[name] = converted(items[name], value, join(where, name))
        for name, group_changes in groups.items():
            group, path = getattr(self, name), join(where, name)
            if group.kind and KIND in group_changes:
                group = of_kind(items[name], group, group_changes.pop(KIND), path)
            values[name] = group.changed(group_changes, path)
        return values


def read(item: "Field[Any]", value: object, where: str) -> Any:
    """Return the value of one field; nested settings are built from their dicts."""
    if (registry := item.metadata.get("kinds")) is None:
        return value
    if "" in registry:
        return registry[""].from_dict(value, where)
    kind = value.get(KIND) if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in registry:
        raise ConfigError(f"{where}: expected a kind, found {kind!r}{did_you_mean(kind, registry)}")
    return registry[kind].from_dict(value, where)


def check_all(settings: Settings, where: str = "") -> None:
    """Raise ConfigError unless each value has the type and the range of its field."""
    for item in fields(settings):
        value, path = getattr(settings, item.name), join(where, item.name)
        if isinstance(value, Settings):
            check_all(value, path)
        else:
            check(path, value, item)


def check(where: str, value: Any, item: "Field[Any]") -> None:
    """Raise ConfigError unless a value has the type and the range of its field."""
    kind: Any = item.type
    if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool):
        raise ConfigError(f"{where}: expected {kind.__name__}, found {value!r}")
    choices, low, high = (item.metadata[key] for key in ("choices", "low", "high"))
    if isinstance(value, int) and high is None and value > MAX_INTEGER:
        raise ConfigError(f"{where}: expected at most {MAX_INTEGER}, found {value}")
    if choices and value not in choices:
        raise ConfigError(f"{where}: unknown value {value!r}{did_you_mean(value, choices)}")
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        span = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ConfigError(f"{where}: expected {span}, found {value}")


def converted(item: "Field[Any]", value: object, where: str) -> Any:
    """Convert a value to the type of its field if it is a text."""
    kind: Any = item.type
    try:
        return kind(value) if isinstance(value, str) else value
    except ValueError:
        raise ConfigError(f"{where}: expected {kind.__name__}, found {value!r}") from None


def of_kind(item: "Field[Any]", group: Settings, kind: str, where: str) -> Settings:
    """Return a group's settings if they are of a kind, else the defaults of that kind."""
    registry: Mapping[str, type[Settings]] = item.metadata["kinds"]
    declared: Any = item.default
    if kind not in registry:
        raise ConfigError(f"{where}.{KIND}: unknown kind {kind!r}{did_you_mean(kind, registry)}")
    if kind == group.kind:
        return group
    return declared if kind == declared.kind else registry[kind]()


def paths(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Yield (path, value) of every setting, kinds included."""
    return leaves(settings.to_dict())


def leaves(values: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, value) of every value within nested dicts."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from leaves(value, join(where, name))
        else:
            yield join(where, name), value


def descriptions(settings: Settings, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield (path, help with choices) of every setting but the outermost kind."""
    for item in fields(settings):
        value, path = getattr(settings, item.name), join(where, item.name)
        allowed = item.metadata.get("kinds") or item.metadata.get("choices")
        about = item.metadata["help"] + (f": {', '.join(allowed)}" if allowed else "")
        if isinstance(value, Settings):
            if value.kind:
                yield join(path, KIND), about
            yield from descriptions(value, path)
        else:
            yield path, about


def join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def difference(path: str, old: object, new: object) -> tuple[str, object, object]:
    """Return the path of the first value within nested dicts that differs, and both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in {**new, **old}:
            if old.get(name) != new.get(name):
                return difference(join(path, name), old.get(name), new.get(name))
    return path, old, new


# Most numbers in the attention scores of one review, a few times 512 MB of memory
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


# {flag on the command line or keyword argument: paths}; it stands for the first path that a config has
SHORT_NAMES: dict[str, list[str]] = json.loads(Path(__file__).with_name("short_names.json").read_text(encoding="utf-8"))
FLAGS = {path: f"--{name.replace('_', '-')}" for name, targets in SHORT_NAMES.items() for path in targets}


TaskT = TypeVar("TaskT", bound="TaskConfig")


class TaskConfig(Settings):
    """All settings of a training of one task."""

    task: ClassVar[str]

    def __post_init__(self) -> None:
        check_all(self)

    @property
    def model(self) -> Any:
        """The settings of the network, a field of each task."""
        raise NotImplementedError

    @property
    def graphs(self) -> dict[str, Any]:
        """The inputs and outputs of the ONNX graphs, by their files in a bundle."""
        return self.model.graphs

    def with_fields(self: TaskT, **changes: object) -> TaskT:
        """Return this config with some settings changed, each by its short name (SHORT_NAMES) or its path.

        ConfigError if a name is unknown, the chosen kind has no such setting, or a value is invalid.
        """
        by_path = {path_of(name, dict(paths(self))): value for name, value in changes.items()}
        kinds = {path: value for path, value in by_path.items() if path.endswith(f".{KIND}")}
        # another kind may have other settings; values are checked after all changes
        settings = dict(leaves(self.changed(kinds)))
        return self.with_settings({**kinds, **{path_of(name, settings): value for name, value in changes.items()}})

    def without_dropout(self: TaskT) -> TaskT:
        return self.with_settings({path: 0.0 for path, _ in paths(self) if path.endswith("dropout")})


def path_of(name: str, settings: Container[str]) -> str:
    """Return a setting's path for its short name, preferably one in `settings`; a path stays as it is."""
    if "." in name:
        return name
    if name not in SHORT_NAMES:
        raise ConfigError(f"unknown key {name!r} in config{did_you_mean(name, SHORT_NAMES)}")
    candidates = SHORT_NAMES[name]
    return next((path for path in candidates if path in settings), candidates[0])


def check_scores(max_length: int, numbers_per_pair: int) -> None:
    """Raise ConfigError if one review can have too many attention scores."""
    scores = max_length**2 * numbers_per_pair
    if scores > MAX_SCORES:
        raise ConfigError(
            f"text.max_length: expected attention scores of at most {MAX_SCORES:,} numbers a review, found {scores:,} "
            "(tokens x tokens x attention units, or layers and heads)"
        )
