"""The scale of a film network: read back as it was written, or refused."""

import math

import numpy
import pytest

from nsmc_attention.errors import BundleError
from nsmc_attention.systems.film.pooling import COUNTS, Scale
from nsmc_attention.systems.film.train import COVERAGE, inside, margin

SCALE = Scale("pretrained", "ab" * 32, 258, 1.0, 10.0, [0.5] * len(COUNTS))


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"3", b"\xff", SCALE.to_json()[:-3].encode() + b', "other": 1}']
)
def test_another_content_is_refused(content):
    with pytest.raises(BundleError, match="scale.json: expected the scale of a film network"):
        Scale.from_json(content, "scale.json")


def widened(quantiles, counts, margins, bounds=(1.0, 10.0)):
    return Scale("", "", 0, *bounds, margins).intervals(quantiles, counts)


@pytest.mark.parametrize("half", [0.0, 0.5, 3.0])
def test_widened_or_narrowed_quantiles_hold_nine_of_ten_new_films(half):
    random = numpy.random.RandomState(0)
    seen, new = random.normal(5, 1, (2, 4000))
    more = margin(seen * 0 + 5 - half, seen * 0 + 5 + half, seen)
    quantiles = numpy.tile([5 - half, 5, 5 + half], (4000, 1))
    found = widened(quantiles, numpy.full(4000, 5), [more] * len(COUNTS))
    assert inside(found, new) == pytest.approx(COVERAGE, abs=0.02)


def test_the_margin_is_the_conformal_quantile():
    stars = numpy.arange(19.0)
    assert margin(stars * 0, stars * 0, stars) == 17, "the 18th of 19 distances: ceil(20 * 0.9)"
    assert margin(numpy.zeros(8), numpy.zeros(8), numpy.ones(8)) == math.inf, "too few to promise anything"


def test_margins_are_interpolated_between_numbers_of_reviews():
    margins = numpy.linspace(2, 0, len(COUNTS))
    quantiles = numpy.tile([5.0, 5.5, 6.0], (4, 1))
    low = widened(quantiles, numpy.array([1, 4, 5, 10**6]), margins, (-100, 100))[:, 0]
    assert low[0] == 3 and low[3] == 5 and low[0] < low[1] < low[2] < low[3]


def test_an_interval_stays_within_the_stars_and_around_its_middle():
    quantiles = numpy.array([[-3.0, 9.5, 12.0], [5.0, 5.5, 6.0]])
    wide, narrow = (widened(quantiles, numpy.ones(2), [each] * len(COUNTS)) for each in (1.0, -4.0))
    assert wide[0].tolist() == [1, 9.5, 10] and narrow[1].tolist() == [5.5, 5.5, 5.5]
    assert inside(wide, numpy.array([1.0, 10.0])) == 0.5
