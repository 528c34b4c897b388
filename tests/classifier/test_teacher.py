"""A classifier that learns another's probabilities beside the labels: `--teacher`."""

import numpy
import pytest

from nsmc_attention import load_classifier
from nsmc_attention.classifier.batches import TrainingPart
from nsmc_attention.classifier.train import train
from nsmc_attention.corpora import nsmc
from nsmc_attention.errors import ConfigError
from nsmc_attention.training.runs import read_settings


def test_targets_are_halfway_between_labels_and_the_teacher_also_of_a_part():
    labels, taught = numpy.array([0, 1, 1]), numpy.array([0.5, 0.5, 1.0])
    frame = nsmc.load("sample", "train").frame[:3]
    part = TrainingPart(["a", "b", "c"], labels, frame)
    assert part.targets is labels
    part = TrainingPart(["a", "b", "c"], labels, frame, taught)
    assert part.targets.tolist() == [0.25, 0.75, 1.0]
    assert part.take([2, 0]).targets.tolist() == [0.25, 1.0] and part.take([1]).labels.tolist() == [1]


@pytest.fixture(scope="module")
def small(tiny):
    return tiny.with_fields(epochs=3, ngram_buckets=0, erasure_reviews=0)


@pytest.fixture(scope="module")
def student(small, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "student"
    return train("sample", small, out, quiet=True, teacher="pretrained"), out


def test_a_student_comes_nearer_to_its_teacher(small, student, tmp_path):
    alone = train("sample", small, tmp_path / "alone", quiet=True)
    documents = nsmc.load("sample", "test").documents
    goal = load_classifier().probabilities(documents)
    found = [load_classifier(bundle.folder).probabilities(documents) for bundle in (student[0], alone)]
    near, far = (abs(each - goal).mean() for each in found)
    assert near < far


def test_the_bundle_names_its_teacher_and_the_run_goes_on_with_no_other(small, student):
    bundle, out = student
    packaged = load_classifier().bundle
    assert bundle.manifest["data"]["teacher"] == {"name": packaged.name, "fingerprint": packaged.fingerprint}
    assert bundle.manifest["command"].endswith("--teacher pretrained")
    assert "probability predicted by pretrained (knowledge distillation" in bundle.read("README.md").decode()
    assert read_settings(out)["teacher"] == packaged.fingerprint
    for other in (bundle.folder, None):
        with pytest.raises(ConfigError, match="cannot resume with another teacher"):
            train("sample", small, out, quiet=True, resume=True, teacher=other)
