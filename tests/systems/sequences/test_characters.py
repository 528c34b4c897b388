import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.errors import BundleError
from nsmc_attention.systems.sequences import ROWS
from nsmc_attention.systems.sequences.characters import END, PADDING, UNKNOWN, Characters, split_spaces
from nsmc_attention.text.encoding import clean

texts = st.text(st.sampled_from("가나다라 햇했ㅋa!") | st.characters(), max_size=20).map(clean)
KNOWN = Characters.of(["가나 다가", "가나!", "가"], 1)


def test_frequent_characters_come_first_and_a_space_before_them():
    assert KNOWN.known == (" ", "가", "나", "!", "다")
    assert Characters.of(["가나다", "가나", "가"], 2).known == (" ", "가", "나")
    assert KNOWN.target("가 뷁") == [END + 2, END + 1, UNKNOWN, END] and KNOWN.character(END + 2) == "가"


@given(texts)
def test_a_source_has_a_row_for_each_character_that_is_no_space(text):
    rows = KNOWN.source(text)
    letters, spaces = split_spaces(text)
    assert rows.shape == (len(letters), ROWS) and (rows < KNOWN.rows).all() and (rows >= 0).all()
    assert [row[-1] != PADDING for row in rows] == spaces
    assert "".join(letter + " " * space for letter, space in zip(letters, spaces)).strip() == text


def test_every_syllable_is_told_from_every_other():
    every = "".join(map(chr, range(0xAC00, 0xD7A4)))
    rows = KNOWN.source(every)
    assert len({tuple(row) for row in rows.tolist()}) == len(every)
    assert len(numpy.unique(rows[:, 1:4])) == 19 + 21 + 28


def test_padding_is_a_multiple_of_the_step():
    ids, lengths = KNOWN.batch(["가나", "가 나 다"], 4)
    assert ids.shape == (2, 4, ROWS) and lengths.tolist() == [2, 3] and (ids[0, 2:] == PADDING).all()


@pytest.mark.parametrize("content", ["[]", "{}", '{"characters": ["가"]}', "{"])
def test_another_file_is_refused(content):
    with pytest.raises(BundleError, match="vocab.json"):
        Characters.from_json(content)
