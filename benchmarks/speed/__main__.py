"""Speed of the native engine: the network compared with others, stages of a review, and files of a million reviews.

NSMC_ATTENTION_DATA=... python -m benchmarks.speed --cores 1 2

The first table is of the network: contestants run in turn, each in its own process, on each number of cores in --cores; missing
libraries are listed. Then follow the tables of `benchmarks.speed.stages` and `benchmarks.speed.file_to_file`.
"""

import os

from nsmc_attention.corpora import labelled

from ..contest.comparisons import HEADER, SCORE_BATCH, SCORE_REVIEWS, real, show
from ..contest.rounds import Comparison, compare
from . import file_to_file, stages

NETWORK = (
    "nsmc_attention, native",
    "nsmc_attention, native-bf16",
    "nsmc_attention, onnx",
    "PyTorch eager",
    "PyTorch compiled",
    "OpenVINO",
    "TF-IDF + logistic regression",
    "average of embeddings",
    "sgemm",
)
BASELINE = "nsmc_attention, onnx"


def network(reviews, counts, rounds):
    """Print the rates of the contestants on so many cores, their ratios to ONNX Runtime's."""
    workload, allowed = real(reviews, SCORE_REVIEWS, SCORE_BATCH), os.sched_getaffinity(0)
    print(HEADER.replace("PyTorch eager", "ONNX Runtime"))
    for count in counts:
        file_to_file.on_cores(count, allowed)
        name = f"network alone, batches of {SCORE_BATCH}, cores: {count}"
        # on one core processor time is the contestant's own, whatever else runs there
        clock = "process_time" if count == 1 else "perf_counter"
        for row in compare(Comparison(name, workload, NETWORK, BASELINE), rounds, clock):
            show(row)
    os.sched_setaffinity(0, allowed)


if __name__ == "__main__":
    given = file_to_file.options().parse_args()
    network(labelled.load_reviews(given.data, "train"), given.cores, given.rounds)
    print()
    stages.main(labelled.load_reviews(given.data, "test").documents, stages.KERNELS, given.rounds)
    file_to_file.main(given)
