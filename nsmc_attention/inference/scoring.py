"""Texts from lines or a table, scored or restored in parts into text, csv, tsv, jsonl, parquet or xlsx.

    texts -> Scorer (a classifier, a restorer, or both in turn) -> its output columns, after those of the table

Every row keeps its place and its other columns; of one without a result the last output column has the reason. Memory
does not grow with the number of rows; an output file appears whole or not at all.
"""

import io
import json
import os
import sys
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice, repeat, tee
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Callable, Collection, Iterable, Iterator, Mapping, Optional, Sequence, Union

from .._io.atomic import NO_ROOM, replaced_file
from .._io.spreadsheets import as_cells, table_writer
from .._runtime.progress import progress_bar
from ..errors import ConfigError, DataError, did_you_mean, listed
from ..reviews.pieces import cut
from ..text.encoding import clean
from .columns import output_columns, output_prefix
from .parallel import row_stream
from .reference import Scorer

if TYPE_CHECKING:
    import pandas

    from ..reviews.sources import Source
    from ..reviews.tables import Table

PathLike = Union[str, Path]
Frames = Iterator["pandas.DataFrame"]
# The cells of a table's columns
Columns = Mapping[str, Sequence[Any]]
Write = Callable[[Columns, Sequence[str], Sequence[Any]], object]
# Takes the numbers of rows and of rows without a result since the last call
Report = Callable[[int, int], object]
# Characters and rows that are written at a time, and lines that are read
PIECE, ROWS, WINDOW = 1 << 16, 64, 4096
# By which Excel knows UTF-8
MARK = "\ufeff"
# Opening /dev/stdout by its name would truncate the file that it is redirected to
STDOUT = ("-", "/dev/stdout")
STYLES = {f".{style}": style for style in ("csv", "tsv", "jsonl", "parquet")}
STYLES.update({".ndjson": "jsonl", ".xlsx": "xlsx", ".txt": "text", "": "text"})
# No text
BINARY = ("parquet", "xlsx")


class Scored:
    """How many rows were scored, and how many of them with an error; a bar on stderr where it takes seconds."""

    def __init__(self, output: PathLike):
        # a bar would break the lines on a terminal
        shown = False if str(output) in STDOUT and sys.stdout.isatty() else None
        self.rows, self.errors = 0, 0
        self.bar = progress_bar(shown=shown, unit=" reviews", delay=2)

    def __str__(self) -> str:
        return f"{self.rows:,} review{'s' * (self.rows != 1)}, {self.errors:,} with an error"

    def add(self, rows: int, errors: int) -> None:
        self.rows, self.errors = self.rows + rows, self.errors + errors
        self.bar.update(rows)


def score_lines(
    scorer: Scorer,
    lines: Iterable[str],
    output: PathLike = "-",
    style: Optional[str] = None,
    weights: bool = False,
    verbatim: bool = False,
) -> Scored:
    """Score an iterable of texts; csv has the column `text`, the clean text."""
    wanted = style or STYLES.get(Path(output).suffix.lower())
    if wanted in BINARY:
        raise ConfigError(f"{wanted} output: expected a table, found lines; say what they are by --input-format")
    scored = Scored(output)
    with opened(output, style, weights) as (file, style), scored.bar:
        write = WRITERS[style](file, ["text"], scorer.types, verbatim)
        for pairs in cut(line_results(scorer, lines, style, weights), ROWS, lambda pair: len(pair[0])):
            texts, results = zip(*pairs)
            write({} if style == "jsonl" else {"text": [*map(clean, texts)]}, texts, results)
            scored.add(len(texts), errors_in(results))
    return scored


