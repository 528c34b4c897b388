import io
import re
import zipfile

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import PatternFill
from openpyxl.worksheet.table import Table

from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.inference import workbooks
from nsmc_attention.inference.scored_rows import ScoredRows
from nsmc_attention.inference.scoring import score_table
from nsmc_attention.inference.workbooks import Splice, kept_workbook
from nsmc_attention.tables.data import Texts
from nsmc_attention.tables.source import find_source

TYPES = {"label": "string", "score": "double", "error": "string"}
SHEET1 = "xl/worksheets/sheet1.xml"
# a formula that no program has computed, and the same with its value
COMPUTED = rb"<f>B2\*2</f><v[^>]*>(</v>)?", rb"<f>B2*2</f><v>10</v>"
YELLOW = PatternFill("solid", fgColor="FFFF00")


@pytest.fixture(scope="module")
def classifier(bundle_folder):
    return load_classifier(bundle_folder)


@pytest.fixture
def path(tmp_path):
    """A workbook of two sheets with all that people put into one."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "리뷰"
    for row in (["리뷰", "별점", "두 배"], ["정말 재미있다", 5, "=B2*2"], [], [None, 3, None], ["별로", 1, None]):
        sheet.append(row)
    sheet["A1"].fill = sheet["C1"].fill = sheet["D5"].fill = YELLOW
    sheet["A2"].comment = Comment("확인", "나")
    sheet["A5"].hyperlink = "https://example.com/1"
    sheet.column_dimensions["A"].width = 60
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = "A1:C5"
    sheet.merge_cells("A8:G8")
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=5))
    sheet.add_chart(chart, "J2")
    other = book.create_sheet("합계")
    other["A1"] = "=SUM(리뷰!B2:B5)"
    book.save(tmp_path / "in.xlsx")
    changed(tmp_path / "in.xlsx", SHEET1, *COMPUTED)
    return tmp_path / "in.xlsx"


def changed(path, name, old, new, **parts):
    """Replace what a pattern finds in a workbook's part, and add parts."""
    with zipfile.ZipFile(path) as book:
        content = {each: book.read(each) for each in book.namelist()}
    content[name], found = re.subn(old, new, content[name])
    assert found == 1
    with zipfile.ZipFile(path, "w") as book:
        for each, data in {**content, **parts}.items():
            book.writestr(each, data)


def parts_of(path):
    with zipfile.ZipFile(path) as book:
        return {name: book.read(name) for name in book.namelist()}


def rows_of(path, sheet=None):
    book = openpyxl.load_workbook(path)
    return [list(row) for row in (book[sheet] if sheet else book.active).iter_rows(values_only=True)]


def test_the_output_columns_are_added_to_the_workbook_itself(classifier, path):
    before = parts_of(path)
    score_table(classifier, path, path)
    after = parts_of(path)
    assert list(after) == list(before) and [name for name in before if after[name] != before[name]] == [SHEET1]
    # nothing but new cells and the dimension
    old, new = (re.sub(rb'<c r="[D-G][1-5]"[^>]*?(/>|>.*?</c>)', b"", parts[SHEET1]) for parts in (before, after))
    assert old == new
    rows = rows_of(path)
    assert rows[0] == ["리뷰", "별점", "두 배", "label", "score", "probability", "error"]
    assert rows[1][:3] == ["정말 재미있다", 5, "=B2*2"] and rows[1][3] in ("positive", "negative")
    assert rows[2] == [None] * 7
    assert rows[3] == [None, 3, None, None, None, None, "blank: no word to score"]
    assert rows[4][0] == "별로" and rows[4][3] in ("positive", "negative")
    sheet = openpyxl.load_workbook(path).active
    assert [sheet[cell].fill.fill_type for cell in ("D1", "D5", "E5")] == ["solid", "solid", None]
    assert sheet.dimensions == "A1:G8" and sheet.auto_filter.ref == "A1:C5" and sheet.freeze_panes == "A2"


