"""The speed of the native engine in one table: the network alone beside others, a review's budget, growth to a million.

NSMC_ATTENTION_DATA=... python -m benchmarks.speed --cores 1 2 [--picture speed.png]

The network: contestants in turn, each in a process of its own, on as many cores each time as --cores says; those that
are not installed are named. Then what `benchmarks.speed.file_to_file` measures.
"""

import os

from matplotlib.figure import Figure

from nsmc_attention.reviews import tables

from ..contest.comparisons import HEADER, SCORE_BATCH, SCORE_REVIEWS, real, show
from ..contest.rounds import Comparison, compare
from . import file_to_file

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
# Those that compute something else than the packaged model; the second is too fast to be drawn beside the others
OTHERS = ("TF-IDF + logistic regression", "average of embeddings")


def network(reviews, counts, rounds):
    """Print the rates of the contestants on so many cores, their ratios to ONNX Runtime's; return {cores: rows}."""
    workload, allowed = real(reviews, SCORE_REVIEWS, SCORE_BATCH), os.sched_getaffinity(0)
    print(HEADER.replace("PyTorch eager", "ONNX Runtime"))
    found = {}
    for count in counts:
        file_to_file.on_cores(count, allowed)
        name = f"network alone, batches of {SCORE_BATCH}, cores: {count}"
        # on one core processor time is the contestant's own, whatever else runs there
        clock = "process_time" if count == 1 else "perf_counter"
        found[count] = compare(Comparison(name, workload, NETWORK, BASELINE), rounds, clock)
        for row in found[count]:
            show(row)
    os.sched_setaffinity(0, allowed)
    return found


def draw(found, path):
    """Draw the medians of {cores: rows} as bars, with a line from the least to the largest; another model is grey."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    panels = figure.subplots(1, len(found), sharex=True, sharey=True, squeeze=False)[0]
    for panel, (count, rows) in zip(panels, found.items()):
        timed = [row for row in rows if row.get("unit") == "reviews/s" and row["contestant"] != OTHERS[1]]
        names = [row["contestant"] for row in timed]
        low, median, high = ([row["rate"][each] for row in timed] for each in ("min", "median", "max"))
        panel.barh(names, median, color=["#999999" if name in OTHERS else "#1f6f8b" for name in names])
        panel.hlines(names, low, high, color="black", linewidth=1)
        for name, rate, end in zip(names, median, high):
            panel.annotate(f"{rate:,.0f}", (end, name), (4, 0), textcoords="offset points", va="center", fontsize=8)
        panel.set_title("one core" if count == 1 else f"{count} cores", fontsize=10)
        panel.margins(x=0.2)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].invert_yaxis()
    figure.supxlabel("reviews a second through the network", fontsize=10)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = file_to_file.options()
    parser.add_argument("--picture", help="draw the first table into this png file")
    given = parser.parse_args()
    rates = network(tables.load_reviews(given.data, "train"), given.cores, given.rounds)
    if given.picture:
        draw(rates, given.picture)
    print()
    file_to_file.main(given)
