"""A Restoration's views of itself: weights, alignment and the pairs of source and text."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention.systems.restore.restoration import Chunk, Restoration
from nsmc_attention.text.encoding import clean

TEXTS = some.text("가나다했햇 ㅋa", max_size=12).map(clean)


def restoration(source, text, places):
    """A restoration whose characters were made of these places of the source."""
    return Restoration(source, text, -0.5, (Chunk(0, 0, numpy.array(places, dtype="int64")),))


@some.composite
def restorations(draw):
    source, text = draw(TEXTS.filter(bool)), draw(TEXTS)
    place = some.integers(0, len(source) - 1)
    return restoration(source, text, draw(some.lists(place, min_size=len(text), max_size=len(text))))


@given(restorations())
def test_segments_are_source_and_text_side_by_side_whatever_was_attended_to(each):
    pairs = each.segments
    assert ("".join(one for one, _ in pairs), "".join(other for _, other in pairs)) == (each.source, each.text)
    differs = [one != other for one, other in pairs]
    assert any(differs) == each.changed
    assert all(one != other for one, other in zip(differs, differs[1:])), "no two neighbours of the same kind"
    assert all(any(pair) for pair in pairs)


@pytest.mark.parametrize(
    "places",
    [[0, 1, 1, 2, 3, 4], [0, 1, 2, 2, 3, 4], [1, 1, 2, 3, 4, 4]],
    ids=["the space is of the letter before", "the space is of the letter behind", "attention is a letter late"],
)
def test_segments_show_what_was_corrected_and_nothing_else(places):
    found = restoration("정말조앗다", "정말 좋았다", places).segments
    assert found == [("정말", "정말"), ("조앗", " 좋았"), ("다", "다")]


def test_segments_show_a_space_that_was_put_in_and_one_that_was_left_out():
    found = restoration("난걍 놀자", "난 걍놀자", [0, 0, 1, 3, 4]).segments
    assert found == [("난", "난"), ("", " "), ("걍", "걍"), (" ", ""), ("놀자", "놀자")]


@given(restorations())
def test_changes_made_in_the_source_give_the_text(each):
    text, end = "", 0
    for change in each.changes:
        assert change.source != change.text and change.probability is None
        text, end = text + each.source[end : change.start] + change.text, change.start + len(change.source)
        assert each.source[change.start : end] == change.source
    assert text + each.source[end:] == each.text


def test_a_change_has_the_least_probability_of_its_characters_and_spaces():
    certainty = numpy.array([1, 0.75, 0.5, 0.625, 1], dtype="float32")
    chunk = Chunk(0, 0, numpy.array([0, 1, 1, 2, 3, 4]), certainty=certainty)
    found = Restoration("정말조앗다", "정말 좋았다", -0.5, (chunk,)).changes
    assert found == [(2, "조앗", " 좋았", 0.5)]
    assert Restoration("다", "다", 0.0, (chunk,)).changes == []


@given(restorations())
def test_weights_of_single_places_are_a_1_in_each_row(each):
    assert each.weights.shape == (len(each.text), len(each.source))
    assert (each.weights.sum(axis=1) == 1).all()
    assert each.weights.argmax(axis=1).tolist() == each.alignment
