"""Where the time of scoring a file goes, stage by stage, and how time and memory grow to a million reviews.

NSMC_ATTENTION_DATA=... python benchmarks/file_to_file.py
"""

import csv
import subprocess
import sys
import tempfile
import time
from collections import deque
from itertools import cycle, islice
from pathlib import Path

from nsmc_attention._runtime.processes import cores
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.inference.engines import OnnxEngine
from nsmc_attention.inference.predictor import WINDOW, Classifier
from nsmc_attention.reviews import nsmc, tables
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.tokenizers import tokenizer

SIZES = (1, 1000, 10000, 50000, 200000, 1000000)
MILLION = 1000000


def timed(work):
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def stages(path):
    """Return {stage: seconds} on one core for the reviews of a csv file."""
    bundle = load_bundle()
    encoder, classifier = bundle.encoder, Classifier(bundle, OnnxEngine(bundle.read("model.onnx"), threads=1))
    split = tokenizer("mecab")
    found = {}
    found["read the table"], pieces = timed(lambda: list(tables.chunks(path)))
    found["rows and texts"], rows = timed(lambda: [row for piece in pieces for row in piece.to_dict("records")])
    texts = [row["document"] for row in rows]
    found["clean"], cleaned = timed(lambda: [clean(text) for text in texts])
    found["tokenize (Mecab)"], token_lists = timed(lambda: [split(text) for text in cleaned])
    found["ids"], encoded = timed(lambda: [encoder.encode_words(tokens) for tokens in token_lists])

    def network():
        for start in range(0, len(encoded), WINDOW):
            deque(classifier.score.run(encoded[start : start + WINDOW]), maxlen=0)

    found["n-grams and network (ONNX, one thread)"], _ = timed(network)

    return found


def score_file(path):
    """Run the command on a file in a second process; return (seconds, peak MiB of it and its workers together)."""
    command = [
        sys.executable,
        "-m",
        "nsmc_attention",
        "predict",
        "--input",
        str(path),
        "--output",
        str(path.parent / "scored.csv"),
    ]
    started, peak = time.perf_counter(), 0.0
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        peak = max(peak, sum(map(proportional_set, family(process.pid))))
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return time.perf_counter() - started, peak


def family(pid):
    """Yield a process and its descendants (Linux)."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from family(int(child))


def proportional_set(pid):
    """Return a process's resident MiB, memory that it shares counted by its share."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def write_reviews(path, documents, count):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["document"])
        table.writerows([document] for document in islice(cycle(documents), count))


def main():
    documents = nsmc.load("nsmc", "test").documents
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reviews.csv"
        write_reviews(path, documents, len(documents))
        found = stages(path)
        total = sum(found.values())
        print("| stage, one core | s for 1,000,000 reviews | share |\n|---|---|---|")
        for stage, seconds in {**found, "all": total}.items():
            print(f"| {stage} | {seconds * MILLION / len(documents):.1f} | {100 * seconds / total:.0f} % |")
        print(f"\n| reviews, file to file, {cores()} cores | s | reviews/s | reviews/s after start-up | peak MiB |")
        print("|---|---|---|---|---|")
        start = None
        for size in SIZES:
            write_reviews(path, documents, size)
            seconds, peak = score_file(path)
            start = start or seconds
            after = f"{size / (seconds - start):,.0f}" if size >= 10000 else ""
            print(f"| {size:,} | {seconds:.2f} | {size / seconds:,.0f} | {after} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
