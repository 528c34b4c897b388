"""The report's stars by group: those of `film`, whatever the order of the rows, and as many groups as there are."""

import re

import numpy
import pandas
import pytest

from nsmc_attention.apps.report.content import GROUPS, SHOWN, STARS
from nsmc_attention.errors import BundleError
from nsmc_attention.systems.film.rater import load_film, rater_of

ROWS = [("가", "정말 재미있다"), ("나", "지루하다"), ("가", " "), ("가", "최고의 영화"), (None, "돈이 아깝다")]
ROWS += [
    ("다", "좋다"),
    ("가", "배우들 연기가 좋다"),
    ("나", "최악의 연출"),
    ("", "보통"),
    ("라", "\u3164"),
    ("가", "<b>볼만</b>하다"),
]


@pytest.fixture
def write(packaged, tiny_film, made):
    """Return a function that writes the report of (film, review) rows; returns its tables and page."""

    def write(rows, **options):
        films, reviews = zip(*rows)
        return made(packaged, {"film": films, "review": reviews}, "film", **{"film_bundle": tiny_film, **options})

    return write


def test_stars_are_those_of_film(write, tiny_film):
    groups = write(ROWS)[0]["groups"]
    expected = dict(load_film(tiny_film).rate((film, text) for film, text in ROWS if film))
    # the only review of 라 is blank: it is counted as such, and no group
    assert groups.index.tolist() == ["가", "나", "다"] and groups["count"].tolist() == [4, 2, 1]
    for film, row in groups.iterrows():
        rating = expected[film]
        wanted = [rating.stars, rating.stars_low, rating.stars_high]
        numpy.testing.assert_allclose(row[STARS].astype(float), wanted, atol=1e-4)


def test_reviews_are_unfolded_with_their_shares_and_words(write):
    tables, page = write(ROWS, language="en")
    films = page.split("<details>")[1:]
    # after the films the aspects
    names = [re.search("<summary>(.*?):", each).group(1) for each in films]
    assert names == [*tables["groups"].sort_values("stars", ascending=False).index, "연기", "연출"]
    shares = re.findall(r'"source": "([\d.]+)\u00a0% of the weight"', page)
    assert len(shares) == SHOWN + 2 + 1 and sorted(map(float, shares))[-1] == 100.0
    assert "2 without a film are not compared" in page and "&lt;b&gt;볼만&lt;/b&gt;" in page


@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_rows_changes_nothing(write, seed):
    one, page = write(ROWS)
    other, shuffled = write([ROWS[place] for place in numpy.random.RandomState(seed).permutation(len(ROWS))])
    pandas.testing.assert_frame_equal(other["groups"], one["groups"], atol=1e-5)
    first, second = (each.split("<details>", 1)[1].split('<dl class="notes">')[0] for each in (page, shuffled))
    assert first == second


def test_of_many_groups_the_page_shows_the_largest_and_says_so(write):
    rows = [(f"영화 {number}", "좋다") for number in range(3000)] + [("영화 7", "정말 재미있다")]
    found, page = write(rows, language="en")
    assert len(found["groups"]) == 3000 and found["groups"][STARS].notna().all(axis=None)
    assert page.count("<details>") == GROUPS and f"Of 3,000, the {GROUPS} with most reviews" in page
    assert "<summary>영화 7:" in page


def test_a_column_without_any_value_has_no_stars(write):
    found, page = write([(None, "좋다"), ("", "별로")])
    assert found["groups"].empty and "<details>" not in page


def test_another_classifier_has_no_stars_and_the_report_says_why(classifier, tiny_film, made):
    assert rater_of(classifier.bundle) is None
    columns = dict(zip(("film", "review"), zip(*ROWS)))
    found, page = made(classifier, columns, "film", language="en")
    assert "stars" not in found["groups"] and "No stars are predicted" in page
    with pytest.raises(BundleError, match="expected the classifier pretrained .*of other commands by --bundle"):
        made(classifier, columns, "film", film_bundle=tiny_film)


def test_a_review_without_a_label_has_no_part_in_the_stars_of_its_group(write):
    with_it, page = write([("가", "이야기가 좋았다"), ("가", "a"), ("나", "a")])
    assert with_it["groups"].index.tolist() == ["가"] and page.count("<details>") == 2
    pandas.testing.assert_frame_equal(with_it["groups"][STARS], write([("가", "이야기가 좋았다")])[0]["groups"][STARS])
