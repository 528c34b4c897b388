"""The comparisons of the contest, and the whole benchmark as one function."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import numpy

from nsmc_attention.classifier.settings import preset
from nsmc_attention.machine.processes import cores
from nsmc_attention.text.encoding import ReviewEncoder, tokenize_many
from nsmc_attention.text.preprocessing import build_vocab

from .contestants import Workload
from .rounds import Comparison, compare

TRAINING = (
    "nsmc_attention, training",
    "nsmc_attention, training without native operators",
    "PyTorch eager, sparse Adam",
    "PyTorch eager, dense Adam",
    "PyTorch compiled, training",
    "TF-IDF + logistic regression, training",
)
SCORING = (
    "nsmc_attention, onnx",
    "nsmc_attention, gluon",
    "PyTorch eager",
    "PyTorch compiled",
    "nsmc_attention, native",
    "nsmc_attention, native-bf16",
    "TF-IDF + logistic regression",
    "sgemm",
)
ONE_REVIEW, GROWTH = SCORING[:6], (SCORING[0], SCORING[2])
TRAIN_REVIEWS, SCORE_REVIEWS, GROWTH_REVIEWS, SINGLE_REVIEWS = 20000, 20480, 2560, 500
TRAIN_BATCH, SCORE_BATCH, LENGTH = 128, 256, 20
TRAIN_SYNTHETIC, TRAIN_LENGTH = 2560, 18
LENGTHS, HIDDEN = (5, 10, 20, 40, 70), (32, 64, 128, 256)
PACKAGES = ("nsmc_attention", "mxnet", "gluonnlp", "onnxruntime", "torch", "scikit-learn", "numpy")


def benchmark(reviews, repetitions=5, report=print, only="", clock="perf_counter"):
    """Measure training and inference beside PyTorch and scikit-learn, at the same architecture and batches.

    Parameters
    ----------
    reviews : corpora.nsmc.Reviews
        Whose lengths the first two comparisons have.
    repetitions : int
        Rounds in which every contestant runs once.
    report : callable
        Called with each row when it is measured.
    only : str
        What the names of the comparisons begin with.
    clock : str
        A clock of the module `time`: "process_time" is fairer where others use the same cores.

    Returns
    -------
    dict
        machine, repetitions, data, rows (see `rounds.compare`).
    """
    rows = []
    for comparison in comparisons(reviews):
        if comparison.name.startswith(only):
            for row in compare(comparison, repetitions, clock):
                report(row)
                rows.append(row)
    return {"machine": machine(), "repetitions": repetitions, "data": reviews.name, "rows": rows}


def comparisons(reviews):
    """Yield the Comparisons, one after the other so that only one workload is in memory."""
    yield Comparison(f"training, batches of {TRAIN_BATCH}", real(reviews, TRAIN_REVIEWS, TRAIN_BATCH), TRAINING)
    name = f"training, batches of {TRAIN_BATCH} with {TRAIN_LENGTH} tokens"
    yield Comparison(name, synthetic(TRAIN_SYNTHETIC, TRAIN_BATCH, TRAIN_LENGTH), TRAINING[:3])
    yield Comparison(f"scoring, batches of {SCORE_BATCH}", real(reviews, SCORE_REVIEWS, SCORE_BATCH), SCORING)
    yield Comparison(
        f"scoring, batches of {SCORE_BATCH} with {LENGTH} tokens",
        synthetic(SCORE_REVIEWS, SCORE_BATCH, LENGTH),
        SCORING[:6] + SCORING[7:],
    )
    yield Comparison(f"one review of {LENGTH} tokens", synthetic(SINGLE_REVIEWS, 1, LENGTH), ONE_REVIEW)
    name = f"training a Transformer, batches of {TRAIN_BATCH} with {LENGTH} tokens"
    yield Comparison(name, synthetic(GROWTH_REVIEWS, TRAIN_BATCH, LENGTH, encoder="transformer"), TRAINING[:4])
    name = f"scoring with a Transformer, batches of {SCORE_BATCH} with {LENGTH} tokens"
    yield Comparison(name, synthetic(GROWTH_REVIEWS, SCORE_BATCH, LENGTH, encoder="transformer"), GROWTH)
    yield Comparison(
        f"one review of {LENGTH} tokens with a Transformer",
        synthetic(SINGLE_REVIEWS, 1, LENGTH, encoder="transformer"),
        GROWTH,
    )
    for length in LENGTHS:
        yield Comparison(f"growth, {length} tokens", synthetic(GROWTH_REVIEWS, SCORE_BATCH, length), GROWTH)
    for hidden in HIDDEN:
        yield Comparison(f"growth, hidden {hidden}", synthetic(GROWTH_REVIEWS, SCORE_BATCH, LENGTH, hidden), GROWTH)


def real(reviews, count, batch_size):
    """Build a Workload from the first `count` reviews but the blank ones, in batches of one exact length.

    The vocabulary is their own, whatever model is packaged; the embedding has the default's number of rows.
    """
    text = preset("default").text
    token_lists = tokenize_many(reviews.documents[:count], text.tokenizer)
    encoder = ReviewEncoder.from_json(build_vocab(token_lists, text).to_json(), text)
    labels = reviews.labels[:count].astype("float32")
    lengths = numpy.array([min(len(tokens), text.max_length) for tokens in token_lists])
    batches = []
    documents: list[str] = []
    for length in numpy.unique(lengths[lengths > 0]):
        members = numpy.flatnonzero(lengths == length)
        for start in range(0, len(members), batch_size):
            rows = members[start : start + batch_size]
            batches.append(
                (
                    numpy.array([list(encoder.encode_words(token_lists[row]).ids) for row in rows], dtype="int32"),
                    numpy.full(len(rows), length, dtype="float32"),
                    labels[rows],
                )
            )
            documents.extend(" ".join(token_lists[row]) for row in rows)
    return Workload(batches, documents, text.vocab_size, *settings())


def synthetic(count, batch_size, length, hidden=None, encoder="gru"):
    """Build a Workload of random tokens, all reviews of one length."""
    model, training = settings(hidden, encoder)
    vocabulary = preset("default").text.vocab_size
    random = numpy.random.RandomState(0)
    batches = [
        (
            random.randint(2, vocabulary, (batch_size, length)).astype("int32"),
            numpy.full(batch_size, length, dtype="float32"),
            (numpy.arange(batch_size) % 2).astype("float32"),
        )
        for _ in range(count // batch_size)
    ]
    return Workload(batches, [], vocabulary, model, training)


def settings(hidden=None, encoder="gru"):
    sizes = {"embedding_size": hidden or 128, "attention_units": 32}
    if encoder == "gru":
        sizes["hidden_size"] = hidden or 128
    else:
        # as PyTorch's contestant has them
        sizes["model.encoder.positions"] = "learned"
    config = preset("default").with_fields(attention="additive", encoder=encoder, **sizes)
    return config.model, config.training


def machine():
    """Describe what the figures were measured on."""
    return {
        "processor": processor(),
        "cores": cores(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: installed(name) for name in PACKAGES},
    }


def processor():
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def as_line(row):
    """Return one row of the printed table, in Markdown."""
    if "absent" in row:
        return f"| {row['comparison']} | {row['contestant']} | absent: {row['absent']} | | | |"

    def three(found, digits):
        return "" if found is None else " / ".join(f"{found[key]:,.{digits}f}" for key in ("min", "median", "max"))

    unit = "" if row["unit"] == "reviews/s" else f" {row['unit']}"
    return (
        f"| {row['comparison']} | {row['contestant']} | {three(row['rate'], 0)}{unit} | "
        f"{three(row.get('ratio'), 2)} | {three(row.get('of_sgemm'), 2)} | {row['peak_mb']} |"
    )


HEADER = """| what | contestant | reviews/s: min / median / max | ratio to PyTorch eager | of sgemm | peak MiB |
|---|---|---|---|---|---|"""


def show(row):
    """Print a row as soon as it is measured."""
    print(as_line(row), flush=True)
