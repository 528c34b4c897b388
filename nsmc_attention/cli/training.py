"""Commands that get data and train: fetch, train, adapt."""

import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Optional

import click

from .._runtime.signals import Ended
from ..errors import ConfigError
from ..registry import TASKS
from ..reviews.data import Labelled
from .declare import argument, choices, command, option
from .options import BUNDLE, DEVICE, Films, labelled, labelled_table, refuse
from .settings import TrainCommand, settings_options


@command()
def fetch(
    *,
    corpus: str = argument(type=click.Choice(["nsmc", "raw"])),
    data_dir: Optional[Path] = option(
        "where to  [default: where it is already ($NSMC_ATTENTION_DATA), else the cache folder]"
    ),
) -> None:
    """Download a corpus and print its path.

    nsmc: the official files, verified by sha256. raw: the archive with all star reviews (47 MB and more), which
    the preset `extended` is trained on.
    """
    from ..reviews import nsmc, raw

    paths = [raw.find(data_dir)] if corpus == "raw" else [nsmc.find(part, data_dir) for part in nsmc.FILES]
    print(*paths, sep="\n")


@command(TrainCommand)
def train(
    *,
    reviews: Labelled = labelled("; of other tasks, any of these without labels, or txt", required=True),
    valid: Optional[Path] = option("labelled file to choose the epoch by"),
    task: Optional[str] = option(
        "what is learnt", type=click.Choice(list(TASKS)), show_default="classify; with --resume that of the run"
    ),
    preset: Optional[str] = option(
        metavar=choices(name for known in TASKS.values() for name in known.presets),
        show_default="default; of restore, editor; of language, transformer; of film, pooling; "
        "with --resume that of the run",
    ),
    out: Path = option("run folder, new unless --resume", default=Path("runs/latest")),
    init_from: Optional[Path] = option(
        "bundle to begin with, or pretrained, the packaged one: a classifier with another's parameters and vocabulary, "
        "or a language model's encoder"
    ),
    teacher: Optional[str] = option(
        "of a classifier: others, with commas between, or pretrained, whose probabilities are learnt beside the labels and "
        "stars"
    ),
    sentences: Optional[Path] = option(
        "of a classifier: sentences learnt beside the labels and stars, a table with document, label (0 to 1) and signs, "
        "start:end:sign of characters",
        "--sentences",
        "--negations",
    ),
    films: Films,
    resume: bool = option("continue the run in --out"),
    device: str = DEVICE,
    settings: dict[str, Any] = settings_options(),
) -> None:
    """Train a classifier, or what `restore`, `fill`, `film` or `read` uses; the run folder ends with its bundle.

    \b
    nsmc-attention train --data nsmc --out runs/first
    nsmc-attention train --data nsmc --out runs/first --resume
    nsmc-attention train --data reviews.csv --hidden-size 64 --out runs/mine
    nsmc-attention train --task restore --data sentences.txt --out runs/editor
    nsmc-attention train --task restore --preset writer --data sentences.txt --out runs/writer
    nsmc-attention train --task language --data reviews.csv --out runs/words
    nsmc-attention train --task film --data nsmc --out runs/films
    nsmc-attention train --task read --data nsmc --out runs/reader
    nsmc-attention train --data nsmc --encoder transformer --init-from runs/words --out runs/second
    nsmc-attention train --data reviews.csv --init-from pretrained --out runs/third
    """
    from ..training.runs import Run, read_settings

    run_settings = read_settings(out) if resume else {}
    task = resumed_task(out, run_settings, task)
    base: Any
    if resume and not preset:
        base = TASKS[task].layout.config.from_dict(run_settings["config"])
    else:
        base = TASKS[task].preset(preset)
        if init_from and task == "classify":
            from ..classification.sources import continuing

            base = continuing(base, init_from)
    config: Any = base.with_fields(**settings)
    run = Run(out, resume, device)
    own = films.given(task, init_from)
    if task != "classify":
        refuse(task, {"--valid": valid, "--label-column": reviews.label_column, "--positive": reviews.positive})
        refuse(task, {"--teacher": teacher, "--sentences": sentences})
    else:
        own.update(valid=valid, teacher=teacher, sentences=sentences)
    with resumable(out):
        TASKS[task].train(reviews, config, run, **own)


def resumed_task(out: Path, run_settings: dict[str, Any], given: Optional[str]) -> str:
    """Return the task that is given, else that of the run which is resumed; ConfigError where they differ."""
    task = str(run_settings.get("task", "classify"))
    if run_settings and (task not in TASKS or given not in (None, task)):
        raise ConfigError(f"{out}: cannot resume --task {task} as --task {given or 'classify'}; leave --task out")
    return given or task


@contextmanager
def resumable(run: Path) -> Iterator[None]:
    """Say how a training is continued that is interrupted after its run has begun, by this command line."""
    words: list[str] = click.get_current_context().obj
    try:
        yield
    except (KeyboardInterrupt, Ended):
        if (run / "settings.json").is_file():
            again = [word for word in words if word != "--resume"]
            print(f"continue with: nsmc-attention {shlex.join([*again, '--resume'])}", file=sys.stderr)
        raise


@command()
def adapt(
    *,
    reviews: Labelled = labelled_table(),
    stars_column: Optional[str] = option(
        "stars in place of labels, as 4, ★★★★☆ or 8/10  [default: without labels, the one called rating, 별점, ...]"
    ),
    out: Path = option("new folder", required=True),
    bundle: Optional[Path] = BUNDLE,
    seed: int = option("decides the folds and all that is random", default=0),
    force: bool = option("write the bundle even if it is no better"),
    mix: float = option("share of what is learnt that is kept; less forgets less of film reviews", default=1.0),
    device: str = DEVICE,
) -> None:
    """Continue a classifier on your own labelled reviews, from 100 on; say how much better it is.

    Rows without a label are left out. --out gets a bundle for every command's --bundle.

    \b
    nsmc-attention adapt mine.xlsx --out runs/mine
    nsmc-attention predict --input more.xlsx --bundle runs/mine --output scored.xlsx
    """
    from ..classification.adapt import adapt_classifier
    from ..training.runs import Run

    adapt_classifier(reviews, Run(out, device=device), bundle, stars_column, seed, force, mix)
    print(out / "bundle")
