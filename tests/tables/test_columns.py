"""The column of the texts by its name and its cells, the row that names the columns, and texts that are no reviews."""

import pandas
import pytest

from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.tables.columns import LESSER_COLUMNS, TEXT_COLUMNS, require_column
from nsmc_attention.tables.table import open_table

TEXTS = ["배우 연기가 참 좋았어요", "지루해서 중간에 나왔다", "음악이 정말 마음에 듭니다"]


@pytest.fixture
def table(written):
    """Return a function that opens a table of text or of the rows of sheets; it returns the table and its rows."""

    def make(content, name="a.csv", **options):
        opened = open_table(written(name, content), **options)
        return opened, [dict(zip(part, row)) for part in opened.parts for row in zip(*part.values())]

    return make


def csv_of(names, *columns):
    return pandas.DataFrame(dict(zip(names, columns))).to_csv(index=False)


LESSER = [*sorted(LESSER_COLUMNS), "Review_Text", "review-text ", "리뷰 내용(필수)", "[댓글_내용]", "상세리뷰"]


@pytest.mark.parametrize("name", [*LESSER, *TEXT_COLUMNS, "Review "])
def test_a_known_name_is_taken_and_said_unless_it_is_a_plain_one(table, capsys, name):
    opened, _ = table(csv_of(["작성자", name, "평점"], ["하늘", "바다", "솔"], TEXTS, [5, 1, 4]))
    assert opened.text_column == name
    said = capsys.readouterr().err
    assert f"a.csv: texts are read from column {name!r}\n" in said if name in LESSER else said == ""


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@pytest.mark.parametrize(
    "names, chosen",
    [
        (["주문메뉴", "상세리뷰"], "상세리뷰"),
        (["방문자 리뷰", "사장님 답글"], "방문자 리뷰"),
        (["사장님 답글", "고객 리뷰"], "고객 리뷰"),
        (["관리자 댓글", "한줄평"], "한줄평"),
        (["답변 내용", "질문"], "질문"),
    ],
)
def test_a_name_that_ends_with_a_known_one_is_one_but_of_a_reply(table, kind, names, chosen):
    other = ["치즈 돈까스 정식 곱빼기", "감사합니다 고객님 또 오세요", "죄송합니다 다음에는 더 잘하겠습니다"]
    columns = {name: TEXTS if name == chosen else other for name in names}
    rows = [names, *zip(*columns.values())]
    content = rows if kind == "xlsx" else csv_of(names, *columns.values())
    assert table(content, f"a.{kind}")[0].text_column == chosen


@pytest.mark.parametrize("cell", ["1029{}", "2024-01-0{}", "https://a.kr/{}", "3f2b8c1a-0d1e-4f5a-9b7c-1a2b3c4d5e6f"])
@pytest.mark.parametrize("other", ["소감", "column of someone"])
def test_a_known_name_over_no_texts_does_not_win_over_sentences(table, cell, other):
    cells = [cell.format(number) for number in (1, 2, 3)]
    assert table(csv_of(["text", other], cells, TEXTS))[0].text_column == other
    with pytest.raises(DataError, match="expected reviews, found .* in column 'text'.*; the others are label"):
        table(csv_of(["text", "label"], cells, [1, 0, 1]))


def test_a_blank_column_of_a_known_name_is_no_rival_of_one_with_texts(table):
    """The smart store's export has a mark in 베스트리뷰, mostly in no row."""
    for names in (["베스트리뷰", "리뷰상세내용"], ["리뷰상세내용", "베스트리뷰"], ["리뷰", "내용"]):
        blank = names[0] if names[0] != "리뷰상세내용" else names[1]
        cells = [["", "", ""] if name == blank else ["좋아요 1", "별로 2", "보통 3"] for name in names]
        assert table(csv_of(names, *cells))[0].text_column != blank


def test_names_and_categories_are_no_texts(table):
    names, places = ["하늘", "바다", "솔"], ["서울", "부산", "서울"]
    texts = [f"{number} {text}" for number in range(10) for text in TEXTS]
    assert table(csv_of(["가", "나", "다"], names * 10, places * 10, texts))[0].text_column == "다"
    with pytest.raises(DataError, match="expected one column called document.*; found 이름, 지역"):
        table(csv_of(["이름", "지역"], names, places))


@pytest.mark.parametrize(
    "names", [("review", "comment"), ("text", "리뷰"), ("문장", "댓글 내용"), ("sentence1", "sentence2")]
)
def test_two_columns_that_are_alike_are_refused_by_name(table, names):
    with pytest.raises(DataError, match=f"found {names[0]}, {names[1]}; name the one .*--text-column NAME or NUMBER"):
        table(csv_of(names, TEXTS, TEXTS[::-1]))


def test_a_column_may_be_given_by_its_number_unless_one_has_that_name(table):
    content = csv_of(["a", "b", "1"], [1, 2, 3], TEXTS, TEXTS[::-1])
    for given, name in (("2", "b"), (2, "b"), ("1", "1")):
        assert table(content, text_column=given)[0].text_column == name
    for number in ("0", "4", "-1"):
        with pytest.raises(DataError, match=f"expected a column '{number}', found a, b, 1"):
            table(content, text_column=number)
    with pytest.raises(DataError, match="a.csv: expected a column 'flim', found film; did you mean 'film'.$"):
        require_column(["film"], "flim", "a.csv", hint="")


NO_HEADER = {
    "numbers": [["5", TEXTS[0]], ["2", TEXTS[1]], ["5", TEXTS[2]]],
    "ids and labels": [["9976970", "아 더빙", "0"], ["3819312", TEXTS[1], "1"], ["10265843", "너무재밓었다", "0"]],
    "lists of numbers": [["39087", TEXTS[0], "2,13,15"], ["30893", TEXTS[1], "1,5"]],
    "sentences": [["하늘", TEXTS[0]], ["바다", TEXTS[1]]],
    "one column": [[text] for text in TEXTS],
}


