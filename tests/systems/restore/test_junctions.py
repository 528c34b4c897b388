"""What MeCab says of spaces: sums of weights at the junctions of morphemes, beside an editor."""

import numpy
import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from nsmc_attention.systems.restore.correctors import Draft, odds_at_junctions, spaces_at_junctions
from nsmc_attention.systems.restore.junctions import (
    AT_JUNCTION,
    UNIT,
    Junctions,
    RestorerCharacters,
    hash_of,
    keys_of,
    packed,
    unpacked,
    with_log_odds,
)
from nsmc_attention.text.tokenizers import has_dictionary, morphemes

pytestmark = pytest.mark.skipif(not has_dictionary(), reason="needs MeCab's dictionary")

SENTENCES = [
    f"{who} {what} 정말 {how}"
    for who in ("나는", "그는", "형은")
    for what in ("영화를", "밥을")
    for how in ("좋아한다", "본다")
]
any_letters = some.text(some.characters(exclude_categories=["Cs", "Cc", "Z"]), max_size=20)
letters = some.text("이영화는정말재미있다밥한그릇을먹었다.!A1", min_size=1, max_size=30)
numbers = some.integers(-127, 127)


@given(some.lists(letters | any_letters, min_size=1, max_size=4), some.data())
@example(["영화\U0001f600\u200d재밌다", "", "ᄒᆞᆫ글나랏말ᄊᆞ미", "뷁쒧꿹", "영화\0재밌다", "ㅋ" * 300, "1910년9월"], None)
def test_compiled_or_not_the_log_odds_are_sums_of_weights_of_the_place_and_a_constant(texts, data):
    places = [(text, list(keys_of(text))) for text in texts]
    rows = [[len(keys), *map(hash_of, keys), *[0] * 12][:12] for text, own in places for keys in padded(text, own)]
    hashes = sorted({number for row in rows for number in row[1 : 1 + row[0]]})
    weights = {number: data.draw(numbers) if data else number % 255 - 127 for number in hashes}
    junctions = Junctions.of(weights, 0.5, -2.0)
    together = junctions.log_odds(texts).tolist()
    assert together == [value for text in texts for value in junctions.in_python(text).tolist()]
    wanted = [sum(map(weights.__getitem__, row[1 : 1 + row[0]])) / UNIT - 2 + 2.5 * (row[0] == 11) for row in rows]
    assert together == pytest.approx(wanted, abs=1e-9)


def padded(text, places):
    return places + [[]] * (len(text) - len(places))


@given(letters)
def test_a_place_is_a_junction_where_a_morpheme_ends(text):
    ends = numpy.cumsum([len(surface) for surface, _ in morphemes(text)])[:-1] - 1
    counts = [len(keys) for keys in keys_of(text)]
    assert len(counts) == len(text) - 1
    assert numpy.flatnonzero(numpy.array(counts) == AT_JUNCTION).tolist() == ends.tolist()


def test_no_two_keys_of_a_place_are_alike_even_in_their_hashes():
    for sentence in SENTENCES:
        for keys in keys_of(sentence.replace(" ", "")):
            assert len(set(keys)) == len(set(map(hash_of, keys))) == len(keys)


def test_junctions_count_in_full_beside_an_editor_that_has_seen_no_space():
    characters = RestorerCharacters((" ", "가"), Junctions.of({}, 2.0, -2.0))
    ends, none, ones = numpy.array([3, 6]), numpy.zeros(6, "int32"), numpy.ones(6)
    draft = Draft(["영화는", "영화 는"], ["영화는"] * 2, ends, none > 0, none, ones, ones / 2, characters)
    spaces = spaces_at_junctions(draft).spaces
    without, beside = numpy.log(spaces / (1 - spaces)).reshape(2, 3).tolist()
    assert without[1] >= 2 > beside[1] > 0 > beside[0] > -2


@given(some.lists(some.tuples(some.floats(0, 1), some.none() | some.floats(-5, 5)), min_size=1))
def test_an_editor_alone_is_believed_where_the_junctions_say_nothing(pairs):
    spaces, found = (numpy.array(each, dtype="float64") for each in zip(*pairs))
    both = with_log_odds(spaces, found)
    assert ((both > 0) & (both < 1)).all()
    silent = numpy.isnan(found)
    assert both[silent] == pytest.approx(spaces[silent], abs=2e-6)
    inner = ~silent & (spaces > 1e-5) & (spaces < 1 - 1e-5) & (abs(found) > 1e-6)
    assert (numpy.sign(both - spaces)[inner] == numpy.sign(found)[inner]).all()


def test_a_character_that_is_left_out_has_no_junction():
    characters = RestorerCharacters((" ", "가"), Junctions.of({}, 1.0, -1.0))
    texts, ones = ["영화", "영가화", "는"], numpy.ones(6)
    tags = numpy.array([0, 0, 0, 1, 0, 0])
    draft = Draft(texts, texts, numpy.array([2, 5, 6]), tags < 0, tags, ones, ones, characters)
    found = odds_at_junctions(draft, characters.junctions)
    assert numpy.isnan(found).tolist() == [False, False, False, True, False, False]
    assert found[~numpy.isnan(found)].tolist() == characters.junctions.log_odds(["영화", "영화", "는"]).tolist()


@given(some.dictionaries(some.integers(0, 2**32 - 1), numbers))
def test_keys_are_unpacked_as_they_were_packed(weights):
    junctions = Junctions.of(weights, 0.5, -2.0)
    assert unpacked(packed(junctions.hashes, junctions.weights)) == (junctions.hashes, junctions.weights)
    assert Junctions.from_dict(junctions.to_dict()) == junctions


def test_a_vocabulary_with_junctions_is_read_as_it_was_written():
    characters = RestorerCharacters((" ", "가"), Junctions.of({hash_of("NNG|JX"): 30}, 0.5, -2.0))
    assert RestorerCharacters.from_json(characters.to_json()) == characters
