"""Reviews with stars by film, of a person's own table and of the raw archive."""

import pytest

from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.corpora.data import Labelled
from nsmc_attention.errors import DataError
from nsmc_attention.systems.film.train import reviews_by_film

ROWS = ["가,9,정말 좋다", "나,2,별로다", "가,8.5,최고", ",7,이름 없는 영화", "나,1, ", " 가 ,10,다시 봤다"]


@pytest.fixture
def table(tmp_path):
    def write(rows=ROWS, header="영화,별점,리뷰"):
        (tmp_path / "mine.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
        return tmp_path / "mine.csv"

    return write


def test_reviews_are_gathered_by_film_without_blank_and_nameless_ones(table):
    found = reviews_by_film(Labelled(table()))
    assert found.documents == ["정말 좋다", "별로다", "최고", "다시 봤다"]
    assert found.stars.tolist() == [9, 2, 8.5, 10]
    assert {film: own.tolist() for film, own in found.members.items()} == {"가": [0, 2, 3], "나": [1]}
    named = reviews_by_film(Labelled(table(header="a,b,c"), text_column="c", stars_column="b"), group_by="a")
    assert named.sha256 == found.sha256


def test_stars_are_read_as_in_any_table_but_of_any_scale(table):
    rows = ["가,9점,좋다", "나,-,별로다", "가,15,최고", ",합계,"]
    assert reviews_by_film(Labelled(table(rows))).stars.tolist() == [9, 15]
    with pytest.raises(DataError, match="column 별점 row 3: expected stars of 5, found '8/10'"):
        reviews_by_film(Labelled(table(["가,4/5,좋다", "가,8/10,최고"])))


@pytest.mark.parametrize(
    "rows", [ROWS[:2], ROWS[1:] + ROWS[:1], ["나,9,정말 좋다", *ROWS[1:]], ["가,8,정말 좋다", *ROWS[1:]]]
)
def test_other_reviews_have_another_hash(table, rows):
    assert reviews_by_film(Labelled(table(rows))).sha256 != reviews_by_film(Labelled(table())).sha256


@pytest.mark.slow
def test_no_film_has_a_review_of_the_official_test_file(nsmc_folder):
    found = reviews_by_film(Labelled("nsmc"))
    tested = set(map(raw.folded, nsmc.load("nsmc", "test").documents))
    assert not tested & set(map(raw.folded, found.documents))
    assert len(found.members) > 14000 and found.stars.min() >= 1 and found.stars.max() <= 10
