"""Figures of probabilities, and the temperature: found again where it is known, and never to the dev part's loss."""

import json

import numpy
import pandas
import pytest

from nsmc_attention import load_reviews
from nsmc_attention.apps.evaluation import evaluate
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import nsmc
from nsmc_attention.measure.metrics import (
    TEMPERATURES,
    calibrated,
    calibration,
    expected_calibration_error,
    log_odds,
    metrics,
    temperature,
)
from nsmc_attention.network.parameters import add_wide_part, wide_scale, without_wide


def sigmoid(logits):
    return 1 / (1 + numpy.exp(-logits))


@pytest.mark.parametrize("factor", [0.5, 1, 3])
def test_the_temperature_of_overstated_probabilities_is_found(factor):
    random = numpy.random.RandomState(0)
    logits = 2 * random.randn(50000)
    labels = (random.rand(50000) < sigmoid(logits)).astype(int)
    assert temperature(factor * logits, labels) == pytest.approx(factor, rel=0.05)


def test_certain_answers_stay_within_the_range():
    for labels in ([1, 0], [0, 1]):
        assert TEMPERATURES[0] <= temperature(log_odds(numpy.array([1.0, 0.0])), numpy.array(labels)) <= TEMPERATURES[1]


def test_two_sources_are_weighed_by_what_they_are_worth():
    random = numpy.random.RandomState(0)
    deep, wide = random.randn(2, 50000)
    labels = (random.rand(50000) < sigmoid(2 * deep + 0.5 * wide - 0.3)).astype(int)
    found = calibration(deep, labels, wide)
    assert [found["scale"], found["wide_scale"], found["bias"]] == pytest.approx([2, 0.5, -0.3], abs=0.05)
    assert found["after"]["log_loss"] < found["before"]["log_loss"] and found["after"]["ece"] < 0.01


@pytest.mark.parametrize("count", [2, 5])
def test_a_few_dev_reviews_do_not_reverse_a_model(count):
    """Of which each is wrong by both sources; thousands that are wrong would take all their weight away."""
    odds, labels = numpy.linspace(-2, 2, count), (numpy.linspace(-2, 2, count) < 0).astype(int)
    found = calibration(odds, labels, odds)
    assert found["scale"] > 0 and found["wide_scale"] > 0
    many = calibration(numpy.tile(odds, 5000), numpy.tile(labels, 5000), numpy.tile(odds, 5000))
    assert many["scale"] == many["wide_scale"] == 0


FOUND = {"scale": 1.5, "wide_scale": 0.5, "bias": 0.2}


def parameters(layer="output"):
    random = numpy.random.RandomState(0)
    return {f"{layer}.weight": random.randn(2, 3), f"{layer}.bias": random.randn(2), "other": numpy.ones(2)}


def odds_of(arrays, features, layer="output"):
    negative, positive = arrays[f"{layer}.weight"] @ features + arrays[f"{layer}.bias"]
    return positive - negative


@pytest.mark.parametrize("layer", ["output", "dense"])
def test_calibrated_parameters_give_the_calibrated_log_odds(layer):
    arrays, context = parameters(layer), numpy.array([0.3, -1.0, 2.0])
    changed = calibrated(arrays, FOUND)
    assert odds_of(changed, context, layer) == pytest.approx(1.5 * odds_of(arrays, context, layer) + 0.2, abs=1e-5)
    assert changed["other"] is arrays["other"]


def test_a_wide_part_is_heard_only_once_it_is_calibrated():
    context, wide, table = [0.3, -1.0, 2.0], 4.0, numpy.ones((5, 2))
    arrays = add_wide_part(parameters(), table, 3)
    alone = odds_of(parameters(), numpy.array(context))
    assert odds_of(arrays, numpy.array([*context, wide])) == pytest.approx(alone, abs=1e-5)
    changed = calibrated(arrays, FOUND)
    assert wide_scale(changed) == pytest.approx(0.5) and wide_scale(parameters()) == 0
    joined = 1.5 * alone + 0.2
    assert odds_of(changed, numpy.array([*context, wide])) == pytest.approx(joined + 0.5 * wide, abs=1e-5)
    assert odds_of(without_wide(changed), numpy.array([*context, wide])) == pytest.approx(joined, abs=1e-5)
    assert changed["ngram_table.weight"] is table


def test_a_training_calibrates_and_says_so(run_folder):
    manifest = load_bundle(run_folder / "bundle", LAYOUT).manifest
    found = manifest["calibration"]
    last = run_folder / "attention" / "history.jsonl"
    end = json.loads(last.read_text(encoding="utf-8").splitlines()[-1])
    # that stage trains the network alone, but for what its last layer learned of the wide part anew
    assert found["before"]["log_loss"] == pytest.approx(end["dev_log_loss"], abs=1e-3)
    assert found["after"]["log_loss"] <= found["before"]["log_loss"] + 1e-6
    assert manifest["metrics"]["dev"]["log_loss"] == found["after"]["log_loss"]


def test_figures_of_a_case_counted_by_hand():
    found = metrics([1, 1, 0, 0], [0.9, 0.4, 0.2, 0.6])
    assert found["accuracy"] == found["precision"] == found["recall"] == found["f1"] == 0.5
    assert found["confusion"] == [[1, 1], [1, 1]] and found["n"] == 4 and found["roc_auc"] == 0.75
    assert metrics([1, 1], [0.9, 0.8])["roc_auc"] is None, "of one label alone"


def test_a_calibrated_scorer_has_no_calibration_error_and_an_overconfident_one_has():
    random = numpy.random.RandomState(0)
    probability = random.uniform(size=200000)
    labels = (random.uniform(size=200000) < probability).astype(int)
    assert expected_calibration_error(labels, probability) < 0.005
    assert expected_calibration_error(labels, (probability > 0.5).astype(float)) == pytest.approx(0.25, abs=0.01)


def test_evaluate_answers_the_documented_fields(bundle_folder):
    found = evaluate(load_classifier(bundle_folder), nsmc.load("sample", "test"))
    figures = "n accuracy f1 precision recall roc_auc log_loss ece confusion"
    assert list(found) == [*figures.split(), "unlabelled", "accuracy_labelled", "data", "bundle", "engine", "seconds"]
    assert found["n"] == 180 and found["data"] == "sample" and found["bundle"] == "tiny/bundle"


RATED = ["정말 좋아요", "별로예요", "그냥 그래요", "언제 와요?", "최고예요", "환불했어요"]


@pytest.mark.parametrize(
    "name, cells", [("별점", [5, 1, 3, 3, 5, 1]), ("감성", ["긍정", "부정", "중립", "중립", "긍정", "부정"])]
)
def test_neutral_reviews_are_a_class_of_their_own(tmp_path, name, cells):
    pandas.DataFrame({"리뷰": RATED, name: cells}).to_csv(tmp_path / "a.csv", index=False)
    reviews = load_reviews(tmp_path / "a.csv")
    assert reviews.neutral == ["그냥 그래요", "언제 와요?"] and len(reviews) == 4
    found = evaluate(load_classifier(), reviews)["three_classes"]
    # rows are negative, neutral and positive, the last column is no opinion
    assert found["confusion"] == [[2, 0, 0, 0], [0, 1, 0, 1], [0, 0, 2, 0]]
    assert found["macro_f1"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert "three_classes" not in evaluate(load_classifier(), load_reviews("sample", "test"))
