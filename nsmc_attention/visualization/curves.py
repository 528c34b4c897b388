"""The learning curves of a run, and how its attention changed, drawn from its history."""

from .._io.atomic import replaced_file


def save_curves(history, path):
    """Draw losses and dev accuracy over the epochs as PNG.

    Parameters
    ----------
    history : list of dict
        As `fit` gives it: epoch, train_loss, dev_log_loss (nats), dev_accuracy.
    path : Path
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    epochs = [record["epoch"] for record in history]
    best = min(history, key=lambda record: record["dev_log_loss"])
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(epochs, [record["train_loss"] for record in history], "o--", label="train (with dropout)")
    left.plot(epochs, [record["dev_log_loss"] for record in history], "o-", label="dev")
    left.set(title="loss (nats)", xlabel="epoch")
    left.legend()
    right.plot(epochs, [100 * record["dev_accuracy"] for record in history], "o-", color="C1")
    right.set(title="dev accuracy (%)", xlabel="epoch")
    for axes in (left, right):
        axes.axvline(best["epoch"], color="0.7", linewidth=1, linestyle=":")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    with replaced_file(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")


def save_evenness(progress, path):
    """Draw how evenly the attention looks, from the untrained network to the last epoch, beside the dev loss.

    A network that has learned nothing looks at every word alike (1). One that goes on learning while its dev
    loss rises has overfitted: how its attention then changes is no longer what the reviews teach.

    Parameters
    ----------
    progress : checkpoint.Progress
        Of a stage that has ended; its history as `fit` gives it.
    path : Path
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    history = progress.history
    epochs = [0] + [record["epoch"] for record in history]
    best = progress.best_epoch + 1
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(
        epochs,
        [progress.untrained_entropy] + [record["dev_entropy"] for record in history],
        "o-",
        label="entropy of the attention / log T (left)",
    )
    axes.set(xlabel="epoch (0: before this stage)", ylim=(0, 1.05), title="how evenly the attention looks, dev part")
    axes.axvline(best, color="0.7", linewidth=1, linestyle=":")
    axes.annotate("kept", (best, 0.02), color="0.4", ha="center")
    if epochs[-1] > best:
        axes.axvspan(best, epochs[-1], color="0.5", alpha=0.12, label="overfitting")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    right = axes.twinx()
    right.plot(epochs[1:], [record["dev_log_loss"] for record in history], "s--", color="C1", label="dev loss (right)")
    right.set_ylabel("nats")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    with replaced_file(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
