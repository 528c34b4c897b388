"""The estimator under scikit-learn's own tools, with a tiny model."""

import gc
import pickle

import numpy
import pandas
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from nsmc_attention import SentimentEstimator
from nsmc_attention.classifier.explain import explain
from nsmc_attention.classifier.settings import preset
from nsmc_attention.corpora import nsmc
from nsmc_attention.errors import ConfigError, DataError

SIZES = {"embedding_size": 8, "hidden_size": 8, "attention_units": 4, "ngram_buckets": 500, "erasure_reviews": 0}
SMALL = {**SIZES, "epochs": 2, "batch_size": 32, "learning_rate": 0.02, "dev_fraction": 0.1}


@pytest.fixture(scope="module")
def reviews():
    return nsmc.load("sample", "train")


@pytest.fixture(scope="module")
def fitted(reviews):
    return SentimentEstimator(**SMALL).fit(reviews.documents, numpy.where(reviews.labels, "좋음", "나쁨"))


def test_it_predicts_the_labels_that_it_was_fitted_with(fitted, reviews):
    assert fitted.classes_.tolist() == ["나쁨", "좋음"]
    proba, labels = fitted.predict_proba(reviews.documents), fitted.predict(reviews.documents)
    assert proba.shape == (len(reviews), 2) and proba.sum(axis=1) == pytest.approx(1)
    assert (labels == fitted.classes_[proba.argmax(axis=1)]).all()
    assert fitted.score(reviews.documents, labels) == 1
    assert fitted.predict_proba([" "]).tolist() == [[0.5, 0.5]]


def test_it_begins_with_the_packaged_classifier(reviews):
    settings = {**dict.fromkeys(("ngram_buckets", "erasure_reviews"), 0), "epochs": 1, "dev_fraction": 0.2}
    estimator = clone(SentimentEstimator(init_from="pretrained", **settings))
    assert estimator.get_params()["init_from"] == "pretrained"
    estimator.fit(reviews.documents[:80], reviews.labels[:80])
    manifest = estimator.classifier_.bundle.manifest
    assert (
        manifest["data"]["init_from"]["name"] == "pretrained" and manifest["config"]["text"]["rare_words"] == "pieces"
    )
    assert estimator.score(reviews.documents[80:], reviews.labels[80:]) > 0.8
    with pytest.raises(ConfigError, match="expected the sizes of that bundle; give --hidden-size 48"):
        SentimentEstimator(init_from="pretrained", hidden_size=8).fit(reviews.documents, reviews.labels)


def test_a_pickle_predicts_the_same(fitted, reviews):
    again = pickle.loads(pickle.dumps(fitted))
    assert numpy.array_equal(again.predict_proba(reviews.documents[:20]), fitted.predict_proba(reviews.documents[:20]))
    assert again.classifier_.predict("정말 좋다").weights.ndim == 2


def test_its_classifier_explains_as_long_as_it_is_held(fitted):
    classifier = pickle.loads(pickle.dumps(fitted)).classifier_
    assert explain(classifier, "좋은 영화", "gradient").tokens
    folder = classifier.bundle.folder
    del classifier
    gc.collect()
    assert not folder.exists()


def test_a_column_of_a_table_is_scored_and_another_table_refused(fitted):
    table = pandas.DataFrame({"review": ["좋은 영화", "별로"]})
    for texts in (table, table["review"]):
        assert numpy.array_equal(fitted.predict_proba(texts), fitted.predict_proba(table["review"].tolist()))
    with pytest.raises(DataError, match="give the column itself"):
        fitted.predict_proba(table.rename(columns={"review": "x"}).assign(y=1))


def test_it_works_in_a_pipeline_and_under_a_search(reviews):
    pipeline = make_pipeline(
        FunctionTransformer(lambda texts: [text.strip() for text in texts]), SentimentEstimator(**SMALL)
    )
    texts, labels = numpy.array(reviews.documents[:100], dtype=object), reviews.labels[:100]
    once = ShuffleSplit(1, test_size=0.3, random_state=0)
    assert len(cross_val_score(pipeline, texts, labels, cv=once)) == 1
    search = GridSearchCV(SentimentEstimator(**SMALL), {"hidden_size": [4, 8]}, cv=once).fit(texts, labels)
    assert search.predict(["최고"]).shape == (1,)
    assert search.best_estimator_.config == preset("default").with_fields(**{**SMALL, **search.best_params_})


def test_a_setting_that_is_none_is_the_preset_s():
    estimator = SentimentEstimator(hidden_size=16, epochs=1)
    assert estimator.config == preset("default").with_fields(hidden_size=16, epochs=1)
    assert estimator.set_params(hidden_size=None, epochs=None).config == preset("default")
    assert clone(SentimentEstimator(hidden_size=16)).get_params()["hidden_size"] == 16
    assert repr(SentimentEstimator(epochs=3)) == "SentimentEstimator(epochs=3)"


def test_columns_are_in_the_order_of_the_classes_whichever_is_positive(reviews):
    texts, labels = [*reviews.documents[:60], " "], numpy.where([*reviews.labels[:60], 1], "긍정", "부정")
    estimator = SentimentEstimator(**{**SMALL, "epochs": 1}).fit(texts, labels)
    assert estimator.classes_.tolist() == ["긍정", "부정"] and estimator.positive_ == "긍정"
    within = estimator.classifier_.predict_many(texts)
    assert estimator.predict_proba(texts)[:-1, 0].tolist() == [each.probability for each in within[:-1]]
    names = {"positive": "긍정", "negative": "부정", None: "긍정"}
    assert estimator.predict(texts).tolist() == [names[each.label] for each in within]


@pytest.mark.skipif(tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6), reason="tags of scikit-learn 1.6")
def test_scikit_learn_s_own_checks():
    """Checks that feed numeric matrices do not apply to text; the estimator's tags say so."""
    from sklearn.utils.estimator_checks import check_estimator

    found = check_estimator(SentimentEstimator(**SMALL), on_fail=None)
    assert found and not [each["check_name"] for each in found if each["status"] == "failed"]


@pytest.mark.parametrize(
    "X, y, message",
    [
        ("정말 좋다", [1], "found one string; put it into a list"),
        ([1, 2], [0, 1], "expected a review as str, found int"),
        (numpy.array([["가"], ["나"]]), [0, 1], r"found ndarray of shape \(2, 1\)"),
        (["가", "나"], [0], r"one of two labels for each of 2 reviews, found \(1,\)"),
        (["가", "나"], ["긍정", None], "with 1 missing"),
        (["가", "나"], [1, 1], r"classes \[1\]"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(X, y, message):
    with pytest.raises((DataError, ValueError), match=message):
        SentimentEstimator().fit(X, y)


def test_an_unknown_setting_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'hidden_size'"):
        SentimentEstimator(hiden_size=3)
