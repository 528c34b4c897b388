"""Workbooks of Excel: which sheet, which cells, what is merged, computed or far away; new ones, and the user's own kept."""

import datetime
import io
import zipfile

import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.styles import PatternFill
from openpyxl.worksheet.table import Table

from nsmc_attention.corpora.data import Texts
from nsmc_attention.corpora.labelled import load_reviews
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.scoring.files import score_table
from nsmc_attention.tables.source import find_source
from nsmc_attention.tables.table import open_table
from nsmc_attention.tables.workbook import kept_workbook, new_workbook
from nsmc_attention.tables.writers import as_cell

YELLOW = PatternFill("solid", fgColor="FFFF00")


def changed(path, change):
    """Change the sheet of a workbook."""
    book = openpyxl.load_workbook(path)
    change(book.active)
    book.save(path)
    return path


def with_part(path, name, change):
    """Change a part of a workbook, which may be new."""
    with zipfile.ZipFile(path) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in {**parts, name: change(parts.get(name, b""))}.items():
            archive.writestr(each, content)
    return path


def cells_of(path, sheet=None):
    book = openpyxl.load_workbook(path)
    return [list(row) for row in (book[sheet] if sheet else book.active).iter_rows(values_only=True)]


def test_a_workbook_keeps_numbers_dates_and_places(written):
    day, noon = datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 1, 12, 30)
    first, last = [None, "좋다", 5, day, noon, 0.1 + 0.2, True], [None, "두\n줄", 1.5, day, day]
    path = written("a.xlsx", [[], [None, "리뷰", "평점", "날짜", "때", None, "x"], first, [], last])
    (part,) = open_table(path).parts
    assert list(part) == ["column 1", "리뷰", "평점", "날짜", "때", "column 6", "x"] and list(part.numbers) == [3, 4, 5]
    rows = [(None, "좋다", 5, day.date(), noon, 0.3, True), (None,) * 7]
    assert [*zip(*part.values())] == [*rows, (None, "두\n줄", 1.5, day.date(), day.date(), None, None)]


@pytest.fixture
def two_sheets(written):
    """The path of a workbook of the sheets 3월 and 4월, and a chart."""
    path = written("two.xlsx", {"3월": [["리뷰", "label"], ["좋다", 1]], "4월": [["리뷰", "label"], ["별로", 0]]})
    book = openpyxl.load_workbook(path)
    book.create_chartsheet("차트")
    book.save(path)
    return path


def test_which_sheet_is_read_is_said_and_another_can_be_named(two_sheets, rows_of, stdin, capsys):
    assert rows_of(two_sheets) == [{"리뷰": "좋다", "label": 1}]
    assert capsys.readouterr().err == f"{two_sheets}: read as sheet '3월', not '4월', '차트'; name one by --sheet\n"
    assert rows_of(two_sheets, sheet="4월") == [{"리뷰": "별로", "label": 0}]
    assert load_reviews(two_sheets, sheet="4월").columns["sheet"] == "4월"
    stdin(two_sheets.read_bytes())
    assert rows_of("-", kind="xlsx", sheet="4월") == [{"리뷰": "별로", "label": 0}]
    assert capsys.readouterr().err == ""
    with_part(two_sheets, "xl/workbook.xml", lambda book: book.replace(b'state="visible"', b'state="hidden"', 1))
    assert rows_of(two_sheets) == [{"리뷰": "별로", "label": 0}]


def test_a_sheet_that_is_not_there_is_refused_with_those_that_are(two_sheets, written, rows_of):
    for sheet in ("4웓", "차트"):
        with pytest.raises(DataError, match=f"expected a sheet '{sheet}', found '3월', '4월'.*by sheet .--sheet"):
            rows_of(two_sheets, sheet=sheet)
    for source in (written("a.csv", "리뷰\n좋다\n"), "nsmc"):
        with pytest.raises(ConfigError, match="leave (--sheet|it) out"):
            load_reviews(source, "train", sheet="4월")


