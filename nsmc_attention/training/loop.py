"""The training loop, on one screen: batches in, a trained network and its history out.

Knows nothing of text, files or what the labels mean; `recipe` hands it batches and a place for checkpoints.
"""

import math
import time
from itertools import islice

from .._runtime.mxnet_shim import import_mxnet
from ..errors import ConfigError
from ..evaluation.attention_statistics import evenness
from ..evaluation.metrics import headline
from .average import Average
from .distributed.communicator import SINGLE

mxnet = import_mxnet()

import numpy  # noqa: E402
from mxnet import autograd, gluon  # noqa: E402

# Added to weights before their logarithm is taken
SMALLEST = 1e-6


def fit(network, batches, dev_batches, config, device, checkpoints, report, keep_last=False, workers=SINGLE):
    """Train until the dev loss stops falling; leave the best epoch's parameters in the network.

    Parameters
    ----------
    network : HybridBlock
        Initialized; called with what `as_inputs` answers, answers (logits, weights).
    batches, dev_batches : training.batches.Batches
    config : TrainingConfig
    device : mxnet context
    checkpoints : Checkpoints
        Where a state is found there, the training goes on from it.
    report : callable
        Called with Progress after each step and, with a second argument, the epoch's record after each epoch.
    keep_last : bool
        Make all epochs and keep the last, where it is not the dev loss that a stage is after.
    workers : distributed.SingleWorker
        Whoever learns from a part of each batch; all come to the same network.

    Returns
    -------
    Progress
        Its history has one dict an epoch: epoch, steps, seconds, train_loss, dev_* metrics; dev_entropy is how
        evenly the attention looks, 0..1 (`evaluation.attention_statistics.evenness`).
    """
    trainer = make_trainer(network, config)
    average = Average(network, config.average)
    progress = checkpoints.load_newest(network, trainer, average)
    total_steps = config.epochs * len(batches)
    if not progress.step:
        progress.untrained_entropy = evenness(dev_answers(network, dev_batches, device, workers)[1])
    while progress.epoch < config.epochs and (keep_last or progress.epoch - progress.best_epoch <= config.patience):
        started = time.perf_counter()
        workers.broadcast_parameters(network)
        for index, batch in islice(enumerate(batches.epoch(config.seed, progress.epoch)), progress.batch, None):
            if index == 0 or progress.step % config.checkpoint_steps == 0:
                # MXNet cannot save its generator's state, so each stretch between two checkpoints starts anew
                mxnet.random.seed(drawn_from(config.seed, progress.step, workers.rank))
            trainer.set_learning_rate(learning_rate(progress.step, total_steps, config))
            loss = train_step(network, trainer, batch, config.clip_norm, device, workers)
            check_finite(loss, progress.step, config)
            progress.loss_sum += loss
            progress.step, progress.batch = progress.step + 1, index + 1
            average.update(progress.step)
            report(progress)
            if progress.step % config.checkpoint_steps == 0:
                checkpoints.save(network, trainer, average, progress)
        with average.applied(progress.step):
            record = end_epoch(network, dev_batches, progress, device, workers)
            record["seconds"] = time.perf_counter() - started
            if keep_last or record["dev_log_loss"] < progress.best_loss:
                progress.best_loss, progress.best_epoch = record["dev_log_loss"], progress.epoch
                checkpoints.save_best(network)
        progress.epoch, progress.batch, progress.loss_sum = progress.epoch + 1, 0, 0.0
        checkpoints.save(network, trainer, average, progress)
        report(progress, record)
    checkpoints.load_best(network)
    return progress


def drawn_from(seed, step, rank):
    """Answer the seed of what is dropped from `step` on, another for each worker."""
    return (seed * 1_000_003 + rank * 104_729_003 + step) % 2**31


def check_finite(loss, step, config):
    if not math.isfinite(loss):
        raise ConfigError(
            f"step {step}: expected a finite loss, found {loss}; "
            f"lower --learning-rate (or --pretrain-learning-rate, --erasure-learning-rate: this "
            f"stage's is {config.learning_rate})"
        )


def make_trainer(network, config):
    """Adam, Kingma & Ba 2015 (arXiv:1412.6980); rows of the embedding that a batch lacks are not touched."""
    learned = {name: each for name, each in network.collect_params().items() if each.grad_req != "null"}
    return gluon.Trainer(
        learned, "adam", kvstore=None, optimizer_params={"learning_rate": config.learning_rate, "lazy_update": True}
    )


