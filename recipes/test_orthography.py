"""The rules that correct the spaces of training sentences of `restore`."""

import pytest

from nsmc_attention.corpora import nsmc
from recipes.orthography import by_rules, respelt


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("가수가 되서 최고에요", "가수가 돼서 최고예요"),
        ("그렇게 되버렸네 준비가 되있어요", "그렇게 돼 버렸네 준비가 돼 있어요"),
        ("그러면 안 되! 안되도 되도록 되도 않는 말", "그러면 안 돼! 안돼도 되도록 되도 않는 말"),
        ("몇일 뒤에 할께요", "며칠 뒤에 할게요"),
        ("고양이에요 아니에요 구지 갈 필요", "고양이에요 아니에요 굳이 갈 필요"),
    ],
)
def test_letters_that_most_get_wrong_are_righted(typed: str, right: str) -> None:
    assert respelt(typed) == right == respelt(right)


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
        ("정말 재밌게 잘 만들었는 데 보고 싶은 데 길이 막혔다", "정말 재밌게 잘 만들었는데 보고 싶은데 길이 막혔다"),
        ("나를 놀라게하고 살아가게하는 그 때는 생각 나네요", "나를 놀라게 하고 살아가게 하는 그때는 생각나네요"),
        ("꽤 오래 된 영화를 찾아 보고 물어 봤다. 그럴 듯하다", "꽤 오래된 영화를 찾아보고 물어봤다. 그럴듯하다"),
    ],
)
def test_the_rules_set_spaces(spaced: str, right: str) -> None:
    assert by_rules(spaced) == right


@pytest.mark.parametrize(
    "right",
    [
        "이야기를 끌고 가는 데 성공했다. 웃기는 데에는 이유가 있다. 그런 데 가고 싶다",
        "연기하고 기도하는 사람, 야한 장면을 싫어하는 사람",
        "평점이 왜 높은지 이해가 안 된다. 선물을 감사히 받아 요긴하게 썼다",
        "이해하는 데 많은 도움이 되고 보는 데 세 시간이 걸렸다",
        "아이를 키우는 데 있어 중요하고 아름다운 데 비해 슬프다",
        "이렇게까지 못 할 수가, 가게하고 집. 왜 유명한지 한 시간 동안 생각했다. 본지 두 주인공",
        "많은 사랑 받았다. 큰 재미 없는 날. 좋은 생각 나누고 그 때문에 신 나오게",
        "빠져 드디어 파고 들어갔다",
    ],
)
def test_what_is_right_stays(right: str) -> None:
    assert by_rules(right) == right


def test_letters_stay_and_a_second_time_changes_nothing() -> None:
    for text in nsmc.load("sample", "train").documents:
        once = by_rules(text)
        assert once.replace(" ", "") == text.replace(" ", "")
        assert by_rules(once) == once
