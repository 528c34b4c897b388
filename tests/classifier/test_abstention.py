"""Texts that get no label: `classifier.abstention`."""

import re
from dataclasses import replace

import numpy
import pytest

from nsmc_attention import predict
from nsmc_attention.classifier.abstention import LOST, NO_EVIDENCE, NOTICE, POST, Abstention
from nsmc_attention.classifier.explain import Explainer
from nsmc_attention.classifier.positive_share import positive_share
from nsmc_attention.classifier.windows import SUSPECT
from nsmc_attention.scoring.files import outcomes, tally_of

UNKNOWN = (
    "What was this all about and who is it for|つまらない映画でした|这部电影太无聊了|Это ужасный фильм|"
    "https://www.example.com/watch?v=12|someone@example.com|"
    "010-1234-5678|1234567|ㅁㄴㅇㄹ|asdfghjkl|dkssudgktpdy|You spin me right round baby|"
    "It is not a good movie at all|2014.11.10|ㅋㅇ ㄲㅇ|?|...|!|?!|,. ~|"
    "I hate it when people talk in the theater because my son is scared"
).split("|")
KNOWN = (
    "재밌다|good|ㅋㅋㅋ|ㅠㅠ|^^|-_-|;;|♥♥|MCU 영화 중 최고|ㄹㅇ 노잼|007 시리즈 재밌네|별점 10점|10 10 10|ㅆㄹㄱ|ㅅㅂ ㅋㅋㅋ|"
    "乃|good good good movie, the best|goodgoodgood|굳bbbbbbbbbbbbbbbbbbbbbbbb"
).split("|")


REASONS = {
    LOST: "?? ??? ?? ???|???? ????|최고\ufffd 영화|영화 ?? ???",
    NOTICE: "삭제된 댓글입니다.|내용 없음|관리자에 의해 가려진 글입니다.|비공개 처리된 댓글입니다|[삭제된 댓글]|[deleted]|"
    "블라인드 처리된 게시물입니다.|신고된 리뷰입니다|내용이 없습니다|작성된 리뷰가 없습니다.|"
    "해당 리뷰는 관리자에 의해 삭제되었습니다|등록된 리뷰내용이 없습니다.|사진만 등록한 리뷰입니다|조치된 글",
    None: "이 영화 내용이 없음|뭐야 이거 ??|왜??|삭제된 장면이 더 재밌다|영화 ??? 봤는데 ?? 재밌음|글이 참 좋다|이 앱은 삭제되었습니다",
}
# One of Unicode's default-ignorable characters each
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u200e\u00ad\u3164\ufe0f\u034f\U000e0020"


@pytest.mark.parametrize(
    "reason, text", [(reason, text) for reason, texts in REASONS.items() for text in texts.split("|")]
)
def test_damaged_texts_and_notices_get_the_reason_and_no_label(reason, text):
    assert (predict(text).error, predict(text).label is None) == (reason, reason is not None)
    # of a table only such texts are looked at
    assert reason is None or re.search(SUSPECT, text)


def test_tables_look_at_each_noun_of_a_notice():
    nouns = {*re.findall("[가-힣]+", POST.replace("[글물]", "글|게시물"))} - {"상품", "구매"}
    assert [noun for noun in [*nouns, "deleted", "removed"] if not re.search(SUSPECT, noun)] == []


@pytest.mark.parametrize("mark", INVISIBLE, ids=lambda mark: f"U+{ord(mark):04X}")
def test_invisible_characters_change_nothing(mark):
    for text in ("배우 연기가 별로예요", "최고의 영화였다"):
        assert predict(mark + mark.join(text)) == predict(text)


def test_the_case_of_an_english_verdict_changes_nothing():
    for word in ("good", "bad", "best", "boring"):
        found = {predict(form).probability for form in (word, word.upper(), word.title())}
        assert len(found) == 1 and predict(word).label == ("negative" if word[:2] in ("ba", "bo") else "positive")


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
    texts = [*UNKNOWN, *KNOWN]
    tally = tally_of(packaged, texts, *outcomes(packaged, packaged.rows(texts)))
    assert (tally.errors, tally.evidence.n) == (len(UNKNOWN), len(KNOWN))
    assert positive_share([*UNKNOWN, *KNOWN], packaged).n == len(KNOWN)


def test_a_vocabulary_of_another_language_has_no_such_rule(packaged):
    english = replace(packaged.encoder, token_to_idx={"<unk>": 0, "<pad>": 1, "worst": 2, "movie": 3})
    review = english.encode("the plot was dull")
    alone = Abstention(english)
    assert not alone.is_korean and alone.reason(review, 0.9) is None


@pytest.mark.parametrize("turned", ["", "not "])
@pytest.mark.parametrize("word", ["bad", "worst", "boring", "great", "best", "wonderful"])
def test_a_text_in_english_has_no_label_against_its_verdict(packaged, word, turned):
    reason, praise = packaged.abstention.reason, packaged.probabilities([word])[0] > 0.5
    for text in (f"{turned}{word} movie", f"{turned}{word} ♥"):
        reasons = {label: reason(packaged.encoder.encode(text), 0.6 if label else 0.4) for label in (True, False)}
        assert [label for label, why in reasons.items() if not why] == [praise != bool(turned)], text


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
    assert [review.text[start:end] for start, end in review.offsets] == list(review.tokens)
    assert review.tokens == predict(positive).tokens
    found = Explainer(packaged)(negative)
    assert found.values.min() <= -abs(found.values).mean() and len(found.values) == len(found.tokens)
    assert review.without(0).tokens == review.tokens[1:]
