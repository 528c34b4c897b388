import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.text.encoding import clean
from nsmc_attention.text.noise import WAYS, longer_ends, misspelt, no_spaces, other_vowels, simpler_finals

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
    for way in WAYS:
        found = way(clean(text))
        assert unicodedata.is_normalized("NFC", found) and clean(found) == found


@given(st.lists(hangul, max_size=30), st.integers(0, 5))
def test_the_seed_alone_decides_which_reviews_and_how(texts, seed):
    found = misspelt(texts, 0.5, seed)
    assert found == misspelt(texts, 0.5, seed)
    assert all(found[place] in {way(texts[place]) for way in WAYS} for place in found)
    assert misspelt(texts, 0.0, seed) == {} and len(misspelt(texts, 1.0, seed)) == len(texts)
    assert misspelt(texts, 0.2, seed).items() <= found.items()


def test_a_share_is_a_share_and_every_way_is_drawn():
    found = misspelt(["재미있는 왜ㅋㅋ"] * 4000, 0.3, 0)
    assert abs(len(found) / 4000 - 0.3) < 0.03
    assert set(found.values()) == {way("재미있는 왜ㅋㅋ") for way in WAYS}
