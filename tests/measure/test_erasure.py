import numpy
import pytest

from nsmc_attention.measure.faithfulness import leave_one_out, shares
from nsmc_attention.text.encoding import Encoded

POLARITY = {"좋다": 2.0, "나쁘다": -3.0, "영화": 0.0, "아주": 0.5}
REVIEWS = [["영화", "좋다"], ["아주", "나쁘다", "영화"], ["좋다"], ["영화"] * 300]


def encoded(*reviews):
    return [Encoded("", tuple(tokens), tuple(range(len(tokens)))) for tokens in reviews]


def linear(reviews):
    """A scorer whose log-odds are a sum over the tokens: what a token is worth is known."""
    return numpy.array(
        [
            1 / (1 + numpy.exp(-sum(POLARITY[token] for token in each.tokens))) if len(each) else numpy.nan
            for each in reviews
        ]
    )


@pytest.mark.parametrize("repeated", [1, 200])
def test_of_a_linear_scorer_the_change_is_the_token_s_own_worth(repeated):
    reviews = REVIEWS[:2] * repeated
    for tokens, found in zip(reviews, leave_one_out(linear, encoded(*reviews))):
        numpy.testing.assert_allclose(found, [POLARITY[token] for token in tokens], atol=1e-6)


def test_shares_sum_to_one_and_are_equal_where_nothing_matters():
    assert shares(numpy.array([1.0, -3.0])).tolist() == [0.25, 0.75]
    assert shares(numpy.zeros(4)).tolist() == [0.25] * 4
