"""The command `read`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from ..errors import ConfigError
from . import options
from .declare import argument, command, option
from .options import Corrections, Model, TaskModel

if TYPE_CHECKING:
    from ..scoring.reference import Scorer


@command()
def read(
    *,
    pictures: tuple[str, ...] = argument(nargs=-1, required=True, metavar="PICTURE..."),
    predict: bool = option("classify each line"),
    paragraphs: bool = option("join lines that follow each other closely, such as a wrapped review"),
    corrections: Corrections,
    output: Path = options.OUTPUT,
    style: Optional[str] = options.FORMAT,
    picture: Optional[Path] = option(
        ".png, .svg, .pdf or .html: where each letter was read, for one PICTURE", "--explain"
    ),
    weights: bool = option("include the attention weights (jsonl)"),
    language: str = options.PAGE_LANGUAGE,
    model: TaskModel,
) -> None:
    """Read the lines of text in screenshots: PNG, JPEG, GIF, WEBP, BMP or TIFF files, or - for stdin.

    Text output has the lines alone. A table also has the place of each line and the probability of its letters.

    \b
    nsmc-attention read screenshot.png
    nsmc-attention read screenshot.png --predict
    nsmc-attention read *.png --predict --restore --output lines.csv
    nsmc-attention read screenshot.png --explain where.html
    """
    if picture:
        from ..views.page import check_picture

        check_picture(picture)
        if len(pictures) > 1:
            raise ConfigError(f"read --explain: expected one PICTURE, found {len(pictures)}")
    from ..machine.progress import progress_bar
    from ..systems.read.opening import LARGEST_FILE
    from ..systems.read.reader import PictureReader
    from ..systems.read.reading import write_readings

    reader, other = PictureReader.load(*model), Model(None, "auto", model.device)
    scorer: Optional[Scorer] = corrections.over(other.load(), other) if predict else corrections.load(other) or None
    # one byte more than allowed is read from stdin, so that the reader refuses a larger picture
    files = ((name, sys.stdin.buffer.read(LARGEST_FILE + 1) if name == "-" else name) for name in pictures)
    bar = progress_bar(files, total=len(pictures), unit="picture", delay=2)
    readings = ((name, reader(file)) for name, file in bar)
    drawn = list(readings) if picture else []
    write_readings(drawn or readings, scorer, output, style, weights, paragraphs)
    if picture:
        from ..systems.read.pictures import save_reading

        save_reading(drawn[0][1], picture, language)