def line_results(scorer: Scorer, lines: Iterable[str], style: str, weights: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield each text with what a writer takes; about `reviews.pieces.PIECE` characters are held at a time."""
    for part in cut(lines, WINDOW, len):
        yield from zip(part, scorer.objects(part, weights) if style == "jsonl" else scorer.rows(part))


def errors_in(results: Sequence[Any]) -> int:
    """Return how many objects, or rows of output columns, are of texts without a result."""
    return sum(["error" in result if isinstance(result, dict) else result[-1] is not None for result in results])


def score_table(
    scorer: Scorer,
    source: PathLike,
    output: PathLike = "-",
    style: Optional[str] = None,
    weights: bool = False,
    text_column: Optional[str] = None,
    processes: Optional[int] = None,
    kind: Optional[str] = None,
    verbatim: bool = False,
    encoding: Optional[str] = None,
    excel: bool = False,
    sheet: Optional[str] = None,
) -> Scored:
    """Score a table of any size, see `reviews.tables.open_table` for the input; its columns come first in the output.

    The style (text, csv, tsv, jsonl, parquet, xlsx) is by default that of the output's suffix. `processes` workers (None:
    one a core) share a table of more than one chunk, unless the output is jsonl. Csv, tsv and xlsx cells that a
    spreadsheet would compute are marked (see `spreadsheets`), unless verbatim. Csv and tsv begin with a byte-order mark,
    without which Excel shows no Hangul, if `excel`, or in a file where the input came from a spreadsheet program.
    DataError where the output is the workbook that is read, and this has other sheets: they would be lost.
    """
    from ..reviews import tables

    scored = Scored(output)
    with opened(output, style, weights) as (file, style), scored.bar:
        table = tables.open_table(source, text_column, kind=kind, encoding=encoding, sheet=sheet)
        refuse_loss(table.source, output)
        if style == "parquet":
            write_parquet(scorer, table, file, processes, scored.add, folder_of(output))
        elif style == "xlsx":
            write_xlsx(scorer, table, file, processes, scored.add, verbatim)
        else:
            if marks(style, table.source, output, excel):
                file.write(MARK)
            file.writelines(table_pieces(scorer, table, style, weights, processes, verbatim, scored.add))
    return scored


def marks(style: str, source: "Source", output: PathLike, excel: bool = False) -> bool:
    """Return whether an output begins with a byte-order mark, without which Excel shows no Hangul."""
    return style in ("csv", "tsv") and (excel or source.from_office and str(output) not in STDOUT)


def refuse_loss(source: "Source", output: PathLike) -> None:
    """Raise DataError where the output replaces a workbook of which one sheet is read; the others cannot be kept."""
    if (
        source.other_sheets
        and source.stream is None
        and os.path.exists(output)
        and os.path.samefile(source.path, output)
    ):
        others = listed(map(repr, source.other_sheets))
        raise DataError(f"{output}: would lose the workbook's other sheets, {others}; name another --output")


def table_pieces(
    scorer: Scorer,
    table: "Table",
    style: str,
    weights: bool = False,
    processes: Optional[int] = None,
    verbatim: bool = False,
    report: Report = lambda rows, errors: None,
) -> Iterator[str]:
    """Yield the output of `score_table` for a table, as it is computed; report(rows, errors) after each few rows."""
    names, frames = columns_of(table)
    written = io.StringIO()
    write = WRITERS[style](written, names, scorer.types, verbatim)
    if style == "jsonl":
        parts = with_objects(scorer, frames, table.text_column, weights)
    else:
        parts = with_rows(scorer, frames, table.text_column, processes)
    for frame, texts, results in parts:
        columns, remaining = columns_in(frame), iter(results)
        for start in range(0, len(texts), ROWS):
            part, own = slice(start, start + ROWS), list(islice(remaining, ROWS))
            write({name: cells[part] for name, cells in columns.items()}, texts[part], own)
            report(len(own), errors_in(own))
            if written.tell() > PIECE:
                yield written.getvalue()
                written.seek(0)
                written.truncate()
    yield written.getvalue()


def columns_in(frame: "pandas.DataFrame") -> dict[str, list[Any]]:
    """Return the cells of a DataFrame's columns, by their names."""
    return {str(name): frame[name].tolist() for name in frame.columns}


def columns_of(table: "Table") -> tuple[list[str], Frames]:
    """Return the columns of a table's first rows, and all its DataFrames."""
    begun = list(islice(table.frames, 1))
    names = [str(name) for name in begun[0].columns] if begun else [table.text_column]
    return names, chain(begun, table.frames)


