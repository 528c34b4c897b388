"""Texts that get no label: `classifier.abstention`."""

import numpy
import pytest

from nsmc_attention import load_classifier, predict
from nsmc_attention.classifier.abstention import NO_EVIDENCE
from nsmc_attention.classifier.explain import Explainer
from nsmc_attention.classifier.positive_share import positive_share
from nsmc_attention.scoring.files import tally_of

UNKNOWN = (
    "What was this all about and who is it for|つまらない映画でした|这部电影太无聊了|Это ужасный фильм|"
    "서울특별시 강남구 테헤란로 123|https://www.example.com/watch?v=12|someone@example.com|"
    "010-1234-5678|1234567|ㅁㄴㅇㄹ|asdfghjkl|dkssudgktpdy|You spin me right round baby|"
    "It is not a good movie at all|2014.11.10|ㅋㅇ ㄲㅇ"
).split("|")
KNOWN = (
    "재밌다|good|ㅋㅋㅋ|ㅠㅠ|^^|...|♥♥|MCU 영화 중 최고|ㄹㅇ 노잼|007 시리즈 재밌네|별점 10점|10 10 10|ㅆㄹㄱ|ㅅㅂ ㅋㅋㅋ|"
    "乃|good good good movie, the best|goodgoodgood|굳bbbbbbbbbbbbbbbbbbbbbbbb"
).split("|")


@pytest.fixture(scope="module")
def packaged():
    return load_classifier()


@pytest.mark.parametrize("text", UNKNOWN)
def test_of_what_nothing_is_known_there_is_a_reason_and_no_label(text):
    found = predict(text)
    assert (found.label, found.score, found.error) == (None, None, NO_EVIDENCE)
    assert 0 < found.probability < 1, "the network's probability stays, for evaluate"


@pytest.mark.parametrize("text", KNOWN)
def test_what_means_something_is_judged(text):
    assert predict(text).label and predict(text).error is None


def test_rows_objects_calls_and_columns_say_the_same(packaged):
    texts = [*UNKNOWN, *KNOWN]
    rows = packaged.rows(texts)
    assert [row[3] for row in rows] == [one.error for one in packaged.predict_many(texts)]
    assert [row[0] for row in rows] == [answer["label"] for answer in packaged(texts)]
    assert [row[0] for row in rows] == [values["label"] for values in packaged.objects(texts)]
    numpy.testing.assert_allclose([row[2] for row in rows], packaged.probabilities(texts), atol=1e-6)


def test_the_share_of_positive_ones_counts_those_with_a_label(packaged):
    tally = tally_of(packaged, [*UNKNOWN, *KNOWN], packaged.rows([*UNKNOWN, *KNOWN]))
    assert (tally.errors, tally.evidence.n) == (len(UNKNOWN), len(KNOWN))
    assert positive_share([*UNKNOWN, *KNOWN], packaged).n == len(KNOWN)


def test_a_vocabulary_of_another_language_has_no_such_rule(packaged):
    from dataclasses import replace

    from nsmc_attention.classifier.abstention import Abstention

    english = replace(packaged.encoder, token_to_idx={"<unk>": 0, "<pad>": 1, "worst": 2, "movie": 3})
    review = english.encode("the plot was dull")
    assert not Abstention(english).is_korean and Abstention(english).reason(review) is None


@pytest.mark.parametrize(
    "positive, negative",
    [
        ("★★★★★", "★☆☆☆☆"),
        ("9/10", "1/10"),
        ("어제 봤어요 👍", "어제 봤어요 👎"),
        ("😍", "🤮"),
        ("별점 9점", "별점 1점"),
        ("It is the best movie that I have seen", "This is one of the worst movies that I have ever seen"),
    ],
)
def test_ratings_emoji_and_verdicts_are_judged_and_explained(packaged, positive, negative):
    assert (predict(positive).label, predict(negative).label) == ("positive", "negative")
    review = packaged.encoder.encode(positive)
    assert (
        [review.text[start:end] for start, end in review.offsets]
        == list(review.tokens)
        == list(predict(positive).tokens)
    )
    found = Explainer(packaged)(negative)
    assert found.values.sum() < 0 and len(found.values) == len(found.tokens)
    assert review.without(0).tokens == review.tokens[1:]
