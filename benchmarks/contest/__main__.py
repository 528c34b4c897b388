"""Speed compared with PyTorch and scikit-learn, measured in turn with the same model and batches.

pip install torch && python -m benchmarks.contest --data nsmc
"""

import argparse
import json

from nsmc_attention.corpora import labelled

from .comparisons import HEADER, benchmark, show

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--data", default="nsmc", help="nsmc, sample, or a labelled file")
parser.add_argument("--data-dir", help="folder of the official files")
parser.add_argument("--repetitions", type=int, default=5, help="rounds")
parser.add_argument("--only", default="", help="what the names of the comparisons begin with")
parser.add_argument(
    "--processor-time", action="store_true", help="processor seconds instead of seconds: on a busy machine"
)
parser.add_argument("--json", action="store_true", help="one JSON object at the end")


if __name__ == "__main__":
    given = parser.parse_args()
    reviews = labelled.load_reviews(given.data, "train", given.data_dir)
    clock = "process_time" if given.processor_time else "perf_counter"
    if given.json:
        print(json.dumps(benchmark(reviews, given.repetitions, lambda row: None, given.only, clock)))
    else:
        print(HEADER)
        benchmark(reviews, given.repetitions, show, given.only, clock)
