"""Commands declared by their signature: each parameter is an option, or a group of them.

    def evaluate(*, data: str = option("nsmc, sample, ...", required=True), model: Model) -> None: ...

An option has the name, type and default of its parameter. A parameter without a default is a group, a class whose fields
are options in the same way; the command gets an instance of it.
"""

import functools
import os
import shlex
from collections.abc import Callable, Iterable
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union, get_args

import click

from ..errors import ConfigError
from ..machine.messages import LANGUAGES

# Read by `app.run`, before the options are parsed
LANGUAGE: Any = {"type": click.Choice(LANGUAGES), "expose_value": False, "help": "of messages  [default: the locale's]"}


class Declared(NamedTuple):
    """An option or argument without its name."""

    kind: type[click.Parameter]
    flags: tuple[str, ...]
    settings: dict[str, Any]

    def parameters(self, name: str, annotation: object) -> list[click.Parameter]:
        """Return the click parameter with the name and type of a function's parameter, in a list."""
        settings, flags = dict(self.settings), [*self.flags]
        (python_type,) = [kind for kind in get_args(annotation) or (annotation,) if kind not in (type(None), ...)]
        if python_type is Path:
            settings["type"] = click.Path(path_type=Path, allow_dash=settings.pop("allow_dash", False))
        elif python_type is bool:
            settings["is_flag"] = True
        elif python_type is not str:
            settings.setdefault("type", python_type)
        if self.kind is click.Option and not any(flag.startswith("--") for flag in flags):
            flags.insert(0, f"--{name.replace('_', '-')}")
        return [self.kind([*flags, name], **settings)]

    def value(self, name: str, values: dict[str, object]) -> object:
        return values[name]


class Group(NamedTuple):
    """Options that a command gets as one value, the result of `make`."""

    make: Callable[..., Any]
    options: dict[str, tuple[Any, Any]]

    def parameters(self, name: str, annotation: object) -> list[click.Parameter]:
        return [parameter for key, (option, kind) in self.options.items() for parameter in option.parameters(key, kind)]

    def value(self, name: str, values: dict[str, object]) -> object:
        return self.make(**{key: option.value(key, values) for key, (option, _) in self.options.items()})


def option(help: Optional[str] = None, *flags: str, **settings: Any) -> Any:
    """Declare an option, see `click.Option`; `flags` are short flags, and a long flag that differs from the name."""
    return Declared(click.Option, flags, {"help": help, **settings})


def argument(**settings: Any) -> Any:
    return Declared(click.Argument, (), settings)


def text_argument(hint: str, **settings: Any) -> Any:
    """Declare the argument TEXT, which refuses the name of a file with a hint (a template of the name)."""

    def refuse_files(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            if os.path.isfile(text):
                problem = f"expected the text of a review, found the name of a file, {text}"
                raise ConfigError(f"{context.info_name}: {problem}; {hint % shlex.quote(text)}")
        return texts

    return argument(nargs=-1, callback=refuse_files, **settings)


def choices(names: Iterable[str]) -> str:
    """Return a metavar for values that the library checks, which also suggests the closest value."""
    return f"[{'|'.join(names)}]"


def declarations(callable_: Callable[..., Any]) -> dict[str, tuple[Union[Declared, Group], Any]]:
    """Return {name: (declaration, annotation)} of a command's parameters or a group's fields."""
    return {
        name: (item.default, item.annotation)
        if item.default is not Parameter.empty
        else (Group(item.annotation, declarations(item.annotation)), item.annotation)
        for name, item in signature(callable_).parameters.items()
    }


def command(
    cls: type[click.Command] = click.Command, **settings: Any
) -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that turns a function into a command, with its docstring as help."""

    def decorate(function: Callable[..., None]) -> click.Command:
        declared = declarations(function)

        @functools.wraps(function)
        def run(**values: object) -> None:
            function(**{name: option.value(name, values) for name, (option, _) in declared.items()})

        parameters = [item for name, (option, kind) in declared.items() for item in option.parameters(name, kind)]
        parameters += [click.Option(["--language"], **LANGUAGE)] * ("language" not in declared)
        return cls(function.__name__, callback=run, params=parameters, help=function.__doc__, **settings)

    return decorate
