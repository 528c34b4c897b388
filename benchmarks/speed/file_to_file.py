"""Wall time and memory of scoring files of up to a million reviews, with engines in turn.

NSMC_ATTENTION_DATA=... python -m benchmarks.speed.file_to_file [--cores 1] [--sizes 10000 100000]
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.predictor import Classifier
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import labelled
from nsmc_attention.errors import NsmcError
from nsmc_attention.machine.processes import cores

SIZES, ROUNDS = (10000, 100000, 1000000), 5
ENGINES = ("native", "native-bf16", "onnx")


def installed(engines):
    """Return {name: Classifier} of the engines that run here, on one thread; name the others."""
    bundle, found = load_bundle(None, LAYOUT), {}
    for name in engines:
        try:
            found[name] = Classifier.from_bundle(bundle, name, "cpu", 1)
        except NsmcError as problem:
            print(f"absent: {name}: {problem}")
    return found


def score_file(path, engine):
    """Run the command on a file in a second process; return (seconds, peak MiB of it and its workers together)."""
    output = path.with_name("scored.csv")
    command = [sys.executable, "-m", "nsmc_attention", "predict", "--engine", engine]
    command += ["--input", str(path), "--output", str(output)]
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


def growth(path, documents, sizes, engines):
    """Print the rate and peak memory of the command by the size of the file, engines in turn."""
    print(
        f"\n| reviews, file to file, cores: {cores()} | engine | s | reviews/s | reviews/s after start-up | peak MiB |"
    )
    print("|---|---|---|---|---|---|")
    engines = list(installed(engines))
    start: dict[str, float] = {}
    for size in (1, *sizes):
        write_reviews(path, documents, size)
        for engine in engines:
            seconds, peak = score_file(path, engine)
            rest = seconds - start.setdefault(engine, seconds)
            after = f"{size / rest:,.0f}" if rest > 0 else ""
            print(f"| {size:,} | {engine} | {seconds:.2f} | {size / seconds:,.0f} | {after} | {peak:.0f} |", flush=True)


def write_reviews(path, documents, count):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["document"])
        table.writerows([document] for document in islice(cycle(documents), count))


def options(description=__doc__):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--data", default="nsmc", help="nsmc, sample, or a labelled file")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="reviews of the files")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of the stages")
    parser.add_argument("--engines", nargs="+", default=ENGINES)
    parser.add_argument("--cores", type=int, nargs="+", default=[cores()], help="how many of this process's cores")
    return parser


def on_cores(count, allowed):
    """Keep this process and those that it starts to the last `count` of the allowed cores."""
    os.sched_setaffinity(0, sorted(allowed)[-count:])


def main(given):
    documents = labelled.load_reviews(given.data, "test").documents
    allowed = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reviews.csv"
        for count in given.cores:
            on_cores(count, allowed)
            growth(path, documents, given.sizes, given.engines)
    os.sched_setaffinity(0, allowed)


if __name__ == "__main__":
    main(options().parse_args())
