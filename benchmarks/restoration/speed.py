"""Reviews per second without spaces that the editor restores with each engine, and kiwi spaces, in turn on one core.

    pip install kiwipiepy==0.24.1
    NSMC_ATTENTION_DATA=... OMP_NUM_THREADS=1 taskset -c 0 python -m benchmarks.restoration.speed [onnx native ...]

Processor time of 2,000 reviews of 12 to 60 characters, the median and the best of five rounds; of the editor also the
share of its engine, and how many texts differ from those of the first engine.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from kiwipiepy import Kiwi

from nsmc_attention.bundle import load_bundle
from nsmc_attention.corpora import nsmc
from nsmc_attention.systems.restore.restorer import Restorer
from nsmc_attention.systems.restore.settings import EDITOR, LAYOUT
from nsmc_attention.text.encoding import clean

from ..classification.robustness import WAYS

ROUNDS, MOST, SHORT, LONG = 5, 2000, 12, 60


def reviews() -> list[str]:
    cleaned = map(clean, nsmc.load("nsmc", "test").documents)
    whole = [text for text in cleaned if SHORT <= len(text) <= LONG]
    return [WAYS["no spaces"](text) for text in whole[:MOST]]


Run = Callable[[list[str]], list[str]]


class Timed:
    """A function and the processor seconds of its calls."""

    def __init__(self, run: Callable[..., Any]):
        self.run, self.seconds = run, list[float]()

    def __call__(self, *arguments: object) -> Any:
        begun = time.process_time()
        result = self.run(*arguments)
        self.seconds.append(time.process_time() - begun)
        return result


def contestants(engines: list[str]) -> tuple[dict[str, Timed], dict[str, Timed]]:
    """Return the functions that restore texts, by name, and the engines' own calls within them."""
    runs, within = dict[str, Timed](), dict[str, Timed]()
    for name in engines:
        restorer = Restorer.from_bundle(load_bundle(EDITOR, LAYOUT), name, "cpu", 1)
        within[name] = restorer.engine.tag = Timed(restorer.engine.tag)
        runs[name] = Timed(lambda texts, own=restorer: [each.text for each in own.restore_stream(texts)])
    kiwi = Kiwi(num_workers=1)
    runs["kiwi"] = Timed(lambda texts: [kiwi.space(text, reset_whitespace=True) for text in texts])
    return runs, within


def main(engines: list[str]) -> None:
    texts = reviews()
    runs, within = contestants(engines)
    # what is loaded at the first text is not timed
    found = {name: run.run(texts) for name, run in runs.items()}
    for engine in within.values():
        engine.seconds.clear()
    for _ in range(ROUNDS):
        for run in runs.values():
            run(texts)
    print(f"{len(texts):,} texts of {statistics.mean(map(len, texts)):.1f} characters; a second, median and best:")
    for name, run in runs.items():
        print(
            f"{name}: {len(texts) / statistics.median(run.seconds):,.0f}, {len(texts) / min(run.seconds):,.0f}", end=""
        )
        if name in within:
            share = sum(within[name].seconds) / sum(run.seconds)
            other = sum(one != two for one, two in zip(found[name], found[engines[0]]))
            print(f", {share:.0%} in the engine, {other} differ from {engines[0]}", end="")
        print()


if __name__ == "__main__":
    main(sys.argv[1:] or ["onnx", "native"])
