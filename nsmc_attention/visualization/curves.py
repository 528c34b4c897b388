"""The learning curves of a stage, and how its attention changed, drawn from its history."""

from pathlib import Path
from typing import Any

from .._io.atomic import replaced_file


def save_curves(history: list[dict[str, float]], metric: str, path: Path) -> None:
    """Draw the training loss and the dev figures over the epochs as PNG.

    Parameters
    ----------
    history : list of dict
        As `training.loop.fit` gives it: epoch, train_loss, dev_*.
    metric : str
        The dev figure that selects the epoch; drawn beside the training loss, the others each by itself.
    path : Path
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    epochs = [record["epoch"] for record in history]
    best = min(history, key=lambda record: record[metric])
    others = [name for name in history[0] if name.startswith("dev_") and name != metric]
    figure = Figure(figsize=(3.6 * (1 + len(others)), 3.4), layout="constrained")
    first, *rest = figure.subplots(1, 1 + len(others), squeeze=False)[0]
    for name, style in (("train_loss", "o--"), (metric, "o-")):
        first.plot(epochs, [record[name] for record in history], style, label=plain(name))
    first.set(title="loss", xlabel="epoch")
    first.legend()
    for axes, name in zip(rest, others):
        axes.plot(epochs, [record[name] for record in history], "o-", color="C1")
        axes.set(title=plain(name), xlabel="epoch")
    for axes in (first, *rest):
        axes.axvline(best["epoch"], color="0.7", linewidth=1, linestyle=":")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    save(figure, path)


def save_evenness(progress: Any, metric: str, path: Path) -> None:
    """Draw how evenly the attention is spread, from the untrained network to the last epoch, beside the dev metric.

    An untrained network attends to every word alike (1). Training on while the dev metric gets worse is overfitting:
    how the attention then changes does not come from what the reviews have in common.

    Parameters
    ----------
    progress : training.checkpoint.Progress
        Of a stage that has ended, whose objective evaluates `entropy`.
    metric : str
        The dev figure that selects the epoch.
    path : Path
    """
    from matplotlib.figure import Figure

    records = [progress.before, *progress.history]
    epochs, best = list(range(len(records))), progress.best_epoch + 1
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.add_subplot()
    entropy = [record["dev_entropy"] for record in records]
    axes.plot(epochs, entropy, "o-", label="entropy of the attention / log T (left)")
    axes.set(
        xlabel="epoch (0: before this stage)", ylim=(0, 1.05), title="how evenly the attention is spread, dev part"
    )
    axes.axvline(best, color="0.7", linewidth=1, linestyle=":")
    axes.annotate("kept", (best, 0.02), color="0.4", ha="center")
    if epochs[-1] > best:
        axes.axvspan(best, epochs[-1], color="0.5", alpha=0.12, label="overfitting")
    right = axes.twinx()
    values = [record[metric] for record in progress.history]
    right.plot(epochs[1:], values, "s--", color="C1", label=f"{plain(metric)} (right)")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    save(figure, path)


def plain(name: str) -> str:
    return name.replace("_", " ")


def save(figure: Any, path: Path) -> None:
    with replaced_file(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
