"""What each process of a job in test_distributed.py runs: a few steps, told to the file named."""

import hashlib
import json
import sys
from pathlib import Path

from nsmc_attention.training.distributed.communicator import SINGLE, worker_group

SIZES = (32, 7, 2, 1)


def network_and_trainer(config, vocab_size):
    from mxnet import init, random

    from nsmc_attention.classification.objectives import as_inputs
    from nsmc_attention.training.loop import make_trainer

    random.seed(3)
    network = config.network(vocab_size, with_ngrams=False)
    network.initialize(init.Xavier())
    network(*as_inputs(batch(2, vocab_size, 0), None))
    return network, make_trainer(network, config.training.labels.learning_rate)


def batch(size, vocab_size, seed):
    import numpy

    from nsmc_attention.classification.batches import Batch

    draw = numpy.random.RandomState(seed)
    lengths = draw.randint(1, 6, size)
    importance = (numpy.arange(5) < lengths[:, None]) / lengths[:, None]
    return Batch(
        draw.randint(1, vocab_size, (size, 5)).astype("int32"),
        lengths.astype("float32"),
        draw.rand(size).astype("float32"),
        importance.astype("float32"),
    )


def step(network, trainer, batch, clip_norm, workers):
    """Learn from a batch; answer its loss, and the gradient from which the step was made, whole."""
    from nsmc_attention.classification.objectives import ErasureObjective
    from nsmc_attention.training.loop import gradients, train_step

    trainer.set_learning_rate(1e-3)
    loss = train_step(network, trainer, ErasureObjective(None, None, workers), batch, clip_norm)
    return loss, [gradient.tostype("default").asnumpy() for gradient in gradients(trainer)]


def digest(arrays):
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def main(out):
    import numpy

    from nsmc_attention.classification.settings import preset
    from nsmc_attention.model.parameters import set_parameters, snapshot

    config = preset("default").with_fields(dropout=0.0, word_dropout=0.0, embedding_size=6, hidden_size=4)
    with worker_group("dist_sync") as workers:
        (shared, trainer), (single, other), told = *(network_and_trainer(config, 60) for _ in range(2)), []
        for number, size in enumerate(SIZES):
            set_parameters(single, snapshot(shared))
            each = batch(size, 60, number)
            loss, found = step(shared, trainer, each, 0.01, workers)
            expected_loss, expected = step(single, other, each, 0.01, SINGLE)
            told.append(
                {
                    "gradient": digest(found),
                    "parameters": digest(snapshot(shared).values()),
                    "loss": loss,
                    "expected_loss": expected_loss,
                    "apart": max(float(abs(one - two).max()) for one, two in zip(found, expected)),
                    "largest": max(float(abs(array).max()) for array in expected),
                    "rows": [int((array.any(axis=1)).sum()) for array in (found[0], expected[0])],
                }
            )
        pieces = workers.run_on_first(lambda: {"a": numpy.arange(3.0), "b": numpy.ones(2)})
        told.append(
            {
                "once": [pieces[name].tolist() for name in "ab"],
                "bytes": hashlib.sha256(workers.broadcast(bytes(range(256)) * 301 + b"x")).hexdigest(),
            }
        )
        Path(f"{out}.{workers.rank}").write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