def write_xlsx(
    scorer: Scorer,
    table: "Table",
    file: IO[bytes],
    processes: Optional[int] = None,
    report: Report = lambda rows, errors: None,
    verbatim: bool = False,
) -> None:
    """Write a table and the output columns as a workbook; report(rows, errors) is called after each DataFrame."""
    from ..reviews.xlsx import write_rows

    names, frames = columns_of(table)

    def rows() -> Iterator[list[Any]]:
        yield [*names, *output_names(names, scorer.types)]
        for frame, _, results in with_rows(scorer, frames, table.text_column, processes):
            for row, result in zip(zip(*ordered(columns_in(frame), names, "xlsx")), results):
                yield [*row, *(round(value, 6) if isinstance(value, float) else value for value in result)]
            report(len(frame), errors_in(results))

    write_rows(file, rows(), verbatim)


def output_names(names: list[str], types: Mapping[str, str]) -> list[str]:
    """Return the output columns as a table with these columns calls them."""
    prefix = output_prefix(names, types)
    return [prefix + name for name in types]


def ordered(columns: Columns, names: list[str], style: str) -> list[Sequence[Any]]:
    """Return the cells of the columns called names, None where one is missing; DataError for a column of another name."""
    new = [name for name in columns if name not in names]
    if new:
        raise DataError(f"{style}: expected the columns of the first rows, found {new[0]!r} too; use --format jsonl")
    missing = [None] * max(map(len, columns.values()))
    return [columns.get(name, missing) for name in names]


def write_parquet(
    scorer: Scorer,
    table: "Table",
    file: IO[bytes],
    processes: Optional[int] = None,
    report: Report = lambda rows, errors: None,
    folder: Optional[Path] = None,
) -> int:
    """Write a table, with its types, and the output columns; return the number of rows.

    report(rows, errors) is called after each DataFrame; `folder` is for `ParquetSpool`.
    """
    from .parquet import ParquetSpool

    with ParquetSpool(scorer.types, folder) as spool:
        for frame, _, results in with_rows(scorer, table.frames, table.text_column, processes):
            spool.append(columns_in(frame), output_columns(results, scorer.types), frame.attrs.get("types"))
            report(len(frame), errors_in(results))
        if not spool.schemas:
            # a table without rows still has columns
            spool.append({table.text_column: []}, output_columns([], scorer.types))
        spool.write(file)
        return spool.rows


def with_objects(scorer: Scorer, frames: Frames, text_column: str, weights: bool) -> Iterator[Any]:
    """Yield (DataFrame, texts, objects), computed in this process."""
    for frame in frames:
        texts = texts_of(frame, text_column)
        yield frame, texts, scorer.objects(texts, weights)


def with_rows(scorer: Scorer, frames: Frames, text_column: str, processes: Optional[int]) -> Iterator[Any]:
    """Yield (DataFrame, texts, rows of output columns); a table of one DataFrame starts no processes."""
    from ..reviews import tables

    begun = list(islice(frames, 1))
    frames, ahead = tee(chain(begun, frames))
    windows = (texts_of(frame, text_column) for frame in ahead)
    stream = row_stream(scorer, windows, processes if begun and len(begun[0]) >= tables.ROWS else 1)
    for (texts, results), frame in zip(stream, frames):
        yield frame, texts, results


def texts_of(frame: "pandas.DataFrame", text_column: str) -> list[str]:
    from ..reviews import tables

    cells: list[Any] = frame[text_column].tolist()
    return cells if set(map(type, cells)) == {str} else [tables.as_text(cell) for cell in cells]


@contextmanager
def opened(output: PathLike, style: Optional[str], weights: bool) -> Iterator[tuple[Any, str]]:
    """Give (file, style) for an output path, or stdout for "-"."""
    output = Path(output)
    if style is None and output.suffix.lower() not in STYLES:
        hint = did_you_mean(output.suffix, filter(None, STYLES))
        raise ConfigError(f"{output}: unknown suffix {output.suffix!r}{hint}; or choose a --format")
    style = style or STYLES[output.suffix.lower()]
    if weights and style != "jsonl":
        raise ConfigError(f"--weights needs --format jsonl, found {style}")
    binary = style in BINARY
    if str(output) in STDOUT:
        yield sys.stdout.buffer if binary else sys.stdout, style
        return
    with replaced_file(output) as temporary:
        file = open(temporary, "wb") if binary else open(temporary, "w", encoding="utf-8", newline="", errors="replace")
        try:
            with file:
                yield file, style
        except OSError as problem:
            # an error of a device has no file name; `replaced_file` reports those of other files
            if problem.errno in NO_ROOM and problem.filename is None:
                problem.filename = str(output)
            raise


