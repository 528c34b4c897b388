"""Reviews from lines or a table, scored piece by piece into text, csv or jsonl.

Every row keeps its place and its other columns; a row that cannot be scored has an empty label and the
reason in `error`. Memory does not grow with the number of rows, and an output file appears whole or not at all.
"""
import csv
import json
import sys
from contextlib import contextmanager
from pathlib import Path

from ..atomic import replaced_file
from ..errors import ConfigError

COLUMNS = ("label", "score", "probability", "error")
STYLES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "text"}


def score_lines(classifier, lines, output="-", style=None, weights=False):
    """Score an iterable of reviews; csv and jsonl have the column `text`, the clean text."""
    with writer(output, style, weights, ["text"]) as write:
        for prediction in classifier.predict_stream(lines):
            write({"text": prediction.text}, prediction)


def score_table(classifier, source, output="-", style=None, weights=False, text_column="document"):
    """Score a table of any size (see `reviews.tables.chunks`); its columns come first in the output."""
    from tqdm import tqdm

    from ..reviews import tables

    pieces = tables.chunks(source, text_column)
    first = next(pieces, None)
    names = [text_column] if first is None else [str(name) for name in first.columns]
    taken = [name for name in COLUMNS if name in names]
    prefix = "predicted_" if taken else ""
    with writer(output, style, weights, names, prefix) as write, \
            tqdm(unit=" reviews", file=sys.stderr, disable=None, mininterval=0.5) as bar:
        piece = first
        while piece is not None:
            texts = [tables.as_text(value) for value in piece[text_column]]
            rows = piece.to_dict("records")
            for row, prediction in zip(rows, classifier.predict_stream(texts)):
                write(row, prediction)
            bar.update(len(texts))
            piece = next(pieces, None)


@contextmanager
def writer(output, style, weights, names, prefix=""):
    """Give a function write(row, prediction) for an output path, or stdout for "-"."""
    output = Path(output)
    style = style or STYLES.get(output.suffix.lower(), "text")
    if weights and style != "jsonl":
        raise ConfigError(f"--weights needs --format jsonl, found {style}")
    if str(output) == "-":
        yield WRITERS[style](sys.stdout, names, prefix, weights)
        return
    with replaced_file(output) as temporary:
        with open(temporary, "w", encoding="utf-8", newline="", errors="replace") as file:
            yield WRITERS[style](file, names, prefix, weights)


def text_writer(file, names, prefix, weights):
    def write(row, prediction):
        if prediction.error:
            print(f"-\t-\t{prediction.text}\t{prediction.error}", file=file)
        else:
            print(f"{prediction.label}\t{prediction.score:.4f}\t{prediction.text}", file=file)

    return write


def csv_writer(file, names, prefix, weights):
    table = csv.writer(file, lineterminator="\n")
    table.writerow([*names, *(prefix + name for name in COLUMNS)])

    def write(row, prediction):
        table.writerow([*row.values(), *("" if value is None else value for value in results(prediction).values())])

    return write


def jsonl_writer(file, names, prefix, weights):
    def write(row, prediction):
        # the row's own columns stay; the prediction's fields follow in the shape of Prediction.to_dict()
        values = {prefix + name if name in COLUMNS else name: value
                  for name, value in prediction.to_dict(weights).items()}
        own = {name: value for name, value in row.items() if name not in values}
        print(json.dumps({**own, **values}, ensure_ascii=False, default=str), file=file)

    return write


def results(prediction):
    """Answer the four result columns; probabilities with 6 digits, beyond which floats of batches differ."""
    def digits(value):
        return None if value is None else f"{value:.6f}"

    return {"label": prediction.label, "score": digits(prediction.score),
            "probability": digits(prediction.probability), "error": prediction.error}


WRITERS = {"text": text_writer, "csv": csv_writer, "jsonl": jsonl_writer}
