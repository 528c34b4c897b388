"""Processor time of a review by stage, from csv to csv, in one table with a column for each kernel.

NSMC_ATTENTION_DATA=... python -m benchmarks.speed.stages [--kernels avx2 vnni]

Stages are timed in turn, in one process with one thread. The time of a stage that cannot run alone is the difference of two
others. Waiting is the idle time of the cores while `predict` scores the file on all of them, which is short on a busy machine.
"""

import io
import os
import statistics
import tempfile
from collections import deque
from itertools import chain, islice
from pathlib import Path
from typing import Any

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.predictor import WHOLE_TOKENS, WINDOW, Classifier
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.classifier.windows import classes_of_characters, read_window
from nsmc_attention.corpora import labelled
from nsmc_attention.machine.processes import cores
from nsmc_attention.native.dictionary import installed_decoder
from nsmc_attention.native.kernels import VARIABLE, kernel_name
from nsmc_attention.scoring.files import score_table, table_parts, tally_of
from nsmc_attention.tables.table import Table, open_table
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.symbols import LONGEST_NUMBER
from nsmc_attention.text.tokenizers import LONGEST_TEXT

from ..contest.rounds import processor_times
from . import file_to_file

KERNELS, PART = ("avx2", ""), 8192


class Known:
    """A Scorer whose results are computed already: reading and writing remain."""

    judge = None

    def __init__(self, classifier, rows):
        self.types, self.reference, self.left = classifier.types, classifier.reference, iter(rows)

    def rows(self, texts):
        return list(islice(self.left, len(texts)))


def pieces(items, size):
    return [items[start : start + size] for start in range(0, len(items), size)]


def works(path, classifier):
    """Return {name: function} of what is timed, of a csv file of reviews."""
    decoder: Any = installed_decoder()
    encoder = classifier.encoder
    table = open_table(path)
    parts = list(table.parts)
    texts = [*chain.from_iterable(part[table.text_column] for part in parts)]
    cleaned, rows = [*map(clean, texts)], classifier.rows(texts)
    windows = [read_window(encoder, piece, WHOLE_TOKENS)[0] for piece in pieces(texts, WINDOW)]

    def encode(longest, buckets):
        # without symbols, which are looked for with the labels
        how = None, classes_of_characters(), longest, LONGEST_NUMBER, buckets
        for piece in pieces(texts, WINDOW):
            decoder.window(piece, encoder.native_vocabulary, clean, *how)

    def share():
        found = [(row[2], row[-1]) for row in rows]
        for number, (some, outcomes) in enumerate(zip(pieces(texts, PART), pieces(found, PART))):
            known = [None if error else probability for probability, error in outcomes]
            tally_of(classifier, some, known, 0, number * PART)

    def write():
        known: Any = Known(classifier, rows)
        again = Table(table.source, table.text_column, iter(parts))
        deque(table_parts(known, again, io.StringIO(), "csv", processes=1), maxlen=0)

    return {
        "read": lambda: deque(open_table(path).parts, maxlen=0),
        "clean": lambda: encode(0, 0),
        "lattice": lambda: deque(map(decoder.cost, cleaned), maxlen=0),
        "encode": lambda: encode(LONGEST_TEXT, encoder.ngram_buckets),
        "network": lambda: deque(map(classifier.score, windows), maxlen=0),
        "rows": lambda: classifier.rows(texts),
        "share": share,
        "write": write,
        "file": lambda: score_table(classifier, path, path.with_name("one.csv"), processes=1),
    }


def budget(spent):
    """Return {stage: microseconds} of those of each of the `works`: the first eight add up to what they do together."""
    return {
        "read": spent["read"],
        "clean": spent["clean"],
        "lattice": spent["lattice"],
        "pieces and n-grams": spent["encode"] - spent["clean"] - spent["lattice"],
        "network": spent["network"],
        "labels, pieces of long reviews, symbols": spent["rows"] - spent["encode"] - spent["network"],
        "share": spent["share"],
        "write": spent["write"],
        "file to file, one process": spent["file"],
    }


def idle():
    """Return the seconds for which this process's cores have had nothing to do since the machine started (Linux)."""
    lines = map(str.split, Path("/proc/stat").read_text().splitlines())
    # user, nice, system, idle, waiting for a disk
    known = {name: int(numbers[3]) + int(numbers[4]) for name, *numbers in lines if name.startswith("cpu")}
    return sum(known[f"cpu{core}"] for core in os.sched_getaffinity(0)) / os.sysconf("SC_CLK_TCK")


def waiting(path, count):
    """Return the microseconds a review for which the cores have nothing to do while the command scores a file."""
    before = idle()
    file_to_file.score_file(path, "native")
    return (idle() - before) / count * 1e6


def columns(path, count, kernels, rounds):
    """Yield (name of the kernel, {stage: microseconds a review})."""
    for name in kernels:
        os.environ[VARIABLE] = name
        classifier = Classifier.from_bundle(load_bundle(None, LAYOUT), "native", "cpu", 1)
        taken = processor_times(works(path, classifier), count, rounds)
        stages = budget({name: statistics.median(found) for name, found in taken.items()})
        yield kernel_name(), {**stages, f"waiting, cores: {cores()}": waiting(path, count)}


def table(found):
    """Yield the lines of the table of [(kernel, {stage: microseconds})]."""
    names, stages = zip(*found)
    yield f"| µs a review | {' | '.join(names)} |"
    yield "|---" * (1 + len(names)) + "|"
    for stage in stages[0]:
        yield f"| {stage} | {' | '.join(f'{each[stage]:.1f}' for each in stages)} |"


def main(documents, kernels, rounds):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reviews.csv"
        file_to_file.write_reviews(path, documents, len(documents))
        print(*table([*columns(path, len(documents), kernels, rounds)]), sep="\n", flush=True)


if __name__ == "__main__":
    parser = file_to_file.options(__doc__)
    parser.add_argument("--kernels", nargs="+", default=KERNELS, help='of NSMC_ATTENTION_SIMD; "" is the fastest')
    given = parser.parse_args()
    main(labelled.load_reviews(given.data, "test").documents, given.kernels, given.rounds)
