"""Rows of a JSON file that is one list or object, as public corpora and pandas write it.

A list is read piece by piece; an object, which may hold its rows anywhere, whole, up to WHOLE characters.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from ..errors import DataError
from .bounded_lines import LINE
from .columns import NAMED, known_in

# Characters read at a time, and of a file that is parsed whole
BLOCK, WHOLE = 1 << 16, 1 << 26
AS_LINES = "write one object a line: jq -c '.[]' FILE > FILE.jsonl, or to_json(orient='records', lines=True) of pandas"


def json_items(file: TextIO, path: Path) -> Iterator[tuple[int, object]]:
    """Yield (number, value) of each row of a list or object; DataError, with its number, for what is no JSON."""
    head = ""
    while not head.strip() and (block := file.read(BLOCK)):
        head += block
    if head.lstrip().startswith("["):
        yield from list_items(file, head.lstrip()[1:], path)
    else:
        yield from enumerate(rows_of(parse_whole(file, head, path), path), start=1)


def list_items(file: TextIO, rest: str, path: Path) -> Iterator[tuple[int, object]]:
    """Yield the items of a list, of which the opening bracket was read."""
    decode, number, place = json.JSONDecoder().raw_decode, 1, 0
    while True:
        while place < len(rest) and (rest[place].isspace() or rest[place] == ","):
            place += 1
        if rest.startswith("]", place):
            if (rest[place + 1 :] + file.read(BLOCK)).strip():
                raise DataError(f"{path}: expected the end of the file after the list, found more; {AS_LINES}")
            return
        try:
            value, end = decode(rest, place)
        except (ValueError, RecursionError):
            value, end = None, len(rest)
        # a value at the end of what was read may go on
        if end < len(rest):
            yield number, value
            number, place = number + 1, end
            continue
        block = file.read(max(BLOCK, len(rest) - place))
        if not block or len(rest) - place > LINE:
            found = rest[place : place + 40] or "the end of the file"
            raise DataError(f"{path} object {number}: expected a JSON object, found {found!r}; {AS_LINES}")
        rest, place = rest[place:] + block, 0


def parse_whole(file: TextIO, head: str, path: Path) -> object:
    text = head + file.read(WHOLE - len(head) + 1)
    if len(text) > WHOLE:
        raise DataError(f"{path}: expected at most {WHOLE:,} characters in one JSON object, found more; {AS_LINES}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        line = getattr(problem, "lineno", 1)
        raise DataError(f"{path} line {line}: expected one JSON list or object, found none; {AS_LINES}") from problem


def rows_of(value: object, path: Path) -> list[object]:
    """Return the rows of an object: its only list of objects, its columns (pandas), or itself."""
    if not isinstance(value, dict):
        raise DataError(f"{path}: expected a JSON list or object, found {type(value).__name__}; {AS_LINES}")
    if any(isinstance(cell, str) and known_in(name, NAMED) for name, cell in value.items()):
        return [value]
    if isinstance(value.get("columns"), list) and isinstance(value.get("data"), list):
        return [dict(zip(map(str, value["columns"]), row)) for row in value["data"] if isinstance(row, list)]
    columns = list(value.values())
    lists = [cell for cell in columns if isinstance(cell, list) and cell and isinstance(cell[0], dict)]
    if "schema" in value and isinstance(value.get("data"), list):
        lists = [value["data"]]
    if len(lists) > 1:
        raise DataError(f"{path}: expected one list of objects, found {len(lists)}; {AS_LINES}")
    if lists:
        return lists[0]
    inner = [cell for cell in columns if isinstance(cell, dict)]
    if columns and len(inner) == len(columns):
        return rows_of_objects(value)
    if all(isinstance(cell, list) for cell in columns) and len(set(map(len, columns))) == 1:
        return [dict(zip(value, cells)) for cells in zip(*columns)]
    if len(inner) == 1 and not any(isinstance(cell, str) for cell in columns):
        return rows_of(inner[0], path)
    return [value]


def rows_of_objects(value: dict[str, dict[str, object]]) -> list[object]:
    """Return the rows of an object of objects: pandas' columns of rows, or its rows by their index."""
    first = next(iter(value.values()))
    if all(map(str.isdecimal, value)) and not all(map(str.isdecimal, first)):
        return list(value.values())
    keys = dict.fromkeys(key for column in value.values() for key in column)
    if len(value) > 1 and all(isinstance(cell, (dict, list)) for cell in first.values()):
        return list(value.values())
    return [{name: column.get(key) for name, column in value.items()} for key in keys]
