"""Why the network is written as it is: MXNet's operators beside each other, and the profile of a training step.

NSMC_ATTENTION_DATA=... python benchmarks/operators.py
"""

import statistics
import tempfile
import time
from pathlib import Path

from gluonnlp.model import MLPAttentionCell
from mxnet import autograd, nd
from nsmc_attention.benchmark.comparisons import TRAIN_BATCH, TRAIN_REVIEWS, real, settings
from nsmc_attention.benchmark.contestants import GluonTraining

from nsmc_attention.model.attention import AdditiveAttention, mxnet
from nsmc_attention.model.networks.classifier import rearranged, side_by_side, turned_rows
from nsmc_attention.reviews import nsmc

N, T, TIMES, SHOWN = 128, 20, 25, 18
MODEL, _ = settings()
H, E = MODEL.hidden_size, MODEL.embedding_size


def measure(name, function, *inputs):
    """Print the median milliseconds of a function's forward pass, and of forward and backward together."""
    for array in inputs:
        array.attach_grad()
    forward, both = [], []
    for _ in range(TIMES):
        started = time.perf_counter()
        with autograd.record():
            result = function(*inputs)
        nd.waitall()
        forward.append(time.perf_counter() - started)
        result.backward()
        nd.waitall()
        both.append(time.perf_counter() - started)
    print(f"| {name} | {1000 * statistics.median(forward):.2f} | {1000 * statistics.median(both):.2f} |", flush=True)


def gru(bidirectional):
    directions = 1 + bidirectional
    parameters = nd.random.normal(0, 0.05, shape=(directions * (3 * H * (E + H) + 6 * H),))
    state = nd.zeros((directions, N, H))
    return parameters, lambda sequences, values: nd.RNN(
        sequences, values, state, state_size=H, num_layers=1, bidirectional=bidirectional, mode="gru"
    )


def cell(kind):
    built = kind(MODEL.attention_units, act=mxnet.gluon.nn.Activation("tanh"))
    built.initialize()
    built.hybridize(static_alloc=True)
    return lambda states: built(states, states)[1]


def as_matrices(forward, backward):
    rows = nd.concat(nd.reshape(forward, shape=(-3, 0)), nd.reshape(backward, shape=(-3, 0)), dim=1)
    return nd.reshape_like(rows, forward, lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2)


def operators():
    sequences, lengths = nd.random.normal(shape=(T, N, E)), nd.full((N,), T)
    forward, backward = nd.random.normal(shape=(T, N, H)), nd.random.normal(shape=(T, N, H))
    rows = turned_rows(nd, sequences, lengths)
    print(f"| {N} reviews of {T} tokens, median of {TIMES} | forward, ms | with backward, ms |\n|---|---|---|")
    for name, bidirectional in (("GRU, one direction (the network has two)", False), ("GRU, bidirectional", True)):
        parameters, run = gru(bidirectional)
        measure(name, run, sequences, parameters)
    measure("directions joined on the last of three axes", lambda a, b: nd.concat(a, b, dim=2), forward, backward)
    measure("directions joined as matrices", as_matrices, forward, backward)
    measure("directions stacked (ours)", lambda a, b: side_by_side(nd, a, b), forward, backward)
    measure("turned by SequenceReverse", lambda a: nd.SequenceReverse(a, lengths, use_sequence_length=True), sequences)
    measure("turned by picking rows (ours)", lambda a: rearranged(nd, a, rows), sequences)
    states = nd.random.normal(shape=(N, T, 2 * H))
    measure("additive weights by a broadcast (GluonNLP)", cell(MLPAttentionCell), states)
    measure("additive weights by products (ours)", cell(AdditiveAttention), states)


def profile():
    training = GluonTraining(real(nsmc.load("nsmc", "train"), TRAIN_REVIEWS, TRAIN_BATCH))
    training()
    with tempfile.TemporaryDirectory() as folder:
        mxnet.profiler.set_config(
            profile_imperative=True,
            profile_symbolic=True,
            aggregate_stats=True,
            filename=str(Path(folder) / "profile.json"),
        )
        mxnet.profiler.set_state("run")
        training()
        mxnet.profiler.set_state("stop")
        table = mxnet.profiler.dumps(sort_by="total").split("operator\n")[1]
    lines = [line.split()[:3] for line in table.splitlines()[3:] if len(line.split()) == 6]
    print(f"\n| operator, training on {TRAIN_REVIEWS:,} reviews | calls | ms |\n|---|---|---|")
    for name, calls, milliseconds in lines[:SHOWN]:
        print(f"| {name} | {calls} | {float(milliseconds):,.0f} |")
    print(f"| all | | {sum(float(line[2]) for line in lines):,.0f} |")


if __name__ == "__main__":
    operators()
    profile()
