import numpy
import pytest

from benchmarks.classification.behaviour import Case, cases, check, passed, summary
from nsmc_attention.classifier.predictor import load_classifier


def test_the_sentences_are_well_formed_and_many():
    found = cases()
    assert len(found) == 600 and len(set(found)) == len(found)
    for case in found:
        assert case.kind in ("MFT", "INV", "DIR") and case.label in (0, 1) and case.text.strip()
        assert (case.other is None) == (case.kind == "MFT") and case.text != case.other
    for category in {case.category for case in found}:
        labels = [case.label for case in found if case.category == category]
        assert labels.count(0) == labels.count(1), category


def answers(known):
    return lambda texts: numpy.array([known[text] for text in texts])


@pytest.mark.parametrize(
    "kind, label, first, second, expected",
    [
        ("MFT", 1, 0.7, None, True),
        ("MFT", 0, 0.7, None, False),
        ("INV", 1, 0.9, 0.6, True),
        ("INV", 1, 0.9, 0.4, False),
        ("INV", 0, 0.9, 0.8, False),
        ("DIR", 1, 0.5, 0.45, True),
        ("DIR", 1, 0.5, 0.3, False),
        ("DIR", 0, 0.5, 0.58, True),
        ("DIR", 0, 0.5, 0.8, False),
    ],
)
def test_each_kind_of_case_passes_and_fails_as_it_should(kind, label, first, second, expected):
    case = Case(kind, "x", label, "하나", None if second is None else "둘")
    table = check(answers({"하나": first, "둘": second}), [case])
    assert table["passed"].tolist() == [expected] == [passed(table.iloc[0])]


def test_the_summary_counts_each_category_and_all():
    three = [Case("MFT", "a", 1, "가", None), Case("MFT", "b", 1, "나", None), Case("MFT", "b", 0, "나", None)]
    found = summary(check(answers({"가": 0.9, "나": 0.1}), three))
    assert found[["category", "cases", "passed"]].values.tolist() == [["a", 1, 1], ["b", 2, 1], ["all", 3, 2]]
    assert found["share"].tolist() == [1, 0.5, pytest.approx(2 / 3)]


def test_the_packaged_bundle_behaves():
    rows = summary(check(load_classifier().probabilities, cases())).set_index("category")["share"]
    assert rows["all"] >= 0.9
    # double negation, which it was not trained on
    assert rows.min() >= 0.6
