"""The learning curves of a stage, and how its attention changed, drawn from its history."""

from typing import Any

from .figure import new_figure

# Inches: a panel; and how many are beside each other at most
WIDTH, HEIGHT, ACROSS = 3.6, 2.9, 3
EVENNESS = "dev_entropy"
LOSSES = ("dev_log_loss", "dev_loss")


def draw_curves(progress: Any, metric: str) -> Any:
    """Draw the figures of a stage that has ended, its `training.checkpoint.Progress`, over its epochs; return a Figure.

    The dev metric that selects the epoch is drawn beside the training loss, each other dev figure by itself, and last
    how evenly the attention is spread, from before the first step (1: all words alike). A dotted line marks the epoch
    that was kept. The grey after it is overfitting: how the attention then changes does not come from what the reviews
    have in common.
    """
    history, kept = progress.history, progress.best_epoch + 1
    others = [name for name in history[0] if name.startswith("dev_") and name not in (metric, EVENNESS)]
    # a dev metric in nats belongs beside the training's loss
    losses = ("train_loss", metric) if metric in LOSSES else ("train_loss",)
    others = others if metric in LOSSES else [metric, *others]
    panels = [("loss", losses), *((plain(name), (name,)) for name in others)]
    with_evenness = EVENNESS in history[0]
    count = len(panels) + with_evenness
    columns, rows = min(count, ACROSS), -(-count // ACROSS)
    with new_figure((WIDTH * columns, HEIGHT * rows), rows, columns) as (figure, plots):
        grid = plots.flat[:count]
        for axes in plots.flat[count:]:
            axes.axis("off")
        for axes, (title, names) in zip(grid, panels):
            draw_records(axes, history, names, title, 1)
        grid[0].legend(fontsize=8)
        if with_evenness:
            draw_records(grid[-1], [progress.before, *history], (EVENNESS,), "evenness of the attention", 0)
            grid[-1].set(ylim=(0, 1.05), xlabel="epoch (0: before this stage)")
        for axes in grid:
            axes.axvline(kept, color="0.6", linewidth=1, linestyle=":")
            if len(history) > kept:
                axes.axvspan(kept, len(history), color="0.5", alpha=0.12, linewidth=0)
        bottom = grid[-1].get_ylim()[0]
        grid[-1].annotate(
            "kept", (kept, bottom), xytext=(0, 3), textcoords="offset points", color="0.4", ha="right", fontsize=8
        )
    return figure


def draw_records(axes: Any, records: list[dict[str, float]], names: tuple[str, ...], title: str, first: int) -> None:
    """Draw these figures of one record an epoch, from the epoch `first`."""
    from matplotlib.ticker import MaxNLocator

    for name, style in zip(names, ("o-", "s--")):
        axes.plot(range(first, first + len(records)), [record[name] for record in records], style, label=plain(name))
    axes.set(title=title, xlabel="epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)


def plain(name: str) -> str:
    return name.replace("_", " ")
