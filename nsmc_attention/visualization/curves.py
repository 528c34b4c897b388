"""The learning curves of a stage, and how its attention changed, drawn from its history."""

from pathlib import Path
from typing import Any

from .heatmap import new_figure, save_figure


def save_curves(history: list[dict[str, float]], metric: str, path: Path) -> None:
    """Draw the training loss and the dev figures of `training.loop.fit`'s history over the epochs.

    The metric, which selects the epoch, is drawn beside the training loss, the other figures each by itself.
    """
    from matplotlib.ticker import MaxNLocator

    epochs = [record["epoch"] for record in history]
    best = min(history, key=lambda record: record[metric])
    others = [name for name in history[0] if name.startswith("dev_") and name != metric]
    with new_figure((3.6 * (1 + len(others)), 3.4), columns=1 + len(others)) as (figure, grid):
        for name, style in (("train_loss", "o--"), (metric, "o-")):
            grid[0, 0].plot(epochs, [record[name] for record in history], style, label=plain(name))
        grid[0, 0].set(title="loss", xlabel="epoch")
        grid[0, 0].legend()
        for axes, name in zip(grid[0, 1:], others):
            axes.plot(epochs, [record[name] for record in history], "o-", color="C1")
            axes.set(title=plain(name), xlabel="epoch")
        for axes in grid[0]:
            axes.axvline(best["epoch"], color="0.7", linewidth=1, linestyle=":")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.grid(alpha=0.3)
    save_figure(figure, path)


def save_evenness(progress: Any, metric: str, path: Path) -> None:
    """Draw how evenly the attention is spread, from the untrained network to the last epoch, beside the dev metric.

    `progress` is the `training.checkpoint.Progress` of a stage that has ended. An untrained network attends to every
    word alike (1). Training on while the metric gets worse is overfitting: how the attention then changes does not come
    from what the reviews have in common.
    """
    records, best = [progress.before, *progress.history], progress.best_epoch + 1
    epochs = list(range(len(records)))
    with new_figure((6.4, 3.8)) as (figure, grid):
        axes = grid[0, 0]
        entropy = [record["dev_entropy"] for record in records]
        axes.plot(epochs, entropy, "o-", label="entropy of the attention / log T (left)")
        axes.set(xlabel="epoch (0: before this stage)", ylim=(0, 1.05))
        axes.set_title("how evenly the attention is spread, dev part")
        axes.axvline(best, color="0.7", linewidth=1, linestyle=":")
        axes.annotate("kept", (best, 0.02), color="0.4", ha="center")
        if epochs[-1] > best:
            axes.axvspan(best, epochs[-1], color="0.5", alpha=0.12, label="overfitting")
        values = [record[metric] for record in progress.history]
        axes.twinx().plot(epochs[1:], values, "s--", color="C1", label=f"{plain(metric)} (right)")
        figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    save_figure(figure, path)


def plain(name: str) -> str:
    return name.replace("_", " ")
