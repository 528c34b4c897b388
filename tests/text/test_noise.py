import unicodedata

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.text.encoding import clean
from nsmc_attention.text.hangul import FINALS, INITIALS, VOWELS, joined, parts
from nsmc_attention.text.noise import KINDS, WAYS, Edit, edited, edits, misspelt, noisy

no_spaces, longer_ends, simpler_finals, other_vowels = WAYS.values()
hangul = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3) | st.sampled_from("ㅋㅠ! .?"), max_size=20)


def test_each_way_does_what_it_says():
    assert no_spaces("정말 재미있는 영화") == "정말재미있는영화"
    assert longer_ends("ㅋㅋ 좋다!") == "ㅋ" * 10 + " 좋다" + "!" * 5
    assert simpler_finals("재미있었다, 많이 잃고 같이 잊지") == "재미잇엇다, 만이 일고 갓이 잇지"
    assert other_vowels("재미 최고 왜 제일") == "제미 쵀고 외 재일"


@given(hangul)
def test_exchanging_the_vowels_twice_gives_the_text_back(text):
    assert other_vowels(other_vowels(text)) == text


@given(hangul)
def test_only_spaces_and_repeats_change_the_number_of_characters(text):
    assert len(simpler_finals(text)) == len(other_vowels(text)) == len(text)
    assert simpler_finals(simpler_finals(text)) == simpler_finals(text)
    assert set(longer_ends(text)) == set(text) and no_spaces(no_spaces(text)) == no_spaces(text)


@given(st.text(max_size=20))
def test_any_text_stays_composed_and_ready_to_be_tokenized(text):
    for way in WAYS.values():
        found = way(clean(text))
        assert unicodedata.is_normalized("NFC", found) and clean(found) == found


@given(st.lists(hangul, max_size=30), st.integers(0, 5))
def test_the_seed_alone_decides_which_reviews_and_how(texts, seed):
    found = misspelt(texts, 0.5, seed)
    assert found == misspelt(texts, 0.5, seed)
    assert all(found[place] in {way(texts[place]) for way in WAYS.values()} for place in found)
    assert misspelt(texts, 0.0, seed) == {} and len(misspelt(texts, 1.0, seed)) == len(texts)
    assert misspelt(texts, 0.2, seed).items() <= found.items()


def test_a_share_of_the_reviews_is_misspelt_in_every_way():
    found = misspelt(["재미있는 왜ㅋㅋ"] * 4000, 0.3, 0)
    assert abs(len(found) / 4000 - 0.3) < 0.03 and len(set(found.values())) == len(WAYS)


def test_the_parts_of_every_syllable_are_those_of_unicode():
    for number in range(0xAC00, 0xD7A4):
        syllable = chr(number)
        initial, vowel, final = parts(syllable)
        assert joined(initial, vowel, final) == syllable
    # the compatibility letters stand in the order of the conjoining ones
    assert (len(INITIALS), len(VOWELS), len(FINALS)) == (19, 21, 28) and parts("A") == parts("ㅋ") == ("", "", "")
    assert parts("있") == ("ㅇ", "ㅣ", "ㅆ") and unicodedata.normalize("NFD", "있")[2] == chr(
        0x11A7 + FINALS.index("ㅆ")
    )


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
        ("confused_words", "않 좋고", {"안 좋고"}),
        ("shift_key", "갔다", {"깠다", "갓다", "갔따"}),
        ("neighbouring_keys", "나", {"마", "아", "너", "니"}),
        ("exchanged_syllables", "영화 좋다", {"화영 좋다", "영화 다좋"}),
        ("tensed", "할게 볼 것 하게", {"할께 볼 것 하게", "할게 볼 껏 하게"}),
        ("plain_vowels", "희망 계속", {"히망 계속", "희망 게속"}),
        ("assimilated", "합니다 작년", {"함니다 작년", "합니다 장년"}),
    ],
)
def test_each_kind_makes_what_people_type(kind, text, found):
    assert {edited(text, [edit]) for edit in edits(text, KINDS[kind])} == found


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
    assert noisy(text, {"lost_spaces": 1.0}, random) == no_spaces(text)
    assert noisy(text, {"finals": 1.0}, random) == simpler_finals(text)
    one, other = (noisy(text, dict.fromkeys(KINDS, 0.3), numpy.random.RandomState(seed)) for _ in range(2))
    assert one == other