def test_columns_are_right_of_labels_and_of_all_that_is_there(classifier, path, tmp_path):
    score_table(classifier, path, path)
    score_table(classifier, path, path)
    assert rows_of(path)[0][3:] == [f"{prefix}{name}" for prefix in ("", "predicted_") for name in classifier.types]
    # cells that are merged with others hide these
    book = openpyxl.load_workbook(path)
    book.active.merge_cells("L1:M2")
    book.save(tmp_path / "merged.xlsx")
    changed(tmp_path / "merged.xlsx", SHEET1, *COMPUTED)
    score_table(classifier, tmp_path / "merged.xlsx", tmp_path / "merged.xlsx")
    assert rows_of(tmp_path / "merged.xlsx")[0][13] == "predicted_predicted_label"


def test_another_sheet_of_the_workbook_may_be_scored(classifier, tmp_path):
    book = openpyxl.Workbook()
    for name in ("3월", "4월"):
        sheet = book.create_sheet(name)
        sheet.append(["리뷰"])
        sheet.append([name])
    book.save(tmp_path / "a.xlsx")
    score_table(classifier, Texts(tmp_path / "a.xlsx", sheet="4월"), tmp_path / "a.xlsx")
    assert rows_of(tmp_path / "a.xlsx", "3월") == [["리뷰"], ["3월"]]
    assert rows_of(tmp_path / "a.xlsx", "4월")[0][:2] == ["리뷰", "label"]


def test_a_table_of_excel_still_opens(classifier, tmp_path):
    book = openpyxl.Workbook()
    for row in (["review", "n"], ["좋다", 1], ["별로", 2]):
        book.active.append(row)
    book.active.add_table(Table(displayName="Reviews", ref="A1:B3"))
    book.save(tmp_path / "a.xlsx")
    score_table(classifier, tmp_path / "a.xlsx", tmp_path / "a.xlsx")
    assert openpyxl.load_workbook(tmp_path / "a.xlsx").active.tables["Reviews"].ref == "A1:B3"
    assert rows_of(tmp_path / "a.xlsx")[0][2:] == list(classifier.types)


