"""Rounds of contestants, each in its own process and in turn, so that a busy machine affects all of them equally."""

import statistics
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Callable

from nsmc_attention.machine.workers import Workers

from .contestants import CONTESTANTS, Workload

PREPARED: dict[str, Callable[[], object]] = {}


@dataclass(frozen=True)
class Comparison:
    """What is compared: `rate` is what a contestant does in one call, in `unit` (reviews, or GFLOP)."""

    name: str
    workload: Workload
    contestants: tuple
    baseline: str = "PyTorch eager"


def compare(comparison, repetitions, clock="perf_counter"):
    """Run the contestants of a Comparison in turn, timed by a clock of the module `time`.

    Returns
    -------
    list of dict
        A contestant each: comparison, contestant, unit, rate ({min, median, max} in units a second), ratio (the
        same of its rate to the baseline's in the same round; the baseline is the fastest contestant whose name
        begins with it), peak_mb of its process, or `absent` with the reason.
    """
    rows: dict[str, dict[str, Any]] = {}
    seconds: dict[str, list[float]] = {}
    with ExitStack() as stack:
        pools = {}
        for name in comparison.contestants:
            pool = stack.enter_context(Workers(1))
            try:
                pool.submit(prepare, name, comparison.workload).result()
                pools[name] = pool
            except Exception as problem:  # a library that is absent or cannot do it must not end the others
                rows[name] = {"absent": " ".join(f"{type(problem).__name__}: {problem}".split())[:200]}
        for _ in range(repetitions):
            for name, pool in pools.items():
                seconds.setdefault(name, []).append(pool.submit(run, clock).result())
        peaks = {name: pool.submit(peak_megabytes).result() for name, pool in pools.items()}
    rates = {name: [amount(name, comparison.workload) / each for each in found] for name, found in seconds.items()}
    baseline = fastest(rates, comparison.baseline)
    for name, found in rates.items():
        rows[name] = {
            "unit": "GFLOP/s" if name == "sgemm" else "reviews/s",
            "rate": spread(found),
            "peak_mb": peaks[name],
        }
        if baseline and name != "sgemm":
            rows[name]["ratio"] = spread([one / other for one, other in zip(found, rates[baseline])])
        if "sgemm" in rates and name != "sgemm":
            per_review = comparison.workload.flop / comparison.workload.reviews / 1e9
            rows[name]["of_sgemm"] = spread([one * per_review / other for one, other in zip(found, rates["sgemm"])])
    return [{"comparison": comparison.name, "contestant": name, **rows[name]} for name in comparison.contestants]


def processor_times(works, count, rounds):
    """Return {name: microseconds of this process's processor time for one of `count`} of functions called in turn.

    A first round is not counted.
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds + 1):
        for name, work in works.items():
            started = time.process_time()
            work()
            taken[name].append((time.process_time() - started) / count * 1e6)
    return {name: found[1:] for name, found in taken.items()}


def prepare(name, workload):
    """In a worker: build a contestant and let it run once, so that nothing is measured that happens only once."""
    PREPARED["contestant"] = CONTESTANTS[name](workload)
    PREPARED["contestant"]()


def run(clock):
    now = getattr(time, clock)
    started = now()
    PREPARED["contestant"]()
    return now() - started


def peak_megabytes():
    """Return the largest resident size that this process ever had, in MiB."""
    import resource

    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def amount(name, workload):
    return CONTESTANTS[name].flop / 1e9 if name == "sgemm" else workload.reviews


def fastest(rates, prefix):
    found = [name for name in rates if name.startswith(prefix)]
    return max(found, key=lambda name: statistics.median(rates[name]), default=None)


def spread(values):
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}
