import numpy
import pandas
import pytest

from nsmc_attention import score_column
from nsmc_attention.apps.columns import SPARK_SCHEMA
from nsmc_attention.classifier.prediction import TYPES
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.errors import DataError


def test_a_column_keeps_its_index_and_says_what_predict_says(bundle_folder):
    classifier = load_classifier(bundle_folder)
    column = pandas.Series(["정말 재미있다", None, "별로", float("nan"), 3], index=list("zyxwv"))
    found = score_column(column, classifier)
    assert list(found.index) == list("zyxwv") and list(found.columns) == list(TYPES)
    for text, (label, _score, probability, error) in zip(
        ["정말 재미있다", "", "별로", "", "3"], found.to_numpy().tolist()
    ):
        expected = classifier.predict(text)
        assert (label, error) == (expected.label, expected.error)
        assert expected.label is None or probability == pytest.approx(expected.probability, abs=1e-5)
    assert score_column(column[:0], classifier).shape == (0, 4)


@pytest.mark.parametrize("dtype", ["string", "object", "datetime64[ns]"])
def test_what_is_missing_is_blank_whatever_pandas_calls_it(bundle_folder, dtype):
    found = score_column(pandas.Series([None, None], dtype=dtype), load_classifier(bundle_folder))
    assert found["error"].notna().all() and found["label"].isna().all()


def test_sparks_schema_names_what_is_answered(bundle_folder):
    found = score_column(pandas.Series(["좋다", ""]), load_classifier(bundle_folder))
    assert [field.split()[0] for field in SPARK_SCHEMA.split(", ")] == list(found.columns)
    kinds = {"string": object, "double": numpy.float64}
    assert all(found[name].dtype == kinds[kind] for name, kind in map(str.split, SPARK_SCHEMA.split(", ")))


@pytest.mark.parametrize("given", [{"review": ["좋다"]}, ("좋다",), "좋다"])
def test_what_is_no_column_is_refused(bundle_folder, given):
    with pytest.raises(DataError, match="expected a column as a pandas Series"):
        score_column(given, load_classifier(bundle_folder))
