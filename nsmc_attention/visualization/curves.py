"""The learning curves of a run, and how its attention changed, drawn from its history."""

from pathlib import Path
from typing import Any

from .._io.atomic import replaced_file


def save_curves(history: list[dict[str, Any]], path: Path) -> None:
    """Draw losses and dev accuracy over the epochs of a history (of `training.loop.fit`) as PNG."""
    epochs = [record["epoch"] for record in history]
    best = min(history, key=lambda record: record["dev_log_loss"])
    figure = new_figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    left.plot(epochs, [record["train_loss"] for record in history], "o--", label="train (with dropout)")
    left.plot(epochs, [record["dev_log_loss"] for record in history], "o-", label="dev")
    left.set(title="loss (nats)", xlabel="epoch")
    left.legend()
    right.plot(epochs, [100 * record["dev_accuracy"] for record in history], "o-", color="C1")
    right.set(title="dev accuracy (%)", xlabel="epoch")
    for axes in (left, right):
        mark_epoch(axes, best["epoch"])
    save_png(figure, path)


def save_evenness(progress: Any, path: Path) -> None:
    """Draw the evenness of the attention, from the untrained network to the last epoch, beside the dev loss.

    An untrained network attends to all words equally (1). One that is trained on while its dev loss rises overfits:
    how its attention changes then is not learned from the reviews. `progress` is the Progress of a finished stage.
    """
    history, best = progress.history, progress.best_epoch + 1
    epochs = [0] + [record["epoch"] for record in history]
    values = [progress.untrained_entropy] + [record["dev_entropy"] for record in history]
    figure = new_figure(6.4, 3.8)
    axes = figure.subplots()
    axes.plot(epochs, values, "o-", label="entropy of the attention / log T (left)")
    axes.set(xlabel="epoch (0: before this stage)", ylim=(0, 1.05), title="evenness of the attention, dev part")
    mark_epoch(axes, best)
    axes.annotate("kept", (best, 0.02), color="0.4", ha="center")
    if epochs[-1] > best:
        axes.axvspan(best, epochs[-1], color="0.5", alpha=0.12, label="overfitting")
    right = axes.twinx()
    right.plot(epochs[1:], [record["dev_log_loss"] for record in history], "s--", color="C1", label="dev loss (right)")
    right.set_ylabel("nats")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    save_png(figure, path)


def new_figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def mark_epoch(axes: Any, epoch: int) -> None:
    """Mark an epoch on an axis of whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.axvline(epoch, color="0.7", linewidth=1, linestyle=":")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)


def save_png(figure: Any, path: Path) -> None:
    with replaced_file(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
