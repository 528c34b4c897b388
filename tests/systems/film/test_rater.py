"""The Rating of a film's reviews: a set is read, whatever its size, by one classifier alone."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention import load_film
from nsmc_attention.bundle import load_bundle, read_contents, write_bundle
from nsmc_attention.classifier.predictor import WINDOW
from nsmc_attention.errors import BundleError
from nsmc_attention.systems.film.rating import BLANK
from nsmc_attention.systems.film.settings import LAYOUT as FILMS_LAYOUT

GOOD, BAD = "정말 재미있다", "지루하다"
TEXTS = [GOOD, "최고의 영화", BAD, "배우들 연기가 좋다", "돈이 아깝다", GOOD]


@pytest.fixture(scope="module")
def rater(tiny_film):
    return load_film(tiny_film)


def stars(rating):
    return numpy.array([rating.stars_low, rating.stars, rating.stars_high])


def test_praised_films_have_more_stars_and_one_review_is_enough_but_says_less_than_many(rater):
    praised, blamed, one = rater([GOOD] * 20), rater([BAD] * 20), rater([GOOD])
    assert one.reviews == 1 and one.stars_high - one.stars_low > praised.stars_high - praised.stars_low
    assert one.representative[0].weight == pytest.approx(1) and praised.stars > blamed.stars + 2
    assert 1 <= blamed.stars_low <= blamed.stars <= blamed.stars_high <= praised.stars_high <= 10


def test_a_film_alone_is_as_among_others_and_across_windows(rater):
    many = TEXTS * (WINDOW // len(TEXTS) + 1)
    pairs = [("b", BAD), *(("a", text) for text in many), ("c", GOOD), ("b", GOOD)]
    found = dict(rater.rate(iter(pairs)))
    assert list(found) == ["b", "a", "c"] and found["a"].reviews == len(many) > WINDOW
    for film, texts in {"a": many, "b": [BAD, GOOD], "c": [GOOD]}.items():
        numpy.testing.assert_allclose(stars(found[film]), stars(rater(texts)), atol=1e-4)


def test_blank_reviews_are_counted_and_change_nothing(rater):
    found, without = rater([" ", *TEXTS, "\u3164", ""]), rater(TEXTS)
    assert (found.reviews, found.blank) == (len(TEXTS), 3)
    numpy.testing.assert_allclose(stars(found), stars(without), atol=1e-5)


@pytest.mark.parametrize("texts", [[], ["", " "]])
def test_a_film_without_a_word_has_no_stars_and_says_why(rater, texts):
    found = rater(texts)
    assert found.stars is None and found.error == BLANK and found.to_dict()["error"] == BLANK
    assert BLANK in found._repr_html_() and BLANK in repr(found)


def test_weights_are_shares_of_all_reviews(rater):
    found = rater(TEXTS[:-1], shown=10)
    weights = [each.weight for each in found.representative]
    assert sum(weights) == pytest.approx(1) and weights == sorted(weights, reverse=True)
    for each in found.representative:
        assert each.prediction.token_weights.sum() == pytest.approx(1, abs=1e-5)
    # a repeated text is shown once
    assert len(rater(TEXTS, shown=10).representative) == len(set(TEXTS))
    assert len(rater(TEXTS, shown=0).representative) == 0 and len(rater(TEXTS).representative) == 3


def test_a_notebook_shows_reviews_and_words(rater):
    shown = rater(["<b>좋다</b>", *TEXTS])._repr_html_()
    assert "stars" in shown and "reviews" in shown and "<b>좋다" not in shown


def test_a_scale_that_is_not_the_network_s_is_refused(tiny_film, tmp_path):
    bundle = load_bundle(tiny_film, FILMS_LAYOUT)
    contents = read_contents(bundle)
    scale = replace(bundle.codec, inputs=7).to_json().encode()
    write_bundle(tmp_path / "bundle", bundle.manifest, {**contents, "scale.json": scale})
    with pytest.raises(BundleError, match="its model.safetensors does not fit the config of its manifest"):
        load_film(tmp_path / "bundle", engine="gluon")
