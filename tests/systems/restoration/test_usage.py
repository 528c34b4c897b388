"""Changes are made if they are likely, judging by their probability and by how people type."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention import load_restorer, restore
from nsmc_attention.systems.restoration.allowed import WEIGHTS, log_odds, of_letters, of_probability, usage
from nsmc_attention.systems.sequences.characters import KEEP

EVIDENCE = {"letter": 5, "added": 4, "removed": 3}


@given(some.sampled_from(sorted(WEIGHTS)), some.floats(0.5, 1), some.floats(0.5, 1), some.data())
def test_log_odds_rise_with_the_probability(kind, one, other, data):
    rest = data.draw(some.lists(some.floats(-9, 9), min_size=EVIDENCE[kind], max_size=EVIDENCE[kind]))[1:]
    odds = [log_odds(kind, [of_probability(each), *rest]) for each in sorted((one, other))]
    assert odds == sorted(odds) and len(WEIGHTS[kind]) == 1 + EVIDENCE[kind]


@given(some.text("가나다재밌었어요영화", min_size=1, max_size=9), some.data())
def test_letters_that_do_not_change_are_as_usual_as_before(letters, data):
    place = data.draw(some.integers(0, len(letters) - 1))
    typed, written = slice(0, 2), slice(2, 4)
    counts = of_letters(letters, [KEEP] * len(letters), place, load_restorer().characters)
    assert counts[typed] == counts[written] and counts[0] <= counts[1]


def test_the_right_spelling_is_commoner_than_a_wrong_one():
    characters = load_restorer().characters
    typed, _, written, _ = of_letters("정말재밋었다", [0, 0, 0, characters.ids["밌"], 0, 0], 3, characters)
    assert written > typed


def test_people_write_a_compound_as_one_word_and_a_particle_apart_from_the_next():
    joined, apart = (usage().log_odds([text])[place] for text, place in (("현재진행형", 1), ("영화를보고", 2)))
    assert joined < 0 < apart


@pytest.mark.parametrize(
    "text",
    ["현재진행형으로 영향을 받는다", "<i>인생영화</i>입니다", "이런 이야기는 흔하디흔하지", "다시 한번 보고 싶다"],
)
def test_what_most_people_join_stays_one_word(text):
    assert restore(text).text == text


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("한번도 안 봤다", "한 번도 안 봤다"),
        ("두번 봤는데 또 보고 싶다", "두 번 봤는데 또 보고 싶다"),
        ("정말 좋은거 같다", "정말 좋은 거 같다"),
        ("못본 사람이 없을 정도다", "못 본 사람이 없을 정도다"),
        ("배우 들의 연기가 빛났다", "배우들의 연기가 빛났다"),
        ("정말 재미잇게 봤습니다", "정말 재미있게 봤습니다"),
    ],
)
def test_one_error_is_corrected(wrong, right):
    assert restore(wrong).text == right


@pytest.mark.parametrize(
    "typed, restored",
    [
        ("VOD로 볼수 있도록 올려주세요.", "VOD로 볼 수 있도록 올려주세요."),
        ("갑자기 야한장면 나와서 깜놀했네", "갑자기 야한 장면 나와서 깜놀했네"),
        ("유해진씨 연기 만으로도 재밌는 영화입니다", "유해진씨 연기만으로도 재밌는 영화입니다"),
        ("한번빠지면 헤어나올수 없는 드라마", "한번 빠지면 헤어나올 수 없는 드라마"),
    ],
)
def test_an_unlikely_space_is_not_set_beside_an_error(typed, restored):
    assert restore(typed).text == restored
