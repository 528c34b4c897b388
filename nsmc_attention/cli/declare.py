"""Commands declared by their signature: each parameter is an option, or a group of them.

    def evaluate(*, data: str = option("nsmc, sample, ...", required=True), model: Model) -> None: ...

The name, type and default of a parameter are those of the option; a parameter without a default is a group, a class
whose fields are options in the same way, of which the command gets an instance.
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
    """An option or argument that is not named yet."""

    kind: type[click.Parameter]
    flags: tuple[str, ...]
    settings: dict[str, Any]

    def parameters(self, name: str, annotation: object) -> list[click.Parameter]:
        """Return it with the name and the type of a parameter, in a list."""
        settings, flags = dict(self.settings), [*self.flags]
        (plain,) = [part for part in get_args(annotation) or (annotation,) if part not in (type(None), ...)]
        if plain is Path:
            settings["type"] = click.Path(path_type=Path, allow_dash=settings.pop("allow_dash", False))
        elif plain is bool:
            settings["is_flag"] = True
        elif plain is not str:
            settings.setdefault("type", plain)
        if self.kind is click.Option and not any(flag.startswith("--") for flag in flags):
            flags.insert(0, f"--{name.replace('_', '-')}")
        return [self.kind([*flags, name], **settings)]

    def value(self, name: str, values: dict[str, object]) -> object:
        return values[name]


class Group(NamedTuple):
    """Options of which a command gets one value: what `make` returns of theirs."""

    make: Callable[..., Any]
    options: dict[str, tuple[Any, Any]]

    def parameters(self, name: str, annotation: object) -> list[click.Parameter]:
        return [made for key, (option, kind) in self.options.items() for made in option.parameters(key, kind)]

    def value(self, name: str, values: dict[str, object]) -> object:
        return self.make(**{key: option.value(key, values) for key, (option, _) in self.options.items()})


def option(help: Optional[str] = None, *flags: str, **settings: Any) -> Any:
    """Declare an option, see `click.Option`; `flags` are short ones, and a long one where it is not the name's."""
    return Declared(click.Option, flags, {"help": help, **settings})


def argument(**settings: Any) -> Any:
    return Declared(click.Argument, (), settings)


def text_argument(hint: str, **settings: Any) -> Any:
    """Declare the argument TEXT; where it is the name of a file, what to type instead is the hint of that name."""

    def refuse_others(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            if os.path.isfile(text):
                problem = f"expected the text of a review, found the name of a file, {text}"
                raise ConfigError(f"{context.info_name}: {problem}; {hint % shlex.quote(text)}")
        return texts

    return argument(nargs=-1, callback=refuse_others, **settings)


def choices(names: Iterable[str]) -> str:
    """Return a metavar, for values that the library checks itself: it also says which one was meant."""
    return f"[{'|'.join(names)}]"


def declarations(callable_: Callable[..., Any]) -> dict[str, tuple[Union[Declared, Group], Any]]:
    """Return {name: (declaration, annotation)} of the parameters of a command or the fields of a group."""
    return {
        name: (item.default, item.annotation)
        if item.default is not Parameter.empty
        else (Group(item.annotation, declarations(item.annotation)), item.annotation)
        for name, item in signature(callable_).parameters.items()
    }


def command(
    cls: type[click.Command] = click.Command, **settings: Any
) -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that makes a function a command, whose help is its docstring."""

    def decorate(function: Callable[..., None]) -> click.Command:
        declared = declarations(function)

        @functools.wraps(function)
        def run(**values: object) -> None:
            function(**{name: option.value(name, values) for name, (option, _) in declared.items()})

        parameters = [made for name, (option, kind) in declared.items() for made in option.parameters(name, kind)]
        parameters += [click.Option(["--language"], **LANGUAGE)] * ("language" not in declared)
        return cls(function.__name__, callback=run, params=parameters, help=function.__doc__, **settings)

    return decorate
