"""Readings as a table: a row for each line, with what a restorer or a classifier makes of it."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from ...scoring.files import open_output, style_of
from ...scoring.reference import Scorer
from ...tables.writers import WRITERS, ScoredRows
from .reading import Line, Reading

COLUMNS = ("picture", "line", "left", "top", "right", "bottom", "letter_probability", "text")
# Of a line's values, those that are columns
IN_COLUMNS = ("text", "box", "score")


def write_readings(
    readings: Iterable[tuple[str, Reading]],
    scorer: Optional[Scorer] = None,
    output: Union[str, Path] = "-",
    style: Optional[str] = None,
    weights: bool = False,
    paragraphs: bool = False,
) -> None:
    """Write a row for each line, or paragraph, of readings, each with the name of its picture.

    The columns are COLUMNS and then those of the scorer, of which the lines are the texts. The style (text, csv, tsv, jsonl,
    parquet, xlsx) is by default that of the output's suffix; text has the lines alone. Readings are taken one by one, so
    that their pictures need not be in memory together; nothing is written if one of them raises an error.
    """
    style = style_of(output, style, weights)
    rows, objects = list[tuple[Any, ...]](), list[dict[str, Any]]()
    for name, reading in readings:
        if not reading.lines:
            print(f"{name}: no line of text found", file=sys.stderr)
        if reading.doubts:
            print(f"{name}: {reading.doubts}", file=sys.stderr)
        groups = reading.paragraphs if paragraphs else [[line] for line in reading.lines]
        rows += [(name, number, *row_of(group)) for number, group in enumerate(groups, 1)]
        if style == "jsonl":
            objects += [details(group, weights, paragraphs) for group in groups]
    texts = [row[-1] for row in rows]
    columns = dict(zip(COLUMNS, map(list, zip(*rows)))) if rows else {name: [] for name in COLUMNS}
    types = scorer.types if scorer else {}
    with open_output(output, style) as file, WRITERS[style](file, list(COLUMNS), types, False) as write:
        results: list[Any] = objects
        if style != "jsonl":
            results = scorer.rows(texts) if scorer else [()] * len(texts)
        elif scorer:
            scored = scorer.objects(texts)
            results = [{**one, **without(text, other)} for text, one, other in zip(texts, objects, scored)]
        write(ScoredRows(columns, texts, results))


def row_of(group: Sequence[Line]) -> tuple[Any, ...]:
    """Return the cells of a line, or of lines that belong together: the box around them, the least probability, the text."""
    lefts, tops, rights, bottoms = zip(*(line.box for line in group))
    probability = round(min(line.score for line in group), 4)
    return min(lefts), min(tops), max(rights), max(bottoms), probability, " ".join(line.text for line in group)


def details(group: Sequence[Line], weights: bool, paragraphs: bool) -> dict[str, Any]:
    """Return what jsonl has beside the columns: where letters were read; of a paragraph, its lines."""
    lines = [line.to_dict(weights) for line in group]
    return {"lines": lines} if paragraphs else {name: lines[0][name] for name in lines[0] if name not in IN_COLUMNS}


def without(text: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return a scorer's values without the text that it was given, which is a column."""
    return {name: value for name, value in values.items() if (name, value) != ("text", text)}
