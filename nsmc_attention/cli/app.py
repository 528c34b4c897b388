"""The command `nsmc-attention`: parse options, call the library, print.

Results go to stdout, progress and messages to stderr. Exit codes: 0 done, 2 bad input or usage (one line),
1 a bug (traceback), 130 interrupted (SIGINT) and 143 terminated (SIGTERM), both without a line, 141 closed pipe. A
command's file is imported when it is called, and the library inside the command: `--help` is instant.
"""

import atexit
import os
import re
import signal
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn, Optional

import click

from ..errors import INSTALL_TRAINING, MissingPackage, NsmcError, WrongTask, did_you_mean, requirement
from ..machine import messages
from ..machine.files import NO_ROOM, remedy
from ..machine.processes import collect_seldom
from ..registry import SYSTEMS
from ..version import __version__

# Mode, encoding and error handling of the streams, for any locale
OUTPUT = ("w", "utf-8", "replace")
STREAMS = {"stdin": ("r", "utf-8-sig", "strict"), "stdout": OUTPUT, "stderr": OUTPUT}
# {module: packages that are also needed if it is missing}
COMPANIONS = {"matplotlib": ["koreanize-matplotlib"], "PIL": ["scipy", "onnxruntime"]}
# 128 + SIGPIPE, like other programs whose reader has ended
CLOSED_PIPE = 141


def main(arguments: Optional[list[str]] = None) -> NoReturn:
    """Run the command line and exit; numpy gets one thread, because its idle threads keep the cores busy."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name, (mode, encoding, errors) in STREAMS.items():
        # a stream is None if the shell has closed it
        stream: Any = getattr(sys, name) or open(os.devnull, mode, encoding=encoding)
        stream.reconfigure(encoding=encoding, errors=errors)
        setattr(sys, name, stream)
    collect_seldom()
    code = run(arguments)
    atexit._run_exitfuncs()
    with suppress(OSError):
        sys.stdout.flush()
    # skip the interpreter's teardown, which takes 50 ms, and in which a signal would not set the exit code
    os._exit(code)


def run(arguments: Optional[list[str]] = None) -> int:
    """Run a command line and return its exit code."""
    words = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    # found before the options are parsed, which may fail
    language = re.search(r"(?m)^--language[=\n](ko|en)$", "\n".join(words))
    with messages.speaking(language and language[1]):
        try:
            commands.main(words, prog_name="nsmc-attention", standalone_mode=False)
            sys.stdout.flush()
        except (click.Abort, KeyboardInterrupt):
            return 128 + signal.SIGINT
        except BrokenPipeError:
            return CLOSED_PIPE
        except SystemExit as problem:
            # click turns a closed pipe into SystemExit, and wraps stdout
            is_closed = type(sys.stdout).__name__.endswith("PacifyFlushWrapper")
            return CLOSED_PIPE if is_closed else int(problem.code or 0)
        except Exception as problem:
            line = complaint(problem, words[0])
            if line is None:
                raise
            print(f"error: {NsmcError(' '.join(line.split()))}", file=sys.stderr)
            return 2
    return 0


def complaint(problem: Exception, command: str) -> Optional[str]:
    """Return the message for an error of the input or the machine, with advice; None for a bug."""
    if isinstance(problem, WrongTask) and problem.task in SYSTEMS:
        return f"{problem}; use it with `nsmc-attention {SYSTEMS[problem.task].command}`"
    if isinstance(problem, NsmcError):
        return str(problem)
    if isinstance(problem, click.NoSuchOption) and not problem.possibilities:
        return f"{problem.format_message()} A text that begins with a dash goes after --."
    if isinstance(problem, click.ClickException):
        return problem.format_message()
    if isinstance(problem, ModuleNotFoundError):
        return missing_package(problem, command)
    if isinstance(problem, OSError) and (problem.filename is not None or problem.errno in NO_ROOM):
        return f"{problem.filename or command}: {problem.strerror}; {remedy(problem)}"
    return None


def missing_package(problem: ModuleNotFoundError, command: str) -> Optional[str]:
    """Return the message that installs a package; None, for a bug, if it is installed or not one of ours."""
    module = (problem.name or "").partition(".")[0]
    if find_spec(module) or not requirement(module):
        return None
    if command in {**TRAINING, **EVALUATION} and command != "explain":
        return f"{command} needs {module}: {INSTALL_TRAINING}"
    return str(MissingPackage(command, module, *COMPANIONS.get(module, ())))


# {command: module}: training, evaluation, use
TRAINING = dict.fromkeys(("fetch", "train", "adapt"), "training")
EVALUATION = dict.fromkeys(("evaluate", "faithfulness", "hops", "explain", "export"), "evaluation")
COMMANDS = {
    **TRAINING,
    **EVALUATION,
    "predict": "prediction",
    "restore": "restore",
    "fill": "fill",
    "film": "film",
    "read": "read",
    **dict.fromkeys(("report", "bulk", "serve"), "apps"),
}


class WorkflowGroup(click.Group):
    """The group of COMMANDS, in their order."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command:
        if name not in COMMANDS:
            raise click.UsageError(f"No such command {name!r}{did_you_mean(name, COMMANDS)}")
        return getattr(import_module(f".{COMMANDS[name]}", __package__), name)


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
