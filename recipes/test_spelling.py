import pytest

from recipes.spelling import is_plain, sentences, suspicious_trigrams, well_spelt

GOOD = (
    "정말 재미있는 영화였어요 / 배우들의 연기가 좋았다. 음악도 좋았다. / 두 번 봐도 질리지 않는 영화 / "
    "가수가 돼서 정말 좋아요 / 이 영화 정말 최고예요 / 우리 집 고양이에요 귀엽죠 / "
    "되도록 자주 보면 안 되는 영화 / 다시는 이런 영화 보지 않겠다 / 놓치지 않도록 일찍 갔어요 / "
    "지루하지 않기를 바랐어요 / 지루하지 않긴 한데 아쉽다 / 흔하지 않답니다 정말로 / "
    "그리 어렵지 않더라고요 정말"
).split(" / ")
BAD = (
    "정말 재밋엇어요 또 보고싶다 / 영화가 않좋다 정말 별로다 / 생각보다 좋지 안네요 아쉽다 / "
    "이런 영화 다시는 안볼께 진짜 / 배우가 좋다.그런데 별로다 정말 / 너무 조아요 정말 최고다 / "
    "ㅋㅋㅋ 정말 재미있는 영화 / 재미 있다 / this is not a Korean review / "
    '영화가 쀍 같은 느낌이다 / 뭐가 되요 이런 게 영화라니 / """각본이 뛰어난 영화였다 / '
    "가수가 되서 정말 좋아요 / 이 영화 정말 최고에요 / 볼 만하게 되 있어요 정말 / "
    "자꾸 보면 안 되 정말로 / 구지 볼 필요가 없는 영화"
).split(" / ")


@pytest.mark.parametrize("text", [*GOOD, *BAD])
def test_well_spelt_sentences_pass_and_others_do_not(text):
    assert is_plain(text) == (text in GOOD)


def test_a_spelling_that_is_much_rarer_than_another_is_suspicious():
    texts = ["재미 있는 영화다 정말"] * 60 + ["제미 있는 영화다 정말"]
    assert " 제미" in suspicious_trigrams(texts) and " 재미" not in suspicious_trigrams(texts)
    assert well_spelt(texts) == ["재미 있는 영화다 정말"]


def test_words_that_are_right_beside_much_commoner_ones_are_not_suspicious():
    texts = ["내가 먼저 가라고 했다", "가방을 않고 집에 갔다"] * 60 + ["네가 먼저 가라고 했다", "가방을 안고 집에 갔다"]
    found = suspicious_trigrams(texts)
    assert "을 안" in found and well_spelt(texts)[-1] == "네가 먼저 가라고 했다"


def test_of_a_review_with_one_bad_sentence_the_others_are_taken():
    found = well_spelt(["정말 재미있는 영화였어요. 근데 조앗다 ㅋㅋ. 음악도 참 좋았다."])
    assert found == ["정말 재미있는 영화였어요.", "음악도 참 좋았다."]
    assert sentences("하나. 둘! 셋") == ["하나.", "둘!", "셋"]
