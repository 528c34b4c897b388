from hypothesis import example, given
from hypothesis import strategies as st

from nsmc_attention.systems.restore.correctors import character_error, tagged, tags_of, within_bound
from nsmc_attention.systems.restore.noise import KINDS, noisy
from nsmc_attention.systems.sequences.characters import DELETE, KEEP, Characters, aligned, edit_distance, split_spaces
from nsmc_attention.text.encoding import clean

hangul = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3) | st.sampled_from(" .!"), max_size=20).map(
    clean
)
words = st.text(st.sampled_from("가나다"), max_size=7)


@given(hangul, st.integers(0, 99))
# stretched and exchanged: the fewest edits leave a character out
@example("가가가가가가가가.각가각가", 17)
def test_tags_turn_a_noisy_text_into_what_it_was(target, seed):
    import numpy

    characters = Characters.of([target], 1)
    source = noisy(target, dict.fromkeys(KINDS, 0.2), numpy.random.RandomState(seed))
    restored, origins = tagged(split_spaces(source)[0], *tags_of(source, target, characters), characters)
    assert restored == target and len(origins) == len(restored)
    assert origins == sorted(origins)


@given(hangul)
def test_a_text_that_is_kept_stays_as_it_is(text):
    tags, spaces = tags_of(text, text, Characters((" ",)))
    assert set(tags) <= {KEEP} and tagged(split_spaces(text)[0], tags, spaces, Characters((" ",)))[0] == text


def test_what_is_put_in_or_cannot_be_written_is_left():
    characters = Characters.of(["재밌어"], 1)
    assert tags_of("재밋어어", "재밌어 요", characters)[0] == [KEEP, characters.ids["밌"], KEEP, KEEP]
    assert tags_of("재밌어어", "재밌어", characters)[0].count(DELETE) == 1
    assert tagged("가나", [DELETE, KEEP], [True, True], characters) == ("나", [1])


@given(st.text("ㅋㅎ😀q ", max_size=20).map(clean), st.sampled_from([DELETE, KEEP, 5]))
def test_a_character_that_no_network_can_read_is_kept_whatever_its_tag(text, tag):
    characters, (letters, spaces) = Characters.of(["재밌어"], 1), split_spaces(text)
    assert tagged(letters, [tag] * len(letters), spaces, characters)[0] == text


def test_the_bound_counts_characters_and_no_spaces():
    assert within_bound("정말재밋엇어요", "정말 재밌었어요") and within_bound("가", "나다")
    assert not within_bound("재미있는 영화", "재미있는 영화와 그리고 또 다른 영화")
    assert not within_bound("배우들의 연기가 좋다", "좋다")


def test_the_character_error_is_a_share_of_the_target():
    assert character_error("가나", "가나") == 0 and character_error("가나", "가 나다") == 0.5
    assert character_error("가", "") == 1


@given(words, words)
def test_the_edit_distance_is_a_distance(one, other):
    assert edit_distance(one, other) == edit_distance(other, one) <= max(len(one), len(other))
    assert edit_distance(one, one) == 0 and edit_distance(one, "") == len(one)
    assert edit_distance(one + "가", other + "가") == edit_distance(one, other)


@given(words, words)
def test_an_alignment_has_each_place_of_the_source_once_and_goes_forward(source, target):
    pairs = aligned(source, target)
    assert [place for place, _ in pairs] == list(range(len(source)))
    places = [other for _, other in pairs if other >= 0]
    assert places == sorted(set(places)) and all(other < len(target) for other in places)
