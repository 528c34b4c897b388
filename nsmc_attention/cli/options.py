"""Options that several commands share, and one flag for each common setting of a training."""

import functools
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import click

from ..classification.settings import PRESETS
from ..classification.task import CLASSIFY
from ..config import SHORT_NAMES
from ..errors import ConfigError
from ..reviews.data import Labelled
from ..reviews.encodings import ENCODINGS
from ..settings import KIND, descriptions, paths
from ..tasks import TASKS, choices_at, field_at

if TYPE_CHECKING:
    from ..classification.attribution import Attribution
    from ..classification.predictor import Classifier
    from ..inference.reference import Scorer
    from ..language.model import Filling
    from ..restoration.restorer import Restorer

Decorator = Callable[[Any], Any]
# The sections of `train --help`: each begins at this setting of SHORT_NAMES
SECTIONS = {
    "epochs": "Common settings",
    "vocab_size": "Text",
    "encoder": "Network",
    "patience": "Stages",
    "schedule": "Optimizer and checkpoints",
}
# What is an option, rather than a review that begins with a dash: `-1점`, `--별로`, `- 좋다`
OPTION = re.compile(r"-[A-Za-z]|--[A-Za-z][\w-]*(=|$)", re.ASCII)
# A name, though there may be no such file here
FILE_NAME = re.compile(r"\S+\.(csv|tsv|txt|jsonl|ndjson|parquet|xlsx)")


class GroupedCommand(click.Command):
    """A command whose help lists its settings in sections."""

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


class TrainCommand(GroupedCommand):
    """The command whose help also lists the settings that another task alone has, or has another default of."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(context, formatter)
        classify = dict(paths(PRESETS["default"]))
        flags = {path: f"--{name.replace('_', '-')}" for name, found in SHORT_NAMES.items() for path in found}
        for task in [task for task in TASKS.values() if task is not CLASSIFY]:
            records = {}
            for config in reversed([*task.presets.values()]):
                values, about = dict(paths(config)), dict(descriptions(config))
                other = (path for path in about if path != f"model.{KIND}" and classify.get(path) != values[path])
                records.update(
                    {path: (flags.get(path, path), f"{about[path]}  [default: {values[path]}]") for path in other}
                )
            with formatter.section(f"With --task {task.name}; what has a dot is for --set"):
                formatter.write_dl([*records.values()])


class TextCommand(click.Command):
    """A command on reviews, one of which may begin with a dash."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        options = [each for each in self.params if isinstance(each, click.Option) and not each.is_flag]
        valued = {name for each in options for name in each.opts}
        given, texts, rest = list[str](), list[str](), iter(words)
        for word in rest:
            if word == "--":
                texts += rest
            elif OPTION.match(word):
                given += [word, *islice(rest, word in valued)]
            else:
                texts.append(word)
        try:
            return super().parse_args(context, [*given, "--", *texts])
        except click.NoSuchOption as problem:
            hint = "" if problem.possibilities else " A review that begins with a dash goes after --."
            raise click.UsageError(problem.format_message() + hint) from problem