def test_the_sheet_with_the_reviews_is_found(written, rows_of, capsys):
    data = [["번호", "리뷰"], [1, "배우 연기가 참 좋았어요"], [2, "지루해서 중간에 나왔다"]]
    cover = [["2024년 고객 의견"], ["이 파일은 조사 결과를 담고 있습니다."]]
    for first in (cover, [], [["항목", "값"], ["합계", 3]]):
        assert len(rows_of(written("a.xlsx", {"표지": first, "자료": data, "요약": [["항목"], ["값"]]}))) == 2
        assert "read as sheet '자료', not '표지', '요약'" in capsys.readouterr().err
    with pytest.raises(DataError, match="expected one sheet with reviews, found '1월', '2월'; .*--sheet"):
        rows_of(written("b.xlsx", {"표지": [], "1월": data, "2월": data}))
    with pytest.raises(DataError):
        rows_of(written("c.xlsx", {"표지": [], "자료": data}), sheet="표지")


def test_a_merged_cell_names_all_its_rows_but_is_no_text_of_several(written, rows_of):
    rows = [["영화", None, "리뷰"], ["가", "x", "좋다"], *([None, None, text] for text in ("별로", "그냥"))]
    path = written("a.xlsx", [["2024년 조사"], [], *rows, ["나", "y", "최고"], [None] * 3, ["다", "z", "끝"]])
    read = rows_of(changed(path, lambda sheet: [*map(sheet.merge_cells, ("A1:C1", "A4:B6", "A7:A8", "C7:C8"))]))
    assert [row["영화"] for row in read] == ["가", "가", "가", "나", "나", "다"]
    assert [row["리뷰"] for row in read] == ["좋다", "별로", "그냥", "최고", None, "끝"]
    assert [row["column 2"] for row in read] == [None, None, None, "y", None, "z"]


def test_a_formula_without_a_value_is_blank(written, rows_of):
    path = written("a.xlsx", [["리뷰", "n"], ["좋다", "=B9+1"], ["=A2", 2], ["끝", 3]])
    assert [*map(tuple, map(dict.values, rows_of(path)))] == [("좋다", None), (None, 2), ("끝", 3)]


def test_blank_cells_far_away_are_none(written, rows_of):
    path = written("a.xlsx", [["리뷰", "n"], ["좋다", 1]])
    places = "XFD1048576", "B1048576", "XFD1", "B90000"
    changed(path, lambda sheet: [setattr(sheet[place], "fill", YELLOW) for place in places])
    assert rows_of(path) == [{"리뷰": "좋다", "n": 1}]


