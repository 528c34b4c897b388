"""The rows of a table: the same of every kind, whole, in parts and as a stream; what is none is refused."""

import gzip
import io
import itertools
import json
import os
import pickle
import sys
import threading
import tracemalloc

import numpy
import pandas
import pyarrow
import pyarrow.parquet
import pytest

from nsmc_attention.corpora.data import columns_of
from nsmc_attention.corpora.labelled import load_reviews
from nsmc_attention.errors import DataError
from nsmc_attention.tables.parts import PART_BYTES, as_text
from nsmc_attention.tables.rows import parts_of
from nsmc_attention.tables.source import find_source
from nsmc_attention.tables.table import open_table

ROWS = [
    {"document": '"따옴표", 쉼표; \t탭', "film": "A", "label": "1"},
    {"document": "NA", "film": "", "label": "0"},
    {"document": "두 줄\n리뷰", "film": "003", "label": "1"},
]
FRAME = pandas.DataFrame(ROWS)
REVIEWS = [{"id": "1", "review": "정말 재밌다"}, {"id": "2", "review": "별로였다"}]


def in_kind(kind):
    """Return ROWS as a file of a kind."""
    if kind == "parquet":
        return FRAME.to_parquet()
    if kind == "xlsx":
        FRAME.to_excel(file := io.BytesIO(), index=False)
        return file.getvalue()
    if kind in ("json", "jsonl"):
        return FRAME.to_json(orient="records", lines=kind == "jsonl", force_ascii=False).encode()
    return FRAME.to_csv(index=False, sep="," if kind == "csv" else "\t").encode()


def records(parts):
    """Return the numbers and the rows of parts, without the columns that a row lacks."""
    return [
        (number, {name: cell for name, cell in zip(part, row) if cell is not None})
        for part in parts
        for number, row in zip(part.numbers, zip(*part.values()))
    ]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet", "xlsx"])
def test_every_kind_gives_the_same_rows_untouched_also_from_a_pipe_and_stdin(written, tmp_path, stdin, kind):
    def texts(path, **options):
        parts = open_table(path, rows=2, **options).parts
        return [{name: as_text(cell) for name, cell in row.items()} for _, row in records(parts)]

    expected = [{**ROWS[0]}, {"document": "NA", **({} if kind == "xlsx" else {"film": ""}), "label": "0"}, ROWS[2]]
    path = written(f"table.{kind}", in_kind(kind))
    assert texts(path) == expected
    reviews = load_reviews(path)
    assert reviews.labels.tolist() == [1, 0, 1] and reviews.name == f"table.{kind}"
    assert columns_of(path, ["film", "label"])[1:] == [["A", "", "003"], ["1", "0", "1"]]
    # as <(zcat reviews.csv.gz) of a shell is one
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[in_kind(kind)])
    writer.start()
    assert texts(tmp_path / "pipe", kind=kind) == expected
    writer.join()
    stdin(in_kind(kind))
    assert texts("-", kind=kind) == expected
    with pytest.raises(DataError, match="is a folder"):
        open_table(tmp_path, kind=kind)


IN_PARTS = {
    "a.csv": '제목\n\n리뷰,평점\n"정말, 좋다",5\n"두\r\n줄 ""명작""",1\n\n리뷰,평점\n\n별로; 다,3\n\n\n',
    "semicolon.csv": '리뷰;평점\n좋다, 정말;5\r\n"두\n줄;";1\r\n',
    "headerless.csv": "5,배우 연기가 참 좋았어요\n1,지루해서 중간에 나왔다\n",
    "a.tsv": '리뷰\t평점\n"두\n\t줄"\t5\n좋다\t1\n',
    "letters.tsv": '리뷰\t평점\n"최고라더니\t5\n좋다"\t1\n',
    "nsmc.tsv": 'id\tdocument\tlabel\n1\t"열린\t1\n2\t\t0\n3\t좋다\t1\n',
    "a.jsonl": '\n{"review": "가"}\n\n \n{"review": "나", "n": 1}\n{"review": "\\ud55c\\n글"}\n\n',
    "a.txt": '첫째\n\n셋째, "열린\r\n넷째',
    "none.csv": "리뷰,평점\n",
}


