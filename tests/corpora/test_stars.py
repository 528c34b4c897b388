"""Stars as people write them: every spelling is the same number, a column has one scale, and what is no star is refused."""

from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.corpora.stars import of_reviews, scale_of_name, star, star_columns, stars_of
from nsmc_attention.errors import DataError


def spellings(number):
    """How a whole number of stars of five is written."""
    signs, korean = "★" * number, [f"{number}점", f"5점 만점에 {number}점", f"{number}점 (5점 만점)", f"별{number}개"]
    english = [f"{number}.0 out of 5 stars", f"Rated {number} out of 5", f"{number} stars", f"rating: {number}/5"]
    return [signs, signs + "☆" * (5 - number), f"{signs} ({number})", f"★ {number}", "⭐️" * number, *korean, *english,
            f"{number}", f"{number}.0", f"{number},0", f"{number} / 5", chr(0xFF10 + number), f"평점 {number}"]  # fmt: skip


@pytest.mark.parametrize("number", range(1, 6))
def test_every_spelling_is_the_same_number(number):
    for cell in spellings(number):
        found = star(cell)
        assert found is not None and found[0] == number and found[1] in (5, None), cell


@given(st.integers(0, 20), st.sampled_from([5, 10]))
def test_however_a_scale_is_written_the_label_is_the_same(halves, scale):
    number = min(halves / 2, scale)
    cells = [f"{number}/{scale}", f"{number}점/{scale}점", f"{scale}점 만점에 {number:g}점"]
    cells += [f"{number:g} out of {scale}"]
    found = [stars_of([cell, f"1/{scale}"]) for cell in cells]
    assert {each.scale for each in found} == {scale} and len({each.labels[0] for each in found}) == 1
    assert found[0].labels[0] == (1 if number >= 0.8 * scale else 0 if number <= 0.4 * scale else None)


def test_a_written_scale_decides_over_the_largest_number():
    assert stars_of(["4/10", "5/10", "-"]).labels == [0, None, None]
    assert stars_of(["4", "5", "3/10"]).labels == [0, None, 0]
    assert stars_of(["4", "5"], "평점(10점 만점)").labels == [0, None]
    assert stars_of(["80%", "30%", "없음"]).labels == [1, 0, None]
    assert stars_of(["1", "3", "6"], "만족도 (1-7)").labels == [0, None, 1]
    assert stars_of(["80", "30"], "만족도 (100점 만점)").labels == [1, 0]
    in_words = stars_of(["4", "5"]).in_words()
    assert in_words.startswith("of 5 (no number is above 5), up to 2 negative, from 4 on positive")
    assert stars_of(["4", "8"]).in_words().startswith("of 10, up to 4 negative, from 8 on positive")


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        *((name, 7) for name in ("만족도 (1-7)", "만족도(1~7점)", "만족도_7점척도", "score (0–7)", "만족도(7점 만점)")),
        *((name, 10) for name in ("평점(10점)", "rating_of_10", "rating (out of 10)", "평점/10", "NPS [0-10]")),
        *((name, None) for name in ("평점", "rating 2", "score (v1-12)", "2021-10", "(" * 65536, " " * 65536 + "1-7")),
    ],
)
def test_a_scale_in_the_name_is_read(name, scale):
    assert scale_of_name(name) == scale


def test_hollow_stars_alone_are_counted_and_beside_filled_ones_are_none():
    assert stars_of(["☆☆☆☆☆", "☆☆", "☆☆☆☆"]).numbers == [5, 2, 4]
    assert stars_of(["☆☆☆☆☆", "★★★★☆"]).numbers == [0, 4]


def repeated(numbers, rows=40):
    return list(islice(cycle(map(str, numbers)), rows))


