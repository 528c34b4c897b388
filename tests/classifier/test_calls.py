"""The classifier called as people call it: as a Hugging Face pipeline, on columns and tables."""

import copy
import pickle

import numpy
import pandas
import pytest

from nsmc_attention import draw_heatmap, explain, load_classifier, load_restorer, predict, restore, score_column
from nsmc_attention.apps.columns import SPARK_SCHEMA
from nsmc_attention.errors import DataError
from nsmc_attention.systems.film.rater import pairs_of
from nsmc_attention.tables.source import say_once

TEXTS = ["정말 재미있다", "별로"]


@pytest.mark.parametrize(
    "give",
    [
        pandas.Series,
        numpy.array,
        tuple,
        iter,
        lambda texts: (text for text in texts),
        lambda texts: pandas.DataFrame({"film": ["a", "b"], "리뷰": texts}),
        lambda texts: pandas.DataFrame({"n": [1, 2], "Review": texts}, index=[7, 7]),
    ],
)
def test_texts_are_the_same_whatever_holds_them(classifier, give):
    assert classifier(give(TEXTS)) == classifier(TEXTS)
    assert classifier.predict_many(give(TEXTS)) == classifier.predict_many(TEXTS)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (pandas.DataFrame({"a": ["x"], "b": ["y"]}), r'DataFrame: expected one column .*as df\["review"\]'),
        (pandas.DataFrame([["x", "y"]], columns=["text", "text"]), "found 'text' twice"),
        (pandas.DataFrame({"review": ["x", None]}), r"texts\[1\]: expected a review as str, found NoneType"),
        ({"review": TEXTS}, "found dict"),
        ([{"text": "가", "label": 1}], r"texts\[0\]: expected a review as str, found dict"),
        (set(TEXTS), "found set"),
        (numpy.array([TEXTS]), r"found ndarray of shape \(1, 2\); give one column"),
        (b"x", "found one string"),
        (None, "found NoneType"),
    ],
)
def test_names_and_keys_are_never_classified(classifier, wrong, message):
    for use in (classifier, classifier.predict_many):
        with pytest.raises(DataError, match=message):
            use(wrong)


