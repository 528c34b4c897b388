"""Encodings, delimiters and workbooks as Korean offices have them: what is read is the same."""

import datetime
import errno
import gc
import io
import pickle
import re
import sys
import tracemalloc
import zipfile

import openpyxl
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.tables import labelled, sources, tables
from nsmc_attention.tables.sources import delimiter_of, find_source, size_of
from nsmc_attention.tables.xlsx import numbered_rows, written_sheet

ROWS = [
    {"영화": "가", "리뷰": "정말 재미있는 영화, 최고; 정말로", "평점": "10"},
    {"영화": "나", "리뷰": "지루하고\t돈이\n아까워요", "평점": "1"},
    {"영화": "다", "리뷰": '"별로" 였어요', "평점": ""},
]
OFFICE = [(encoding, ",") for encoding in ("utf-8", "utf-8-sig", "cp949", "utf-16")]
OFFICE += [("utf-8", ";"), ("utf-8", "\t"), ("cp949", ";"), ("utf-16", "\t")]
offices = pytest.mark.parametrize("office", OFFICE)


def write(folder, encoding, delimiter, rows=ROWS, name="reviews.csv"):
    text = pandas.DataFrame(rows).to_csv(index=False, sep=delimiter)
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


def rows_of(path, **options):
    return records(tables.open_table(path, **options).parts)


def records(parts):
    return [dict(zip(part, row)) for part in parts for row in zip(*part.values())]


@offices
@pytest.mark.parametrize("rows", [1, 2])
def test_spans_of_bytes_have_the_same_rows_in_every_encoding(tmp_path, office, rows):
    source = pickle.loads(pickle.dumps(find_source(write(tmp_path, *office))))
    cuts = list(tables.spans(source, rows))
    found = [row for span in cuts for row in records(tables.parts_of(source, span=span))]
    assert found == ROWS and len(cuts) == -(-len(ROWS) // rows)
    assert cuts[-1].end == source.path.stat().st_size


@offices
def test_a_csv_of_any_office_has_the_same_rows_also_as_a_stream(tmp_path, monkeypatch, office):
    path = write(tmp_path, *office)
    assert rows_of(path) == ROWS
    with open(path, encoding="latin-1") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert rows_of("-", kind="csv") == ROWS


def test_what_is_read_otherwise_than_the_name_promises_is_said_once(tmp_path, capsys):
    path = write(tmp_path, "cp949", ";")
    for _ in range(2):
        rows_of(path)
    assert capsys.readouterr().err == f"{path}: read as CP949, semicolon-separated\n"
    rows_of(write(tmp_path, "utf-8-sig", ",", name="usual.csv"))
    rows_of(write(tmp_path, "cp949", ",", name="named.csv"), encoding="euc-kr")
    assert capsys.readouterr().err == ""


def test_a_byte_beyond_ascii_may_come_late_and_takes_no_memory(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\n" * 400_000 + "좋다\n".encode("cp949"))
    tracemalloc.start()
    assert find_source(path).encoding == "cp949"
    assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    tracemalloc.stop()
    path.write_bytes(b"good\n" * 100_000 + "좋다\n".encode("cp949"))
    with open(path, encoding="latin-1") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert list(sources.source_lines(find_source("-", "lines")))[-2:] == ["good", "좋다"]


@pytest.mark.parametrize("codec, encoding", [("cp949", "utf-8"), ("utf-8", "cp949"), ("utf-16", "utf-8")])
def test_an_encoding_that_is_named_wrongly_is_refused_with_the_line(tmp_path, codec, encoding):
    with pytest.raises(DataError, match=f"line 1: expected {encoding.upper()} text, found byte 0x.*--encoding"):
        find_source(write(tmp_path, codec, ","), encoding=encoding)
    with pytest.raises(ConfigError, match="--encoding: unknown encoding 'utf-9'; did you mean 'utf-8'"):
        find_source(tmp_path / "reviews.csv", encoding="utf-9")


def test_a_damaged_stream_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "in").write_bytes("좋다\n".encode() * 200_000 + b"\xff")
    with open(tmp_path / "in", encoding="latin-1") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(DataError, match="stdin: expected UTF-8 text, found byte 0xff"):
            list(sources.source_lines(find_source("-", "lines")))


def test_every_character_of_cp949_has_one_length():
    """Spans of bytes are counted from decoded text."""
    for lead in range(0x81, 0xFF):
        for trail in range(0x41, 0xFF):
            pair = bytes((lead, trail))
            try:
                text = pair.decode("cp949")
            except UnicodeDecodeError:
                continue
            assert size_of(text, "cp949") == 2


@given(st.lists(st.lists(st.text("가a,;\t\"\n'", max_size=5), min_size=3, max_size=3), min_size=1, max_size=6))
@settings(max_examples=25, deadline=None)
def test_fields_never_hide_the_delimiter(cells):
    for delimiter in sources.DELIMITERS:
        text = pandas.DataFrame(cells, columns=["영화", "리뷰", "평점"]).to_csv(index=False, sep=delimiter)
        assert delimiter_of(text, True) == delimiter


@pytest.mark.parametrize(
    "text, delimiter",
    [
        ("document\n좋다; 정말\n별로, 그냥\n", ","),
        ("리뷰;평점\n좋다, 정말;5\n별로;1\n", ";"),
        ("a,b;c\n1,2;3\n", ","),
        ("리뷰\t평점\n깨진 행\n", "\t"),
        *(('a;b\n"열린', ";"), ("", ",")),
    ],
)
def test_the_delimiter_is_the_one_by_which_rows_agree(text, delimiter):
    assert delimiter_of(text, True) == delimiter


@pytest.fixture
def workbook(tmp_path):
    """Return a function that writes rows as the only sheet of reviews.xlsx."""

    def make(*rows):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / "reviews.xlsx")
        return tmp_path / "reviews.xlsx"

    return make


