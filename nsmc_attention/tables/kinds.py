"""The kind and delimiter of a text file, found by its beginning, whatever its name says. Imports no pandas, which is slow."""

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Optional

from ..text.encoding import ENTITY
from .columns import KNOWN, LABEL_COLUMNS, LESSER_COLUMNS, STAR_COLUMNS, TEXT_COLUMNS, Profile, is_value, known_in
from .headers import SEARCHED, names_columns, texts_in, without_header
from .quotes import csv_reader

# What may separate the fields of a csv, first the one that its name promises
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# Rows that must agree
AGREEING = 20
# The beginning of a JSON list of objects, or of texts
LIST = re.compile(r"\s*\[\s*[{\"]")
ROLES = frozenset((*TEXT_COLUMNS, *LABEL_COLUMNS, *STAR_COLUMNS)) | LESSER_COLUMNS
# What other files begin with that have the name of a table
FOREIGN = {
    b"PK\x03\x04": "a workbook or archive; name a workbook .xlsx, and unpack an archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save it as .xlsx in Excel",
    b"\x1f\x8b": "a gzip archive; unpack it (gunzip FILE)",
    b"PAR1": "a parquet file; name it .parquet",
    b"%PDF": "a PDF; save its table as csv",
}
HTML = re.compile(r"\s*<(?:!doctype|html|table|\?xml|meta)\b", re.IGNORECASE)


def foreign(head: bytes) -> str:
    """Return what the beginning of a text file says that it is instead, with advice; nothing for text."""
    if HTML.match(head[:200].decode("latin-1")):
        return "an HTML or XML page; open it in Excel and save it as .xlsx or csv"
    return next((kind for mark, kind in FOREIGN.items() if head.startswith(mark)), "")


def json_kind(text: str, whole: bool) -> Optional[str]:
    """Return "json" for one JSON list or object over the whole text, "jsonl" for objects line by line, None for others."""
    if start := LIST.match(text):
        try:
            json.JSONDecoder().raw_decode(text, start.end() - 1)
        except (ValueError, RecursionError):
            # a first object that is longer than the beginning
            return "json" if text[start.end() - 1] == "{" and plausible_object(text[start.end() - 1 :]) else None
        return "json"
    if not text.lstrip().startswith("{"):
        return None
    first, _, rest = text.lstrip().partition("\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return "json" if plausible_object(text) else None
    return "json" if not rest.strip() and whole and holds_rows(value) else "jsonl"


def plausible_object(text: str) -> bool:
    """Return whether a text that is no JSON line begins as a JSON object of many lines or of a very long one."""
    return re.match(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:', text) is not None


def holds_rows(value: dict[str, object]) -> bool:
    """Return whether an object holds a whole table: its columns, or a list of objects or rows."""
    nested = [cell for cell in value.values() if isinstance(cell, (list, dict))]
    rows = any(isinstance(cell, list) and cell and isinstance(cell[0], (dict, list)) for cell in nested)
    return rows or len(nested) == len(value) > 0


def table_in(text: str, whole: bool) -> Optional[str]:
    """Return the delimiter of a table whose name does not say so, by its header and the rows; None for plain lines."""
    if is_table(first_rows(text, "\t", whole, quoted=False), least=2):
        return "\t"
    return next((mark for mark in DELIMITERS if is_table(first_rows(text, mark, whole))), None)


def is_table(rows: Sequence[Sequence[str]], least: int = 3) -> bool:
    """Return whether rows agree, and are below a header with the name of a text, label or star column, or are data.

    Reviews with commas are none: of two names one more must be known, or a column be all numbers or dates. Without a
    header there are `least` rows.
    """
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    cells = [texts_in(row) for row in rows]
    first, below = cells[0], cells[1:]
    numeric = [place for place in range(len(first)) if below and all(is_value(row[place]) for row in below)]
    if names_columns(first) and any(known_in(cell, ROLES) for cell in first):
        known = sum(known_in(cell, KNOWN) for cell in first)
        return known > 1 or bool(numeric)
    # without a header
    if len(rows) < least or not numeric or not without_header(first, below):
        return False
    profiles = (Profile.of([row[place] for row in cells]) for place in range(len(first)) if place not in numeric)
    texts = any(profile.has_sentences or profile.syllables >= 4 for profile in profiles)
    return texts and all(is_value(first[place]) for place in numeric)


def delimiter_of(text: str, whole: bool) -> str:
    """Return what separates the fields at the beginning of a csv.

    That is the first of DELIMITERS by which the header has several fields and the next rows as many; where rows differ
    in all cases, the one of which the header has most.
    """
    # the semicolon of an entity separates nothing
    text = ENTITY.sub("", text) if "&" in text else text
    tables = {delimiter: first_rows(text, delimiter, whole) for delimiter in DELIMITERS}
    widths = {delimiter: len(rows[0]) if rows else 0 for delimiter, rows in tables.items()}
    for delimiter, rows in tables.items():
        if widths[delimiter] > 1 and all(len(row) == widths[delimiter] for row in rows):
            return delimiter
    # a header below a title, which has one field by any delimiter
    headers = {
        delimiter: next((len(row) for row in rows[:SEARCHED] if len(row) > 1 and names_columns(texts_in(row))), 0)
        for delimiter, rows in tables.items()
    }
    return max(DELIMITERS, key=(widths if max(widths.values()) > 1 else headers).__getitem__)


def first_rows(
    text: str, delimiter: str, whole: bool, blank: bool = False, quoted: bool = True, most: int = AGREEING
) -> list[list[str]]:
    """Return the first rows, those that are `blank` if wanted, without the last one of a text that goes on."""
    rows: list[list[str]] = []
    try:
        for row in csv_reader(io.StringIO(text, newline=""), delimiter, quoted):
            rows += [row] if row or blank else []
            if len(rows) > most:
                break
        else:
            return rows if whole or len(rows) < 2 else rows[:-1]
    # a quote that is not closed, or not yet: the reader of the table says where
    except csv.Error:
        pass
    return rows
