"""Rows of csv and tsv, each with as many fields as the header, in bounded memory, and errors with their lines.

text of a Source -> RowLines -> rows of fields
"""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TextIO

from ..errors import DataError
from .bounded_lines import LINE, check_columns, left_out, say_once
from .quotes import csv_reader, swallowed
from .sources import Source, size_of

# Characters that are read at a time
BLOCK = 1 << 16


class RowLines:
    """Lines of a table for a parser of rows, read in blocks, with the `number` of lines so far.

    `file` keeps the line ends. A row may have many lines, of LINE characters together; whoever takes a row sets `length`
    to 0.
    """

    def __init__(self, file: TextIO, source: Source, number: int = 0):
        self.file, self.path, self.number, self.length = file, source.path, number, 0

    def __iter__(self) -> Iterator[str]:
        while block := self.file.read(BLOCK):
            # up to the end of its last line
            block += self.file.readline(LINE + 1)
            for line in io.StringIO(block, newline=""):
                self.number += 1
                self.length += len(line)
                if self.length > LINE:
                    self.check_length(line)
                # csv.reader takes it only from Python 3.11 on
                if "\0" in line:
                    where = f"{self.path} line {self.number}"
                    raise DataError(f"{where}: expected text, found a NUL character; save the table again as text")
                yield line

    def check_length(self, line: str) -> None:
        where, expected = f"{self.path} line {self.number}", f"expected at most {LINE:,} characters"
        if len(line) > LINE:
            raise DataError(f"{where}: {expected}, found more")
        if self.length > LINE + 1:
            raise DataError(f"{where}: {expected} in a row, found more; is a quote missing?")


class MeasuredLines(RowLines):
    """RowLines with the `position` in bytes so far."""

    def __init__(self, file: TextIO, source: Source):
        super().__init__(file, source)
        self.encoding, self.position = source.encoding, source.mark

    def __iter__(self) -> Iterator[str]:
        for line in super().__iter__():
            self.position += size_of(line, self.encoding)
            yield line


def csv_rows(source: RowLines, table: Source, header: Sequence[str] = ()) -> Iterator[list[str]]:
    """Yield the header of csv, tsv or nsmc, unless it is given, and the rows, each with as many fields.

    A blank line between rows is a row of blank fields; those at the end are left out, as are rows that repeat the header.
    """
    records = csv_reader(source, table.delimiter, table.quoted and table.kind != "nsmc")
    begun, names, blank, repeated = source.number + 1, list(header), 0, 0
    try:
        if not header:
            names = names_of(records, table, source)
            yield names
        source.length, begun, width = 0, source.number + 1, len(names)
        # the quotes of a whole tab-separated file were judged before
        doubtful = table.delimiter != "\t" or table.stream is not None
        for row in records:
            if source.number != begun and doubtful and swallowed(row, table.delimiter):
                raise swallowing(source, begun)
            source.length, begun = 0, source.number + 1
            if len(row) == width:
                if row == names:
                    repeated += 1
                    continue
                if blank:
                    yield from ([""] * width for _ in range(blank))
                    blank = 0
                yield row
            elif any(map(str.strip, row)):
                where = f"{source.path} line {source.number}"
                raise DataError(f"{where}: expected {width} fields as in the header, found {len(row)}")
            else:
                blank += 1
    except csv.Error as problem:
        expected = f"expected each quote to be closed, found {problem} in line {source.number}"
        advice = 'end the field with ", and write a quote within it as ""'
        raise DataError(f"{source.path} line {begun}: {expected}; {advice}") from problem
    if repeated:
        say_once(left_out(source.path, repeated))


def names_of(records: Iterator[list[str]], table: Source, source: RowLines) -> list[str]:
    """Read up to the first review and return the names of the columns; DataError for one that is there twice."""
    for _ in islice(records, table.before):
        source.length = 0
    if not (names := list(table.names) or next((row for row in records if row), [])):
        raise DataError(f"{source.path}: the file is empty; expected a header and reviews")
    check_columns(names, f"{source.path} line {table.before or 1}")
    return names


def swallowing(source: RowLines, begun: int) -> DataError:
    """Return the error of lines that an open quote makes one row, though each is a row by itself."""
    expected = f"expected a row, found a quote that takes lines {begun} to {source.number} as one"
    advice = 'write a quote at the start of a text as """, or remove it'
    return DataError(f"{source.path} line {begun}: {expected}, though each looks like a row; {advice}")
