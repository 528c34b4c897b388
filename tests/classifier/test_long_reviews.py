"""Long reviews in pieces: `classifier.predictor.Pieces`."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.classifier.explain import Explainer
from nsmc_attention.classifier.predictor import MATRIX_TOKENS, PIECE_TOKENS, SENTENCE_END, WHOLE_TOKENS, Pieces, spans
from nsmc_attention.measure.metrics import log_odds

TOKENS = st.lists(st.sampled_from(["영화", "좋", "다", ".", "ㅋㅋ", "요", "!"]), min_size=1, max_size=700)
GOOD, BAD = "정말 재미있고 감동적인 영화였다. ", "지루하고 최악이었다. 돈 아깝다 진짜. "


@given(TOKENS)
def test_pieces_are_the_whole_review_in_order_and_short(tokens):
    cuts = spans(tokens, WHOLE_TOKENS, PIECE_TOKENS)
    assert [place for start, end in cuts for place in range(start, end)] == list(range(len(tokens)))
    assert len(cuts) == 1 if len(tokens) <= WHOLE_TOKENS else all(end - start <= PIECE_TOKENS for start, end in cuts)


def test_pieces_end_with_sentences():
    tokens = [*["좋", "다", "."] * 60]
    cuts = spans(tokens, WHOLE_TOKENS, PIECE_TOKENS)
    assert len(cuts) > 1 and all(SENTENCE_END.fullmatch(tokens[end - 1]) for _, end in cuts)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=6))
def test_the_shares_of_a_review_sum_to_one(lengths):
    from nsmc_attention.text.encoding import Encoded

    pieces = Pieces.of([Encoded("", ("가",) * length, (2,) * length) for length in lengths], 256)
    numpy.testing.assert_allclose(numpy.bincount(pieces.owners, pieces.shares), 1)
    assert numpy.bincount(pieces.owners, [len(piece) for piece in pieces.reviews]).tolist() == lengths


def test_what_is_said_after_256_tokens_counts_and_contributions_still_add_up(packaged):
    text = GOOD * 6 + BAD * 60
    prediction = packaged.predict(text)
    assert prediction.label == "negative" and len(prediction.tokens) > MATRIX_TOKENS
    assert prediction.axes == ("keys",) and prediction.weights.sum() == pytest.approx(1, abs=1e-4)
    explainer = Explainer(packaged)
    bias = log_odds(packaged.predict("재밌다").probability) - explainer("재밌다").values.sum()
    for review in (text, GOOD * 8 + BAD * 20):
        found = explainer(review)
        assert found.values.sum() + bias == pytest.approx(log_odds(found.probability, 1e-7), abs=1e-3)


def test_weights_of_a_long_review_stay_within_its_pieces_and_one_of_one_piece_is_as_it_was(packaged):
    long, short = packaged.predict(GOOD * 3 + BAD * 20), packaged.predict(GOOD)
    assert long.weights.shape == (len(long.tokens),) * 2
    numpy.testing.assert_allclose(long.weights.sum(axis=1), 1, atol=1e-5)
    assert long.weights[0, -1] == 0 and packaged.predict_many([GOOD, BAD * 90])[0] == short