def test_a_damaged_or_protected_workbook_is_refused(written, rows_of):
    rows = [["리뷰"], ["좋다"]]
    for part in ("xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/_rels/workbook.xml.rels"):
        for change in (lambda content: content[: len(content) // 2], lambda _: b"", lambda _: b"<a>&b;</a>"):
            with pytest.raises(DataError, match="a.xlsx: (not a readable xlsx|expected a sheet|the file is empty)"):
                rows_of(with_part(written("a.xlsx", rows), part, change))
    with pytest.raises(DataError, match="a.xlsx: .*(save it|password)"):
        rows_of(written("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000)))


def test_a_new_workbook_computes_nothing_and_reads_back(tmp_path):
    cells = ["=1+1", "'=1", "#N/A", "+1-2", "", "종\a😀", "1.5", 1.5, 7, True, None, datetime.date(2024, 3, 1), 10**20]
    with open(tmp_path / "a.xlsx", "wb") as file, new_workbook(file, as_cell) as append:
        append(names := [f"c{number}" for number in range(len(cells))])
        append(cells)
        with pytest.raises(DataError, match="xlsx row 3: expected at most 32,767 characters in a cell, found 32,768"):
            append(["가" * 32_768])
    (part,) = open_table(tmp_path / "a.xlsx", "c5").parts
    cells[4], cells[5], cells[-1] = None, "종\ufffd😀", str(10**20)
    assert part == {name: [cell] for name, cell in zip(names, cells)}
    found = list(openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(min_row=2))[0]
    assert not [cell for cell in found if cell.data_type in "fe"]
    assert [cell.quotePrefix for cell in found[:4]] == [True, True, False, True]


@pytest.fixture
def styled(written):
    """The path of a workbook of two sheets with what openpyxl keeps."""
    rows = [["리뷰", "별점", "두 배"], ["정말 재미있다", 5, "=B2*2"], [], [None, 3, None], ["별로", 1, None]]

    def style(sheet):
        sheet["A1"].fill, sheet["A2"].comment, sheet.column_dimensions["A"].width = YELLOW, Comment("확인", "나"), 60
        sheet["A5"].hyperlink, sheet.freeze_panes, sheet.auto_filter.ref = "https://example.com/1", "A2", "A1:C5"
        sheet.merge_cells("A8:G8")
        sheet.add_table(Table(displayName="Reviews", ref="A1:C5"))

    return changed(written("in.xlsx", {"리뷰": rows, "합계": [["=SUM(리뷰!B2:B5)"]]}), style)


def test_the_output_columns_are_added_to_the_workbook_itself(classifier, styled):
    score_table(classifier, styled, styled)
    rows, names = cells_of(styled), [*classifier.types]
    # right of what is merged
    assert [row[:3] for row in rows[:2]] == [["리뷰", "별점", "두 배"], ["정말 재미있다", 5, "=B2*2"]]
    assert rows[0][7:] == names and rows[2] == [None] * 11 and rows[3][7:] == [*[None] * 3, "blank: no word to score"]
    assert rows[1][7] in ("positive", "negative") and isinstance(rows[1][8], float)
    sheet = openpyxl.load_workbook(styled).active
    assert sheet["A2"].comment.text == "확인" and sheet["A5"].hyperlink.target == "https://example.com/1"
    assert sheet["A1"].fill.fgColor.rgb == "00FFFF00" and sheet.column_dimensions["A"].width == 60
    assert (sheet.freeze_panes, sheet.auto_filter.ref, sheet.tables["Reviews"].ref) == ("A2", "A1:C5", "A1:C5")
    assert cells_of(styled, "합계") == [["=SUM(리뷰!B2:B5)"]] and "A8:G8" in map(str, sheet.merged_cells.ranges)
    score_table(classifier, styled, styled)
    assert cells_of(styled)[0][11:] == [f"predicted_{name}" for name in names]


def test_another_sheet_of_the_workbook_may_be_scored(classifier, written):
    path = written("a.xlsx", {"3월": [["리뷰"], ["3월"]], "4월": [["고객 조사"], [], ["번호", "리뷰"], [1, "4월"]]})
    (link := path.with_name("link.xlsx")).symlink_to(path)
    score_table(classifier, Texts(path, sheet="4월"), link)
    rows = cells_of(path, "4월")
    assert cells_of(path, "3월") == [["리뷰"], ["3월"]]
    assert rows[0][2] is None and rows[2][1:3] == ["리뷰", "label"] and rows[3][2] in ("positive", "negative")


def test_results_are_text_and_keep_their_rows(written):
    path = written("a.xlsx", [["3월", None, "내부용"], [], ["리뷰"], ["정말 재미있다"], [], ["별로"]])
    out = io.BytesIO()
    with kept_workbook(find_source(path), out, ["label", "score"]) as write:
        write([4, 5], [("=1+1\r\0<&>", 1 / 3), ("x", 0.5)])
        write([6], [("나", None)])
    sheet = openpyxl.load_workbook(out).active
    assert [[sheet.cell(row, column).value for column in (4, 5)] for row in range(1, 7)] == [
        *([None, None], [None, None], ["label", "score"], ["=1+1\r\ufffd<&>", 0.333333], [None, None], ["나", None])
    ]
    assert sheet["D4"].data_type == "s"


def test_a_workbook_that_cannot_be_kept_is_not_replaced(classifier, styled, tmp_path, capsys):
    before = with_part(styled, "xl/charts/chart1.xml", lambda _: b"<c:chartSpace/>").read_bytes()
    for style, message in ((None, "has charts, which would be lost; name"), ("csv", "would lose its formats, writ")):
        with pytest.raises(DataError, match=f"in.xlsx: the workbook {message}"):
            score_table(classifier, styled, styled, style=style)
    assert styled.read_bytes() == before
    score_table(classifier, styled, tmp_path / "out.xlsx")
    assert "in.xlsx: has charts, which would be lost; a new workbook has the values alone" in capsys.readouterr().err
    assert cells_of(tmp_path / "out.xlsx")[0][:4] == ["리뷰", "별점", "두 배", "label"]