def test_a_workbook_keeps_numbers_and_dates(workbook):
    day, time = datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 1, 12, 30)
    path = workbook(
        [None, None],
        ["리뷰", "평점", "날짜", "때", None, "x"],
        ["좋다", 5, day, time, 0.1 + 0.2],
        [],
        ["별로", 1.5, day, day],
    )
    assert rows_of(path) == [
        {"리뷰": "좋다", "평점": 5, "날짜": day.date(), "때": time, "column E": 0.3, "x": None},
        dict.fromkeys(["리뷰", "평점", "날짜", "때", "column E", "x"]),
        {"리뷰": "별로", "평점": 1.5, "날짜": day.date(), "때": day, "column E": None, "x": None},
    ]


def test_a_workbook_without_a_header_is_refused(workbook):
    for rows, message in ([["리뷰"], ["좋다", 1, 2]], "row 2: expected 1 cells as in the header"), ([], "is empty"):
        with pytest.raises(DataError, match=f"reviews.xlsx.*{message}"):
            rows_of(workbook(*rows))


def test_a_hidden_first_sheet_is_not_the_table(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["설정"])
    book.active.sheet_state = "hidden"
    book.create_sheet("리뷰").append(["리뷰"])
    book.worksheets[1].append(["좋다"])
    book.save(tmp_path / "a.xlsx")
    assert rows_of(tmp_path / "a.xlsx") == [{"리뷰": "좋다"}]


@pytest.fixture
def two_sheets(tmp_path):
    """The path of a workbook of the sheets 3월 and 4월, and a chart."""
    book = openpyxl.Workbook()
    book.active.title = "3월"
    for sheet, text in ((book.active, "좋다"), (book.create_sheet("4월"), "별로")):
        sheet.append(["리뷰", "label"])
        sheet.append([text, int(text == "좋다")])
    book.create_chartsheet("차트")
    book.save(tmp_path / "two.xlsx")
    return tmp_path / "two.xlsx"