def test_macros_stay_where_the_name_says_that_there_are_some(classifier, path, tmp_path):
    with_macros = tmp_path / "a.xlsm"
    with_macros.write_bytes(path.read_bytes())
    kind = b"openxmlformats-officedocument.spreadsheetml.sheet.main[+]xml"
    macro_kind = b"vnd.ms-excel.sheet.macroEnabled.main+xml"
    changed(with_macros, "[Content_Types].xml", b"vnd." + kind, macro_kind, macros=b"\1\2")
    score_table(classifier, with_macros, with_macros)
    assert parts_of(with_macros)["macros"] == b"\1\2" and "label" in rows_of(with_macros)[0]
    with pytest.raises(ConfigError, match="out.xlsx: .*a.xlsm has macros; name an --output with .xlsm"):
        score_table(classifier, with_macros, tmp_path / "out.xlsx")
    with pytest.raises(ConfigError, match="out.xlsm: .*in.xlsx has no macros; name an --output with .xlsx"):
        score_table(classifier, path, tmp_path / "out.xlsm")
    (tmp_path / "a.csv").write_text("review\n좋다\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="out.xlsm: .*a.csv has no macros; name an --output with .xlsx"):
        score_table(classifier, tmp_path / "a.csv", tmp_path / "out.xlsm")
    assert not list(tmp_path.glob("out*"))


def test_a_workbook_that_cannot_be_kept_is_not_replaced(classifier, path, tmp_path, capsys):
    changed(path, "[Content_Types].xml", b"</Types>", b"</Types>", **{"_xmlsignatures/sig1.xml": b"<Signature/>"})
    before = path.read_bytes()
    with pytest.raises(DataError, match="in.xlsx: the workbook is signed, and .* name another --output"):
        score_table(classifier, path, path)
    score_table(classifier, path, tmp_path / "out.xlsx")
    assert "formats and other sheets are left out" in capsys.readouterr().err
    assert rows_of(tmp_path / "out.xlsx")[0][:4] == ["리뷰", "별점", "두 배", "label"]
    with pytest.raises(DataError, match="in.xlsx: the workbook would lose its formats, written as csv"):
        score_table(classifier, path, path, style="csv")
    assert path.read_bytes() == before


def test_rows_other_than_those_that_were_scored_are_refused(path):
    source, names = find_source(path), ["리뷰", "별점", "두 배"]
    for texts in (["정말 재미있다", "", "다른"], ["별로"] * 9):
        kept = kept_workbook(source, "리뷰", io.BytesIO(), names, TYPES)
        with pytest.raises(DataError, match="rows that were scored"), kept as write:
            write(ScoredRows({"리뷰": texts}, texts, [("positive", 1.0, None)] * len(texts)))


def test_a_part_that_begins_before_the_file_does_is_refused(classifier, path, tmp_path):
    path.write_bytes(path.read_bytes()[7:])
    with pytest.raises(DataError, match="in.xlsx: not a readable xlsx file: docProps/app.xml: it begins before"):
        score_table(classifier, path, tmp_path / "out.xlsx")


def test_rows_above_the_header_stay_above(path, tmp_path):
    book = openpyxl.load_workbook(path)
    book.active.insert_rows(1, 2)
    book.active["A1"], book.active["Z1"] = "3월의 리뷰", "내부용"
    book.save(tmp_path / "a.xlsx")
    texts = ["정말 재미있다", "", "", "별로"]
    changed(tmp_path / "a.xlsx", SHEET1, *COMPUTED)
    with open(tmp_path / "b.xlsx", "wb") as file:
        source, names = find_source(tmp_path / "a.xlsx"), ["리뷰", "별점", "두 배"]
        with kept_workbook(source, "리뷰", file, names, TYPES) as write:
            for place, text in enumerate(texts):
                write(ScoredRows({"리뷰": [text]}, [text], [("=1+1\r\0<&>", place / 3, None)]))
    rows = rows_of(tmp_path / "b.xlsx")
    assert rows[0][25] == "내부용" and rows[0][3] is None and rows[2][3:6] == ["label", "score", "error"]
    assert rows[6][0] == "별로" and rows[6][4] == 1 and rows[4][3] is None
    # text, not a formula
    cell = openpyxl.load_workbook(tmp_path / "b.xlsx").active["D4"]
    assert (cell.value, cell.data_type) == ("=1+1\r\ufffd<&>", "s")


SHEET = """<?xml version="1.0"?><x:worksheet xmlns:x="urn:x" xmlns:b="urn:b"><x:dimension ref='A1'/><x:sheetData>
<x:row spans="1:2" ht=">"><x:c><x:v>1</x:v></x:c></x:row><x:row/><x:row r="4"><x:c r="A4"><x:f>A1</x:f></x:c> <x:c r="C4" s="7"/>
<x:c s="8"></x:c><x:c r="F4" s="9"/></x:row><x:row r='5' b:spans="가"></x:row></x:sheetData><x:ext>&lt;x:row&gt;</x:ext></x:worksheet>"""
SPLICED = """<?xml version="1.0"?><x:worksheet xmlns:x="urn:x" xmlns:b="urn:b"><x:dimension ref='A1:D1'/><x:sheetData>
<x:row ht=">"><x:c><x:v>1</x:v></x:c><x:c r="C1" s="2" t="inlineStr"><x:is><x:t xml:space="preserve">&#44032;</x:t></x:is></x:c></x:row>\
<x:row/><x:row r="4"><x:c r="A4"><x:f>A1</x:f></x:c> <x:c r="C4" s="7"><x:v>0.5</x:v></x:c><x:c s="8"></x:c>\
<x:c r="F4" s="9"/></x:row><x:row r='5' b:spans="가"></x:row></x:sheetData><x:ext>&lt;x:row&gt;</x:ext></x:worksheet>"""


@given(st.integers(1, 500))
def test_cells_are_spliced_in_wherever_the_xml_is_cut(size):
    out = io.BytesIO()
    rows = iter([(1, [(3, "가"), (4, None)]), (4, [(3, 0.5), (4, None)])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workbooks, "READ", size)
        Splice(io.BytesIO(SHEET.encode()), out, rows, header=1, style="2").run("a.xlsx")
    assert out.getvalue().decode() == SPLICED
