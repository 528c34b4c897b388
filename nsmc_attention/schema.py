"""Nested settings: immutable dataclasses, checked, written to JSON and read back.

A field may hold settings of one of several kinds (`kinds`), which are written with their tag, as
`encoder: {kind: gru, hidden_size: 128}`. Paths such as `model.encoder.hidden_size` name a setting. Tagged structs of msgspec
were tried: their messages lack the nearest name and a value out of range, a setting with a default may be missing, and the
import takes 20 ms.
"""

from collections.abc import Iterator, Mapping
from dataclasses import Field, FrozenInstanceError, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Optional, TypeVar

from .errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**options: object) -> Any:
        """Mark nothing: in `typing` from Python 3.11 on, and for type checkers alone."""
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
    """Declare a setting with its help text, and its choices or its closed range."""
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
    """Base of all settings; each class is a dataclass whose fields all have defaults. `to_dict` and `from_dict` are inverse.

    The methods of a frozen dataclass are written here once: to let `dataclass` write and compile them for each class would
    take most of the time of importing the settings, with which every command begins.
    """

    kind: ClassVar[str] = ""
    # names that bundles of earlier versions have, without effect
    retired: ClassVar[tuple[str, ...]] = ()
    # settings that bundles of earlier versions lack, with the values that these had
    introduced: ClassVar[Mapping[str, object]] = {}
    __dataclass_fields__: ClassVar[dict[str, "Field[Any]"]]

    def __init_subclass__(cls) -> None:
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, *values: object, **named: object) -> None:
        items = {item.name: item for item in fields(self)}
        given = {**dict(zip(items, values)), **named}
        if len(given) < len(values) + len(named) or not given.keys() <= items.keys():
            both = [*values, *named]
            raise TypeError(f"{type(self).__name__}: expected each of {', '.join(items)} at most once, found {both}")
        vars(self).update({name: given.get(name, item.default) for name, item in items.items()})
        self.__post_init__()

    def __post_init__(self) -> None:
        """Raise ConfigError where the values do not fit each other."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def to_dict(self) -> dict[str, Any]:
        """Return nested plain values, with `kind` where there are several kinds."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        plain = {name: value.to_dict() if isinstance(value, Settings) else value for name, value in values.items()}
        return {KIND: self.kind, **plain} if self.kind else plain

    @classmethod
    def from_dict(cls: type[Self], values: object, where: str = "") -> Self:
        """Build settings from what `to_dict` returned; ConfigError where a key is unknown or missing."""
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

    def changed(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return what `to_dict` would after `with_settings`, whether the values fit each other or not."""
        values = self.to_dict()
        # a kind first: the other changes are to settings of the new one
        for path in sorted(changes, key=lambda path: (path.split(".")[-1] != KIND, path.count("."))):
            change(type(self), values, path, changes[path])
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
    """Raise ConfigError unless every value has the type and the range that its field declares."""
    for item in fields(settings):
        value, path = getattr(settings, item.name), join(where, item.name)
        if isinstance(value, Settings):
            check_all(value, path)
        else:
            check(path, value, item)


def check(where: str, value: Any, item: "Field[Any]") -> None:
    """Raise ConfigError unless a value has the type and lies in the range that the field declares."""
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


def change(cls: type[Settings], values: dict[str, Any], path: str, value: Any) -> None:
    """Set the value, or its text, at a path within nested dicts of settings of `cls`."""
    *sections, name = path.split(".")
    registry: Mapping[str, type[Settings]] = {}
    for key in sections:
        declared = known_field(cls, key, path, registry)
        if not (registry := declared.metadata.get("kinds", {})):
            raise ConfigError(f"{path}: {key} is a single value, not a group of settings")
        parent, group, values = values, key, values[key]
        cls = registry[values.get(KIND, "")]
    if name == KIND and cls.kind:
        if value not in registry:
            raise ConfigError(f"{path}: unknown kind {value!r}{did_you_mean(value, registry)}")
        if value != cls.kind:
            parent[group] = {**registry[value]().to_dict(), **own_defaults(declared.default, registry[value]())}
        return
    item = known_field(cls, name, path, registry)
    if "kinds" in item.metadata:
        raise ConfigError(f"{path}: is a group of settings; expected one of {path}.{', '.join(values[name])}")
    kind: Any = item.type
    try:
        values[name] = kind(value) if isinstance(value, str) else value
    except ValueError:
        raise ConfigError(f"{path}: expected {kind.__name__}, found {value!r}") from None


def own_defaults(declared: Any, other: Settings) -> dict[str, Any]:
    """Return what a field declares of its default unlike others of that kind, for a kind derived from it."""
    usual = vars(type(declared)() if isinstance(other, type(declared)) else declared)
    return {name: value for name, value in vars(declared).items() if value != usual[name]}


def known_field(cls: type[Settings], name: str, path: str, registry: Mapping[str, type[Settings]]) -> "Field[Any]":
    """Return a field of one of the kinds in a registry; ConfigError, which names a kind that has it, if this has none."""
    names = {item.name: item for item in fields(cls)}
    if name not in names:
        of_kind = f" of the kind {cls.kind}" if cls.kind else ""
        others = [kind for kind, other in registry.items() if name in other.__dataclass_fields__]
        where = path.partition(f".{name}")[0]
        advice = f"; give --set {where}.{KIND}={others[0]}" if others else did_you_mean(name, names)
        raise ConfigError(f"{path}: unknown setting {name!r}{of_kind}{advice}")
    return names[name]


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
    """Yield (path, what it is and may be) of every setting but the outermost kind."""
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


def difference(path: str, saved: object, wanted: object) -> tuple[str, object, object]:
    """Return the path of the first value within nested dicts that differs, and both values."""
    if isinstance(saved, dict) and isinstance(wanted, dict):
        for name in {**wanted, **saved}:
            if saved.get(name) != wanted.get(name):
                return difference(join(path, name), saved.get(name), wanted.get(name))
    return path, saved, wanted
