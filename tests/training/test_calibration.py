"""The temperature: found again where it is known, and never to the dev part's loss."""
import json

import numpy
import pytest

from nsmc_attention.bundle import load_bundle
from nsmc_attention.training.calibration import RANGE, calibrated, calibration, temperature


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


def test_two_sources_are_weighed_by_what_they_are_worth():
    random = numpy.random.RandomState(0)
    deep, wide = random.randn(2, 50000)
    labels = (random.rand(50000) < sigmoid(2 * deep + 0.5 * wide - 0.3)).astype(int)
    found = calibration(sigmoid(deep), labels, wide)
    assert [found["scale"], found["wide_scale"], found["bias"]] == pytest.approx([2, 0.5, -0.3], abs=0.05)
    assert found["after"]["log_loss"] < found["before"]["log_loss"] and found["after"]["ece"] < 0.01


@pytest.mark.parametrize("layer", ["output", "dense"])
def test_calibrated_parameters_give_the_calibrated_log_odds(layer):
    random = numpy.random.RandomState(0)
    arrays = {f"{layer}.weight": random.randn(2, 3), f"{layer}.bias": random.randn(2), "other": numpy.ones(2)}
    found = {"scale": 1.5, "wide_scale": 0.5, "bias": 0.2}
    changed = calibrated(arrays, found, numpy.array([[4.0, 9.0]]))
    context = random.randn(3)

    def log_odds(parameters):
        negative, positive = parameters[f"{layer}.weight"] @ context + parameters[f"{layer}.bias"]
        return positive - negative

    assert log_odds(changed) == pytest.approx(1.5 * log_odds(arrays) + 0.2, abs=1e-5)
    assert changed["ngram_table.weight"].tolist() == [[2.0, 9.0]] and changed["other"] is arrays["other"]


def test_a_training_calibrates_and_says_so(run_folder):
    manifest = load_bundle(run_folder / "bundle").manifest
    found = manifest["calibration"]
    last = run_folder / "attention" / "history.jsonl"
    best = min(json.loads(line)["dev_log_loss"] for line in last.open(encoding="utf-8"))
    assert found["before"]["log_loss"] == pytest.approx(best, abs=1e-6)
    assert found["after"]["log_loss"] <= found["before"]["log_loss"] + 1e-6
    assert manifest["metrics"]["dev"]["log_loss"] == found["after"]["log_loss"]