def test_names_of_files_are_refused_and_their_lines_are_not(classifier, tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("정말 재미있다\n별로\n", encoding="utf-8")
    with open(path, encoding="utf-8") as file:
        with pytest.raises(DataError, match="found TextIOWrapper"):
            classifier(file)
        assert classifier([line.rstrip("\n") for line in file]) == classifier(TEXTS)
    for use in (classifier, classifier.predict):
        with pytest.raises(DataError, match="found the name of a file, .*reviews.csv; give the text itself"):
            use(str(path))
    with pytest.raises(DataError, match="found (Posix|Windows)Path"):
        classifier(path)
    # of a list it is one of many texts
    assert len(classifier([str(path), "없는.csv"])) == 2


@pytest.mark.parametrize("wrong", [TEXTS, numpy.array(TEXTS), pandas.Series(TEXTS)])
def test_one_review_is_not_several(classifier, wrong):
    for use in (classifier.predict, predict):
        with pytest.raises(DataError, match=r"expected a review as str.*; use predict_many\(\) for several"):
            use(wrong)


@pytest.mark.parametrize("wrong", [None, float("nan"), b"x", 3])
def test_what_is_no_text_is_refused(classifier, wrong):
    with pytest.raises(DataError, match="expected a review as str, found (NoneType|float|bytes|int): [^;]*$"):
        classifier.predict(wrong)


def test_a_call_returns_a_label_and_its_score_as_a_pipeline_does(classifier):
    one, many = classifier(TEXTS[0]), classifier(TEXTS)
    assert one == many[:1] and set(one[0]) == {"label", "score"}
    assert classifier([""]) == [{"label": None, "score": None}]


def test_a_table_keeps_its_columns_and_its_index(classifier):
    frame = pandas.DataFrame({"review": [*TEXTS, None], "score": [1, 2, 3]}, index=["a", "a", "b"])
    scored = score_column(frame, classifier)
    assert list(scored) == ["review", "score", *(f"predicted_{name}" for name in classifier.types)]
    assert scored.index.tolist() == ["a", "a", "b"] and scored["score"].tolist() == [1, 2, 3]
    alone = score_column(frame["review"], classifier)
    assert scored["predicted_label"].tolist() == alone["label"].tolist() and alone.index.tolist() == ["a", "a", "b"]
    for text, row in zip([*TEXTS, ""], alone.itertuples(index=False)):
        expected = classifier.predict(text)
        assert (row.label, row.error) == (expected.label, expected.error)
        assert expected.label is None or row.probability == pytest.approx(expected.probability, abs=1e-5)
    assert score_column(TEXTS, classifier)["label"].tolist() == alone["label"].tolist()[:2]
    other = frame.rename(columns={"review": "x"})
    with pytest.raises(DataError, match="expected one column called"):
        score_column(other, classifier)
    for named in (score_column(other, classifier, text_column="x"), score_column(other, "x")):
        assert list(named.columns) == list(scored.rename(columns={"review": "x"}).columns)
    assert score_column(other, classifier, text_column="x").iloc[:, 2].tolist() == scored["predicted_label"].tolist()


@pytest.mark.parametrize("dtype", ["string", "object", "datetime64[ns]"])
def test_what_is_missing_is_blank_whatever_pandas_calls_it(classifier, dtype):
    found = score_column(pandas.Series([None, None], dtype=dtype), classifier)
    assert found["error"].tolist() == ["blank: no word to score"] * 2 and found["label"].isna().all()
    assert score_column(pandas.Series([], dtype=dtype), classifier).shape == (0, 4)


def test_sparks_schema_names_what_is_answered(classifier):
    found = score_column(pandas.Series(["좋다", ""]), classifier)
    assert [field.split()[0] for field in SPARK_SCHEMA.split(", ")] == list(found.columns)
    kinds = {"string": object, "double": numpy.float64}
    assert all(found[name].dtype == kinds[kind] for name, kind in map(str.split, SPARK_SCHEMA.split(", ")))


def test_columns_that_are_called_otherwise_are_said(classifier, capsys):
    say_once.cache_clear()
    frame = pandas.DataFrame({"review": TEXTS, "score": [1, 2]})
    score_column(frame[["review"]], classifier)
    assert capsys.readouterr().err == ""
    score_column(frame, classifier)
    said = "DataFrame: the table already has score; the results are in predicted_label, predicted_score, "
    assert capsys.readouterr().err.startswith(said)


def test_the_text_comes_first_and_the_packaged_model_is_taken(classifier):
    assert predict(TEXTS[0]) == load_classifier().predict(TEXTS[0])
    assert predict(TEXTS[0], classifier) == classifier.predict(TEXTS[0])
    assert explain(TEXTS[0]).label == predict(TEXTS[0]).label
    assert restore("정말재밋엇어요", load_restorer()).text == restore("정말재밋엇어요").text
    assert explain(TEXTS[0], classifier, "erasure").method == "erasure"


def test_a_prediction_is_copied_and_pickled(classifier):
    prediction = classifier.predict(TEXTS[0])
    assert pickle.loads(pickle.dumps(prediction)) == copy.deepcopy(prediction) == copy.copy(prediction) == prediction


def test_a_heatmap_is_drawn_of_a_prediction_alone(classifier):
    prediction = classifier.predict(TEXTS[0])
    plot = draw_heatmap(prediction).axes[0]
    assert plot.get_title().startswith(prediction.label) and len(plot.get_xticks()) == len(prediction.tokens)
    with pytest.raises(DataError, match="heatmap: blank"):
        draw_heatmap(classifier.predict(""))
    with pytest.raises(DataError, match="heatmap: expected the tokens of the weights"):
        draw_heatmap(prediction.weights)


def test_the_films_of_a_table_are_named_by_a_column():
    frame = pandas.DataFrame({"제목": ["괴물", None, "괴물", "곡성"], "리뷰": ["좋다", "x", None, "별로"]})
    assert list(pairs_of(frame, "제목")) == [("괴물", "좋다"), ("괴물", ""), ("곡성", "별로")]
    with pytest.raises(DataError, match="expected a column '영화', found '?제목"):
        pairs_of(frame, "영화")
    with pytest.raises(DataError, match="expected a DataFrame with the column '제목', found list"):
        pairs_of(["좋다"], "제목")
