"""The command `nsmc-attention`: parse, call one function of the library, print. It composes nothing itself.

Results go to stdout, progress and messages to stderr. Exit codes: 0 done, 2 bad input or usage (one line),
1 a bug (traceback), 130 interrupted (SIGINT), 143 terminated (SIGTERM), 141 closed pipe. A command's
file is imported when it is called, and the library inside the command: `--help` is instant.
"""

import os
import signal
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn, Optional

import click

from .._io.atomic import NO_ROOM, remedy
from .._runtime import signals
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


def main(arguments: Optional[list[str]] = None) -> NoReturn:
    """Run the command line; never returns."""
    for name, (mode, encoding, errors) in STREAMS.items():
        # None if the shell has closed it
        stream: Any = getattr(sys, name) or open(os.devnull, mode, encoding=encoding)
        stream.reconfigure(encoding=encoding, errors=errors)
        setattr(sys, name, stream)
    collect_seldom()
    with signals.as_exceptions():
        code = run(arguments)
    sys.exit(code)


def run(arguments: Optional[list[str]] = None) -> int:
    """Run a command line and return its exit code."""
    words = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        commands.main(words, obj=words, prog_name="nsmc-attention", standalone_mode=False)
        sys.stdout.flush()
    except WrongTask as problem:
        return complain(f"{problem}{right_command(problem.task)}")
    except NsmcError as problem:
        return complain(problem)
    except ModuleNotFoundError as problem:
        module = (problem.name or "").partition(".")[0]
        # what is installed lacks a part, or is none of ours: a bug
        if find_spec(module) or not requirement(module):
            raise
        if COMMANDS.get(words[0]) in ("training", "evaluation") and words[0] != "explain":
            return complain(f"{words[0]} needs {module}: {INSTALL_TRAINING}")
        return complain(MissingPackage(words[0], module, *NEEDED_BESIDE.get(module, ())))
    except click.ClickException as problem:
        return complain(problem.format_message())
    except (click.Abort, KeyboardInterrupt):
        return ended(signal.SIGINT)
    except signals.Ended as problem:
        return ended(problem.code - 128)
    except (BrokenPipeError, SystemExit) as problem:
        # click turns a closed pipe into SystemExit too, and wraps stdout
        if isinstance(problem, SystemExit) and not type(sys.stdout).__name__.endswith(WRAPPED):
            return int(problem.code or 0)
        # so that the interpreter's own flush at exit is quiet too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except OSError as problem:
        if problem.errno in NO_ROOM and problem.filename is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return complain(f"stdout: {problem.strerror}; free some space")
        if problem.filename is None:
            raise
        return complain(f"{problem.filename}: {problem.strerror}; {remedy(problem)}")
    return 0


def right_command(task: Optional[str]) -> str:
    """Return what to do with a bundle of another task."""
    from ..registry import TASKS

    right = TASKS.get(task or "classify")
    return f"; use it with `nsmc-attention {right.command}`" if right else ""


def ended(number: int) -> int:
    print(signals.ENDINGS[signal.Signals(number)], file=sys.stderr)
    return 128 + number


def complain(message: object) -> int:
    print(f"error: {NsmcError(' '.join(str(message).split()))}", file=sys.stderr)
    return 2


# {command: the file that holds it}, in the order in which they are used
COMMANDS = {
    **dict.fromkeys(("fetch", "train", "adapt"), "training"),
    **dict.fromkeys(("evaluate", "behaviour", "faithfulness", "hops"), "evaluation"),
    **dict.fromkeys(("predict", "restore", "fill", "film", "read"), "prediction"),
    "explain": "evaluation",
    **dict.fromkeys(("report", "bulk", "serve"), "prediction"),
    "export": "evaluation",
}


class WorkflowGroup(click.Group):
    """The group of COMMANDS, in their order."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> Optional[click.Command]:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f".{COMMANDS[name]}", __package__), name)
        return command


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


@click.group(cls=WorkflowGroup, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="nsmc-attention")
def commands() -> None:
    """Korean film-review sentiment with readable self-attention.

    \b
    nsmc-attention predict "정말 재미있는 영화였어요"
    nsmc-attention restore "배우들연기가 정말조앗는데"
    nsmc-attention fill "주인공의 [MASK]에 소름이 돋았다"
    nsmc-attention read screenshot.png --predict
    nsmc-attention explain "지루하고 수준떨어지는 연출" --output heatmap.png
    nsmc-attention train --data nsmc --out runs/first
    nsmc-attention evaluate --data nsmc --bundle runs/first/bundle
    """
