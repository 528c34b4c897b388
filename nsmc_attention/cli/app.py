"""The command `nsmc-attention`: parse, call one function of the library, print. It composes nothing itself.

Results go to stdout, progress and messages to stderr. Exit codes: 0 done, 2 bad input or usage (one line),
1 a bug (traceback), 130 interrupted (SIGINT), 143 terminated (SIGTERM), 141 closed pipe. The
library is imported inside the commands: `--help` is instant.
"""

import os
import signal
import sys
from typing import Any, NoReturn, Optional

import click
from click.utils import PacifyFlushWrapper

from .._io.atomic import NO_ROOM
from .._runtime import signals
from ..errors import NsmcError
from ..version import __version__
from .judging import behaviour, evaluate, explain, export, faithfulness, hops
from .scoring import bulk, fill, film, predict, report, restore, serve
from .training import compare, fetch, train

# Mode, encoding and what is done about errors, whatever the locale says
WRITTEN = ("w", "utf-8", "replace")
STREAMS = {"stdin": ("r", "utf-8-sig", "strict"), "stdout": WRITTEN, "stderr": WRITTEN}
# 128 + SIGPIPE, as of other programs whose reader has gone
CLOSED_PIPE = 141


def main(arguments: Optional[list[str]] = None) -> NoReturn:
    """Run the command line; never returns."""
    for name, (mode, encoding, errors) in STREAMS.items():
        # None if the shell has closed it
        stream: Any = getattr(sys, name) or open(os.devnull, mode, encoding=encoding)
        stream.reconfigure(encoding=encoding, errors=errors)
        setattr(sys, name, stream)
    with signals.as_exceptions():
        code = run(arguments)
    sys.exit(code)


def run(arguments: Optional[list[str]] = None) -> int:
    """Run a command line and return its exit code."""
    try:
        arguments = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
        commands.main(arguments, obj=arguments, prog_name="nsmc-attention", standalone_mode=False)
        sys.stdout.flush()
    except NsmcError as problem:
        return complain(problem)
    except click.ClickException as problem:
        return complain(problem.format_message())
    except (click.Abort, KeyboardInterrupt):
        return ended(signal.SIGINT)
    except signals.Ended as problem:
        return ended(problem.code - 128)
    except (BrokenPipeError, SystemExit) as problem:
        # click turns a closed pipe into SystemExit too, and wraps stdout
        if isinstance(problem, SystemExit) and type(sys.stdout) is not PacifyFlushWrapper:
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
        return complain(f"{problem.filename}: {problem.strerror}; choose another path or free some space")
    return 0


def ended(number: int) -> int:
    print(signals.ENDINGS[signal.Signals(number)], file=sys.stderr)
    return 128 + number


def complain(message: object) -> int:
    print(f"error: {NsmcError(' '.join(str(message).split()))}", file=sys.stderr)
    return 2


class WorkflowGroup(click.Group):
    """A group whose help lists the commands in the order in which they were added."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


@click.group(cls=WorkflowGroup, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="nsmc-attention")
def commands() -> None:
    """Korean film-review sentiment with readable self-attention.

    \b
    nsmc-attention predict "정말 재미있는 영화였어요"
    nsmc-attention restore "배우들연기가 정말조앗는데"
    nsmc-attention fill "주인공의 [MASK]에 소름이 돋았다"
    nsmc-attention explain "지루하고 수준떨어지는 연출" --output heatmap.png
    nsmc-attention train --data nsmc --out runs/first
    nsmc-attention evaluate --data nsmc --bundle runs/first/bundle
    """


# in the order in which they are used
JUDGING = (evaluate, behaviour, faithfulness, hops)
ORDER = (fetch, train, compare, *JUDGING, predict, restore, fill, film, explain, report, bulk, serve, export)
for command in ORDER:
    commands.add_command(command)
