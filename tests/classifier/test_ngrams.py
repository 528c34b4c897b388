import numpy
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import log_loss

from nsmc_attention.classifier.ngrams import continue_table, fit_table, log_odds, presence
from nsmc_attention.corpora import nsmc
from nsmc_attention.measure.metrics import temperature
from nsmc_attention.text.tokenizers import tokenizer

BUCKETS = 2**14


@pytest.fixture(scope="module")
def sample():
    reviews = nsmc.load("sample", "train")
    return [tokenizer("mecab")(text) for text in reviews.documents], reviews.labels


def test_the_table_is_scikit_learn_s_logistic_regression_on_tfidf(sample):
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression

    token_lists, labels = sample
    features = TfidfTransformer().fit_transform(presence(token_lists, BUCKETS))
    model = LogisticRegression(C=4.0, max_iter=300, class_weight="balanced").fit(features, labels)
    expected = model.decision_function(features) - model.intercept_[0]
    numpy.testing.assert_allclose(log_odds(fit_table(token_lists, labels, BUCKETS), token_lists), expected, atol=1e-2)


def test_unseen_ngrams_say_nothing(sample):
    token_lists, labels = sample
    table = fit_table(token_lists, labels, BUCKETS)
    unseen = numpy.asarray(presence(token_lists, BUCKETS).sum(axis=0)).ravel() == 0
    assert unseen.any() and not table[unseen].any() and not table[0].any()
    assert log_odds(table, [["\u4e00"]]) == pytest.approx(0, abs=1)


def test_presence_is_one_a_review_and_ngram(sample):
    found = presence(sample[0], BUCKETS)
    assert sparse.issparse(found) and found.shape == (540, BUCKETS) and set(found.data) == {1}


def test_a_factor_of_nought_takes_a_token_s_ngrams_away_and_one_leaves_them(sample):
    token_lists, labels = sample[0][:200], sample[1][:200]
    ones = [numpy.ones(len(tokens)) for tokens in token_lists]
    assert numpy.array_equal(fit_table(token_lists, labels, BUCKETS, ones), fit_table(token_lists, labels, BUCKETS))
    # each second token does not speak
    halves = [numpy.arange(len(tokens)) % 2 for tokens in token_lists]
    silent = presence(token_lists, BUCKETS, halves)
    assert 0 < silent.sum() < presence(token_lists, BUCKETS).sum()
    doubled = presence(token_lists, BUCKETS, [2.0 * own for own in halves])
    assert numpy.array_equal(doubled.toarray(), 2 * silent.toarray())


def test_a_table_is_continued_by_what_the_log_odds_do_not_say(sample):
    table = fit_table(*(part[::2] for part in sample), BUCKETS)
    token_lists, labels = (part[1::2] for part in sample)
    odds = log_odds(table, token_lists)
    # whatever else they say, here reviews with this word are positive
    turned = numpy.array(["영화" in tokens for tokens in token_lists])
    assert 20 < turned.sum() < len(labels) - 20
    others = numpy.where(turned, 1, labels)
    change, scale, bias, together = continue_table(table, token_lists, others, odds)
    assert log_loss(others, expit(together)) < log_loss(others, expit(odds / temperature(odds, others)))
    continued = table + numpy.stack([change / scale, 0 * change], axis=1).astype("float32")
    fitted = scale * log_odds(continued, token_lists) + bias
    assert log_loss(others, expit(fitted)) < log_loss(others, expit(together))
    # what no review has is as it was
    unseen = numpy.asarray(presence(token_lists, BUCKETS).sum(axis=0)).ravel() == 0
    assert change.any() and not change[unseen].any()
