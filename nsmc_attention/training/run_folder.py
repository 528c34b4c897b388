"""The folder of a run: its settings.json, and who may write into it."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Union

from .._io.atomic import folder_lock, refuse_links, vacant, write_text
from .._io.bounded import read_file, read_json
from ..errors import ConfigError
from ..settings import difference
from ..version import __version__
from .distributed.communicator import SingleWorker

# Largest settings.json in bytes; those of a run have 2,000
LARGEST = 2**20


def check_run(out: Path, settings: dict[str, Any], resume: bool) -> None:
    """Refuse a run folder that is in use or, when resuming, one with other settings or links in it."""
    if not resume:
        require_vacant(out)
        if not out.exists():
            # tried before the work, so that a place that cannot be written to is reported at once
            out.mkdir(parents=True)
            out.rmdir()
        return
    require_same_settings(out, settings)
    refuse_links(out.iterdir())
    with folder_lock(out) as alone:
        require_alone(out, alone)


def begin_run(out: Path, settings: dict[str, Any], resume: bool, group: SingleWorker, stack: ExitStack) -> None:
    """Write settings.json, once all workers are known to train the same from the same data.

    Worker 0, the only one that writes, locks the folder until the stack ends: two trainings in one folder would use
    each other's checkpoints.
    """
    group.agree({**settings, "package": __version__})
    if not group.first:
        return
    if resume:
        require_same_settings(out, settings)
    out.mkdir(parents=True, exist_ok=True)
    require_alone(out, stack.enter_context(folder_lock(out)))
    if not resume:
        # another training may have begun and ended since the first check
        require_vacant(out)
    write_text(out / "settings.json", json.dumps(settings, ensure_ascii=False, indent=2) + "\n")


def read_settings(out: Union[str, Path]) -> dict[str, Any]:
    """Return the settings of the run in folder `out`; ConfigError if there is no run."""
    path = Path(out) / "settings.json"
    if not path.is_file():
        raise ConfigError(f"{out}: no run to resume (no settings.json); start it without --resume")
    settings = read_json(read_file(path, LARGEST, ConfigError), path, ConfigError, "JSON settings")
    if not isinstance(settings, dict):
        raise ConfigError(f"{path}: expected JSON settings, found {type(settings).__name__}; start the run again")
    return {"config": {}, **settings}


def require_same_settings(out: Path, settings: dict[str, Any]) -> None:
    """Refuse to resume a run that began with other settings or other data."""
    saved = read_settings(out)
    for key in settings:
        if settings[key] != saved.get(key):
            raise ConfigError(f"{out}: cannot resume with another {difference(key, saved.get(key), settings[key])}")


def require_vacant(out: Path) -> None:
    if not vacant(out):
        raise ConfigError(f"{out}: the run folder exists; continue with --resume, or name another with --out")


def require_alone(out: Path, alone: bool) -> None:
    if not alone:
        raise ConfigError(f"{out}: another training runs in this folder; wait for its end, or name another with --out")
