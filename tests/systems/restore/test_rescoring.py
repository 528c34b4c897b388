"""The letters of changes that MeCab's dictionary makes likelier or less likely."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.systems.restore.correctors import (
    MOST_LETTERS,
    MOST_SURE,
    Draft,
    dictionary_words,
    runs_of_changes,
    words_around,
)
from nsmc_attention.systems.restore.junctions import RestorerCharacters
from nsmc_attention.systems.sequences.characters import KEEP
from nsmc_attention.text.tokenizers import has_dictionary, path_cost

pytestmark = pytest.mark.skipif(not has_dictionary(), reason="no mecab-ko-dic")

# A sentence without and with its change, each with spaces; the first of a pair is right
PAIRS = [
    ("손뼉을 쳤다", "손벽을 쳤다"),
    ("극적인 타결로 끝났다", "극적인 결타로 끝났다"),
    ("눈물이 베개를 적셨다", "눈물이 배개를 적셨다"),
    ("현 시장은 재임 중", "현 시장은 제임 중"),
    ("참새를 품에 넣었다", "참세를 품에 넣었다"),
    ("정말 재밌는 영화", "정말 재밋는 영화"),
]
CHARACTERS = RestorerCharacters((" ", *sorted(set("".join(right + wrong for right, wrong in PAIRS)) - {" "})))


def probability(sources: list[str], texts: list[str], certainty: float) -> list[float]:
    """Return the probability of what changes in each source, where every letter that differs has this certainty."""
    letters = [text.replace(" ", "") for text in sources]
    others = "".join(text.replace(" ", "") for text in texts)
    tags = numpy.array([KEEP if a == b else CHARACTERS.ids[b] for a, b in zip("".join(letters), others)], "int32")
    follows = numpy.array([after == " " for text in texts for each, after in zip(text, text[1:] + "|") if each != " "])
    given, ends = numpy.where(tags, certainty, 1).astype("float32"), numpy.cumsum([*map(len, letters)])
    draft = Draft(sources, letters, ends, follows, tags, given, follows.astype(float), CHARACTERS)
    found = dictionary_words(draft).certainty
    assert (found[tags == KEEP] == 1).all()
    return [float(found[end - len(each) : end].min()) for each, end in zip(letters, ends.tolist())]


@pytest.mark.parametrize(("right", "wrong"), PAIRS)
def test_what_the_dictionary_has_is_likelier_than_what_it_lacks(right: str, wrong: str) -> None:
    assert probability([right], [wrong], 0.9)[0] < probability([wrong], [right], 0.9)[0] <= MOST_SURE
    assert probability([right], [wrong], 0.9)[0] < 0.5 < probability([wrong], [right], 0.99)[0]


@given(st.lists(st.sampled_from(PAIRS), min_size=1, max_size=5), st.floats(0.4, 1))
def test_texts_are_read_apart(pairs: list[tuple[str, str]], certainty: float) -> None:
    rights, wrongs = map(list, zip(*pairs))
    together = probability(wrongs, rights, certainty)
    assert together == [probability([wrong], [right], certainty)[0] for right, wrong in pairs]


def test_the_surer_an_editor_is_the_likelier_is_its_change() -> None:
    right, wrong = PAIRS[0]
    found = [probability([right], [wrong], certainty)[0] for certainty in (0.5, 0.6, 0.7, 0.8, 0.9, 0.98)]
    assert found == sorted(found) and len(set(found)) == len(found)


def test_neighbours_that_change_are_one_change_within_their_text() -> None:
    doubtful = numpy.array([True, True, False, True, True, True, False, True])
    assert list(runs_of_changes(doubtful, numpy.array([4, 8]))) == [
        (0, 2, 0, 4),
        (3, 4, 0, 4),
        (4, 6, 4, 8),
        (7, 8, 4, 8),
    ]


@given(st.lists(st.booleans(), min_size=1, max_size=80), st.data())
def test_the_words_around_a_change_are_few_and_have_it(spaces: list[bool], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(spaces) - 1))
    last = data.draw(st.integers(first + 1, min(len(spaces), first + 3)))
    follows, low, high = numpy.array(spaces), max(0, first - MOST_LETTERS), min(len(spaces), last + MOST_LETTERS)
    own = words_around(first, last, low, high, follows)
    assert low <= own.start <= first and last <= own.stop <= high
    assert follows[own.start : first].sum() <= 2 and follows[last - 1 : own.stop].sum() <= 2
    # no word is cut where it need not be
    assert own.start == low or follows[own.start - 1]
    assert own.stop == high or follows[own.stop - 1]


def test_words_of_the_dictionary_cost_less() -> None:
    assert all(path_cost(right) < path_cost(wrong) for right, wrong in PAIRS) and path_cost("") == 0
