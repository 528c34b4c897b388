"""The folder of a run: its settings.json, and who may write into it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
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
    if resume:
        saved = read_settings(out)
        for key in settings:
            if settings[key] != saved.get(key):
                raise ConfigError(f"{out}: cannot resume with another {difference(key, saved.get(key), settings[key])}")
        refuse_links(out.iterdir())
    elif not vacant(out):
        raise ConfigError(f"{out}: the run folder exists; continue with --resume, or name another with --out")
    elif not out.exists():
        # tried before the work, so that a place that cannot be written to is reported at once
        out.mkdir(parents=True)
        out.rmdir()


@contextmanager
def begun_run(out: Path, settings: dict[str, Any], resume: bool, group: SingleWorker) -> Iterator[None]:
    """Write settings.json, once all workers are known to train the same from the same data.

    Worker 0 locks the folder within the `with` block: two trainings in it would use each other's checkpoints.
    """
    group.agree({**settings, "package": __version__})
    if not group.first:
        yield
        return
    out.mkdir(parents=True, exist_ok=True)
    with folder_lock(out) as alone:
        if not alone:
            raise ConfigError(
                f"{out}: another training runs in this folder; wait for its end, or name another with --out"
            )
        # again: another training may have begun and ended since the first check
        check_run(out, settings, resume)
        write_text(out / "settings.json", json.dumps(settings, ensure_ascii=False, indent=2) + "\n")
        yield


def read_settings(out: Union[str, Path]) -> dict[str, Any]:
    """Return the settings of the run in folder `out`; ConfigError if there is no run."""
    path = Path(out) / "settings.json"
    if not path.is_file():
        raise ConfigError(f"{out}: no run to resume (no settings.json); start it without --resume")
    settings = read_json(read_file(path, LARGEST, ConfigError), path, ConfigError, "JSON settings")
    if not isinstance(settings, dict):
        raise ConfigError(f"{path}: expected JSON settings, found {type(settings).__name__}; start the run again")
    return {"config": {}, **settings}