def test_which_sheet_is_read_is_said_and_another_can_be_named(two_sheets, capsys):
    assert rows_of(two_sheets) == [{"리뷰": "좋다", "label": 1}]
    assert capsys.readouterr().err == f"{two_sheets}: read as sheet '3월', not '4월', '차트'; name one by --sheet\n"
    assert rows_of(two_sheets, sheet="4월") == [{"리뷰": "별로", "label": 0}]
    assert labelled.load_reviews(two_sheets, sheet="4월").columns["sheet"] == "4월"
    assert capsys.readouterr().err == ""


def test_a_sheet_that_is_not_there_is_refused_with_those_that_are(two_sheets):
    with pytest.raises(DataError, match=r"two.xlsx: expected a sheet '4웓', found 3월, 4월.*name one by sheet \(--sh"):
        rows_of(two_sheets, sheet="4웓")
    for source in (write(two_sheets.parent, "utf-8", ","), "nsmc"):
        with pytest.raises(ConfigError, match="leave (--sheet|it) out"):
            labelled.load_reviews(source, "train", sheet="4월")


def test_a_workbook_from_a_stream_is_read_as_its_file_is(two_sheets, monkeypatch):
    with open(two_sheets, encoding="latin-1") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert rows_of("-", kind="xlsx", sheet="4월") == [{"리뷰": "별로", "label": 0}]


@pytest.mark.parametrize("kind", ["xlsx", "parquet"])
def test_an_endless_stream_is_one_line(kind, monkeypatch):
    monkeypatch.setattr(sources, "STREAM", 2**20)
    with pytest.raises(DataError, match="/dev/zero: expected at most 1,048,576 bytes from a stream, found more"):
        rows_of("/dev/zero", kind=kind)


def write_rows(path, rows):
    with open(path, "wb") as file, written_sheet(file) as append:
        for row in rows:
            append(row)


def test_a_written_workbook_computes_nothing_and_reads_back(tmp_path):
    cells = ["=1+1", "'=1", "#N/A", "+1-2", "", "두\n줄", "1.5", 1.5, 7, True, None, datetime.date(2024, 3, 1), 10**20]
    names = [f"c{number}" for number in range(len(cells))]
    write_rows(tmp_path / "a.xlsx", [names, cells])
    header, row = (cells for _, cells in numbered_rows(find_source(tmp_path / "a.xlsx"), []))
    expected = [cell if cell != "" else None for cell in cells]
    expected[-2:] = [datetime.datetime(2024, 3, 1), str(10**20)]
    assert header == names and row == expected
    written = list(openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(min_row=2))[0]
    assert not [cell for cell in written if cell.data_type in "fe"]
    assert [cell.quotePrefix for cell in written[:4]] == [True, True, False, True]


def change_part(path, part, change, name="", method=zipfile.ZIP_DEFLATED):
    """Write a workbook with another content, name or compression of a part."""
    with zipfile.ZipFile(path) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    content = change(parts.pop(part))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, found in parts.items():
            archive.writestr(each, found.replace(part.encode(), (name or part).encode()))
        archive.writestr(name or part, content, method)
    return path


def test_a_formula_that_was_never_computed_is_refused_with_its_cell(workbook):
    path = workbook(["리뷰", "n"], ["좋다", 1], ["별로", "=B2+1"])
    with pytest.raises(DataError, match="reviews.xlsx cell B3: expected a value, found a formula .*; save it again"):
        rows_of(path)
    computed = b'<c r="B3" t="str"><f>T(0)</f><v></v></c>'
    change_part(path, "xl/worksheets/sheet1.xml", lambda sheet: re.sub(b'<c r="B3".*?</c>', computed, sheet))
    assert rows_of(path) == [{"리뷰": "좋다", "n": 1}, {"리뷰": "별로", "n": None}]


@pytest.mark.parametrize(("number", "found"), [("1", "좋다"), ("-1", None), ("2", None), ("1.0", None), ("x", None)])
def test_a_cell_with_the_number_of_no_text_is_refused(number, found, workbook):
    path = workbook(["document"], ["별로"])
    change_part(path, "xl/worksheets/sheet1.xml", lambda sheet: shared_cells(sheet, number))
    shared = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{shared}"/></Types>'.encode()
    change_part(path, "[Content_Types].xml", lambda types: types.replace(b"</Types>", override))
    with zipfile.ZipFile(path, "a") as archive:
        texts = "".join(f"<si><t>{text}</t></si>" for text in ("document", "좋다"))
        namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{namespace}">{texts}</sst>')
    if found:
        assert rows_of(path) == [{"document": found}]
        return
    with pytest.raises(DataError, match=f"cell A2: expected the number of one of 2 shared texts, found '{number}'"):
        rows_of(path)


