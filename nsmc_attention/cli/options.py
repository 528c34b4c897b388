"""Options that several commands share, and one flag for each common setting of a training."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..config import PRESETS, SHORT_NAMES, choices_at, field_at
from ..errors import ConfigError
from ..settings import KIND, paths

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
# The sections of `train --help`: each begins at this setting of SHORT_NAMES
SECTIONS = {
    "epochs": "Common settings",
    "vocab_size": "Text",
    "encoder": "Network",
    "patience": "Stages",
    "schedule": "Optimizer and checkpoints",
}


class GroupedCommand(click.Command):
    """A command whose help lists its settings in sections."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context)
            if record:
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)


class SettingOption(click.Option):
    """A flag for a setting, in its section of the help."""

    section = ""


def settings_options(command: Decorated) -> Decorated:
    """Give a command a flag for each of SHORT_NAMES, and --set for every setting by its path."""
    values = {path: value for config in reversed(PRESETS.values()) for path, value in paths(config)}
    options, section = [], ""
    for name, (path, *_) in SHORT_NAMES.items():
        section = SECTIONS.get(name, section)
        item = field_at(path)
        about = item if item is not None else field_at(path[: -len(KIND) - 1])
        choices = choices_at(path)
        text = f"{about.metadata['help']}  [default: {values.get(path, about.default)}]"
        flag = f"--{name.replace('_', '-')}"
        option = click.option(
            flag, name, cls=SettingOption, type=click.Choice(choices) if choices else item.type, help=text
        )
        options.append((option, section))
    for option, section in reversed(options):
        command = option(command)
        command.__click_params__[-1].section = section  # type: ignore[attr-defined]
    return click.option(
        "--set",
        "paths",
        multiple=True,
        metavar="PATH=VALUE",
        help="any setting by its path, as model.encoder.kind=none",
    )(command)


def given_settings(fields: dict[str, Any], assignments: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings that flags and `--set PATH=VALUE` gave, by short name or path."""
    changes = {name: value for name, value in fields.items() if value is not None}
    for assignment in assignments:
        path, found, value = assignment.partition("=")
        if not found or "." not in path:
            raise ConfigError(f"--set {assignment}: expected PATH=VALUE, as model.encoder.hidden_size=64")
        changes[path] = value
    return changes


def path_option(*names: str, **rest: Any) -> Callable[[Decorated], Decorated]:
    return click.option(*names, type=click.Path(path_type=Path), **rest)


def together(*options: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """Return one decorator for several options, listed in this order."""

    def decorate(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


text_column_option = click.option("--text-column", default="document", show_default=True)
column_options = together(text_column_option, click.option("--label-column", default="label", show_default=True))
data_dir_option = path_option("--data-dir", help="folder of the official files")
data_options = together(
    click.option("--data", required=True, help="nsmc, sample, or a labelled csv, tsv, jsonl or parquet file"),
    data_dir_option,
    column_options,
)
device_option = click.option(
    "--device", default="auto", show_default=True, type=click.Choice(["auto", "cpu", "gpu"]), help="of MXNet"
)
bundle_options = together(
    path_option("--bundle", help="bundle folder  [default: the packaged one]"),
    click.option("--engine", default="auto", show_default=True, help="auto, onnx or gluon"),
)
engine_options = together(bundle_options, device_option)
json_option = click.option("--json", "as_json", is_flag=True, help="one JSON object")
input_format_option = click.option(
    "--input-format",
    "kind",
    type=click.Choice(["csv", "tsv", "jsonl", "parquet", "lines"]),
    help="[default: by the file's suffix; of stdin, lines]",
)
verbatim_option = click.option(
    "--verbatim", is_flag=True, help="csv, tsv: no ' before what a spreadsheet would compute"
)
