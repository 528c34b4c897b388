"""The curves of a training."""

import pytest

from nsmc_attention.drawing.figure import draw_curves
from nsmc_attention.training.checkpoint import Progress


@pytest.mark.parametrize(
    "metric, panels",
    [
        ("dev_loss", {"loss": 2, "dev accuracy": 1}),
        ("dev_log_loss", {"loss": 2, "dev accuracy": 1}),
        ("dev_character_error", {"loss": 1, "dev character error": 1, "dev accuracy": 1}),
    ],
)
def test_a_dev_loss_in_nats_is_drawn_beside_the_loss_of_the_training(metric, panels):
    history = [{"epoch": number, "train_loss": 0.5, metric: 0.4, "dev_accuracy": 0.8} for number in (1, 2, 3)]
    figure = draw_curves(Progress(history=history, best_epoch=1), metric)
    # the dotted line of the epoch that was kept is one more
    assert {axes.get_title(): len(axes.lines) - 1 for axes in figure.axes} == panels
