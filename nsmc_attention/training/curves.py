"""The learning curves of a run, drawn from its history."""
from ..atomic import replaced_file


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
