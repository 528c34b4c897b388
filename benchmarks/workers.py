"""What a second worker brings on this machine: reviews a second, processor time, and what an exchange takes.

    NSMC_ATTENTION_DATA=... OMP_NUM_THREADS=1 python benchmarks/workers.py

One process and two workers in turn, each with one thread a process, on the first reviews of the training file.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from nsmc_attention.reviews import nsmc
from nsmc_attention.training.distributed.communicator import worker_group
from nsmc_attention.training.distributed.launcher import names, variables

REVIEWS, DEV, EPOCHS, TIMES = 6400, 200, 3, 30
# Floats of a step: all but the embedding, with the rows of 128 reviews, with the whole embedding
MESSAGES = {"dense part": 230_000, "with the rows that a batch touches": 360_000, "with the whole table": 2_280_000}
FLAGS = ["--erasure-reviews", "0", "--ngram-buckets", "0", "--patience", "9", "--vocab-size", "16000"]


def training(folder, epochs, *flags):
    """Return the seconds of each epoch, and the processor seconds of all processes of the run."""
    out = Path(tempfile.mkdtemp(dir=folder)) / "run"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "nsmc_attention",
            "train",
            "--data",
            folder / "train.csv",
            "--valid",
            folder / "dev.csv",
            "--epochs",
            str(epochs),
            "--out",
            out,
            *FLAGS,
            *flags,
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = (out / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        json.loads(line)["seconds"] for line in lines
    ], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def trainings(folder):
    frame = nsmc.load("nsmc", "train").frame
    frame[:REVIEWS].to_csv(folder / "train.csv", index=False)
    frame[REVIEWS : REVIEWS + DEV].to_csv(folder / "dev.csv", index=False)
    print("| | reviews/s of the fastest epoch | processor seconds an epoch |\n|---|---|---|")
    ways = {"one process": [], "two workers": ["--kvstore", "dist_sync", "--workers", "2"]}
    short, long = (
        {name: training(folder, epochs, *flags) for name, flags in ways.items()} for epochs in (1, 1 + EPOCHS)
    )
    for name in ways:
        # what starting takes is in both
        processor = (long[name][1] - short[name][1]) / EPOCHS
        print(f"| {name} | {REVIEWS / min(long[name][0]):.0f} | {processor:.1f} |", flush=True)


def exchanges():
    common = variables(2)
    jobs = []
    for name in names(2):
        role, _, number = name.partition(" ")
        own = {**common, "DMLC_ROLE": role, "DMLC_WORKER_ID": number}
        jobs.append(subprocess.Popen([sys.executable, __file__], env=own, stdin=subprocess.PIPE))
    for job in jobs:
        job.wait()


def exchange():
    """Print, in worker 0, the median milliseconds in which a message of each size is added up over the workers."""
    import numpy

    with worker_group("dist_sync") as group:
        workers: Any = group
        if workers.first:
            print("\n| what is exchanged | floats | ms |\n|---|---|---|")
        for name, size in MESSAGES.items():
            taken = []
            for _ in range(TIMES):
                started = time.perf_counter()
                workers.total(numpy.ones(size, dtype="float32"))
                taken.append(time.perf_counter() - started)
            if workers.first:
                print(
                    f"| {name} | {size:,} | {1000 * numpy.median(taken):.1f} (least {1000 * min(taken):.1f}) |",
                    flush=True,
                )


if __name__ == "__main__":
    if "DMLC_ROLE" in os.environ:
        exchange()
    else:
        with tempfile.TemporaryDirectory() as place:
            trainings(Path(place))
        exchanges()
