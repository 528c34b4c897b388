"""The rows to adapt to: which column has the labels, what is left out, and what to do where that is not clear."""

import csv

import pytest

from nsmc_attention.corpora.data import Labelled
from nsmc_attention.corpora.labelled import labelled_rows, load_reviews
from nsmc_attention.corpora.labels import PAIRS, plain_label, polarities, sides_of
from nsmc_attention.errors import ConfigError, DataError

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
    rows = labelled_rows(Labelled(path, stars_column=stars_column, **named), once=True)
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
        (["P", "N"], [1, 0]),
        (["매우 만족", "불만족", "보통"], [1, 0, None]),
    ],
)
def test_labels_in_many_words_are_two_and_neither(table, cells, numbers):
    assert polarities(cells) == numbers
    neutral = sum(number is None and cell not in ("", "N/A") for cell, number in zip(cells, numbers))
    labels, left_out, columns = read(table(label=cells))
    assert labels == [number for number in numbers if number is not None]
    assert left_out.get("neutral", 0) == neutral and columns["label"] == "label"
    assert sum(left_out.values()) == numbers.count(None)


def test_the_word_that_is_named_is_positive(table):
    path = table(label=["fun", "dull", "보통", ""])
    assert read(path, positive="fun")[:2] == ([1, 0], {"neutral": 1, "without a label": 1})
    with pytest.raises(DataError, match="column label row 2: .* found 'fun', 'dull'; name the positive one by posi"):
        read(path)
    for values in (["fun", "dull", "so"], ["dull", "so"]):
        with pytest.raises(DataError, match="expected two labels, 'fun' and another, found"):
            polarities(values, "fun")


@pytest.mark.parametrize(
    ("columns", "taken"),
    [
        ({"sentiment": OPINIONS, "stars": STARS}, {"label": "sentiment"}),
        ({"sentiment": [""] * 4, "score": STARS}, {"stars": "score"}),
        ({"sentiment": ["N/A"] * 4, "score": STARS}, {"stars": "score"}),
        ({"평가": OPINIONS, "별점": STARS}, {"label": "평가"}),
        ({"재구매": ["Y", "N", "Y", "N"], "별점": STARS}, {"stars": "별점"}),
        ({"class": ["1", "0", "1", "0"]}, {"label": "class"}),
        ({"Star Rating": STARS, "좋아요": STARS}, {"stars": "Star Rating"}),
        ({"q": STARS * 2, "n": STARS * 2}, {"stars": "q"}),
        ({"q": ["★", "★★★★★"] * 3}, {"stars": "q"}),
        ({"만족도": STARS, "평점": STARS}, {"stars": "평점"}),
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
        ({"label": "0 1 2".split()}, "row 4: .*which one is neutral is not known: write 부정, 중립 and 긍정"),
        ({"label": ["배송", "품질", "가격"], "평점": ["5", "1", "3"]}, "row 2: .*leave the cells blank that are neith"),
        ({"label": "1 2 3 4 5".split()}, "if these are stars, name the column by stars_column"),
        ({"label": ["긍정", "", "엉뚱"]}, "column label row 4: .*name the positive one"),
        ({"label": "10", "sentiment": ["긍정", "부정"]}, "one column of labels, found label, sentiment; choose by"),
        ({"a": STARS * 2, "b": STARS[::-1] * 2}, "one column of stars, found a, b; choose by stars_column"),
        ({"재방문의사": ["0", "1"]}, "found 재방문의사; name the column of labels or stars by --label-column or"),
        ({"Rating": ["0", "1", "2"]}, "column Rating row 4: .*if these are labels"),
        ({"만족도": ["1", "3", "7"]}, "column 만족도 row 4: .*found 7 .*; write the scale into the column's name"),
        ({"평점": ["5", "추천", "1"]}, "column 평점 row 3: expected 1 to 5 or 1 to 10 stars, found '추천'"),
        ({"label": ["", ""]}, "expected labels in column label, found none with text; fill it"),
        ({"label": ["중립", "보통"]}, "expected labels in column label, found none with text"),
    ],
)
def test_what_is_not_clear_is_refused_with_what_to_do(table, columns, message):
    with pytest.raises(DataError, match=message):
        read(table(**columns))


@pytest.mark.parametrize(
    ("content", "left_out"),
    [
        (
            'label\n가,1\n"",0\n가,0\n나,\n다,보통\n라,-\n마,0',
            {"without a label": 2, "neutral": 1, "without text": 1, "repeated": 1},
        ),
        ("label\n가,1\n나,0\n,합계", {"without a label": 1}),
        ("별점\n가,5\n나,1\n,합계\n ,37\n,5", {"without a label": 2, "without text": 1}),
    ],
)
def test_rows_that_are_left_out_have_a_reason_and_block_nothing(tmp_path, content, left_out):
    (tmp_path / "in.csv").write_text(f"review,{content}\n", encoding="utf-8")
    assert read(tmp_path / "in.csv")[:2] == ([1, 0], left_out)


def test_train_and_evaluate_read_the_same_rows_and_say_what_they_leave_out(table, tmp_path, capsys):
    reviews = load_reviews(table(별점=[*STARS, "-"]))
    assert reviews.labels.tolist() == [1, 0, 1] and reviews.columns["stars"] == "별점"
    left_out, note = (line.partition("in.csv: ")[2] for line in capsys.readouterr().err.splitlines())
    assert left_out == "left out: 1 without a label, 1 of middle stars" and note.startswith("labels are the stars in c")
    # blank and repeated texts count in an evaluation
    (path := tmp_path / "few.csv").write_text('review,label\n가,1\n"",0\n가,0\n', encoding="utf-8")
    assert load_reviews(path).documents == ["가", "", "가"] and capsys.readouterr().err == ""
    assert load_reviews(table(감정=OPINIONS)).labels.tolist() == [1, 0, 1]
    assert load_reviews(table(a=STARS, b=STARS[::-1]), stars_column="b").labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize("negative, positive", [*PAIRS, (0, 1), (False, True), ("Negative", "POSITIVE ")])
def test_the_positive_label_of_a_known_pair_is_found_in_any_order(negative, positive):
    for values in ([negative, positive], [positive, negative, negative], [positive]):
        assert sides_of(values)[plain_label(positive)] == 1
