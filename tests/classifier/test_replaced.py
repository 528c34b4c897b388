"""Other attention weights in place of a classifier's own."""

import numpy
import pytest

from benchmarks.classification.replaced import predicted_with, replaced
from nsmc_attention import load_classifier, load_reviews


@pytest.mark.parametrize("folder", ["bundle_folder", "tiny_structured", "tiny_signed"])
def test_its_own_weights_in_the_attention_s_place_change_nothing(request, folder, monkeypatch):
    class Same(numpy.random.RandomState):
        def permutation(self, values):
            return values

    classifier = load_classifier(request.getfixturevalue(folder))
    encoded = list(filter(len, classifier.bundle.codec.encode_many(load_reviews("sample", "test").documents[:20])))
    own = classifier.score(encoded)
    assert abs(predicted_with(classifier, encoded, "uniform") - own).max() > 1e-5
    monkeypatch.setattr(numpy.random, "RandomState", Same)
    # the classifier itself may compute in 16 bits
    numpy.testing.assert_allclose(predicted_with(classifier, encoded, "permuted"), own, atol=3e-4)


def test_labels_that_change_are_counted(bundle_folder):
    effects = replaced(load_classifier(bundle_folder), load_reviews("sample", "test"), limit=30)
    assert all(0 <= each["flipped"] <= 1 and each["change"] > 0 for each in effects.values()) and len(effects) == 2
