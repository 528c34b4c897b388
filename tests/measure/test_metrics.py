import numpy
import pytest

from nsmc_attention.apps.evaluation import evaluate
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.measure.metrics import expected_calibration_error, metrics


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