@pytest.mark.parametrize("name", IN_PARTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
def test_parts_and_a_stream_have_the_rows_of_the_whole_and_their_numbers(written, stdin, name, encoding):
    path = written(name, IN_PARTS[name].encode(encoding))
    source = pickle.loads(pickle.dumps(find_source(path)))
    whole = records(parts_of(source))
    for rows in (2, 100):
        parts = pickle.loads(pickle.dumps(list(parts_of(source, rows))))
        assert records(parts) == whole
    stdin(path.read_bytes())
    assert records(parts_of(find_source("-", source.kind if source.kind != "nsmc" else "tsv"))) == whole
    assert records(parts_of(find_source(written(f"{name}.gz", gzip.compress(path.read_bytes()))))) == whole


@pytest.mark.parametrize(
    "name, content, numbers",
    [
        ("a.csv", "document\n가\n\n나\n\n\n", [2, 3, 4]),
        ("a.csv", '\ndocument,film\n가,"A\n\nB"\n\n나,B\n\n \n', [3, 4, 5]),
        ("a.csv", "document,film\n가,A\n,합계\n나,B\n", [2, 3, 4]),
        ("a.tsv", "document\tfilm\n가\tA\n\n나\tB\n\n", [2, 3, 4]),
        ("a.xlsx", [["document", "film"], ["가", "A\nB"], [], ["나", "B"], []], [2, 3, 4]),
        ("a.xlsx", [[], ["document", "film"], ["가", 5], [None, "합계"], ["나", 7]], [3, 4, 5]),
        ("a.txt", "\ufeff가\n\n나", [1, 2, 3]),
    ],
)
def test_a_blank_text_keeps_its_place_but_at_the_end_and_rows_have_numbers_of_excel(written, name, content, numbers):
    parts = list(open_table(written(name, content)).parts)
    assert [as_text(cell) for part in parts for cell in part["document"]] == ["가", "", "나"]
    assert [number for part in parts for number in part.numbers] == numbers


def test_a_total_stays_the_last_row(written, rows_of):
    rows = [["영화", "리뷰", "평점"], ["가", "정말 좋다", 5], ["나", "별로다", 2], ["합계", None, 7]]
    text = "".join(",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)
    for path in (written("a.csv", text), written("a.xlsx", rows)):
        assert list(map(as_text, rows_of(path)[2].values())) == ["합계", "", "7"]


def test_stdin_is_lines_unless_its_kind_is_named_and_stays_open(rows_of, stdin, written, monkeypatch):
    for kind, content in ((None, "첫째\n\n셋째"), ("csv", "document\n첫째\n\n셋째\n")):
        stdin(content.encode("utf-8-sig"))
        assert [row["document"] for row in rows_of("-", kind=kind)] == ["첫째", "", "셋째"]
        sys.stdin.seek(0)
    # a file may be called as stdin is in messages
    for kind in ("csv", "parquet"):
        monkeypatch.chdir(written("stdin", in_kind(kind)).parent)
        assert [row["document"] for row in rows_of("stdin", kind=kind)] == [row["document"] for row in ROWS]


def test_missing_cells_are_empty_text():
    cells = ("가", None, float("nan"), pandas.NA, pandas.NaT, 3, "나".encode(), numpy.array([1, 2]))
    assert [as_text(cell) for cell in cells] == ["가", "", "", "", "", "3", "나", "[1 2]"]
    with pytest.raises(DataError, match="expected UTF-8 text in a column of bytes, found b'.xb0.xa1'"):
        as_text("가".encode("cp949"))


def test_a_table_without_rows_has_its_columns(written):
    empty = pandas.DataFrame({"document": [], "film": []})
    for path in (written("a.csv", "document,film\n"), written("a.parquet", empty.to_parquet())):
        (part,) = open_table(path).parts
        assert list(part) == ["document", "film"] and not part.rows
        with pytest.raises(DataError, match="expected a column 'text'"):
            list(open_table(path, "text").parts)


FORMS = {
    "list": REVIEWS,
    "within": {"count": 2, "reviews": REVIEWS},
    "answer": {"status": "ok", "message": "성공했습니다", "data": REVIEWS},
    "answer in an answer": {"code": 200, "message": "성공", "result": {"total": 2, "list": REVIEWS, "errors": []}},
    "page": {"data": {"content": REVIEWS}, "meta": {"page": 1, "sort": ["id"]}},
    "columns": {"id": ["1", "2"], "review": ["정말 재밌다", "별로였다"]},
    "pandas' columns": json.loads(pandas.DataFrame(REVIEWS).to_json()),
    "pandas' index": json.loads(pandas.DataFrame(REVIEWS).to_json(orient="index")),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name, indent", [("a.json", None), ("a.json", 1), ("a.txt", 2)])
def test_json_of_any_form_has_the_same_rows(written, rows_of, form, name, indent):
    assert rows_of(written(name, json.dumps(FORMS[form], indent=indent))) == REVIEWS


def test_texts_alone_are_a_column_and_one_object_is_a_row(written, rows_of):
    for value in (["좋다", "별로"], {"1": "좋다", "2": "별로"}):
        assert rows_of(written("a.json", value)) == [{"document": "좋다"}, {"document": "별로"}]
    assert rows_of(written("a.json", {"review": "좋다", "stars": 5})) == [{"review": "좋다", "stars": 5}]
    # keys that a row lacks are None, and numbers stay
    path = written("a.jsonl", '{"document": "가", "n": 1}\n{"document": "나", "x": NaN}\n')
    assert rows_of(path) == [{"document": "가", "n": 1, "x": None}, {"document": "나", "n": None, "x": None}]


@pytest.mark.parametrize(
    "content, message",
    [
        ({"a": REVIEWS, "b": REVIEWS}, r"expected one list of objects, found 2 \(a, b\)"),
        ({"영화": {"가": REVIEWS, "나": REVIEWS}}, r"expected one list of objects, found 2 \(영화.가, 영화.나\)"),
        ({"message": "인증이 필요합니다", "code": 401}, "a.json: expected a JSON list of objects, found one object"),
        ({"message": "결과가 없습니다", "data": []}, "a.json: expected a JSON list of objects"),
        ({"message": "없음", "code": 0, "result": {"list": [], "total": 0}}, "a.json: expected a JSON list of objects"),
        ({"message": "잘못된 요청입니다", "error": {"code": 1}}, "a.json: expected a JSON list of objects"),
        ([{"review": "가"}, 3], "a.json row 2: expected a JSON object, found int"),
        ('[{"review": "가"}] x', "a.json line 1: expected one JSON list or object"),
        ('{\n"review": [{"가"\n}', "a.json line 3: expected one JSON list or object"),
        ([], "a.json: .*expected"),
    ],
)
def test_json_that_is_no_table_is_refused_with_the_way_to_lines(written, rows_of, content, message):
    with pytest.raises(DataError, match=message):
        rows_of(written("a.json", content))


@pytest.mark.parametrize("column, given", [("review", None), ("snippet", None), ("snippet", "snippet")])
@pytest.mark.parametrize("value", [{"top": "정말 재밌다", "likes": 3}, ["정말 재밌다", "별로"]])
def test_objects_and_lists_are_no_texts(written, rows_of, column, given, value):
    frame = pandas.DataFrame({"id": [1, 2], column: [value, None]})
    contents = {"json": frame.to_json(orient="records"), "jsonl": frame.to_json(orient="records", lines=True)}
    for kind, content in {**contents, "parquet": frame.to_parquet(), "csv": frame.to_csv(index=False)}.items():
        with pytest.raises(DataError, match=f"expected reviews, found objects or lists in column '{column}'"):
            rows_of(written(f"a.{kind}", content), text_column=given)
    assert rows_of(written("a.json", [{"review": "좋다", "tags": value}]))[0]["tags"] == value


def test_parts_have_few_rows_and_few_bytes(written):
    parts = open_table(written("a.txt", "a\n" * 9000)).parts
    assert [part.rows for part in parts] == [8192, 808]
    assert [part.rows for part in open_table(written("long.txt", ("a" * 2**24 + "\n") * 3 + "b\n")).parts] == [2, 2]
    long = pandas.DataFrame([{"document": f"좋다 {number}", "memo": "x" * 200_000} for number in range(300)])
    for name, content in (("a.csv", long.to_csv(index=False)), ("a.jsonl", long.to_json(orient="records", lines=True))):
        sizes = [part.rows for part in open_table(written(name, content)).parts]
        assert sum(sizes) == 300 and max(sizes) * 200_000 < 1.1 * PART_BYTES
    # a value that rows of parquet share is small in the file
    long["memo"] = long["memo"].astype("category")
    tracemalloc.start()
    assert sum(part.rows for part in open_table(written("a.parquet", long.to_parquet())).parts) == 300
    assert tracemalloc.get_traced_memory()[1] < 3 * PART_BYTES
    tracemalloc.stop()


def test_row_groups_of_parquet_are_read_in_order(tmp_path, rows_of):
    values = [None if number % 7 == 0 else {"a": [str(number), None]} for number in range(1000)]
    table = pyarrow.table({"document": [f"리뷰 {number}" for number in range(1000)], "value": values})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=300)
    assert rows_of(tmp_path / "a.parquet") == table.to_pylist()


PACKED = gzip.compress(IN_PARTS["a.csv"].encode())
WIDE = ",".join(["document", *(f"c{number}" for number in range(2000))])
DAMAGED = [
    ("a.csv", "document,label\n가,1\n나\n", "row 3: expected 2 cells as in the header, found 1"),
    ("a.csv", 'document,label\n"두\n줄",1\n나,1,2\n', "row 3: expected 2 cells .* found 3; name every column"),
    ("a.xlsx", [["document", "label"], ["두\n줄", 1], [], ["나", 1, 2]], "row 4: expected 2 cells .* found 3; name"),
    ("a.csv", 'document,label\n"두\n줄",1\n"가,1\n', "line 4: expected each quote to be closed, .* write a quote"),
    ("a.csv", "film,document,film\nA,가,1\n", "row 1: expected each column once, found 'film' twice"),
    ("a.csv", f"{WIDE}\n{'1,' * 2000}1\n", "expected at most 2,000 columns, found 2,001"),
    *((name, content, "empty; expected a header and reviews") for name, content in (("a.csv", "\n\n"), ("a.xlsx", []))),
    ("a.txt", "번호\t리뷰\n", "a.txt line 1: expected one review a line, or the header"),
    ("a.jsonl", '\n{"document": "가"}\n{"document"\n', "line 3: expected a JSON object, found '{\"document\"'$"),
    ("a.jsonl", "\n" + "x" * 100, f"line 2: expected a JSON object, found '{'x' * 40}'$"),
    ("a.jsonl", "1\n", "1: expected a JSON object, found int"),
    ("a.jsonl", '{"a":' * 100_000, "line 1: expected a JSON object"),
    ("a.json", "[" * 100_000, "a.json line 1: expected one JSON list or object"),
    ("a.jsonl", '{"review": "가"}\n' + '{"리뷰": "나"}\n' * 9000, "expected a column 'review'"),
    ("a.parquet", "no parquet", "a.parquet: not a readable parquet file: .*[Mm]agic"),
    ("a.xlsx", b"PK\x03\x04 no workbook", "a.xlsx: not a readable xlsx file: .*; save it again in Excel"),
    *(("a.xls", "x", "unknown kind of file '.xls'; expected one of .*xlsx"), ("a.gz", "x", "unknown kind of file")),
    *(("a.csv.gz", gzip.compress(b""), "a.csv.gz: .*empty"), ("a.xlsx.gz", gzip.compress(b"x"), "a.xlsx.gz: ")),
    *((f"a.{kind}.gz", b"review\n", f"a.{kind}.gz: ") for kind in ("csv", "jsonl", "json")),
    *(("a.csv.gz", PACKED[:-9], "a.csv.gz: "), ("a.csv.gz", PACKED[:20] + b"\xff\xff" + PACKED[22:], "a.csv.gz: ")),
    *((f"a.{kind}", b"", "the file is empty; expected reviews") for kind in "csv tsv txt jsonl json parquet".split()),
    ("a.xlsx", b"", "the file is empty; expected reviews"),
]


@pytest.mark.parametrize("name, content, message", DAMAGED, ids=itertools.count())
def test_a_damaged_file_is_refused_with_its_row(written, rows_of, name, content, message):
    with pytest.raises(DataError, match=message):
        rows_of(written(name, content))
