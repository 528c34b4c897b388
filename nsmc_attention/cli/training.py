"""Commands that fetch data and train: fetch, train, adapt. The settings of a training are options: a flag for each common
setting, --set for all settings, in sections of the help."""

from dataclasses import Field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Optional

import click

from ..classifier.settings import PRESETS
from ..corpora.data import Labelled
from ..errors import ConfigError
from ..registry import LABEL_OPTIONS, SYSTEMS, System
from ..schema import FLAGS, KIND, SHORT_NAMES, Settings, descriptions, paths
from .declare import Declared, Group, argument, choices, command, option
from .options import BUNDLE, CLASSIFIER, DEVICE, INIT_FROM, labelled, labelled_table

# Sections of `train --help`, by their first setting in SHORT_NAMES
SECTIONS = {
    "epochs": "Common settings",
    "vocab_size": "Text",
    "encoder": "Network",
    "patience": "Stages",
    "schedule": "Optimizer",
}


@lru_cache(maxsize=None)
def fields_at(path: str) -> "list[Field[Any]]":
    """Return the fields of a setting in all systems and kinds that have it; for a choice of kind, those of its group."""
    items: list[Field[Any]] = []
    classes: list[type[Settings]] = [system.layout.config for system in SYSTEMS.values()]
    for key in path.split("."):
        items = [item for cls in classes for item in fields(cls) if item.name == key] or items
        classes = [kind for item in items for kind in item.metadata.get("kinds", {}).values()]
    return items


@lru_cache(maxsize=1)
def settings_options() -> Any:
    """Declare a flag for each of SHORT_NAMES, and --set for all settings by path, as one group."""
    defaults = {path: value for config in reversed(PRESETS.values()) for path, value in paths(config)}
    about = "any setting by its path, for example model.encoder.kind=none"
    options: dict[str, tuple[Declared, Any]] = {
        "assignments": (option(about, "--set", multiple=True, metavar="PATH=VALUE"), tuple[str, ...])
    }
    for name, (path, *_) in SHORT_NAMES.items():
        item, *others = fields_at(path)
        # kinds of any system
        kinds = dict.fromkeys(kind for field in (item, *others) for kind in field.metadata.get("kinds", ()))
        values = [*kinds] or item.metadata["choices"]
        about = f"{item.metadata['help']}  [default: {defaults.get(path, item.default)}]"
        options[name] = option(about, type=click.Choice(values) if values else item.type), str
    return Group(changed_settings, options)


def changed_settings(assignments: tuple[str, ...], **flags: Any) -> dict[str, Any]:
    """Return the settings of flags and `--set PATH=VALUE`, {short name or path: value}."""
    changes = {name: value for name, value in flags.items() if value is not None}
    for assignment in assignments:
        path, sign, value = assignment.partition("=")
        if not sign or "." not in path:
            raise ConfigError(f"--set {assignment}: expected PATH=VALUE, as model.encoder.hidden_size=64")
        changes[path] = value
    return changes


