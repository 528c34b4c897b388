"""A classifier's training as a list of stages: tokenized reviews in, a calibrated network out.

    stars -> labels -> table of n-grams, calibrated on the dev part -> attention taught by erasure, calibrated again

Each stage has a folder with its checkpoints and is trained once; `recipe` brings the reviews and writes the bundle.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

from .._io.atomic import write_text
from .._runtime.progress import progress_bar
from .checkpoint import Checkpoints, Progress
from .loop import Stage, fit


def run_stage(
    network: Any, stage: Stage, training: Any, folder: Path, draw: Callable[[Progress, Stage, Path], None], quiet: bool
) -> Progress:
    """Train a stage with checkpoints, history and curves in its folder; if that is done, load its result."""
    group = stage.objective.group
    checkpoints = Checkpoints(folder, training.keep_checkpoints, group)
    if not group.first:
        return fit(network, stage, training, checkpoints, lambda *progress: None)
    folder.mkdir(exist_ok=True)
    report = Reporter(folder, stage, quiet)
    with report.bar:
        progress = fit(network, stage, training, checkpoints, report)
        # again: a run that was killed right after its last checkpoint has not written it
        report.write(progress.history)
    draw(progress, stage, folder)
    return progress


class Reporter:
    """Shows progress on stderr and writes history.jsonl after each epoch."""

    def __init__(self, folder: Path, stage: Stage, quiet: bool):
        self.path, self.metric = folder / "history.jsonl", f"dev_{stage.objective.metric}"
        total = stage.epochs * len(stage.batches)
        self.bar = progress_bar(shown=not quiet, total=total, desc=stage.name, unit="step")

    def __call__(self, progress: Progress, record: Optional[dict[str, float]] = None) -> None:
        self.bar.update(progress.step - self.bar.n)
        if record is None:
            self.bar.set_postfix_str(f"loss {progress.loss_sum / progress.batch:.3f}", refresh=False)
            return
        self.write(progress.history)
        if not self.bar.disable:
            others = [name for name in record if name.startswith("dev_") and name != self.metric]
            shown = ["train_loss", self.metric, *others[:1]]
            figures = ", ".join(f"{name.replace('_', ' ')} {record[name]:.4f}" for name in shown)
            self.bar.write(f"epoch {record['epoch']}: {figures}, {record['seconds']:.0f} s", file=sys.stderr)

    def write(self, history: list[dict[str, float]]) -> None:
        write_text(self.path, "".join(json.dumps(each) + "\n" for each in history))
