"""What `faithfulness` found, as a table to read and as a figure beside published ones."""

import numpy

from .heatmap import SETTINGS, add_hangul_font, save_figure

# One-layer BiLSTM with additive attention, masked softmax: result files of successar/AttentionExplanation, the
# code of Jain & Wallace 2019. Mean of Kendall's tau over the reviews of the test part.
PUBLISHED = {
    "SST": {"erasure": 0.291, "gradient": 0.351},
    "IMDB": {"erasure": 0.341, "gradient": 0.437},
    "SST, dot": {"erasure": 0.064, "gradient": 0.073},
}
ORDERS = ("attention", "gradient", "erasure", "random")


def as_text(found):
    """Answer the table of one result of `faithfulness.faithfulness`."""
    lines = [
        f"{found['reviews']} reviews of 3 tokens or more; mean and half its 95 % interval; tau: Kendall's tau-b",
        f"{'words ordered by':18}{'tau, erasure':18}{'tau, gradient':18}{'comprehensiveness':19}{'sufficiency'}",
    ]
    for name in (order for order in ORDERS if order in found["orders"]):
        tau = found["tau"].get(name, {})
        cells = [
            interval(tau.get("erasure")),
            interval(tau.get("gradient")),
            interval(found["orders"][name]["comprehensiveness"]),
            interval(found["orders"][name]["sufficiency"]),
        ]
        lines.append(f"{name:18}" + "".join(f"{cell:<{width}}" for cell, width in zip(cells, (18, 18, 19, 0))).rstrip())
    for name, effect in found.get("replaced", {}).items():
        lines.append(
            f"{name} weights in the attention's place: probability changes by {effect['change']:.3f}, "
            f"{100 * effect['flipped']:.1f} % of the labels change"
        )
    return "\n".join([*lines, f"{found['data']}, {found['bundle']}, {found['seconds']} s"])


def interval(mean):
    """Answer `0.380 ±0.012`; nothing where it was not measured or is not defined."""
    if not mean or mean["mean"] is None:
        return ""
    return f"{mean['mean']:.3f} ±{mean['high'] - mean['mean']:.3f}"


def draw(results):
    """Draw tau with erasure and with gradients beside published figures, and AOPC beside the random order.

    Parameters
    ----------
    results : dict of name to result of `faithfulness.faithfulness`

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib
    from matplotlib.figure import Figure

    add_hangul_font()
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(12, 2.2 + 0.42 * (len(results) + len(PUBLISHED))), layout="constrained")
        left, right = figure.subplots(1, 2)
        draw_taus(left, results)
        draw_aopc(right, results)
    return figure


def draw_taus(axes, results):
    names = [*results, *PUBLISHED]
    for offset, measure, marker in ((-0.12, "erasure", "o"), (0.12, "gradient", "s")):
        measured = [(place, results[name]["tau"]["attention"].get(measure)) for place, name in enumerate(results)]
        measured = [(place, mean) for place, mean in measured if mean and mean["mean"] is not None]
        means = numpy.array([mean["mean"] for _, mean in measured])
        errors = [means - [mean["low"] for _, mean in measured], [mean["high"] for _, mean in measured] - means]
        axes.errorbar(
            means,
            [place + offset for place, _ in measured],
            xerr=errors,
            fmt=marker,
            capsize=3,
            label=f"with {measure}",
        )
        axes.plot(
            [figures[measure] for figures in PUBLISHED.values()],
            [len(results) + place + offset for place in range(len(PUBLISHED))],
            marker,
            color="0.6",
        )
    axes.set_yticks(range(len(names)), [*results, *(f"published: {name}" for name in PUBLISHED)])
    axes.invert_yaxis()
    axes.axvline(0, color="0.7", linewidth=1)
    axes.set(title="Kendall's tau of the attention", xlabel="mean over the reviews, 95 % interval")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))


def draw_aopc(axes, results):
    for place, (_name, found) in enumerate(results.items()):
        for offset, kind, color in ((-0.12, "comprehensiveness", "C0"), (0.12, "sufficiency", "C1")):
            for order, filled in (("attention", True), ("random", False)):
                mean = found["orders"][order][kind]
                axes.errorbar(
                    [mean["mean"]],
                    [place + offset],
                    fmt="o",
                    color=color,
                    capsize=3,
                    xerr=[[mean["mean"] - mean["low"]], [mean["high"] - mean["mean"]]],
                    markerfacecolor=color if filled else "white",
                    label=f"{kind}, {order}" if place == 0 else None,
                )
    axes.set_yticks(range(len(results)), list(results))
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.set(title="AOPC of the largest weights, beside a random order", xlabel="change of the answer's probability")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))


def save_plot(results, path):
    """Write the figure of `draw` as .png, .svg or .pdf, whole or not at all."""
    save_figure(draw(results), path)
