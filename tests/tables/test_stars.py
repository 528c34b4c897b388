"""Stars as people write them: every spelling is the same number, scales are brought to one, and what is no star is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.errors import ColumnError, DataError
from nsmc_attention.tables.stars import looks_rated, plain_name, star, star_column, star_columns, stars_of

COUNTS = "하나 둘 셋 넷 다섯".split()


def spellings(number):
    """How a whole number of stars of five is written."""
    signs, korean = "★" * number, [f"{number}점", f"5점 만점에 {number}점", f"{number}점 (5점 만점)"]
    korean += [f"별{number}개", f"별 {COUNTS[number - 1]}"]
    english = [f"{number}.0 out of 5 stars", f"Rated {number} out of 5", f"{number} stars", f"rating: {number}/5"]
    return [signs, signs + "☆" * (5 - number), f"{signs} ({number})", f"★ {number}", "⭐️" * number, *korean, *english,
            f"{number}", f"{number}.0", f"{number},0", f"{number} / 5", chr(0xFF10 + number), f"평점 {number}"]  # fmt: skip


@pytest.mark.parametrize("number", range(1, 6))
def test_every_spelling_is_the_same_number(number):
    for cell in spellings(number):
        found = star(cell)
        assert found is not None and found[0] == number and found[1] in (5, None), cell


@given(st.integers(0, 20), st.sampled_from([5, 10]))
def test_a_scale_in_the_cells_does_not_change_the_label(halves, scale):
    number = min(halves / 2, scale)
    cells = [
        f"{number}/{scale}",
        f"{number}점/{scale}점",
        f"{scale}점 만점에 {number:g}점",
        f"{number:g} out of {scale}",
    ]
    found = {tuple(stars_of([cell, f"1/{other}"]).labels) for cell in cells for other in (5, 10)}
    assert found == {(stars_of([cells[0]]).labels[0], "0")}


@given(st.lists(st.sampled_from(["★★★★★", "4/5", "8/10", "80%", "5점 만점에 1점", "3/5", "5/10", "", "없음", "N/A"])))
def test_mixed_scales_are_brought_to_one(cells):
    expected = {"★★★★★": "1", "4/5": "1", "8/10": "1", "80%": "1", "5점 만점에 1점": "0"}
    stars = stars_of(cells)
    assert stars.labels == [expected.get(cell, "") for cell in cells]
    assert all(number is None or 0 <= number <= stars.scale for number in stars.numbers)
    assert stars.blank == sum(cell in ("", "없음", "N/A") for cell in cells) >= stars.words


def test_a_written_scale_decides_over_the_largest_number():
    assert stars_of(["4/10", "5/10"]).labels == ["0", ""]
    assert stars_of(["4", "5", "3/10"]).labels == ["0", "", "0"]
    assert stars_of(["4", "5"], name="평점(10점 만점)").labels == ["0", ""]
    assert stars_of(["80", "30"], name="만족도 (100점 만점)").labels == ["1", "0"]
    words = {
        "5": "of 5 (no number is above 5), up to 2 negative, from 4 on ",
        "8": "of 10, up to 4 negative, from 8 on ",
    }
    for largest, found in words.items():
        assert stars_of(["4", largest]).in_words().startswith(f"{found}positive")


def test_hollow_stars_alone_are_counted_and_beside_filled_ones_are_none():
    assert stars_of(["☆☆☆☆☆", "☆☆", "☆☆☆☆"]).numbers == [5, 2, 4]
    assert stars_of(["☆☆☆☆☆", "★★★★☆", "★★★½"]).numbers == [0, 4, 3.5]
    with pytest.raises(DataError, match="row 2: expected stars of one kind, found '☆☆'"):
        stars_of(["★★★★★", "☆☆"])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["5", "추천"], "t row 2: expected 1 to 5 or 1 to 10 stars, found '추천'; mend it, or leave it blank"),
        (["5", "85"], "t row 2: .*found '85'; of 100 points write 85/100"),
        (["4/5", "8"], "t row 2: expected stars of one scale, found '8' beside '4/5'; write of how many"),
        (["4/5", "8/10", "4"], "t row 3: expected stars of one scale, found '4' beside '4/5'"),
        (["0.98", "0.02"], "t row 1: .*found '0.98', the largest number; shares of 1 are not stars"),
        (["0", "1", "2"], "t row 3: .*if these are labels, name the column by label_column"),
        (["6/5"], "t row 1: .*found '6/5'"),
        (["-1"], "t row 1: .*found '-1'"),
        (["2024-04-05"], "t row 1: .*found '2024-04-05'"),
    ],
)
def test_what_is_no_star_is_refused_by_its_row(cells, message):
    with pytest.raises(DataError, match=message):
        stars_of(cells, "t")


@pytest.mark.parametrize(
    "name",
    "star,Total_Star,star-rating,user_rating,별점수,구매자 평점,만족도,Overall,평점(5점),SCORE,reviews.rating".split(
        ","
    ),
)
def test_a_column_of_stars_is_found_by_its_name(name):
    columns = {"review": ["좋다"] * 3, "추천수": ["1", "2", "5"], name: ["5", "1", "-"]}
    assert star_column(columns) == name and star_column(columns, [name]) is None
    assert star_columns(columns) == ([name], "name")


def test_a_name_alone_does_not_make_stars():
    assert plain_name("Star Rating (1-5)") == "starrating"
    assert star_column({"review": ["좋다"], "grade": ["A"], "score": ["0.93"]}) is None
    # a name that says nothing else, so that the refusal is of its cells
    assert star_column({"review": ["좋다"], "평점": ["11"]}) == "평점"


RATED = ["5", "1", "4", "3", "5", "2", "5"]


@pytest.mark.parametrize(
    "cells",
    [RATED, [f"{cell}.0" for cell in RATED], ["★★", "★★★★★", "★", "★★", "★"], ["4/5", "1/5"] * 5, [*RATED, "-"]],
)
def test_a_column_of_stars_is_found_by_its_cells(cells):
    assert star_columns({"review": ["좋다"] * len(cells), "q": cells, "c": ["가"] * len(cells)}) == (["q"], "cells")


@pytest.mark.parametrize(
    "cells",
    "1 2 3 4 5,10 9 8 7 6 5,1 5 1 5 5 1,0 0 0 1 5 0 2,12 1 5 7 10 3,3.27 4.11 5 1 2,5 4 1,좋다 5 4 3 2,        ".split(
        ","
    ),
)
def test_other_numbers_are_no_stars(cells):
    cells = cells.split(" ")
    assert not looks_rated(cells)
    assert star_column({"review": ["좋다"] * len(cells), "q": cells}) is None


@pytest.mark.parametrize(
    "name", ["avg_rating", "요일", "age", "좋아요", "추천수", "조회수", "year", "id", "helpful_votes", "n", "cluster"]
)
def test_a_name_of_something_else_is_not_taken_by_its_cells(name):
    assert star_column({"review": ["좋다"] * len(RATED), name: RATED}) is None


def test_two_columns_that_could_be_are_refused_with_both_names():
    columns = {"review": ["좋다"] * len(RATED), "맛": RATED, "양": RATED[::-1]}
    with pytest.raises(ColumnError, match="expected one column of stars, found 맛, 양; choose by stars_column"):
        star_column(columns)
    assert star_column(columns, ["맛"]) == "양"
    # a name decides
    assert star_column({**columns, "평점": RATED}) == "평점"
