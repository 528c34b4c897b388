"""The results of `faithfulness` as a table, and as a figure beside published ones."""

from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

from ..drawing.figure import new_figure, save_figure

# One-layer BiLSTM with additive attention, masked softmax: result files of successar/AttentionExplanation, the
# code of Jain & Wallace 2019. Mean of Kendall's tau over the reviews of the test part.
PUBLISHED = {
    "SST": {"erasure": 0.291, "gradient": 0.351},
    "IMDB": {"erasure": 0.341, "gradient": 0.437},
    "SST, dot": {"erasure": 0.064, "gradient": 0.073},
}
ORDERS = ("contribution", "attention", "best hop", "gradient", "erasure", "random")
# name -> result of `evaluation.faithfulness.faithfulness`
Results = Mapping[str, dict[str, Any]]


def as_text(result: dict[str, Any]) -> str:
    """Return the table of one result of `evaluation.faithfulness.faithfulness`."""
    correlations = result.get("correlation", {})
    lines = [
        f"{result['reviews']} reviews of 3 tokens or more; mean and half its 95 % interval; tau: Kendall's tau-b",
        f"{'words ordered by':18}{'tau, erasure':18}{'tau, gradient':18}{'comprehensiveness':19}{'sufficiency':18}"
        f"{'correlation' if correlations else ''}".rstrip(),
    ]
    for name in (order for order in ORDERS if order in result["orders"]):
        tau, aopc = result["tau"].get(name, {}), result["orders"][name]
        taus = f"{interval(tau.get('erasure')):18}{interval(tau.get('gradient')):18}"
        aopcs = f"{interval(aopc['comprehensiveness']):19}{interval(aopc['sufficiency']):18}"
        linear = correlations.get(name)
        lines.append(f"{name:18}{taus}{aopcs}{'' if linear is None else format(linear, '.3f')}".rstrip())
    if correlations:
        lines.append("correlation: with the change of the log-odds by erasing a word; of attention with its size")
    if "gap" in result:
        lines.append(f"the log-odds are a bias and the sum of the contributions, to {result['gap']:.1g}")
    if "best_hop" in result:
        lines.append(f"best hop: hop {result['best_hop']}, which agrees most with erasure here; attention: their mean")
    for name, effect in result.get("replaced", {}).items():
        lines.append(
            f"{name} instead of the attention's weights: probability changes by {effect['change']:.3f}, "
            f"{100 * effect['flipped']:.1f} % of the labels change"
        )
    return "\n".join([*lines, f"{result['data']}, {result['bundle']}, {result['seconds']} s"])


def interval(mean: Optional[Mapping[str, Any]]) -> str:
    """Return `0.380 ±0.012`; nothing where it was not measured or is not defined."""
    if not mean or mean["mean"] is None:
        return ""
    return f"{mean['mean']:.3f} ±{mean['high'] - mean['mean']:.3f}"


def save_plot(results: Results, path: Union[str, Path]) -> None:
    """Draw tau with erasure and gradients beside published figures, and AOPC beside the random order's; see `save_figure`."""
    with new_figure((6, 4.4 + 0.84 * (len(results) + len(PUBLISHED))), 2) as (figure, grid):
        draw_taus(grid[0, 0], results)
        draw_aopc(grid[1, 0], results)
        for axes in grid.flat:
            axes.grid(axis="x", alpha=0.3)
            axes.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    save_figure(figure, path)


def draw_taus(axes: Any, results: Results) -> None:
    for offset, measure, marker in ((-0.12, "erasure", "o"), (0.12, "gradient", "s")):
        means = [(row + offset, result["tau"]["attention"].get(measure)) for row, result in enumerate(results.values())]
        defined = [(height, mean) for height, mean in means if mean and mean["mean"] is not None]
        draw_means(axes, defined, fmt=marker, label=f"with {measure}")
        heights = [len(results) + row + offset for row in range(len(PUBLISHED))]
        axes.plot([figures[measure] for figures in PUBLISHED.values()], heights, marker, color="0.6")
    names = [*results, *(f"published: {name}" for name in PUBLISHED)]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.axvline(0, color="0.7", linewidth=1)
    axes.set(title="Kendall's tau of the attention", xlabel="mean over the reviews, 95 % interval")


def draw_aopc(axes: Any, results: Results) -> None:
    for offset, kind, color in ((-0.12, "comprehensiveness", "C0"), (0.12, "sufficiency", "C1")):
        for order, fill in (("attention", color), ("random", "white")):
            means = [(row + offset, result["orders"][order][kind]) for row, result in enumerate(results.values())]
            draw_means(axes, means, fmt="o", color=color, markerfacecolor=fill, label=f"{kind}, {order}")
    axes.set_yticks(range(len(results)), list(results))
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.set(title="AOPC of the largest weights, beside a random order", xlabel="change of the label's probability")


def draw_means(axes: Any, means: Sequence[tuple[float, Mapping[str, float]]], **style: Any) -> None:
    """Draw (height, mean with its interval) as points with bars."""
    errors = [[mean["mean"] - mean["low"] for _, mean in means], [mean["high"] - mean["mean"] for _, mean in means]]
    axes.errorbar([mean["mean"] for _, mean in means], [y for y, _ in means], xerr=errors, capsize=3, **style)