def folder_of(output: PathLike) -> Optional[Path]:
    """Return the folder of an output file; None for stdout, a pipe or a device."""
    path = Path(output)
    return None if str(output) in STDOUT or path.exists() and not path.is_file() else path.parent


def text_writer(file: IO[str], names: list[str], types: Mapping[str, str], verbatim: bool) -> Write:
    """One line a text: label, score, text; the restored text alone if it is not classified."""

    def write(columns: Columns, texts: Sequence[str], results: Sequence[Any]) -> None:
        for text, result in zip(texts, results):
            values = dict(zip(types, result))
            shown = values.get("restored", clean(text))
            if values.get("error"):
                shown = f"-\t-\t{shown}\t{values['error']}"
            elif "label" in values:
                shown = f"{values['label']}\t{values['score']:.4f}\t{shown}"
            print(shown, file=file)

    return write


def csv_writer(delimiter: str, file: IO[str], names: list[str], types: Mapping[str, str], verbatim: bool) -> Write:
    """The table's columns, then the output columns.

    Probabilities have 6 digits; further ones depend on the other reviews of a batch.
    """
    marked: Callable[[Sequence[Any]], Sequence[Any]] = list if verbatim else as_cells
    table = table_writer(file, delimiter)
    table.writerow([*marked(names), *output_names(names, types)])

    def write(columns: Columns, texts: Sequence[str], results: Sequence[Any]) -> None:
        cells = [*ordered(columns, names, "csv"), *map(figures, zip(*results))]
        table.writerows(zip(*(marked(plain_cells(column)) for column in cells)))

    return write


def jsonl_writer(file: IO[str], names: list[str], types: Mapping[str, str], verbatim: bool) -> Write:
    """One object a line: the table's columns, then those of `Scorer.objects`."""
    prefix = output_prefix(names, types)

    def write(columns: Columns, texts: Sequence[str], results: Sequence[Any]) -> None:
        rows: Iterable[Any] = zip(*columns.values()) if columns else repeat(())
        for row, result in zip(rows, results):
            values = dict(zip(columns, row))
            for name, value in result.items():
                values[unique_name(prefix + name if name in types else name, columns)] = value
            print(as_json(values), file=file)

    return write


# (file, names of the table's columns, `Scorer.types`, verbatim) -> write(columns, texts, results) of some rows: results
# are objects for jsonl, else rows of output columns
WRITERS: dict[str, Callable[..., Write]] = {
    "text": text_writer,
    "csv": partial(csv_writer, ","),
    "tsv": partial(csv_writer, "\t"),
    "jsonl": jsonl_writer,
}


def as_json(values: dict[str, Any]) -> str:
    """Return a dict as one line of JSON; NaN and infinite numbers, which JSON lacks, become null."""
    try:
        return json.dumps(values, ensure_ascii=False, default=plain, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(values, default=plain), parse_constant=lambda _: None)
        return json.dumps(finite, ensure_ascii=False)


def figures(column: Sequence[Any]) -> list[Any]:
    """Return an output column as csv has it, where numbers have 6 digits."""
    return [f"{value:.6f}" if isinstance(value, float) else value for value in column]


def plain_cells(column: Sequence[Any]) -> Sequence[Any]:
    """Return `plain` of a column's cells, nothing for None; a column of texts as it is, which most are."""
    if set(map(type, column)) == {str}:
        return column
    return ["" if cell is None else plain(cell) for cell in column]


def plain(value: Any) -> Any:
    """Return a cell as csv and JSON hold it: bytes as their text if they are UTF-8, other objects as their str."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return str(value)
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def unique_name(name: str, taken: Collection[str]) -> str:
    """Prefix a name with `predicted_` until it is not taken."""
    while name in taken:
        name = f"predicted_{name}"
    return name