def shared_cells(sheet, number):
    """Return a sheet whose two cells are numbers of shared texts, as Excel writes them."""
    cells = iter(["0", number])
    return re.sub(rb'(<c r="[^"]+").*?</c>', lambda cell: cell[1] + f' t="s"><v>{next(cells)}</v></c>'.encode(), sheet)


def test_text_that_excel_does_not_take_is_refused_or_replaced(tmp_path):
    with pytest.raises(DataError, match="xlsx row 2: expected at most 32,767 characters in a cell, found 32,768"):
        write_rows(tmp_path / "a.xlsx", [["리뷰"], ["가" * 32_768]])
    write_rows(tmp_path / "a.xlsx", [["리뷰"], ["종\a소리\ud800"]])
    assert rows_of(tmp_path / "a.xlsx") == [{"리뷰": "종\ufffd소리\ufffd"}]


def test_a_small_workbook_that_unpacks_to_much_is_refused(workbook):
    def refuse(message, part, content, name=None, method=zipfile.ZIP_DEFLATED):
        """Expect an error for a workbook of which a part has other content, another name or another compression."""
        path = change_part(workbook(["리뷰"], ["좋다"]), part, lambda _: content, name or part, method)
        with pytest.raises(DataError, match=f"reviews.xlsx: {message}"):
            rows_of(path)

    sheet, cells = "xl/worksheets/sheet1.xml", b"<c/>" * 2**19
    for name in (sheet, "xl/worksheets/sheet1.bin", "other/strings"):
        row = b'<worksheet><sheetData><row r="1">' + cells + b"<c/></row></sheetData></worksheet>"
        refuse("expected at most 2,097,152 bytes in a row", sheet, row, name)
    refuse("expected no XML comments", sheet, b"<sheetData><row>" + b"<c/><!--row>-->" * 10 + b"</row></sheetData>")
    refuse("expected at most 4,194,304 rows, none within", sheet, b"<row>" + b"<c/><row></row>" * 10 + b"</row>")
    styles = b"<styleSheet>" + b"<xf/>" * 2**20 + b"</styleSheet>"
    refuse("expected at most 1,048,576 bytes in xl/styles.xml", "xl/styles.xml", styles)
    refuse("expected at most 536,870,912 bytes, stored or deflated", sheet, b"", method=zipfile.ZIP_LZMA)
    refuse("not a readable xlsx file", "xl/workbook.xml", b"<workbook")


@pytest.mark.parametrize("names", [("부정", "긍정"), ("0", "1"), ("fun", "dull")])
def test_labels_in_words_are_those_in_numbers(tmp_path, names):
    rows = [{"리뷰": text, "label": names[number]} for text, number in (("별로", 0), ("좋다", 1), ("최고", 1))]
    path = write(tmp_path, "cp949", ";", rows)
    reviews = labelled.load_reviews(path, positive="dull" if "dull" in names else None)
    assert reviews.labels.tolist() == [0, 1, 1] and reviews.columns["text"] == "리뷰"


def test_labelled_reviews_are_read_as_the_kind_that_is_named(tmp_path):
    (tmp_path / "reviews.txt").write_text("document,label\n최고,1\n별로,0\n", encoding="utf-8")
    assert labelled.load_reviews(tmp_path / "reviews.txt", kind="csv").documents == ["최고", "별로"]


def test_a_full_disk_is_one_error_of_a_workbook(monkeypatch):
    class Full(io.BytesIO):
        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    with pytest.raises(OSError, match="No space left"), written_sheet(Full()) as append:
        append(["리뷰"])
    gc.collect()
    assert not said, "nothing is said when the archive is collected"