def train_step(network, trainer, batch, clip_norm, device, workers=SINGLE):
    """Update the parameters by one batch; answer its mean loss (nats)."""
    part, share = workers.shard_batch(batch)
    with autograd.record():
        logits, weights = network(*as_inputs(part, device))
        loss = gluon.loss.SoftmaxCELoss(sparse_label=False)(logits, targets(part, device)).mean()
        if part.importance is not None:
            loss = loss + divergence(weights, part, device)
    loss.backward()
    loss = workers.average_gradients(gradients(trainer), batch, share, loss)
    # Trainer divides gradients by its argument: clipping costs no pass over them
    trainer.step(max(1.0, gradient_norm(trainer) / clip_norm))
    return loss


def targets(batch, device):
    """Answer (N, C): the probability of each class that a label, 0 to 1, stands for."""
    positive = mxnet.nd.array(batch.labels, ctx=device)
    return mxnet.nd.stack(1 - positive, positive, axis=1)


def divergence(weights, batch, device):
    """Answer how far the attention, averaged over its rows, is from the importance it is to show.

    The mean of KL(importance || attention) in nats over the reviews.
    """
    nd = mxnet.nd
    importance = nd.array(batch.importance, ctx=device)  # (N, T)
    rows = nd.ones((len(batch.labels), 1, weights.shape[1]), ctx=device)
    lengths = nd.array(batch.valid_length, ctx=device).reshape((-1, 1))
    looked_at = nd.batch_dot(rows, weights).reshape((0, -1)) / lengths  # (N, T)
    gap = nd.log(importance + SMALLEST) - nd.log(looked_at + SMALLEST)
    return (importance * gap).sum(axis=1).mean()


def gradients(trainer):
    return [parameter.list_grad()[0] for parameter in trainer._params]


def gradient_norm(trainer):
    """Answer the global L2 norm of the gradients; of a row-sparse one only the rows that a batch touched exist."""
    arrays = [gradient.data if gradient.stype == "row_sparse" else gradient for gradient in gradients(trainer)]
    return math.sqrt(mxnet.nd.multi_sum_sq(*arrays, num_arrays=len(arrays)).sum().asscalar())


def as_inputs(batch, device):
    arrays = (
        mxnet.nd.array(batch.token_ids, ctx=device, dtype="int32"),
        mxnet.nd.array(batch.valid_length, ctx=device),
    )
    ngrams = batch.ngram_ids
    return arrays if ngrams is None else (*arrays, mxnet.nd.array(ngrams, ctx=device, dtype="int32"))


def learning_rate(step, total_steps, config):
    """Rise linearly over the warm-up, then fall along a half cosine to 0, or stay."""
    warmup = config.warmup * total_steps
    if step < warmup:
        return config.learning_rate * min(1, (step + 1) / warmup)
    if config.schedule == "constant":
        return config.learning_rate
    done = (step - warmup) / max(1, total_steps - warmup)
    return config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


def probabilities(network, batches, device, workers=SINGLE):
    """Answer the probability of `positive` for each review of the batches: (N,) float64, in their order."""
    return dev_answers(network, batches, device, workers)[0]


def dev_answers(network, batches, device, workers=SINGLE):
    """Answer the probabilities (N,) float64 of the reviews, in their order, and of each the weights of its tokens."""
    found = numpy.zeros(len(batches.labels))
    looked_at = [numpy.zeros(length, dtype="float32") for length in batches.lengths.astype(int)]
    for positions, batch in workers.shard_batches(batches.in_order()):
        logits, weights = network(*as_inputs(batch, device))
        found[positions] = logits.softmax()[:, 1].asnumpy()
        rows = weights.sum(axis=1).asnumpy()
        for position, row, length in zip(positions, rows, batch.valid_length.astype(int)):
            looked_at[position] = row[:length] / row[:length].sum()
    found, *looked_at = workers.all_reduce([found, *looked_at])
    return found, looked_at


def end_epoch(network, dev_batches, progress, device, workers=SINGLE):
    """Score the dev part; answer the epoch's record for the history."""
    probability, looked_at = dev_answers(network, dev_batches, device, workers)
    dev = headline(dev_batches.labels.astype(int), probability)
    record = {
        "epoch": progress.epoch + 1,
        "steps": progress.step,
        "train_loss": progress.loss_sum / max(1, progress.batch),
    }
    record.update({f"dev_{name}": value for name, value in dev.items()}, dev_entropy=evenness(looked_at))
    progress.history.append(record)
    return record
