"""Training steps per second by number of threads and waiting policy, with and without a process that occupies a core.

    python -m benchmarks.speed.threads

Each row runs in its own process, in turn and twice, with batches of 128 reviews of 8 to 29 tokens and the default network.
"""

import os
import statistics
import subprocess
import sys
import time

# What the environment sets; the package's default is GOMP_SPINCOUNT=1000
ROWS = (
    {"OMP_NUM_THREADS": "1"},
    {"OMP_NUM_THREADS": "2"},
    {"OMP_NUM_THREADS": "2", "GOMP_SPINCOUNT": "300000"},
    {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"},
)
BATCHES, ROUNDS, TURNS = 12, 3, 2


def steps() -> float:
    """Return the reviews a second of the median round."""
    import numpy

    from nsmc_attention.classifier.batches import Batch
    from nsmc_attention.classifier.settings import Config
    from nsmc_attention.classifier.stages import LabelsObjective, as_inputs
    from nsmc_attention.machine.gluon import mxnet
    from nsmc_attention.training.loop import make_trainer, train_step

    mxnet.random.seed(0)
    config, device, draw = Config(), mxnet.cpu(), numpy.random.RandomState(0)
    network = config.network(16000, with_ngrams=False)
    network.initialize(mxnet.init.Xavier())
    batches = []
    for length in draw.randint(8, 30, BATCHES):
        ids = draw.randint(2, 16000, (128, length)).astype("int32")
        labels = draw.randint(0, 2, 128).astype("float32")
        batches.append(Batch(ids, numpy.full(128, length, "float32"), labels, None))
    network(*as_inputs(batches[0], device))
    network.hybridize(static_alloc=True)
    trainer, objective, seconds = make_trainer(network, 1e-3), LabelsObjective(None, device), []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        for batch in batches:
            train_step(network, trainer, objective, batch, 1.0)
        seconds.append(time.perf_counter() - started)
    return 128 * BATCHES / statistics.median(seconds[1:])


def measure(environment: dict[str, str]) -> float:
    done = subprocess.run(
        [sys.executable, __file__, "steps"], env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True
    )
    return float(done.stdout)


def table() -> None:
    print("| environment | alone (reviews/s) | beside a busy process |\n|---|---|---|")
    found: list[tuple[list[float], list[float]]] = [([], []) for _ in ROWS]
    for _ in range(TURNS):
        for row, (alone, _) in zip(ROWS, found):
            alone.append(measure(row))
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
            for row, (_, beside) in zip(ROWS, found):
                beside.append(measure(row))
            busy.kill()
    for row, figures in zip(ROWS, found):
        name = " ".join(f"{key}={value}" for key, value in row.items())
        print(f"| `{name}` | {' | '.join(', '.join(f'{each:.0f}' for each in part) for part in figures)} |")


if __name__ == "__main__":
    if sys.argv[1:] == ["steps"]:
        print(steps())
    else:
        table()
