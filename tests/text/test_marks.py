import itertools
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nsmc_attention.text.hangul import FEW_MARKS, composed

MARKS = st.text("\u0301\u0316\u0323\u0344\u0345\u0f71\u0f73\u3099", min_size=10, max_size=40)


def most_marks(text):
    """How many combining marks stand in a row at most, each character taken apart."""
    runs = itertools.groupby(unicodedata.normalize("NFD", text), lambda part: bool(unicodedata.combining(part)))
    return max((len(list(run)) for combining, run in runs if combining), default=0)


@pytest.mark.parametrize("marks", ["\u0316\u0301", "\u0301\u0316", "\u0344", "\u0f73", "\u0f73\u0301", "\u0f81\u0344"])
@pytest.mark.parametrize("before", range(FEW_MARKS + 2))
def test_of_many_combining_marks_thirty_are_kept(marks, before):
    text = composed("가" * before + f"e{marks * 20000}다")
    assert most_marks(text) == 30 and text == composed(text)
    assert text.startswith("가" * before) and text.endswith("다")


@example([("x", "\u0316" * 31)])
@given(st.lists(st.tuples(st.sampled_from("aeǘᾂ가 か\u1112"), MARKS), max_size=4))
def test_up_to_thirty_marks_stay_as_nfc_has_them(syllables):
    text = "".join(map("".join, syllables))
    assert composed(text) == composed(composed(text)) == unicodedata.normalize("NFC", composed(text))
    assert most_marks(composed(text)) == min(30, most_marks(text))
    assert most_marks(text) > 30 or composed(text) == unicodedata.normalize("NFC", text)
