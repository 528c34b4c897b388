import unicodedata

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.systems.restore.noise import (
    KINDS,
    SLIP_KINDS,
    SLIPS,
    Edit,
    edited,
    edits,
    known_mistakes,
    noisy,
    slipped,
)
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.hangul import FINALS, INITIALS, VOWELS, joined, parts

hangul = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3) | st.sampled_from("ㅋㅠ! .?"), max_size=20)


def made(name, text):
    """The text with all misspellings of a kind."""
    return edited(text, edits(text, KINDS[name]))


@given(hangul)
def test_exchanging_the_vowels_twice_gives_the_text_back(text):
    assert made("vowels", made("vowels", text)) == text
    assert len(made("finals", text)) == len(text) and made("finals", made("finals", text)) == made("finals", text)


def test_the_parts_of_every_syllable_are_those_of_unicode():
    for number in range(0xAC00, 0xD7A4):
        syllable = chr(number)
        initial, vowel, final = parts(syllable)
        assert joined(initial, vowel, final) == syllable
    # the compatibility letters stand in the order of the conjoining ones
    assert (len(INITIALS), len(VOWELS), len(FINALS)) == (19, 21, 28) and parts("A") == parts("ㅋ") == ("", "", "")
    assert parts("있") == ("ㅇ", "ㅣ", "ㅆ")
    assert unicodedata.normalize("NFD", "있")[2] == chr(0x11A7 + FINALS.index("ㅆ"))


@pytest.mark.parametrize(
    "kind, text, found",
    [
        ("lost_spaces", "정말 좋은 영화", {"정말좋은 영화", "정말 좋은영화"}),
        ("added_spaces", "정말!", {"정 말!"}),
        ("moved_spaces", "정말 좋은", {"정 말좋은", "정말좋 은"}),
        ("stretched", "좋다", {"좋다아", "좋다아아", "좋다아아아"}),
        ("finals", "갔다", {"갓다"}),
        ("vowels", "내게", {"네게", "내개"}),
        (
            "liaison",
            "좋아 많이 재밌어 읽은",
            {"조아 많이 재밌어 읽은", "좋아 마니 재밌어 읽은", "좋아 많이 재미써 읽은", "좋아 많이 재밌어 일근"},
        ),
        ("liaison", "굳이 같이 맏형", {"구지 같이 맏형", "굳이 가치 맏형"}),
        ("confused_words", "않 좋고", {"안 좋고"}),
        ("mistakes", "며칠 돼 있", {"몇일 돼 있", "며칠 되 있"}),
        ("shift_key", "갔다", {"깠다", "갓다", "갔따"}),
        ("neighbouring_keys", "나", {"마", "아", "너", "니"}),
        ("exchanged_syllables", "영화 좋다", {"화영 좋다", "영화 다좋"}),
        ("tensed", "할게 볼 것 하게", {"할께 볼 것 하게", "할게 볼 껏 하게"}),
        ("plain_vowels", "희망 계속", {"히망 계속", "희망 게속"}),
    ],
)
def test_each_kind_makes_what_people_type(kind, text, found):
    assert {edited(text, [edit]) for edit in edits(text, KINDS[kind])} == found


def test_what_is_right_has_no_mistake_in_it():
    pairs = [(row["right"], row["wrong"]) for row in known_mistakes()]
    assert len(set(pairs)) == len(pairs) and all(row["reason"] for row in known_mistakes())
    for right, _ in pairs:
        assert not any(wrong in right for _, wrong in pairs), right


@given(hangul)
def test_edits_lie_within_the_text_and_change_it(text):
    text = clean(text)
    for kind in KINDS.values():
        for edit in edits(text, kind):
            assert 0 <= edit.start <= edit.end <= len(text) and text[edit.start : edit.end] != edit.replacement
        assert unicodedata.is_normalized("NFC", edited(text, edits(text, kind)))


def test_edits_that_overlap_are_made_once():
    assert edited("가나다", [Edit(1, 3, "x"), Edit(0, 2, "y"), Edit(3, 3, "z"), Edit(3, 3, "!")]) == "y다z"


@given(hangul, st.integers(0, 9))
def test_a_rate_is_the_share_of_places(text, seed):
    random = numpy.random.RandomState(seed)
    assert noisy(text, dict.fromkeys(KINDS, 0.0), random) == text
    assert noisy(text, {"lost_spaces": 1.0}, random) == made("lost_spaces", text)
    assert noisy(text, {"finals": 1.0}, random) == made("finals", text)
    one, other = (noisy(text, dict.fromkeys(KINDS, 0.3), numpy.random.RandomState(seed)) for _ in range(2))
    assert one == other


def test_most_texts_have_one_misspelling_at_most():
    random = numpy.random.RandomState(0)
    text = "배우들 연기가 정말 좋았는데 스토리가 별로였다"
    ones = {edited(text, [edit]) for name in SLIP_KINDS for edit in edits(text, KINDS[name])}
    found = [slipped(text, random) for _ in range(400)]
    right, single = (sum(each in group for each in found) / len(found) for group in ({text}, ones))
    assert right == pytest.approx(SLIPS[0], abs=0.12) and single == pytest.approx(SLIPS[1], abs=0.12)
    assert right + single < 1 and sum(SLIPS) == pytest.approx(1)
