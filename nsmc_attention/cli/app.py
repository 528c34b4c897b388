"""The command `nsmc-attention`: parse, call one function of the library, print. It composes nothing itself.

Results go to stdout, progress and messages to stderr. Exit codes: 0 done, 2 bad input or usage (one line),
1 a bug (traceback), 130 interrupted (SIGINT) and 143 terminated (SIGTERM), both without a line, 141 closed pipe. A
command's file is imported when it is called, and the library inside the command: `--help` is instant.
"""

import atexit
import io
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, NoReturn, Optional

import click

from .. import registry
from .._io.atomic import NO_ROOM, remedy
from .._runtime import messages
from .._runtime.processes import collect_seldom
from ..errors import INSTALL_TRAINING, MissingPackage, NsmcError, WrongTask, requirement
from ..version import __version__

# Mode, encoding and what is done about errors, whatever the locale says
WRITTEN = ("w", "utf-8", "replace")
STREAMS = {"stdin": ("r", "utf-8-sig", "strict"), "stdout": WRITTEN, "stderr": WRITTEN}
# {module: what is missing where it is, too, and needed with it}
NEEDED_BESIDE = {"matplotlib": ["koreanize-matplotlib"], "PIL": ["scipy", "onnxruntime"]}
# 128 + SIGPIPE, as of other programs whose reader has gone
CLOSED_PIPE = 141
# The end of what click calls the class of a stdout whose reader has gone
WRAPPED = "PacifyFlushWrapper"


class Stderr(io.FileIO):
    """Standard error, on which a line that does not fit changes no exit code."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as problem:
            if problem.errno not in NO_ROOM:
                raise
            return len(content)


def main(arguments: Optional[list[str]] = None) -> NoReturn:
    """Run the command line; never returns."""
    for name, (mode, encoding, errors) in STREAMS.items():
        # None if the shell has closed it
        stream: Any = getattr(sys, name) or open(os.devnull, mode, encoding=encoding)
        stream.reconfigure(encoding=encoding, errors=errors)
        setattr(sys, name, stream)
    if sys.__stderr__:
        lines: Any = io.BufferedWriter(Stderr(2, "wb", closefd=False))
        sys.stderr = io.TextIOWrapper(lines, *WRITTEN[1:], line_buffering=True)
    collect_seldom()
    code = run(arguments)
    atexit._run_exitfuncs()
    with suppress(OSError):
        sys.stdout.flush()
    # without the interpreter's teardown, which takes 50 ms, and in which a signal would not be an exit code
    os._exit(code)


def run(arguments: Optional[list[str]] = None) -> int:
    """Run a command line and return its exit code."""
    words = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    # before the options are parsed, which may fail
    chosen = re.search(r"(?m)^--language[=\n](ko|en)$", "\n".join(words))
    with messages.speaking(chosen and chosen[1]):
        try:
            commands.main(words, obj=words, prog_name="nsmc-attention", standalone_mode=False)
            sys.stdout.flush()
        except BaseException as problem:
            code = next((end(problem, words[0]) for kinds, end in ENDINGS.items() if isinstance(problem, kinds)), None)
            if code is not None:
                return code
            raise
    return 0


def complain(problem: object, command: str = "") -> int:
    print(f"error: {NsmcError(' '.join(str(problem).split()))}", file=sys.stderr)
    return 2


def of_another_task(problem: Any, command: str) -> int:
    """Say with which command a bundle can be used."""
    known = problem.task in registry.SYSTEMS
    right = f"; use it with `nsmc-attention {registry.system(problem.task).command}`" if known else ""
    return complain(f"{problem}{right}")


def missing_package(problem: Any, command: str) -> Optional[int]:
    """Say what installs a package; None where what is installed lacks a part, or is none of ours: a bug."""
    module = (problem.name or "").partition(".")[0]
    if find_spec(module) or not requirement(module):
        return None
    if command in {**TRAINING, **EVALUATION} and command != "explain":
        return complain(f"{command} needs {module}: {INSTALL_TRAINING}")
    return complain(MissingPackage(command, module, *NEEDED_BESIDE.get(module, ())))


def exited(problem: Any, command: str) -> int:
    # click turns a closed pipe into SystemExit, and wraps stdout
    return CLOSED_PIPE if type(sys.stdout).__name__.endswith(WRAPPED) else int(problem.code or 0)


def system_error(problem: Any, command: str) -> Optional[int]:
    """Say what a file, a full disk or the limit of open files refused; None for another problem that names no file."""
    if problem.filename is None and problem.errno not in NO_ROOM:
        return None
    return complain(f"{problem.filename or command}: {problem.strerror}; {remedy(problem)}")


# {kinds of exceptions: what ends the command, (problem, command) -> exit code, or None for a bug}, the first that fits
ENDINGS: dict[Any, Callable[[Any, str], Optional[int]]] = {
    WrongTask: of_another_task,
    NsmcError: complain,
    ModuleNotFoundError: missing_package,
    click.ClickException: lambda problem, command: complain(problem.format_message()),
    (click.Abort, KeyboardInterrupt): lambda problem, command: 128 + signal.SIGINT,
    BrokenPipeError: lambda problem, command: CLOSED_PIPE,
    SystemExit: exited,
    OSError: system_error,
}


# {command: the module that holds it}, in the order in which they are used
TRAINING = dict.fromkeys(("fetch", "train", "adapt"), "cli.training")
EVALUATION = dict.fromkeys(("evaluate", "faithfulness", "hops", "explain", "export"), "cli.evaluation")
COMMANDS = {
    **TRAINING,
    **{name: EVALUATION[name] for name in ("evaluate", "faithfulness", "hops")},
    "predict": "cli.prediction",
    **registry.commands(registry.WINGS[: -len(registry.APPS)]),
    "explain": EVALUATION["explain"],
    **registry.commands(registry.APPS),
    "export": EVALUATION["export"],
}


class WorkflowGroup(click.Group):
    """The group of COMMANDS, in their order."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> Optional[click.Command]:
        return getattr(registry.module(COMMANDS[name]), name) if name in COMMANDS else None


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


@click.group(cls=WorkflowGroup, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="nsmc-attention")
def commands() -> None:
    """Classify Korean film reviews, and explain the predictions with attention and contributions.

    \b
    nsmc-attention predict "정말 재미있는 영화였어요"
    nsmc-attention restore "배우들연기가 정말조앗는데"
    nsmc-attention fill "주인공의 [MASK]에 소름이 돋았다"
    nsmc-attention read screenshot.png --predict
    nsmc-attention explain "지루하고 수준떨어지는 연출" --output heatmap.png
    nsmc-attention train --data nsmc --out runs/first
    nsmc-attention evaluate --data nsmc --bundle runs/first/bundle
    """
