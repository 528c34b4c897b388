"""The rows to adapt to: which column has the labels, what is left out, and what to do where that is not clear."""

import csv

import pytest

from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.tables.data import Labelled
from nsmc_attention.tables.labelled import labelled_rows
from nsmc_attention.tables.labels import polarities

OPINIONS = "긍정 부정 중립 긍정".split()
STARS = "5 1 3 4".split()


@pytest.fixture
def table(tmp_path):
    """Write a table of the given columns beside one of reviews that differ; return its path."""

    def write(**columns):
        rows = zip(*columns.values())
        with open(tmp_path / "in.csv", "w", encoding="utf-8", newline="") as file:
            lines = [[f"{i}번째 장면이 정말 좋았다", *row] for i, row in enumerate(rows)]
            csv.writer(file).writerows([["review", *columns], *lines])
        return tmp_path / "in.csv"

    return write


def read(path, stars_column=None, **named):
    rows = labelled_rows(Labelled(path, **named), stars_column)
    left_out = {reason: count for reason, count in rows.left_out.items() if count}
    return rows.reviews.frame["label"].tolist(), left_out, rows.reviews.columns


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (OPINIONS, [1, 0, None, 1]),
        ("매우 긍정/긍정/보통/부정/매우 부정".split("/"), [1, 1, None, 0, 0]),
        ("very_positive/slightly negative/neutral".split("/"), [1, 0, None]),
        (["POS", "NEG", "neu"], [1, 0, None]),
        (["1", "-1", "0"], [1, 0, None]),
        (["1.0", " 0 ", "+1", "0.0"], [1, 0, 1, 0]),
        (["True", "False", "N/A"], [1, 0, None]),
        (["👍", "👎", ""], [1, 0, None]),
        (["좋아요", "싫어요", "그저 그럼"], [1, 0, None]),
        (["+", "-"], [1, 0]),
        (["P", "N"], [1, 0]),
        (["매우 만족", "불만족", "보통"], [1, 0, None]),
    ],
)
def test_labels_in_many_words_are_two_and_neither(table, cells, numbers):
    assert polarities(cells)[0] == numbers
    neutral = sum(number is None and cell not in ("", "N/A") for cell, number in zip(cells, numbers))
    labels, left_out, columns = read(table(label=cells))
    assert labels == [number for number in numbers if number is not None]
    assert left_out.get("neutral", 0) == neutral and columns["label"] == "label"
    assert sum(left_out.values()) == numbers.count(None)


def test_the_word_that_is_named_is_positive(table):
    path = table(label=["fun", "dull", "보통", ""])
    assert read(path, positive="fun")[:2] == ([1, 0], {"neutral": 1, "without_a_label": 1})
    with pytest.raises(DataError, match="column label row 1: .* found 'dull', 'fun'; name the positive one by posi"):
        read(path)


@pytest.mark.parametrize(
    ("columns", "taken"),
    [
        ({"sentiment": OPINIONS, "stars": STARS}, {"label": "sentiment"}),
        ({"sentiment": [""] * 4, "score": STARS}, {"stars": "score"}),
        ({"sentiment": ["N/A"] * 4, "score": STARS}, {"stars": "score"}),
        ({"평가": OPINIONS, "별점": STARS}, {"label": "평가"}),
        ({"재구매": ["Y", "N", "Y", "N"], "별점": STARS}, {"stars": "별점"}),
        ({"class": ["1", "0", "1", "0"]}, {"label": "class"}),
        ({"q": ["1", "0", "1", "0"]}, {"label": "q"}),
        ({"Star Rating": STARS, "좋아요": STARS}, {"stars": "Star Rating"}),
        ({"q": STARS * 2, "n": STARS * 2}, {"stars": "q"}),
        ({"q": ["★", "★★★★★"] * 3}, {"stars": "q"}),
    ],
)
def test_the_column_is_the_one_of_labels_else_of_stars(table, columns, taken):
    found = read(table(**columns))[2]
    assert {name: found[name] for name in found if name != "text"} == taken


def test_a_column_that_is_found_by_its_cells_is_said(table):
    (note,) = labelled_rows(Labelled(table(평가=OPINIONS))).notes
    assert note == "labels are in column 평가, which was found by its cells"
    assert labelled_rows(Labelled(table(label=OPINIONS))).notes == []
    (note,) = labelled_rows(Labelled(table(q=STARS * 2))).notes
    assert note.startswith("labels are the stars in column q, which was found by its cells: of 5 (no number is above")


def test_a_column_that_is_named_wins(table):
    path = table(sentiment=OPINIONS, stars=STARS, mine=["1", "1", "0", "0"])
    assert read(path, "stars")[0] == [1, 0, 1]
    assert read(path, label_column="mine")[0] == [1, 1, 0, 0]
    with pytest.raises(ConfigError, match="expected a column of labels or one of stars, found 'mine' and 'stars'"):
        read(path, "stars", label_column="mine")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"label": "0 1 2".split()}, "row 3: .*which one is neutral is not known: write 부정, 중립 and 긍정"),
        ({"label": ["배송", "품질", "가격"], "평점": ["5", "1", "3"]}, "row 1: .*--stars-column '평점'"),
        ({"label": "1 2 3 4 5".split()}, "if these are stars, name it by stars_column"),
        ({"label": ["긍정", "", "엉뚱"]}, "column label row 3: .*name the positive one"),
        ({"label": "10", "sentiment": ["긍정", "부정"]}, "one column of labels, found label, sentiment; choose by"),
        ({"a": STARS * 2, "b": STARS[::-1] * 2}, "one column of stars, found a, b; choose by stars_column"),
        ({"is_photo": ["0", "1"]}, "found is_photo; name the column of labels or stars by --label-column 'is_photo'"),
        ({"Rating": ["0", "1", "2"]}, "column Rating row 3: .*if these are labels"),
        ({"평점": ["5", "추천", "1"]}, "column 평점 row 2: expected 1 to 5 or 1 to 10 stars, found '추천'"),
        ({"label": ["", ""]}, "expected labels in column label, found none with text; fill it"),
        ({"label": ["중립", "보통"]}, "expected labels in column label, found none with text"),
    ],
)
def test_what_is_not_clear_is_refused_with_what_to_do(table, columns, message):
    with pytest.raises(DataError, match=message):
        read(table(**columns))


def test_rows_that_are_left_out_have_a_reason(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text('review,label\n가,1\n"",0\n가,0\n나,\n다,보통\n라,-\n마,0\n', encoding="utf-8")
    labels, left_out, _ = read(path)
    assert labels == [1, 0]
    assert left_out == {"without_a_label": 2, "neutral": 1, "without_text": 1, "repeated": 1}
