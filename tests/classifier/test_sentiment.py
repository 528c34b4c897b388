"""The heads of the sentiment: what is neutral in a review of a film is said by its stars."""

import numpy
import pytest
from safetensors.numpy import load

from nsmc_attention import load_classifier
from nsmc_attention.sentiment.heads import FILE, MOST, Grams, Heads

TEXTS = ["그냥 그래요", "배우는 좋은데 영화는 별로", "최고의 영화", "배송이 보통이에요", "재미는 있는데 길다"]
TEXTS += ["돈이 아깝다"]


@pytest.fixture(scope="module")
def said():
    """What heads say of TEXTS that take all for reviews of films (True), or none, and whether their labels are positive."""
    classifier = load_classifier()
    reviews, arrays = classifier.encoder.encode_many(TEXTS), load(classifier.bundle.read(FILE))
    dense = numpy.zeros((len(TEXTS), len(arrays["mean"])), "float32")
    for members, _, _, read in classifier.score.outputs(reviews, with_features=True):
        dense[members] = read
    found = {}
    for films in (True, False):
        bias = numpy.append(arrays["other_bias"][:2], 50.0 if films else -50.0).astype("float32")
        heads = Heads({**arrays, "other_bias": bias})
        found[films] = heads(dense, Grams.of(TEXTS, len(heads.table)).read(heads.table))
    return found, dense[:, -1] > 0


def test_stars_and_chances_are_distributions_whatever_a_text_is_about(said):
    for outputs in said[0].values():
        assert outputs[:, :3].sum(axis=1) == pytest.approx(1) and outputs[:, 3:].sum(axis=1) == pytest.approx(1)
    assert (said[0][True][:, 3:] == said[0][False][:, 3:]).all()


def test_a_review_of_a_film_is_neutral_where_its_stars_are_not_on_the_side_of_its_label(said):
    found, positive = said
    low, middle, high = (found[True][:, 3:][:, part].sum(axis=1) for part in (slice(4), slice(4, 7), slice(7, 10)))
    own, other = numpy.where(positive, high, low), numpy.where(positive, low, high)
    odds = numpy.log(found[True][:, 1] / found[True][:, 0])
    assert (odds <= MOST + 1e-6).all()
    # stars in the middle or on the other side are likelier than those of the label, and the reverse for a negative one
    away = numpy.maximum(middle, other) > own
    assert (odds[away] > 0).all() and (odds[~away & ~positive] <= 0).all()


def test_goods_are_less_like_films_than_films(packaged):
    texts = [
        "배우 연기가 좋은 영화",
        "결말이 아쉬운 작품",
        "배송이 빠르고 포장이 꼼꼼해요",
        "사이즈가 작아서 교환했어요",
    ]
    odds = Grams.of(texts, len(packaged.heads.table)).read(packaged.heads.table)[:, -1]
    assert odds[:2].min() > odds[2:].max()
