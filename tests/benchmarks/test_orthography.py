"""The rules that have the last word on the spaces of the sentences that `restore` learns from."""

import pytest

from benchmarks.orthography import by_rules
from nsmc_attention.reviews import nsmc


@pytest.mark.parametrize(
    ("spaced", "right"),
    [
        ("한 번은 봐야할 영화였고 생각하게한다", "한 번은 봐야 할 영화였고 생각하게 한다"),
        ("재밌긴한데 길기도하고 나가려고했다", "재밌긴 한데 길기도 하고 나가려고 했다"),
        ("모두가 갖고 싶어하는 것", "모두가 갖고 싶어 하는 것"),
        ("재밌는 데 평점이 왜 낮은지, 좋은 데도 아쉽다", "재밌는데 평점이 왜 낮은지, 좋은데도 아쉽다"),
        ("왜 재미 있는 지 모르겠다", "왜 재미있는지 모르겠다"),
        ("처음 본지 10년", "처음 본 지 10년"),
        ("끝내 웃지 못 했다. 원작 못지 않다", "끝내 웃지 못했다. 원작 못지않다"),
        ("감독님께 감사 드리고 사랑 받으세요", "감독님께 감사드리고 사랑받으세요"),
        ("그 동안 이 거 보고 신 나게 빠져 들었다", "그동안 이거 보고 신나게 빠져들었다"),
    ],
)
def test_the_rules_set_spaces(spaced: str, right: str) -> None:
    assert by_rules(spaced) == right


@pytest.mark.parametrize(
    "right",
    [
        "이야기를 끌고 가는 데 성공했다",
        "웃기는 데에는 이유가 있다",
        "그런 데 가고 싶다",
        "연기하고 기도하는 사람",
        "야한 장면을 싫어하는 사람",
        "평점이 왜 높은지 이해가 안 된다",
        "선물을 감사히 받아 요긴하게 썼다",
    ],
)
def test_what_is_right_stays(right: str) -> None:
    assert by_rules(right) == right


def test_letters_stay_and_a_second_time_changes_nothing() -> None:
    for text in nsmc.load("sample", "train").documents:
        once = by_rules(text)
        assert once.replace(" ", "") == text.replace(" ", "")
        assert by_rules(once) == once
