"""Pictures read into a table: a row for each line, with what a restorer or a classifier makes of it."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

from ..inference.reference import Scorer
from ..inference.scoring import open_output, style_of
from ..inference.writers import WRITERS, Part
from .opening import Picture
from .reader import PictureReader
from .reading import Line, Reading

COLUMNS = ("picture", "line", "left", "top", "right", "bottom", "letter_probability", "text")
# Of a line's values, those that are columns
KNOWN = ("text", "box", "score")


def read_pictures(
    reader: PictureReader,
    pictures: Sequence[tuple[str, Picture]],
    scorer: Optional[Scorer] = None,
    output: Union[str, Path] = "-",
    style: Optional[str] = None,
    weights: bool = False,
    paragraphs: bool = False,
) -> list[Reading]:
    """Read pictures, (name, picture) each, and write a row for each line, or paragraph; return the readings.

    The columns are COLUMNS and then those of the scorer, of which the lines are the texts. The style (text, csv, tsv, jsonl,
    parquet, xlsx) is by default that of the output's suffix; text has the lines alone. Nothing is written if one of the
    pictures cannot be read.
    """
    style = style_of(output, style, weights)
    readings = [reader(picture) for _, picture in pictures]
    rows, groups = list[tuple[Any, ...]](), list[list[Line]]()
    for (name, _), reading in zip(pictures, readings):
        if not reading.lines:
            print(f"{name}: no line of text found", file=sys.stderr)
        own = reading.paragraphs if paragraphs else [[line] for line in reading.lines]
        rows += [(name, number, *row_of(group)) for number, group in enumerate(own, 1)]
        groups += own
    texts = [row[-1] for row in rows]
    columns = dict(zip(COLUMNS, map(list, zip(*rows)))) if rows else {name: [] for name in COLUMNS}
    types = scorer.types if scorer else {}
    with open_output(output, style) as file, WRITERS[style](file, list(COLUMNS), types, False) as write:
        if style == "jsonl":
            scored = scorer.objects(texts) if scorer else [{}] * len(texts)
            known = [details(group, weights, paragraphs) for group in groups]
            write(
                Part(columns, texts, [{**one, **unlike(text, other)} for text, one, other in zip(texts, known, scored)])
            )
        else:
            write(Part(columns, texts, scorer.rows(texts) if scorer else [()] * len(texts)))
    return readings


def row_of(group: Sequence[Line]) -> tuple[Any, ...]:
    """Return the cells of a line, or of lines that belong together: the box around them, the least probability, the text."""
    lefts, tops, rights, bottoms = zip(*(line.box for line in group))
    probability = round(min(line.score for line in group), 4)
    return min(lefts), min(tops), max(rights), max(bottoms), probability, " ".join(line.text for line in group)


def details(group: Sequence[Line], weights: bool, paragraphs: bool) -> dict[str, Any]:
    """Return what jsonl has beside the columns: where letters were read; of a paragraph, its lines."""
    lines = [line.to_dict(weights) for line in group]
    return {"lines": lines} if paragraphs else {name: lines[0][name] for name in lines[0] if name not in KNOWN}


def unlike(text: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return a scorer's values without the text that was read."""
    return {name: value for name, value in values.items() if (name, value) != ("text", text)}
