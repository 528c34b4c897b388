"""The heads of the sentiment: what is neutral in a review of a film is mostly said by its stars."""

import numpy
import pytest
from safetensors.numpy import load

from nsmc_attention import load_classifier
from nsmc_attention.sentiment.heads import BY_STARS, FILE, LEANING, Grams, Heads

TEXTS = [
    "그냥 그래요",
    "배우는 좋은데 영화는 별로",
    "최고의 영화",
    "배송이 보통이에요",
    "재미는 있는데 길다",
    "돈이 아깝다",
]


@pytest.fixture(scope="module")
def said():
    """What heads say of TEXTS that take all for reviews of films (True), or none."""
    classifier = load_classifier()
    reviews, arrays = classifier.encoder.encode_many(TEXTS), load(classifier.bundle.read(FILE))
    dense = numpy.zeros((len(TEXTS), len(arrays["mean"])), "float32")
    for members, batch in classifier.score.batches(reviews):
        dense[members] = classifier.score.read_batch(batch)[2]
    found = {}
    for films in (True, False):
        heads = Heads({**arrays, "film_bias": numpy.array([100.0 if films else -100.0])})
        found[films] = heads(dense, Grams.of(reviews).read(heads.table))
    return found


def test_stars_and_chances_are_distributions_whatever_a_text_is_about(said):
    for outputs in said.values():
        assert outputs[:, :3].sum(axis=1) == pytest.approx(1) and outputs[:, 3:].sum(axis=1) == pytest.approx(1)
    assert (said[True][:, 3:] == said[False][:, 3:]).all()


def test_the_stars_have_most_of_the_say_about_neutral_reviews_of_films(said):
    low, middle, high = (said[True][:, 3:][:, part].sum(axis=1) for part in (slice(4), slice(4, 7), slice(7, 10)))
    by_stars = numpy.log((middle + 1e-4) / (numpy.maximum(low, high) + 1e-4)) + LEANING
    odds = {films: numpy.log(outputs[:, 1] / outputs[:, 0]) for films, outputs in said.items()}
    assert odds[True] == pytest.approx((1 - BY_STARS) * odds[False] + BY_STARS * by_stars, abs=1e-3)


def test_goods_are_less_like_films_than_films():
    heads = load_classifier().heads
    films, goods = (
        Grams.of(load_classifier().encoder.encode_many(texts)).read(heads.table)[:, -1]
        for texts in (
            ["배우 연기가 좋은 영화", "결말이 아쉬운 작품"],
            ["배송이 빠르고 포장이 꼼꼼해요", "사이즈가 작아서 교환했어요"],
        )
    )
    assert films.min() > goods.max()
