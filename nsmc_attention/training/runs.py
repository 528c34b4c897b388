"""The run of a training, the same for every task: its folder, its stages, and its bundle.

    settings -> check -> (read, tokenize) -> begin: fit, fit, ... -> write: bundle/, loaded back

The folder has settings.json, history.jsonl, curves.png and checkpoints of each stage, and at the end bundle/.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, TypeVar, Union

from ..bundle import CARD, PARAMETERS, Bundle, Layout, Manifest, load_bundle, model_card, write_bundle
from ..errors import ConfigError
from ..machine.aliases import Device, Network, Record
from ..machine.files import read_json, vacant, write_text
from ..machine.mxnet_shim import choose_device
from ..machine.progress import progress_bar
from ..measure.metrics import FEW_DEV
from ..schema import LoopConfig, TaskConfig, difference
from .checkpoint import Checkpoint, Progress
from .stage import Stage

ConfigT = TypeVar("ConfigT", bound=TaskConfig)
CodecT = TypeVar("CodecT")


@dataclass(frozen=True)
class Run:
    """A training's folder `out`, and its device "auto", "cpu" or "gpu"."""

    out: Path
    resume: bool = False
    device: str = "auto"
    quiet: bool = False

    @property
    def context(self) -> Device:
        """The MXNet context of the device."""
        return choose_device(self.device)

    def say(self, message: str) -> None:
        if not self.quiet:
            print(message, file=sys.stderr)

    def say_settings(self, settings: str) -> None:
        self.say(f"settings: {settings}; {'continuing' if self.resume else 'writing'} in {self.out}")

    def check(self, settings: Record) -> None:
        """Refuse a folder that is in use or, when resuming, one with other settings."""
        out = self.out
        if self.resume:
            saved = read_settings(out)
            for key in settings:
                if settings[key] != saved.get(key):
                    path, old, new = difference(key, saved.get(key), settings[key])
                    other = f"another {path}: the run has {old!r}, found {new!r}"
                    raise ConfigError(f"{out}: cannot resume with {other}; give the run's, or begin another with --out")
        elif not vacant(out):
            # a run without settings cannot be resumed
            advice = "continue with --resume, or name another with --out" if settings else "name another with --out"
            raise ConfigError(f"{out}: the run folder exists; {advice}")
        elif not out.exists():
            # report a folder that cannot be written before the work
            out.mkdir(parents=True)
            out.rmdir()

    def begin(self, settings: Record) -> None:
        """Create the folder with its settings.json."""
        # check again: another training may have begun since
        self.check(settings)
        self.out.mkdir(parents=True, exist_ok=True)
        write_text(self.out / "settings.json", json.dumps(settings, ensure_ascii=False, indent=2) + "\n")

    def fit(self, network: Network, stage: Stage, settings: LoopConfig, folder: str = ".") -> Progress:
        """Train a stage with checkpoints, history and curves in its folder, or load the result of a finished one."""
        from ..drawing.figure import draw_curves, save_figure
        from .loop import fit

        path = self.out / folder
        path.mkdir(parents=True, exist_ok=True)
        report = Reporter(path, stage, self.quiet)
        with report.bar:
            progress = fit(network, stage, settings, Checkpoint(path), report)
            # write again: a run killed right after its last checkpoint has not written it
            report.write(progress.history)
        save_figure(draw_curves(progress, report.metric), path / "curves.png")
        return progress

    def write(
        self, layout: Layout[ConfigT, CodecT], manifest: Manifest, contents: dict[str, bytes]
    ) -> Bundle[ConfigT, CodecT]:
        """Write the bundle and load it back, which verifies it."""
        folder = self.out / "bundle"
        write_bundle(folder, manifest, {**contents, CARD: model_card(layout, manifest).encode(errors="replace")})
        return load_bundle(folder, layout)


class Reporter:
    """Shows progress on stderr and writes history.jsonl after each epoch."""

    def __init__(self, folder: Path, stage: Stage, quiet: bool):
        self.path, self.metric = folder / "history.jsonl", f"dev_{stage.objective.metric}"
        total = stage.epochs * len(stage.batches)
        self.quiet = quiet
        self.bar = progress_bar(shown=False if quiet else None, total=total, desc=stage.name, unit="step")

    def __call__(self, progress: Progress, record: Optional[dict[str, float]] = None) -> None:
        self.bar.update(progress.step - self.bar.n)
        if record is None:
            self.bar.set_postfix_str(f"loss {progress.train_loss:.3f}", refresh=False)
            return
        self.write(progress.history)
        if not self.quiet:
            others = [name for name in record if name.startswith("dev_") and name != self.metric]
            names = ["train_loss", self.metric, *others[:1]]
            figures = ", ".join(f"{name.replace('_', ' ')} {record[name]:.4f}" for name in names)
            self.bar.write(f"epoch {record['epoch']}: {figures}, {record['seconds']:.0f} s", file=sys.stderr)

    def write(self, history: list[dict[str, float]]) -> None:
        write_text(self.path, "".join(json.dumps(record) + "\n" for record in history))


def read_settings(out: Union[str, Path]) -> Record:
    """Return the settings of the run in folder `out`; ConfigError if there is no run."""
    path = Path(out) / "settings.json"
    if not path.is_file():
        raise ConfigError(f"{out}: no run to resume (no settings.json); start it without --resume")
    saved = read_json(path.read_bytes(), path, ConfigError, "JSON settings")
    if not isinstance(saved, dict):
        raise ConfigError(f"{path}: expected JSON settings, found {type(saved).__name__}; name another --out")
    return {"config": {}, **saved}


def network_files(network: Network, config: TaskConfig) -> dict[str, bytes]:
    """Return {file: bytes} of a trained network for its bundle: the parameters and the graphs."""
    from safetensors.numpy import save

    from ..engines.onnx.graph import lower, with_parameters_in
    from ..network.parameters import all_stored

    parameters, graphs = save(all_stored(network)), lower(network, config.graphs)
    graphs = {name: with_parameters_in(PARAMETERS, graph, parameters) for name, graph in graphs.items()}
    return {PARAMETERS: parameters, **graphs}


def warn_if_small(count: int, noun: str, name: str = "", share: float = 0.0, other: str = "") -> None:
    """Warn on stderr if a dev part has fewer than FEW_DEV items, with the interval of its `share`, called `name`."""
    if count >= FEW_DEV:
        return
    problem = "its figures say little"
    if name:
        from ..measure.metrics import share_interval

        low, high = share_interval(share, count)
        problem = f"the {name} may be anything from {100 * low:.0f} to {100 * high:.0f} %"
    warn(f"the dev part is {count} {noun}{'s' * (count != 1)}: {problem}; train on more{other}")


def warn(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr)
