"""Commands that get data and train: fetch, train, compare."""

import os
import shlex
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Iterator, Optional

import click

from .._runtime.signals import Ended
from ..classification.settings import PRESETS
from ..errors import ConfigError
from ..reviews.data import Labelled
from ..tasks import TASKS
from .options import (
    Films,
    GroupedCommand,
    TrainCommand,
    choices,
    data_options,
    device_option,
    films_options,
    path_option,
    settings_options,
)


@click.command()
@click.argument("corpus", type=click.Choice(["nsmc", "raw"]))
@path_option(
    "--data-dir", help="where to  [default: where it is already ($NSMC_ATTENTION_DATA), else the cache folder]"
)
def fetch(corpus: str, data_dir: Optional[Path]) -> None:
    """Download a corpus and print its path.

    nsmc: the official files, verified by sha256. raw: the archive with all star reviews (47 MB and more), which
    the preset `extended` is trained on.
    """
    from ..reviews import nsmc, raw

    paths = [raw.find(data_dir)] if corpus == "raw" else [nsmc.find(part, data_dir) for part in nsmc.FILES]
    print(*paths, sep="\n")


@click.command(cls=TrainCommand)
@data_options("; of other tasks, any of these without labels, or txt", required=True)
@path_option("--valid", help="labelled file to choose the epoch by")
@click.option(
    "--task",
    type=click.Choice(list(TASKS)),
    show_default="classify; with --resume that of the run",
    help="what is learnt",
)
@click.option(
    "--preset",
    metavar=choices(name for each in TASKS.values() for name in each.presets),
    show_default="default; of restore, editor; of language, transformer; of film, pooling; with --resume that of the run",
)
@path_option("--out", default=Path("runs/latest"), help="run folder, new unless --resume")
@path_option(
    "--init-from",
    help="bundle to begin with: a classifier with a language model's encoder, or a restorer's reading of characters",
)
@films_options
@click.option("--resume", is_flag=True, help="continue the run in --out")
@device_option
@click.option(
    "--kvstore",
    default="local",
    type=click.Choice(["local", "dist_sync"]),
    help="dist_sync: several processes, here or, by the DMLC_* variables, on several machines",
)
@click.option(
    "--workers", type=click.IntRange(1, 64), help="processes here that share each batch, of dist_sync  [default: 2]"
)
@settings_options()
@click.pass_obj
def train(
    arguments: list[str],
    /,
    reviews: Labelled,
    valid: Optional[Path],
    task: Optional[str],
    preset: Optional[str],
    out: Path,
    init_from: Optional[Path],
    films: Films,
    resume: bool,
    device: str,
    kvstore: str,
    workers: Optional[int],
    settings: dict[str, Any],
) -> None:
    """Train a classifier, or what `restore`, `fill` or `film` uses; the run folder ends with its bundle.

    \b
    nsmc-attention train --data nsmc --out runs/first
    nsmc-attention train --data nsmc --out runs/first --resume
    nsmc-attention train --data reviews.csv --hidden-size 64 --out runs/mine
    nsmc-attention train --data nsmc --kvstore dist_sync --workers 4 --out runs/shared
    nsmc-attention train --task restore --data sentences.txt --out runs/editor
    nsmc-attention train --task restore --preset writer --data sentences.txt --out runs/writer
    nsmc-attention train --task language --data reviews.csv --out runs/words
    nsmc-attention train --task film --data nsmc --out runs/films
    nsmc-attention train --data nsmc --encoder transformer --init-from runs/words --out runs/second
    """
    from ..training.distributed import launcher
    from ..training.distributed.communicator import worker_group
    from ..training.runs import read_settings

    run_settings = read_settings(out) if resume else {}
    task = resumed_task(out, run_settings, task)
    if resume and not preset:
        base = TASKS[task].layout.config.from_dict(run_settings["config"])
    else:
        base = TASKS[task].preset(preset)
    config: Any = base.with_fields(**settings)
    run = partial(TASKS[task].train, reviews.data, config, out, resume=resume, device=device, data_dir=reviews.data_dir)
    own = films.given(task, init_from)
    if task != "classify":
        refuse_labels(task, reviews, valid, kvstore, workers)
    elif workers and kvstore == "local":
        raise ConfigError("--workers: expected --kvstore dist_sync beside it, found local")
    with resumable(out, arguments):
        if task != "classify":
            run(text_column=reviews.text_column, encoding=reviews.encoding, sheet=reviews.sheet, **own)
        elif kvstore == "dist_sync" and "DMLC_ROLE" not in os.environ:
            launcher.launch(arguments, workers or 2)
        else:
            with worker_group(kvstore) as group:
                run(valid=valid, workers=group, **own, **reviews.columns)