def text_argument(hint: str, **rest: Any) -> Decorator:
    """Return the argument TEXT; where it is the name of a file, what to type instead is the hint of that name."""

    def refuse_files(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            if os.path.isfile(text) or FILE_NAME.fullmatch(text):
                found = f"expected the text of a review, found the name of a file, {text}"
                raise ConfigError(f"{context.info_name}: {found}; {hint % shlex.quote(text)}")
        return texts

    return click.argument("text", nargs=-1, callback=refuse_files, **rest)


def choices(names: Iterable[str]) -> str:
    """Return a metavar, for values that the library checks itself: it also says which one was meant."""
    return f"[{'|'.join(names)}]"


def path_option(*names: str, allow_dash: bool = False, **rest: Any) -> Decorator:
    return click.option(*names, type=click.Path(path_type=Path, allow_dash=allow_dash), **rest)


def gathered(name: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Return one decorator for several options, listed in this order; the command gets make(**values) as `name`."""

    def decorate(command: Callable[..., Any]) -> Any:
        @functools.wraps(command)
        def gather(*arguments: Any, **values: Any) -> Any:
            values[name] = make(**{key: values.pop(key) for key in keys})
            return command(*arguments, **values)

        decorated: Any = gather
        for option in reversed(options):
            decorated = option(decorated)
        keys = [parameter.name for parameter in decorated.__click_params__[-len(options) :]]
        return decorated

    return decorate


def settings_options() -> Decorator:
    """Return a flag for each of SHORT_NAMES, and --set for every setting by its path; together `settings`."""
    defaults = {path: value for config in reversed(PRESETS.values()) for path, value in paths(config)}
    about = "any setting by its path, as model.encoder.kind=none"
    options = [click.option("--set", "assignments", multiple=True, metavar="PATH=VALUE", help=about)]
    for name, (path, *_) in SHORT_NAMES.items():
        item, choices = field_at(path), choices_at(path)
        described = item or field_at(path[: -len(KIND) - 1])
        about = f"{described.metadata['help']}  [default: {defaults.get(path, described.default)}]"
        flag = f"--{name.replace('_', '-')}"
        options.append(click.option(flag, name, type=click.Choice(choices) if choices else item.type, help=about))
    return gathered("settings", given_settings, *options)


def given_settings(assignments: tuple[str, ...], **flags: Any) -> dict[str, Any]:
    """Return the settings that flags and `--set PATH=VALUE` gave, by short name or path."""
    changes = {name: value for name, value in flags.items() if value is not None}
    for assignment in assignments:
        path, found, value = assignment.partition("=")
        if not found or "." not in path:
            raise ConfigError(f"--set {assignment}: expected PATH=VALUE, as model.encoder.hidden_size=64")
        changes[path] = value
    return changes


class Model(NamedTuple):
    """A bundle and what runs it."""

    bundle: Optional[Path]
    engine: str
    device: str = "auto"

    def load(self) -> "Classifier":
        from ..classification.predictor import load_classifier

        return load_classifier(self.bundle, self.engine, self.device)


class Restoring(NamedTuple):
    """Whether to restore texts before they are classified, and by which bundle."""

    restore: bool
    restorer: Optional[Path]

    @property
    def bundle(self) -> Union[bool, Path]:
        """What `bulk` takes: no, the packaged one, or a bundle."""
        return self.restorer or self.restore

    def scorer(self, model: Model) -> "Scorer":
        """Load a model's classifier, of restored texts where texts are to be restored."""
        classifier = model.load()
        if not self.bundle:
            return classifier
        from ..classification.restored import restoring

        return restoring(classifier, self.load(model))

    def load(self, model: Model) -> Union[bool, "Restorer"]:
        """Return what `classification.restored.restoring` takes, on the engine and device of a model."""
        if not self.bundle:
            return False
        from ..inference.sessions import engine_beside
        from ..restoration.restorer import load_restorer

        engine = engine_beside(model.engine)
        return load_restorer(self.restorer, None, engine, model.device)


class Heads(NamedTuple):
    """A picture of an encoder's heads, of all or of those of one layer or number."""

    path: Optional[Path]
    layer: Optional[int]
    head: Optional[int]

    def check(self) -> None:
        """Raise ConfigError, before a model is loaded, if the picture could not be drawn into its file or has none."""
        if self.path:
            from ..drawing.figure import check_suffix

            check_suffix(self.path)
        elif (self.layer, self.head) != (None, None):
            raise ConfigError("--layer, --head: expected --heads too, as --heads heads.png")

    def save(self, found: "Union[Attribution, Filling]") -> None:
        """Draw the picture, if there is to be one."""
        if self.path:
            from ..visualization.pictures import save_heads

            save_heads(found, self.path, self.layer, self.head)


class Texts(NamedTuple):
    """Texts or lines or a table to read, and what to write, of `predict` and `restore`."""

    source: Optional[Path]
    kind: Optional[str]
    encoding: Optional[str]
    output: Path
    style: Optional[str]
    text_column: Optional[str]
    sheet: Optional[str]
    excel: bool
    verbatim: bool

    def check(self, command: str, texts: tuple[str, ...]) -> None:
        """Raise ConfigError, before a model is loaded, for options that exclude each other."""
        if texts and self.source:
            raise ConfigError(f"{command}: give reviews or --input, not both")
        if self.kind and not self.source:
            raise ConfigError(f"{command}: --input-format needs --input, which may be - for stdin")
        if self.sheet and not self.source:
            raise ConfigError(f"{command}: --sheet needs --input, a workbook")

    def lines(self, texts: tuple[str, ...]) -> Optional[Iterable[str]]:
        """Return the texts, or the lines of stdin; None where a table is given."""
        from ..reviews.sources import stdin_lines

        if self.source is None or str(self.source) == "-" and not self.kind:
            return stdin_lines(self.encoding) if texts in ((), ("-",)) else texts
        return None

    def score(self, scorer: "Scorer", texts: tuple[str, ...], weights: bool = False) -> None:
        """Write what the scorer makes of the texts, lines or table, and say on stderr how many there were."""
        from ..inference.scoring import STDOUT, score_lines, score_table

        lines = self.lines(texts)
        if lines is not None:
            found = score_lines(scorer, lines, self.output, self.style, weights, self.verbatim)
        else:
            names = ("text_column", "kind", "verbatim", "encoding", "excel", "sheet")
            options: dict[str, Any] = {name: getattr(self, name) for name in names}
            found = score_table(scorer, str(self.source), self.output, self.style, weights, **options)
        if str(self.output) not in STDOUT:
            print(f"{self.output}: {found}", file=sys.stderr)


class Films(NamedTuple):
    """What a training of `film` is given beside reviews: their columns, and the classifier that reads them."""

    group_by: Optional[str]
    stars_column: Optional[str]
    classifier: Optional[Path]

    def given(self, task: str, init_from: Optional[Path]) -> dict[str, Any]:
        """Return the keyword arguments of a task's training; ConfigError for an option that it would ignore."""
        own = {"group_by": self.group_by, "stars_column": self.stars_column, "classifier": self.classifier}
        used, ignored = ({"init_from": init_from}, own) if task != "film" else (own, {"init_from": init_from})
        for name, value in ignored.items():
            if value is not None:
                option = f"--{name.replace('_', '-')}"
                raise ConfigError(f"train --task {task}: expected no {option}, found {value}; leave it out")
        return used


text_column_option = click.option(
    "--text-column", help="[default: the one called document, text, review, 리뷰, 내용, ...]"
)
sheet_option = click.option("--sheet", help="of an xlsx file  [default: the first, and said on stderr]")
encoding_option = click.option(
    "--encoding",
    type=click.Choice(list(ENCODINGS), case_sensitive=False),
    help="of the input  [default: found, and said on stderr]",
)
bundle_option = path_option("--bundle", help="bundle or run folder  [default: the packaged one]")
classifier_engine = click.option(
    "--engine", default="auto", metavar=choices(["auto", "native", "native-bf16", "onnx", "gluon"])
)
engine_option = click.option("--engine", default="auto", metavar=choices(["auto", "onnx", "gluon"]))
device_option = click.option("--device", default="auto", type=click.Choice(["auto", "cpu", "gpu"]), help="of MXNet")
# Of a classifier, on any device or on the CPU, and of another task
model_options = gathered("model", Model, bundle_option, classifier_engine, device_option)
cpu_model_options = gathered("model", Model, bundle_option, classifier_engine)
task_model_options = gathered("model", Model, bundle_option, engine_option, device_option)
json_option = click.option("--json", "as_json", is_flag=True, help="one JSON object")
input_format_option = click.option(
    "--input-format",
    "kind",
    type=click.Choice(["csv", "tsv", "jsonl", "parquet", "xlsx", "lines"]),
    help="[default: by the file's suffix; of stdin, lines]",
)
verbatim_option = click.option(
    "--verbatim", is_flag=True, help="csv, tsv, xlsx: no ' before what a spreadsheet would compute"
)
texts_options = gathered(
    "texts",
    Texts,
    path_option(
        "--input", "-i", "source", allow_dash=True, help="csv, tsv, xlsx, jsonl, parquet, txt file, or - for stdin"
    ),
    input_format_option,
    encoding_option,
    path_option("--output", "-o", allow_dash=True, default=Path("-"), help="file, or - for stdout"),
    click.option(
        "--format",
        "-f",
        "style",
        type=click.Choice(["text", "csv", "tsv", "jsonl", "parquet", "xlsx"]),
        help="of the output  [default: by its suffix, else text]",
    ),
    text_column_option,
    sheet_option,
    click.option("--excel", is_flag=True, help="csv, tsv: begin with the mark by which Excel shows Hangul"),
    verbatim_option,
)
classifier_option = path_option(
    "--classifier", help="of film: bundle whose encoder reads the reviews  [default: the packaged one]"
)
film_bundle_option = path_option(
    "--film-bundle", help="bundle of the groups' stars, trained with the same classifier  [default: the packaged one]"
)
films_options = gathered(
    "films",
    Films,
    click.option("--group-by", help="of film: column of the films  [default: the one called film, movie, 영화, ...]"),
    click.option(
        "--stars-column", help="of film: column of the stars  [default: the one called stars, rating, 별점, ...]"
    ),
    classifier_option,
)
heads_options = gathered(
    "heads",
    Heads,
    path_option("--heads", "path", help=".png, .svg or .pdf: how each token attends to each, by layer and head"),
    click.option("--layer", type=int, help="of --heads this layer alone, from 1"),
    click.option("--head", type=int, help="of --heads this head alone, from 1; with --layer it is drawn large"),
)
restoring_options = gathered(
    "restoring",
    Restoring,
    click.option("--restore", is_flag=True, help="correct spacing and spelling first, and classify what that gives"),
    path_option(
        "--restore-bundle", "restorer", help="restore by this bundle; implies --restore  [default: the packaged editor]"
    ),
)


def data_options(more: str = "", **rest: Any) -> Decorator:
    """Return the options of labelled reviews; `rest` says whether --data is required or has a default.

    `more` is what else --data may be.
    """
    return gathered(
        "reviews",
        Labelled,
        click.option("--data", help=f"nsmc, sample, or a labelled csv, tsv, jsonl, parquet or xlsx file{more}", **rest),
        path_option("--data-dir", help="folder of the official files"),
        text_column_option,
        click.option("--label-column", help="[default: the one called label, sentiment, 라벨, ...]"),
        click.option("--positive", help="the positive one of two labels  [default: 1, positive or 긍정]"),
        encoding_option,
        sheet_option,
    )