class TrainCommand(click.Command):
    """The command `train`, whose help lists settings in sections, then each task's own settings and defaults."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        title = ""
        for parameter in self.get_params(context):
            title = SECTIONS.get(str(parameter.name), title) if parameter.name in SHORT_NAMES else "Options"
            if record := parameter.get_help_record(context):
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
        classify = dict(paths(PRESETS["default"]))
        for name, task in [*SYSTEMS.items()][1:]:
            settings: dict[str, tuple[str, str]] = {}
            for config in reversed([*task.layout.presets.values()]):
                values, about = dict(paths(config)), dict(descriptions(config))
                for path in about:
                    if path != f"model.{KIND}" and classify.get(path) != values[path]:
                        settings[path] = FLAGS.get(path, path), f"{about[path]}  [default: {values[path]}]"
            with formatter.section(f"With --task {name}; use --set for names with a dot"):
                formatter.write_dl([*settings.values()])


@command()
def fetch(
    *,
    corpus: str = argument(type=click.Choice(["nsmc", "raw"])),
    data_dir: Optional[Path] = option(
        "destination folder  [default: where the files are ($NSMC_ATTENTION_DATA), else the cache folder]"
    ),
) -> None:
    """Download a corpus and print its path.

    nsmc: the official files, verified by sha256. raw: the archive with all star reviews (47 MB and more), on
    which the preset `extended` is pretrained.
    """
    from ..corpora import nsmc, raw

    paths = [raw.find(data_dir)] if corpus == "raw" else [nsmc.find(part, data_dir) for part in nsmc.FILES]
    print(*paths, sep="\n")


class TrainOptions(NamedTuple):
    """Options of some trainings besides labels and settings, see `System.options`."""

    valid: Optional[Path] = option("labelled file by which the best epoch is chosen")
    init_from: Optional[Path] = INIT_FROM
    teacher: Optional[str] = option("for a classifier: bundles, separated by commas, whose probabilities it learns too")
    sentences: Optional[Path] = option(
        "for a classifier: more sentences, with document, label (0 to 1), signs (start:end:sign of characters)"
    )
    group_by: Optional[str] = option("for film: column of the films  [default: the one called film, movie, 영화, ...]")
    classifier: Optional[Path] = CLASSIFIER


@command(TrainCommand)
def train(
    *,
    reviews: Labelled = labelled("; for other tasks, one of these without labels, or txt", required=True),
    task: Optional[str] = option(
        "what to train", type=click.Choice(list(SYSTEMS)), show_default="classify; with --resume that of the run"
    ),
    preset: Optional[str] = option(
        metavar=choices(name for system in SYSTEMS.values() for name in system.layout.presets),
        show_default=f"the task's first: {', '.join(next(iter(item.layout.presets)) for item in SYSTEMS.values())}; "
        "with --resume that of the run",
    ),
    out: Path = option("run folder, new unless --resume", default=Path("runs/latest")),
    options: TrainOptions,
    resume: bool = option("continue the run in --out"),
    device: str = DEVICE,
    settings: dict[str, Any] = settings_options(),
) -> None:
    """Train a classifier, or the model of `restore`, `fill`, `film` or `read`, and write its bundle.

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
    from ..classifier.origins import continuing
    from ..training.runs import Run, read_settings

    run_settings = read_settings(out) if resume else {}
    system = SYSTEMS[resumed_task(out, run_settings, task)]
    label_options = {name: getattr(reviews, name) for name in LABEL_OPTIONS}
    task_options = system_options(system, options, label_options)
    base: Any = None if resume and not preset else system.preset(preset)
    if base is None:
        base = system.layout.config.from_dict(run_settings["config"])
    elif "teacher" in task_options:
        base = continuing(base, task_options["init_from"])
    config = base.with_fields(**settings)
    system.train(reviews, config, Run(out, resume, device), **task_options)


def system_options(system: System, options: TrainOptions, label_options: dict[str, Any]) -> dict[str, Any]:
    """Return the TrainOptions that a system's training takes; ConfigError for an option that it would ignore."""
    values = options._asdict()
    for name, value in {**values, **label_options}.items():
        if value is not None and name not in system.options:
            problem = f"expected no --{name.replace('_', '-')}, found {value}; leave it out"
            raise ConfigError(f"train --task {system.layout.task}: {problem}")
    return {name: value for name, value in values.items() if name in system.options}


def resumed_task(out: Path, run_settings: dict[str, Any], task: Optional[str]) -> str:
    """Return the task, by default that of the resumed run; ConfigError if they differ."""
    run_task = str(run_settings.get("task", "classify"))
    if run_settings and (run_task not in SYSTEMS or task not in (None, run_task)):
        raise ConfigError(f"{out}: cannot resume --task {run_task} as --task {task or 'classify'}; leave --task out")
    return task or run_task


@command()
def adapt(
    *,
    reviews: Labelled = labelled_table(),
    out: Path = option("new folder", required=True),
    bundle: Optional[Path] = BUNDLE,
    seed: int = option("seed of the folds and of all random numbers", default=0),
    force: bool = option("write the bundle even if it is no better"),
    mix: float = option("share of the change to keep; a smaller share forgets less about film reviews", default=1.0),
    device: str = DEVICE,
) -> None:
    """Continue the training of a classifier on your own labelled reviews, and measure the improvement.

    At least 40 reviews need a label; 100 or more are better. Rows without a label are left out. To use the result, pass the folder of --out as --bundle.

    \b
    nsmc-attention adapt mine.xlsx --out runs/mine
    nsmc-attention predict --input more.xlsx --bundle runs/mine --output scored.xlsx
    """
    from ..classifier.adapt import adapt_classifier
    from ..training.runs import Run

    adapt_classifier(reviews, Run(out, device=device), bundle, seed, force, mix)
    print(out / "bundle")
