import numpy
from hypothesis import example, given
from hypothesis import strategies as st

from nsmc_attention.text.ngrams import FIRST, NGRAMS, ngram_ids

BUCKETS = 2**18
reviews = st.lists(st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=6), min_size=1, max_size=8)


def numbers(tokens):
    """The n-grams of one review, in order of their numbers."""
    return sorted(number for number in ngram_ids([tokens], BUCKETS, len(tokens)).ravel() if number)


@given(reviews)
def test_where_the_tokens_are_cut_changes_no_ngram(tokens):
    if all(len(token) <= FIRST for token in tokens):
        assert numbers(tokens) == numbers(list("".join(tokens)))


@given(reviews)
def test_an_ngram_counts_once(tokens):
    found = numbers(tokens)
    assert len(set(found)) == len(found)
    assert set(found) <= set(numbers(tokens + tokens))


@given(st.lists(reviews, min_size=1, max_size=5), st.sampled_from([2, 3, BUCKETS]))
@example([["가"], ["나"]], BUCKETS)
def test_a_review_has_the_same_numbers_alone_as_in_a_batch(many, buckets):
    width = max(map(len, many)) + 1
    together = ngram_ids(many, buckets, width)
    assert together.shape == (len(many), width, NGRAMS) and together.min() >= 0 and together.max() < buckets
    for row, tokens in zip(together, many):
        assert numpy.array_equal(row[: len(tokens)], ngram_ids([tokens], buckets, len(tokens))[0])
        assert not row[len(tokens) :].any()


def test_a_token_has_the_ngrams_that_begin_in_it():
    whole = ngram_ids([["영화", "좋다"]], BUCKETS, 2)[0]
    assert (whole[0] > 0).sum() == (whole[1] > 0).sum() == 4
    changed = ngram_ids([["영화", "졸다"]], BUCKETS, 2)[0]
    # 영화, 화좋, 영화좋, 화좋다 begin in the first token: all but the first hold the changed character
    assert (whole[0] == changed[0]).tolist() == [True, False, True, True, False, False, True, True]


GOLDEN = [[[47619, 17572, 0, 0, 157805, 7275, 0, 0], [83149, 109474, 0, 0, 153780, 67433, 0, 0]]]


def test_the_numbers_are_the_same_on_every_machine():
    assert ngram_ids([["영화", "최고"]], BUCKETS, 2).tolist() == GOLDEN