def resumed_task(out: Path, run_settings: dict[str, Any], given: Optional[str]) -> str:
    """Return the task that is given, else that of the run which is resumed; ConfigError where they differ."""
    found = str(run_settings.get("task", "classify"))
    if run_settings and (found not in TASKS or given not in (None, found)):
        raise ConfigError(f"{out}: cannot resume --task {found} as --task {given or 'classify'}; leave --task out")
    return given or found


def refuse_labels(task: str, reviews: Labelled, valid: Optional[Path], kvstore: str, workers: Optional[int]) -> None:
    """Raise ConfigError for an option that a training without labels, in one process, would ignore."""
    given: dict[str, Any] = {"--valid": valid, "--label-column": reviews.label_column, "--positive": reviews.positive}
    given.update({"--kvstore": kvstore if kvstore != "local" else None, "--workers": workers})
    for option, value in given.items():
        if value is not None:
            raise ConfigError(f"train --task {task}: expected no {option}, found {value}; leave it out")


@contextmanager
def resumable(run: Path, arguments: list[str]) -> Iterator[None]:
    """Say how a training is continued that is interrupted after its run has begun."""
    try:
        yield
    except (KeyboardInterrupt, Ended):
        if (run / "settings.json").is_file():
            again = [word for word in arguments if word != "--resume"]
            print(f"continue with: nsmc-attention {shlex.join([*again, '--resume'])}", file=sys.stderr)
        raise


@click.command(cls=GroupedCommand, epilog=f"Names: {', '.join(PRESETS)}; baselines: majority, tfidf.")
@click.argument("names", nargs=-1, required=True)
@data_options(default="nsmc")
@path_option("--out", default=Path("runs/comparison"), help="folder; finished runs in it are not trained again")
@click.option("--seeds", default="0", help="seeds, as 0,1,2")
@click.option("--test", is_flag=True, help="score the test file too, of nsmc and sample")
@settings_options()
def compare(
    names: tuple[str, ...], reviews: Labelled, out: Path, seeds: str, test: bool, settings: dict[str, Any]
) -> None:
    """Train and evaluate presets and baselines, in one table.

    After an interruption the same command continues.

    \b
    nsmc-attention compare majority tfidf average default --data nsmc
    nsmc-attention compare default --seeds 0,1,2 --hidden-size 64 --out runs/narrow
    """
    from ..classification import comparison

    if "seed" in settings:
        raise ConfigError("compare: expected --seeds, found --seed")
    try:
        numbers = tuple(int(seed) for seed in seeds.split(","))
    except ValueError:
        raise ConfigError(f"--seeds: expected whole numbers as 0,1,2, found {seeds!r}") from None
    table = comparison.compare(
        reviews.data, names, out, numbers, test, settings, report=say_row, data_dir=reviews.data_dir, **reviews.columns
    )
    print(comparison.as_markdown(table), end="")


def say_row(row: dict[str, Any]) -> None:
    """Print a row of the comparison on stderr: `tfidf, seed 0: dev_accuracy 0.7778, ...`."""
    figures = {name: value for name, value in row.items() if isinstance(value, float)}
    shown = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
    print(f"{row['name']}, seed {row['seed']}: {shown}", file=sys.stderr)