# numbers that do not show their scale
UNCLEAR = [range(1, 8), range(7), [1, 6.5], range(1, 5), range(1, 4), range(5), [1, 3, 12]]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["5", "추천"], "1: expected 1 to 5 or 1 to 10 stars, found '추천'; mend it, or leave it blank"),
        (["5", "85"], r"1: .*found 85 as the largest number; mend it, or write the scale into .*, as .* \(1-100\)"),
        # hollow stars beside filled ones are none
        (["★★★★★", "☆☆"], "1: expected 1 to 5 or 1 to 10 stars, found '☆☆'"),
        *(
            (repeated(numbers), "as the largest number; .*write the scale into the column's name")
            for numbers in UNCLEAR
        ),
        (["4/5", "8"], "1: expected stars of 5, found '8'; mend it"),
        (["4/5", "8/10", "4"], "1: expected stars of 5, found '8/10'"),
        (["0.98", "0.02"], "0: .*found 0.98 as the largest number; if these are labels, name the column by label_c"),
        (["0", "1", "2"], "2: .*found 2 as the largest number; if these are labels"),
        *(([cell], f"0: .*found '{cell}'") for cell in ("6/5", "-1", "2024-04-05", "45점 만점")),
        (["1" * 65536], f"0: .*found '{'1' * 20}'"),
    ],
)
def test_what_is_no_star_is_refused_by_its_row(cells, message):
    with pytest.raises(DataError, match=message):
        stars_of(cells)


@pytest.mark.parametrize(
    ("numbers", "scale"),
    [(range(1, 6), 5), (range(1, 11), 10), (range(11), 10), ([1, 8], 10), ([1, 9], 10), ([4], 5), ([3.5, 4], 5)],
)
def test_a_scale_is_what_the_column_shows(numbers, scale):
    assert stars_of([*repeated(numbers, 20), *["1"] * 100]).scale == scale


RATED = ["5", "1", "4", "3", "5", "2", "5"]
NAMES = "star Total_Star star-rating user_rating 별점수 만족도 Overall 평점(5점) SCORE reviews.rating".split()
NAMES += ["구매자 평점"]
NO_STARS = ["1 2 3 4 5", "10 9 8 7 6 5", "1 5 1 5 5 1", "0 0 0 1 5 0 2", "5 4 1", "12 1 5 7 10 3", "3.27 4.11 5 1 2"]
NO_STARS += ["좋다 5 4 3 2", " " * 5, "3/4 5/6 7/8 9/10 3/5", "10% 20% 90% 10% 20%"]
OTHERS = "avg_rating 요일 age 좋아요 추천수 조회수 year id helpful_votes n cluster".split()


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        *(({"추천수": ["1", "2", "5"], name: ["5", "1", "-"]}, ([name], "name")) for name in NAMES),
        *(({name: repeated([1, 3, 7])}, ([name], "name")) for name in ("만족도", "score", "rating", "만족도 (1-7)")),
        ({"score": repeated([1, 3, 100])}, (["score"], "name")),
        ({"grade": ["A"], "score": ["0.93"]}, ([], "cells")),
        # a name that says nothing else, so that the refusal is of its cells
        ({"평점": ["우수"]}, (["평점"], "name")),
        *(({"q": cells, "c": ["가"] * len(cells)}, (["q"], "cells")) for cells in (RATED, [*RATED, "-"])),
        ({"q": [f"{cell}.0" for cell in RATED]}, (["q"], "cells")),
        ({"q": ["★★", "★★★★★", "★", "★★", "★"]}, (["q"], "cells")),
        ({"q": ["4/5", "1/5"] * 5}, (["q"], "cells")),
        *(({"q": cells.split(" ")}, ([], "cells")) for cells in NO_STARS),
        *(({name: RATED}, ([], "cells")) for name in OTHERS),
        ({"맛": RATED, "양": RATED[::-1]}, (["맛", "양"], "cells")),
        ({"맛": RATED, "양": RATED[::-1], "만족도": RATED}, (["만족도"], "name")),
        ({"맛": RATED, "만족도": RATED, "평점": RATED}, (["평점"], "name")),
    ],
)
def test_columns_of_stars_are_found_by_their_name_or_else_by_their_cells(columns, found):
    rows = len(next(iter(columns.values())))
    assert star_columns({"review": ["좋다"] * rows, **columns}) == found


def test_a_cell_beside_no_text_counts_if_a_review_has_it_too():
    assert of_reviews(["5", "5", "9.1", "1"], [True, False, False, True]) == ["5", "5", "", "1"]
