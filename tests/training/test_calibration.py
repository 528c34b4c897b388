"""The temperature: found again where it is known, and never to the dev part's loss."""
import json

import numpy
import pytest

from nsmc_attention.bundle import load_bundle
from nsmc_attention.training.calibration import RANGE, temperature


def sigmoid(logits):
    return 1 / (1 + numpy.exp(-logits))


@pytest.mark.parametrize("factor", [0.5, 1, 3])
def test_the_temperature_of_overstated_probabilities_is_found(factor):
    random = numpy.random.RandomState(0)
    logits = 2 * random.randn(50000)
    labels = (random.rand(50000) < sigmoid(logits)).astype(int)
    assert temperature(sigmoid(factor * logits), labels) == pytest.approx(factor, rel=0.05)


def test_certain_answers_stay_within_the_range():
    for labels in ([1, 0], [0, 1]):
        assert RANGE[0] <= temperature(numpy.array([1.0, 0.0]), numpy.array(labels)) <= RANGE[1]


def test_a_training_calibrates_and_says_so(run_folder):
    manifest = load_bundle(run_folder / "bundle").manifest
    found = manifest["calibration"]
    best = min(json.loads(line)["dev_log_loss"] for line in (run_folder / "history.jsonl").open(encoding="utf-8"))
    assert found["before"]["log_loss"] == pytest.approx(best, abs=1e-6)
    assert found["after"]["log_loss"] <= found["before"]["log_loss"] + 1e-6
    assert manifest["metrics"]["dev"]["log_loss"] == found["after"]["log_loss"]
