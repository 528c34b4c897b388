"""Which tokens are hidden, and what is shown in their place."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.systems.language.model import MASK, Masker, Tokens
from nsmc_attention.text.encoding import ReviewEncoder

ENTRIES = ["<unk>", "<pad>", MASK, *"가나다라마바사"]
ENCODER = ReviewEncoder("whitespace", {entry: number for number, entry in enumerate(ENTRIES)}, 0, 1, 12, cut_rare=True)
MASKER = Masker.of(0.3, ENCODER)
words = st.lists(st.text(st.sampled_from("가나다라"), min_size=1, max_size=4), min_size=1, max_size=8)


@given(st.lists(words, min_size=1, max_size=6), st.integers(0, 99))
def test_of_each_review_some_tokens_are_hidden_and_the_others_stay(reviews, seed):
    tokens = Tokens.of(reviews, ENCODER)
    members = numpy.arange(len(reviews))[::-1]
    ids, hidden, wanted = MASKER(tokens, members, numpy.random.RandomState(seed))
    expected = tokens.padded(tokens.ids, members, 1)
    assert (ids[~hidden] == expected[~hidden]).all() and (wanted == expected[hidden]).all()
    assert hidden.any(axis=1).all() and not hidden[expected == 1].any() and (ids[hidden] >= 2).all()


def test_a_share_is_hidden_of_which_most_are_the_mask_and_the_others_words():
    tokens = Tokens.of([list("가나다라마바사가나다")] * 2000, ENCODER)
    ids, hidden, wanted = MASKER(tokens, numpy.arange(2000), numpy.random.RandomState(0))
    assert hidden.mean() == pytest.approx(0.3, abs=0.02)
    shown = ids[hidden]
    assert set(shown.tolist()) == {ENTRIES.index(entry) for entry in (MASK, *"가나다라마바사")}
    assert (shown == 2).mean() == pytest.approx(0.8, abs=0.02)
    # of the others half are another token, one in seven of these by chance the same
    assert (shown == wanted).mean() == pytest.approx(0.1 + 0.1 / 7, abs=0.02)
