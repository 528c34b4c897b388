"""Windows of reviews as arrays: `classifier.windows`."""

import numpy
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.classifier.predictor import packaged
from nsmc_attention.classifier.windows import read_window

LONGEST = 12
PIECES = st.sampled_from(
    [*"★☆⭐1259/.- 점별만영?\u200b\n", *"10점 만점에 별점 👍🏻 ❤️ good goodmovie Sooo 재밌다 &amp;".split()]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=14).map("".join), st.text(max_size=6))


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_a_window_has_what_each_review_is_encoded_to(texts):
    encoder = packaged().encoder
    expected = encoder.encode_many(texts)
    window, others = read_window(encoder, texts, LONGEST)
    for place, review in enumerate(expected):
        if place in others:
            assert others[place] == review and not window.lengths[place]
            assert len(review) > LONGEST or not encoder.english.isdisjoint(review.ids)
        else:
            assert (window[place].text, window[place].ids) == (review.text, review.ids)
    members = numpy.flatnonzero(window.lengths)
    ids, ngrams, starts, lengths = window.tokens(members)
    for member, start, length in zip(members, starts, lengths):
        (own,), _, (grams,) = encoder.batch([expected[member]])
        numpy.testing.assert_array_equal(ids[start : start + length], own)
        numpy.testing.assert_array_equal(ngrams[start : start + length], grams)
