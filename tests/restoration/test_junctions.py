"""What MeCab says of spaces: sums of weights at the junctions of morphemes, fitted to sentences, beside an editor."""

import json
import math
import pickle

import numpy
import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from nsmc_attention.errors import BundleError
from nsmc_attention.restoration.characters import Characters, split_spaces
from nsmc_attention.restoration.junctions import Junctions, fitted, junctions_of, keys_of, with_log_odds
from nsmc_attention.restoration.tags import odds_at_junctions
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
numbers = some.floats(-5, 5)


@given(some.lists(letters | any_letters, min_size=1, max_size=4), some.data())
@example(["영화\U0001f600\u200d재밌다", "", "ᄒᆞᆫ글나랏말ᄊᆞ미", "뷁쒧꿹", "영화\0재밌다", "ㅋ" * 300], None)
def test_the_log_odds_are_sums_of_weights_at_junctions_and_a_constant_within_morphemes(texts, data):
    found = [{place: keys_of(pair) + keys_of(triples) for place, pair, triples in junctions_of(text)} for text in texts]
    names = sorted({key for keys in found for own in keys.values() for key in own})
    weights = {name: data.draw(numbers) if data else len(name) / 7 for name in names}
    junctions = Junctions(weights, 0.5, -2.0)
    together = junctions.log_odds(texts).tolist()
    assert together == [value for text in texts for value in junctions.in_python(text).tolist()]
    for text, keys in zip(texts, found):
        ends = numpy.cumsum([len(surface) for surface, _ in morphemes(text)])[:-1] - 1
        assert sorted(keys) == ends.tolist()
        own, together = together[: len(text)], together[len(text) :]
        for place, value in enumerate(own):
            wanted = 0.5 + math.fsum(weights[key] for key in keys[place]) if place in keys else -2.0
            assert value == pytest.approx(wanted, abs=1e-9)


def test_junctions_are_pickled_without_what_is_compiled():
    junctions = Junctions({"\ud800": 1, "NNG|JX": 1.5}, 0.5, -2.0)
    found = junctions.log_odds(["영화는"]).tolist()
    again = pickle.loads(pickle.dumps(junctions))
    assert again == junctions and again.log_odds(["영화는"]).tolist() == found


def test_fitted_weights_tell_where_the_sentences_have_their_spaces():
    junctions = fitted(split_spaces(sentence) for sentence in SENTENCES * 20)
    assert junctions.inside < 0
    for sentence in SENTENCES:
        text, follows = split_spaces(sentence)
        assert ((junctions.log_odds([text]) > 0) == follows).all(), sentence
    assert fitted(split_spaces(sentence) for sentence in SENTENCES * 20) == junctions


@given(some.lists(some.tuples(some.floats(0, 1), some.none() | numbers), min_size=1))
def test_an_editor_alone_is_believed_where_the_junctions_say_nothing(pairs):
    spaces, found = (numpy.array(each, dtype="float64") for each in zip(*pairs))
    both = with_log_odds(spaces, found)
    assert ((both > 0) & (both < 1)).all()
    silent = numpy.isnan(found)
    assert both[silent] == pytest.approx(spaces[silent], abs=2e-6)
    inner = ~silent & (spaces > 1e-5) & (spaces < 1 - 1e-5) & (abs(found) > 1e-6)
    assert (numpy.sign(both - spaces)[inner] == numpy.sign(found)[inner]).all()


def test_a_character_that_is_left_out_has_no_junction():
    characters = Characters((" ", "가"), Junctions({}, 1.0, -1.0))
    found = odds_at_junctions(
        characters.junctions, ["영화", "영가화", "는"], numpy.array([0, 0, 0, 1, 0, 0]), characters
    )
    assert numpy.isnan(found).tolist() == [False, False, False, True, False, False]
    assert found[~numpy.isnan(found)].tolist() == characters.junctions.log_odds(["영화", "영화", "는"]).tolist()


def test_a_vocabulary_with_junctions_is_read_as_it_was_written_or_refused():
    characters = Characters((" ", "가"), fitted(split_spaces(sentence) for sentence in SENTENCES * 20))
    assert Characters.from_json(characters.to_json()) == characters
    right = json.loads(characters.to_json())
    for wrong in [None, {}, {**right["junctions"], "weights": []}, {**right["junctions"], "inside": "1"}]:
        with pytest.raises(BundleError, match="expected junctions with weights"):
            Characters.from_json(json.dumps({**right, "junctions": wrong}))
    for number in ("NaN", "Infinity", "1e9"):
        content = json.dumps({**right, "junctions": {"weights": {"a": 0}, "junction": 0, "inside": 0}})
        with pytest.raises(BundleError):
            Characters.from_json(content.replace('"a": 0', f'"a": {number}'))