@pytest.mark.parametrize("name", NO_HEADER)
@pytest.mark.parametrize("kind", ["csv", "tsv", "xlsx"])
def test_a_table_without_a_header_loses_no_row(table, capsys, name, kind):
    rows = NO_HEADER[name]
    text = pandas.DataFrame(rows).to_csv(index=False, header=False, sep="," if kind == "csv" else "\t")
    content = rows if kind == "xlsx" else text
    opened, read = table(content, f"a.{kind}")
    assert [list(row.values()) for row in read] == rows
    assert list(read[0]) == [f"column {number}" for number in range(1, len(rows[0]) + 1)]
    assert opened.text_column == f"column {len(rows[0]) > 1 and 2 or 1}"
    assert "no header, so its columns are called column 1" in capsys.readouterr().err
    with pytest.raises(DataError, match="expected a column '아무거나', found column 1"):
        table(content, f"a.{kind}", text_column="아무거나")


def test_the_questions_of_a_survey_are_names_and_a_review_may_be_none(table):
    names = ["타임스탬프", "영화를 보고 느낀 점을 적어 주세요.", "만족도는 몇 점인가요?"]
    times = ["2024/01/03 3:12:00 오후", "2024. 1. 3 오후 3:12:00", "2024-01-03 15:12"]
    opened, read = table(csv_of(names, times, TEXTS, [5, 1, 4]))
    assert opened.text_column == names[1] and len(read) == 3
    for first in (names[1], "재밌었다"):
        content, message = "\n".join([first, *TEXTS]), f"a.csv row 1: found no known name .* '{first[:9]}"
        with pytest.raises(DataError, match=f"{message}.*--header ROW.*--header none.*--text-column"):
            table(content)
        assert len(table(content, header="none")[1]) == 4 and len(table(content, header=1)[1]) == 3


TITLES = {
    "title": [["2024년 고객 의견 조사"]],
    "title that ends as a name": [["3월의 고객 리뷰"]],
    "title, blank and date": [["2024년 고객 의견 조사"], [], ["작성일", "2024-01-01"]],
    "title and department": [["고객 의견"], ["작성: 마케팅팀"]],
    "lines on the figures": [["주간 리포트"], *[["지표를 확인하세요"], []] * 10],
}


@pytest.mark.parametrize("name", TITLES)
@pytest.mark.parametrize("kind", ["csv", "tsv", "xlsx"])
@pytest.mark.parametrize("padded", [False, True])
def test_a_title_above_the_header_is_left_out_and_said(table, capsys, name, kind, padded):
    above = [row + [None] * (3 - len(row)) if padded and row else row for row in TITLES[name]]
    rows = [*above, ["번호", "의견", "평점"], *([str(n), text, "5"] for n, text in enumerate(TEXTS))]
    text = "".join(("," if kind == "csv" else "\t").join(cell or "" for cell in row) + "\n" for row in rows)
    content = rows if kind == "xlsx" else text
    opened, read = table(content, f"a.{kind}")
    assert [row["의견"] for row in read] == TEXTS and list(read[0]) == ["번호", "의견", "평점"]
    assert f"the header is row {len(above) + 1}\n" in capsys.readouterr().err
    given = table(content, f"b.{kind}", header=str(len(above) + 1))[1]
    assert given == read and "the header" not in capsys.readouterr().err


def test_rows_that_repeat_the_header_are_left_out_and_counted(table, capsys):
    assert len(table(csv_of(["review", "stars"], TEXTS, [5, 1, 4]) * 3)[1]) == 9
    assert "a.csv: left out 2 rows that repeat the header\n" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["review", "document", "리뷰", "한줄평"])
def test_a_review_that_is_a_name_is_no_header_of_a_single_column(table, name):
    assert len(table("\n".join([name, *TEXTS, "내용", *TEXTS]))[1]) == 2 * len(TEXTS) + 1


def test_a_title_above_a_single_column_is_left_out(table):
    opened, read = table([["2024년 고객 리뷰 모음"], ["리뷰"], *([text] for text in TEXTS)], "a.xlsx")
    assert opened.text_column == "리뷰" and len(read) == len(TEXTS)


def test_rows_on_the_questions_of_a_survey_are_left_out(table, capsys):
    numbers = ['{"ImportId":"QID1"}', '{"ImportId":"QID2"}', '{"ImportId":"QID2_4"}']
    questions = ["만족도는 몇 점인가요?", "느낀 점을 적어 주세요.", "기타 - Text"]
    rows = [["Q1", "Q2", "Q2_4_TEXT"], questions, numbers, *(["5", text, ""] for text in TEXTS)]
    opened, read = table(rows, "a.xlsx")
    assert opened.text_column == "Q2" and [row["Q2"] for row in read] == TEXTS
    assert "a.xlsx: left out two rows below the header, on the questions\n" in capsys.readouterr().err


def test_a_header_that_is_no_row_or_not_there_is_refused(table):
    for header in ("0", "-1", "x", "1.5", ""):
        with pytest.raises(ConfigError, match="--header: expected a row from 1, or none, found"):
            table(csv_of(["review"], TEXTS), header=header)
    with pytest.raises(DataError, match="expected a header in row 9"):
        table(csv_of(["review"], TEXTS), header="9")
    with pytest.raises(ConfigError, match="header .*expected csv, tsv or xlsx, found jsonl"):
        table('{"review": "좋다"}', "a.jsonl", header="1")
