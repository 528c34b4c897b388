"""The settings of a training as options: a flag for each common one, --set for all, and their sections of the help.

Commands that train import it; the others start without the systems.
"""

from dataclasses import Field, fields
from functools import lru_cache
from typing import Any, Optional

import click

from ..classifier.settings import PRESETS
from ..errors import ConfigError
from ..registry import systems
from ..schema import KIND, Settings, descriptions, paths
from ..training.config import FLAGS, SHORT_NAMES
from .declare import Declared, Group, option

# The sections of `train --help`: each begins at this setting of SHORT_NAMES
SECTIONS = {
    "epochs": "Common settings",
    "vocab_size": "Text",
    "encoder": "Network",
    "patience": "Stages",
    "schedule": "Optimizer",
}


@lru_cache(maxsize=None)
def fields_at(path: str) -> "list[Field[Any]]":
    """Return the fields of a setting, in every system and kind that has it; for the choice of a kind, of its group."""
    items: list[Field[Any]] = []
    classes: list[type[Settings]] = [one.layout.config for one in systems()]
    for key in path.split("."):
        items = [item for cls in classes for item in fields(cls) if item.name == key] or items
        classes = [kind for item in items for kind in item.metadata.get("kinds", {}).values()]
    return items


def choices_at(path: str) -> Optional[tuple[str, ...]]:
    """Return the values that a setting may have, or the kinds that there are in any system; None for any value."""
    items = fields_at(path)
    if "kinds" not in items[0].metadata:
        return items[0].metadata["choices"]
    return tuple(dict.fromkeys(kind for item in items for kind in item.metadata["kinds"]))


@lru_cache(maxsize=1)
def settings_options() -> Any:
    """Declare a flag for each of SHORT_NAMES, and --set for every setting by its path: together `settings`."""
    defaults = {path: value for config in reversed(PRESETS.values()) for path, value in paths(config)}
    about = "any setting by its path, for example model.encoder.kind=none"
    options: dict[str, tuple[Declared, Any]] = {
        "assignments": (option(about, "--set", multiple=True, metavar="PATH=VALUE"), tuple[str, ...])
    }
    for name, (path, *_) in SHORT_NAMES.items():
        item, known = fields_at(path)[0], choices_at(path)
        about = f"{item.metadata['help']}  [default: {defaults.get(path, item.default)}]"
        options[name] = option(about, type=click.Choice(known) if known else item.type), str
    return Group(given_settings, options)


def given_settings(assignments: tuple[str, ...], **flags: Any) -> dict[str, Any]:
    """Return the settings that flags and `--set PATH=VALUE` gave, by short name or path."""
    changes = {name: value for name, value in flags.items() if value is not None}
    for assignment in assignments:
        path, sign, value = assignment.partition("=")
        if not sign or "." not in path:
            raise ConfigError(f"--set {assignment}: expected PATH=VALUE, as model.encoder.hidden_size=64")
        changes[path] = value
    return changes


class TrainCommand(click.Command):
    """The command whose help lists settings in sections, and those that another task alone has, or has another default of."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        title = ""
        for parameter in self.get_params(context):
            title = SECTIONS.get(str(parameter.name), title) if parameter.name in SHORT_NAMES else "Options"
            if record := parameter.get_help_record(context):
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
        classify = dict(paths(PRESETS["default"]))
        for task in systems()[1:]:
            settings: dict[str, tuple[str, str]] = {}
            for config in reversed([*task.presets.values()]):
                values, about = dict(paths(config)), dict(descriptions(config))
                for path in about:
                    if path != f"model.{KIND}" and classify.get(path) != values[path]:
                        settings[path] = FLAGS.get(path, path), f"{about[path]}  [default: {values[path]}]"
            with formatter.section(f"With --task {task.name}; use --set for names with a dot"):
                formatter.write_dl([*settings.values()])
