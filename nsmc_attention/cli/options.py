"""Options and groups of options that several commands share."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Union

import click

from ..corpora.data import Labelled, Texts
from ..errors import ConfigError
from ..tables.source import ENCODINGS, find_source, source_lines
from .declare import Group, argument, choices, option

if TYPE_CHECKING:
    from ..classifier.predictor import Classifier
    from ..scoring.reference import Scorer
    from ..systems.restore.restorer import Restorer

# First texts that are inspected for a remark
INSPECTED = 1000
CLASSIFIER = option("for film: bundle whose encoder reads the reviews  [default: the packaged one]")
BUNDLE = option("bundle or run folder  [default: the packaged one]")
ENGINE = option(default="auto", metavar=choices(["auto", "native", "native-bf16", "onnx", "gluon"]))
DEVICE = option("device of MXNet", default="auto", type=click.Choice(["auto", "cpu", "gpu"]))
DATA_DIR = option("folder of the official files")
TEXT_COLUMN = option("name, or number from 1  [default: detected by its name and texts; reported on stderr]")
HEADER = option(
    "row with the names of the columns, or none  [default: detected; reported on stderr]", metavar="ROW|none"
)
SHEET = option("sheet of an xlsx file  [default: the first with texts; reported on stderr]")
ENCODING = option(
    "input encoding  [default: detected; reported on stderr]", type=click.Choice(list(ENCODINGS), case_sensitive=False)
)
KIND_OF_INPUT = option(
    "[default: by the suffix and content; stdin: lines, unless it is clearly a table]",
    "--input-format",
    type=click.Choice(["csv", "tsv", "jsonl", "parquet", "xlsx", "lines"]),
)
PAGE_LANGUAGE = option("language of the page and messages", type=click.Choice(["ko", "en"]), default="ko")
VERBATIM = option("csv, tsv, xlsx: write no ' before a cell that a spreadsheet would compute")
OUTPUT = option("file, or - for stdout", "-o", allow_dash=True, default=Path("-"))
FORMAT = option(
    "format of the output  [default: by its suffix, else text]",
    "--format",
    "-f",
    type=click.Choice(["text", "csv", "tsv", "jsonl", "parquet", "xlsx"]),
)
JSON = option("print one JSON object", "--json")
HEADS = option(".png, .svg or .pdf: the attention of each layer and head")
INIT_FROM = option("bundle to start from, or pretrained; a classifier's parameters, or a language model's encoder")

# Options of reading a table; each command declares its path, `data`
READING = {
    "text_column": (TEXT_COLUMN, str),
    "sheet": (SHEET, str),
    "encoding": (ENCODING, str),
    "header": (HEADER, str),
}
HOW: Any = Group(dict, READING)


def table(data: Any) -> Any:
    """Declare the parameter that names a table, and the options of reading it."""
    return Group(Texts, {"data": (data, Path), **READING, "kind": (KIND_OF_INPUT, str)})


def texts(about: str) -> Any:
    """Declare --data, with its help text `about`, and the options of reading reviews."""
    return Group(Texts, {"data": (option(about, required=True), str), "data_dir": (DATA_DIR, Path), **READING})


# Options of reading a table with labels
LABELS = {
    **READING,
    "label_column": (option("[default: the one called label, sentiment, 라벨, ...]"), str),
    "stars_column": (
        option("column of stars (4, ★★★★☆, 8/10) instead of labels  [default: without labels, rating, 별점, ...]"),
        str,
    ),
    "positive": (option("the label that means positive  [default: 1, positive or 긍정]"), str),
}


def labelled(more: str = "", **settings: Any) -> Any:
    """Declare the options of labelled reviews; `more` names further values of --data."""
    data = option(f"nsmc, sample, or a labelled csv, tsv, jsonl, parquet or xlsx file{more}", **settings)
    return Group(Labelled, {"data": (data, str), "data_dir": (DATA_DIR, Path), **LABELS})


def labelled_table() -> Any:
    """Declare the argument FILE of labelled reviews, and the options of reading it."""
    return Group(Labelled, {"data": (argument(metavar="FILE"), str), **LABELS})


class Model(NamedTuple):
    """The bundle of a classifier or restorer, its engine and device."""

    bundle: Optional[Path] = BUNDLE
    engine: str = ENGINE
    device: str = DEVICE

    def load(self) -> "Classifier":
        from ..classifier.predictor import Classifier

        return Classifier.load(*self)


class TaskModel(NamedTuple):
    """The bundle of a task without compiled kernels, its engine and device."""

    bundle: Optional[Path] = BUNDLE
    engine: str = option(default="auto", metavar=choices(["auto", "onnx", "gluon"]))
    device: str = DEVICE


class Corrections(NamedTuple):
    """Whether texts are restored before they are classified, and by which bundle."""

    restore: bool = option("correct spacing and spelling if the classifier is unsure, and classify the corrected text")
    restorer: Optional[Path] = option(
        "bundle that restores; implies --restore  [default: the packaged editor]", "--restore-bundle"
    )

    @property
    def bundle(self) -> Union[bool, Path]:
        """False, True for the packaged restorer, or a bundle."""
        return self.restorer or self.restore

    def over(self, classifier: "Classifier", model: Model) -> "Scorer":
        """Return the classifier, or one that restores texts first if that is chosen."""
        restorer = self.load(model)
        if not restorer:
            return classifier
        from ..systems.restore.corrections import over

        return over(classifier, restorer)

    def load(self, model: Model) -> Union[Literal[False], "Restorer"]:
        """Return the restorer, on the engine and device of a model, or False if texts are not restored."""
        if not self.bundle:
            return False
        from ..bundle import load_bundle
        from ..systems.restore.engines import engine_beside
        from ..systems.restore.restorer import Restorer

        bundle = load_bundle(self.restorer, Restorer.layout)
        return Restorer.from_bundle(bundle, engine_beside(bundle, model.engine), model.device)


class Aspects(NamedTuple):
    """Columns of the aspects that a review praises or criticises."""

    aspects: bool = option("add a column for each aspect (praised or criticised): 연기, 이야기, 연출, ...")
    words: Optional[Path] = option(
        "the same for your own words: a table with the columns word and aspect", "--aspects-file"
    )

    def over(self, scorer: "Scorer") -> "Scorer":
        """Return the scorer, with columns of aspects if they are chosen."""
        if not (self.aspects or self.words):
            return scorer
        from ..apps.aspects.aspects import AspectReader
        from ..apps.aspects.clauses import read_words

        return AspectReader(scorer, read_words(self.words))


# First texts, lines or rows -> remark on them for stderr, or None
Remark = Optional[Callable[[list[str]], Optional[str]]]


class Scoring(NamedTuple):
    """The input of `predict` and `restore`, texts, lines or a table, and the output."""

    reading: Texts = table(
        option("csv, tsv, xlsx, jsonl, parquet, txt file, or - for stdin", "--input", "-i", allow_dash=True)
    )
    output: Path = OUTPUT
    style: Optional[str] = FORMAT
    excel: bool = option("csv, tsv: write a byte-order mark, which Excel needs for Hangul")
    verbatim: bool = VERBATIM

    def check(self, command: str, texts: tuple[str, ...]) -> None:
        """Raise ConfigError, before a model is loaded, for options that exclude each other."""
        if texts and self.reading.data:
            raise ConfigError(f"{command}: give reviews or --input, not both")
        kinds = {"--input-format": "which may be - for stdin", "--sheet": "a workbook", "--header": "a table"}
        for (name, kind), value in zip(kinds.items(), (self.reading.kind, self.reading.sheet, self.reading.header)):
            if value and not self.reading.data:
                raise ConfigError(f"{command}: {name} needs --input, {kind}")

    def source(self, texts: tuple[str, ...]) -> Union[Iterable[str], Texts]:
        """Return the texts, the lines of stdin, or the table of --input or stdin."""
        table = self.reading
        if table.data and (str(table.data) != "-" or table.kind or table.header):
            return table
        if texts not in ((), ("-",)):
            return texts
        source = find_source("-", encoding=table.encoding)
        return source_lines(source) if source.kind == "lines" else replace(table, source=source)

    def table_twice(self, option: str) -> Texts:
        """Return the table for an option that reads it twice; ConfigError for lines, stdin or a pipe."""
        if not self.reading.data or not Path(self.reading.data).is_file():
            raise ConfigError(f"{option}: expected --input FILE, which is read twice, found none; or give a number")
        return self.reading

    def score(self, scorer: "Scorer", texts: tuple[str, ...], weights: bool = False, remark: Remark = None) -> None:
        """Write the scorer's results for the texts, lines or table, and report their number on stderr."""
        from ..scoring.files import STDOUT, score_lines, score_table

        source, first = self.source(texts), list[str]()
        say, where = partial(self.say, scorer, remark), self.reading.data or "stdin"
        if isinstance(source, Texts):
            write = partial(score_table, scorer, source, excel=self.excel, inspect=partial(say, where))
        else:
            lines = iter(source)
            first = list(islice(lines, INSPECTED))
            write = partial(score_lines, scorer, chain(first, lines))
        scored = write(output=self.output, style=self.style, weights=weights, verbatim=self.verbatim)
        if first:
            say("TEXT" if source is texts else "stdin", first)
        if str(self.output) not in STDOUT:
            print(f"{self.output}: {scored}", file=sys.stderr)
        if (self.reading.data or isinstance(source, Texts)) and scorer.judge:
            print(f"{where}: {scored.tally.in_words()}", file=sys.stderr)

    @staticmethod
    def say(scorer: "Scorer", remark: Remark, where: object, texts: list[str], columns: Sequence[str] = ()) -> None:
        """Report on stderr the remark on the first texts, and output columns that are renamed because of the table's."""
        from ..scoring.files import say_renamed

        if remark and (line := remark(texts)):
            print(f"{where}: {line}", file=sys.stderr)
        say_renamed(columns, scorer.types, where)
