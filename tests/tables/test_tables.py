import io
import json
import os
import sys
import threading
import tracemalloc

import numpy
import pandas
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.tables import csv_tables, labelled, parquet, tables
from nsmc_attention.tables.bounded_lines import LINE, PIECE
from nsmc_attention.tables.sources import Source, find_source

ROWS = [
    {"document": '"따옴표", 쉼표', "film": "A", "label": "1"},
    {"document": "NA", "film": "", "label": "0"},
    {"document": "두 줄\n리뷰", "film": "003", "label": "1"},
]


def write(folder, kind, rows=ROWS):
    path, frame = folder / f"table.{kind}", pandas.DataFrame(rows)
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
    return path


@given(
    st.lists(st.sampled_from(["가", "\r", "\n", "\r\n", '"', "\x85", "\u2028", "a" * 5])).map("".join),
    st.integers(1, 9),
)
def test_lines_are_the_same_in_blocks_of_any_size(text, size):
    source = Source("a.csv", "csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_tables, "BLOCK", size)
        found = tables.MeasuredLines(io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8", newline=""), source)
        read = list(found)
    assert read == list(io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8", newline=""))
    assert (found.number, found.position) == (len(read), len(text.encode()))


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_every_format_gives_the_same_rows_untouched_also_from_a_pipe(tmp_path, kind):
    assert rows_of(write(tmp_path, kind), rows=2) == ROWS
    reviews = labelled.load_reviews(tmp_path / f"table.{kind}")
    assert reviews.labels.tolist() == [1, 0, 1] and reviews.name == f"table.{kind}"
    # as <(zcat reviews.csv.gz) of a shell is one
    pipe, content = tmp_path / "pipe", (tmp_path / f"table.{kind}").read_bytes()
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[content])
    writer.start()
    assert rows_of(pipe, kind=kind) == ROWS
    writer.join()
    with pytest.raises(DataError, match="is a folder"):
        rows_of(tmp_path, kind=kind)


def test_a_text_file_is_one_review_a_line_unless_it_is_nsmc(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text('첫째\n\n셋째, "열린', encoding="utf-8-sig")
    assert [piece["document"] for piece in tables.open_table(path).parts] == [["첫째", "", '셋째, "열린']]
    path.write_text('id\tdocument\tlabel\n1\t"열린\t1\n', encoding="utf-8-sig")
    assert [list(piece) for piece in tables.open_table(path).parts] == [["id", "document", "label"]]


def test_missing_cells_are_empty_text():
    cells = ("가", None, float("nan"), pandas.NA, pandas.NaT, 3, "나".encode(), numpy.array([1, 2]))
    assert [tables.as_text(cell) for cell in cells] == ["가", "", "", "", "", "3", "나", "[1 2]"]
    with pytest.raises(DataError, match="expected UTF-8 text in a column of bytes, found b'.xb0.xa1'"):
        tables.as_text("가".encode("cp949"))


def rows_of(path, **options):
    return [dict(zip(part, row)) for part in tables.open_table(path, **options).parts for row in zip(*part.values())]


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.csv", "document\n가\n\n나\n\n\n"),
        ("a.csv", "\ndocument,film\n가,A\n\n나,B\n\n \n"),
        ("a.tsv", "document\tfilm\n가\tA\n\n나\tB\n\n"),
        ("a.jsonl", '\n \n{"document": "가"}\n\n{"document": "나"}\n\n'),
        ("a.xlsx", [["document", "film"], ["가", "A"], [], ["나", "B"], []]),
    ],
)
def test_a_blank_row_keeps_its_place_but_at_the_end(tmp_path, name, content):
    if isinstance(content, str):
        (tmp_path / name).write_text(content, encoding="utf-8")
    else:
        pandas.DataFrame(content).to_excel(tmp_path / name, index=False, header=False)
    assert [tables.as_text(row["document"]) for row in rows_of(tmp_path / name)] == ["가", "", "나"]
    source = find_source(tmp_path / name)
    if source.kind != "xlsx":
        parts = [part for span in tables.spans(source, 1) for part in tables.parts_of(source, span=span)]
        assert [tables.as_text(cell) for part in parts for cell in part["document"]] == ["가", "", "나"]


def test_a_table_without_rows_has_its_columns(tmp_path):
    (tmp_path / "a.csv").write_text("document,film\n", encoding="utf-8")
    pandas.DataFrame({"document": [], "film": []}).to_parquet(tmp_path / "a.parquet")
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        (piece,) = tables.open_table(path).parts
        assert list(piece) == ["document", "film"] and not piece.rows
        with pytest.raises(DataError, match="expected a column 'text'"):
            list(tables.open_table(path, "text").parts)


@pytest.mark.parametrize(
    "kind, content",
    [
        (None, "첫째\n\n셋째"),
        ("csv", "document\n첫째\n\n셋째\n"),
        ("jsonl", '{"document": "첫째"}\n{"document": ""}\n{"document": "셋째"}'),
    ],
)
def test_stdin_is_lines_unless_its_kind_is_named_and_stays_open(tmp_path, monkeypatch, kind, content):
    (tmp_path / "in").write_text(content, encoding="utf-8-sig")
    with open(tmp_path / "in", encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert [row["document"] for row in rows_of("-", kind=kind)] == ["첫째", "", "셋째"]
        stdin.seek(0)


HEADER = "id\tdocument\tlabel"


@pytest.mark.parametrize(
    "name, content, kind",
    [
        *(("a.csv", "document", "csv"), ("a.tsv", "document", "tsv"), ("a.TXT", "리뷰", "lines")),
        *(("a.ndjson", "{}", "jsonl"), ("a.txt", f"{HEADER}\r\n", "nsmc"), ("a.tsv", HEADER, "nsmc")),
        *(("a.tsv", f"\ufeff{HEADER}\r\n", "nsmc"), ("a.tsv", f"\n{HEADER}\n", "tsv")),
        *(("a.tsv", f"{HEADER}\tfilm", "tsv"), ("a.csv", HEADER, "csv"), ("a.txt", "리뷰\n둘째\t리뷰", "lines")),
    ],
)
def test_a_format_is_told_by_name_and_first_line(tmp_path, name, content, kind):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert find_source(tmp_path / name).kind == kind


@pytest.mark.parametrize("name, head", [("a.txt", ""), ("a.csv", "document\n"), ("a.jsonl", "")])
def test_a_line_has_at_most_so_many_characters(tmp_path, name, head):
    path, count = tmp_path / name, 2**24 - (len('{"document": ""}') if name == "a.jsonl" else 0)
    before, after = ('{"document": "', '"}') if name == "a.jsonl" else ("", "")
    path.write_text(f"{head}{before}{'a' * (count - 1)}{after}\n좋다", encoding="utf-8")
    if name != "a.jsonl":
        assert [len(row["document"]) for row in rows_of(path)] == [2**24 - 1, 2]
    path.write_text(f"{head}{before}{'a' * (count + 1)}{after}\n좋다", encoding="utf-8")
    with pytest.raises(DataError, match=f"line {1 + bool(head)}: expected at most 16,777,216 characters"):
        rows_of(path)


def test_what_is_held_at_a_time_is_bounded(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(("a" * (2**24 - 1) + "\n") * 3 + "b\n", encoding="utf-8")
    assert [piece.rows for piece in tables.open_table(path).parts] == [2, 2]
    (tmp_path / "b.txt").write_text("a\n" * 9000, encoding="utf-8")
    assert [piece.rows for piece in tables.open_table(tmp_path / "b.txt").parts] == [8192, 808]
    path = tmp_path / "c.parquet"
    pandas.DataFrame({"document": ["a" * 2**24] * 3, "list": [[1], [2], [3]], "n": [1, 2, 3]}).to_parquet(path)
    assert [piece.rows for piece in tables.open_table(path).parts] == [2, 1]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_has_at_most_so_many_columns(tmp_path, kind):
    for count in (2000, 2001):
        row = {"document": "가", **{f"c{number}": "1" for number in range(count - 1)}}
        write(tmp_path, kind, [row]).rename(tmp_path / f"{count}.{kind}")
    assert len(rows_of(tmp_path / f"2000.{kind}")[0]) == 2000
    with pytest.raises(DataError, match="expected at most 2,000 columns, found 2,001"):
        rows_of(tmp_path / f"2001.{kind}")


@pytest.mark.parametrize(
    "opening, closing, each", [("[", "]", 1), ('{"a":', "}", 1), ('[{"a":', "}]", 2), ('[{"a":[', "]}]", 3)]
)
def test_lists_and_objects_stand_at_most_so_deep(tmp_path, opening, closing, each):
    """The row itself is one of the 100."""
    path = tmp_path / "a.jsonl"
    for levels in (99, 99 + each):
        value = opening * (levels // each) + "1" + closing * (levels // each)
        path.write_text(f'{{"document": "가", "n": {value}}}', encoding="utf-8")
        if levels == 99:
            assert rows_of(path)[0]["document"] == "가"
    with pytest.raises(DataError, match="line 1: expected at most 100 nested lists and objects"):
        rows_of(path)
    path.write_text(json.dumps({"document": "[{" * 200, "n": [[]] * 150}), encoding="utf-8")
    assert len(rows_of(path)[0]["n"]) == 150, "beside each other is not within"


def test_a_file_may_be_called_as_stdin_is_in_messages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind in ("csv", "parquet"):
        write(tmp_path, kind).rename("stdin")
        assert [row["document"] for row in rows_of("stdin", kind=kind)] == [row["document"] for row in ROWS]


@pytest.mark.parametrize("option", ["text_column", "label_column"])
def test_the_columns_of_the_nsmc_files_have_no_other_names(tmp_path, option):
    (tmp_path / "a.txt").write_text("id\tdocument\tlabel\n1\t좋다\t1\n", encoding="utf-8")
    for data in ("sample", tmp_path / "a.txt"):
        with pytest.raises(ConfigError, match="has the columns of the NSMC files; expected --.*, found 'y'"):
            labelled.load_reviews(data, "test", **{option: "y"})


def test_a_column_of_parquet_without_a_value_is_read(tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"document": pyarrow.nulls(3)}), tmp_path / "a.parquet")
    assert rows_of(tmp_path / "a.parquet") == [{"document": None}] * 3


def test_a_column_that_is_not_there_names_the_nearest():
    tables.require_column(["film"], "film", "a.csv")
    with pytest.raises(DataError, match="a.csv: expected a column 'flim', found film; did you mean 'film'.$"):
        tables.require_column(["film"], "flim", "a.csv", hint="")


def test_keys_that_a_row_lacks_are_none_and_numbers_stay(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"document": "가", "n": 1}\n{"document": "나", "x": null}\n', encoding="utf-8")
    assert rows_of(path) == [{"document": "가", "n": 1, "x": None}, {"document": "나", "n": None, "x": None}]


@pytest.mark.parametrize("between", ["\n", '","', '\n","'])
def test_a_row_of_many_lines_and_fields_is_bounded_as_one_line_is(tmp_path, between):
    line = 2 + between.count("\n")
    path, half = tmp_path / "a.csv", "가" * (LINE // 2 + 1)
    header = "document,film" if "," in between else "document"
    path.write_text(f'{header}\n"{half}{between}{half}"\n', encoding="utf-8")
    with pytest.raises(DataError, match=f"a.csv line {line}: expected at most 16,777,216 characters"):
        next(tables.open_table(path).parts)
    rows = f'"{half}{between}"\n' * 3
    path.write_text(f"{header}\n{rows}", encoding="utf-8")
    assert sum(part.rows for part in tables.open_table(path).parts) == 3, "the bound is of one row"


@pytest.mark.parametrize(
    "before, bad", [(0, b"\xb0\xff"), (9, b"\xb0\xa1"), (9, b"\xea\xb0\n"), (9, b"\xea\xb0"), (300_000, b"\xff")]
)
def test_a_bad_byte_is_found_in_a_file_of_any_size_piece_by_piece(tmp_path, before, bad):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + "정말 좋다\n".encode() * before + bad)
    tracemalloc.start()
    message = f"a.csv line {before + 1}: expected UTF-8 text, found byte 0x{bad[0]:02x}; save it"
    with pytest.raises(DataError, match=message):
        find_source(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21
    path.write_bytes("정말 좋다\n".encode() * (before or 1))
    assert find_source(path).encoding == "utf-8"


def shared(value, count):
    """An array of one value, so many times, that is stored once in a parquet file."""
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count, pyarrow.int32()), [value])


def test_text_within_a_value_of_parquet_counts(tmp_path):
    values = pyarrow.StructArray.from_arrays([shared("x" * 100_000, 1000)], ["inside"])
    table = pyarrow.table({"document": ["좋다"] * 1000, "values": values})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    pieces = [piece["values"] for piece in tables.open_table(tmp_path / "a.parquet").parts]
    assert [len(piece) for piece in pieces] == [334, 334, 332] and pieces[2][331] == {"inside": "x" * 100_000}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_parts_of_many_short_cells_have_few_bytes(tmp_path, kind):
    """Two characters are 51 bytes: parts of 8192 rows of 2000 columns would have a gigabyte."""
    names = ["document", *(f"c{number}" for number in range(1999))]
    path = write(tmp_path, kind, [{**dict.fromkeys(names, "10"), "document": "좋다"}] * 400)
    parts = list(tables.open_table(path, "document").parts)
    assert sum(part.rows for part in parts) == 400 and len(parts) > 1
    assert max(tables.memory([*part.values()]) for part in parts) < 1.01 * PIECE
    assert tables.memory(["가", {"b": [1]}]) == sum(map(sys.getsizeof, [[0, 0], "가", {"b": 0}, [1], 1]))


@pytest.mark.parametrize("store_schema", [True, False])
@pytest.mark.parametrize("first_row", [0, 1])
def test_a_large_value_that_rows_of_parquet_share_is_not_decoded_for_all_at_once(tmp_path, store_schema, first_row):
    """Also where the first row, by which the others are judged, has a small one."""
    places = pyarrow.array([first_row] + [0] * 255, pyarrow.int32())
    values = pyarrow.DictionaryArray.from_arrays(places, ["x" * 4_000_000, "y"])
    table = pyarrow.table({"document": ["좋다"] * 256, "n": range(256), "value": values})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", store_schema=store_schema)
    before = pyarrow.total_allocated_bytes()
    pieces = tables.open_table(tmp_path / "a.parquet").parts
    first = next(pieces)
    assert pyarrow.total_allocated_bytes() - before < 1.5 * parquet.DENSE
    assert list(map(len, first["value"])) == [1] * first_row + [4_000_000] * 9
    pieces.close()


def test_many_row_groups_of_parquet_are_read_in_order(tmp_path):
    values = [None if n % 7 == 0 else {"a": [str(n), None]} for n in range(1000)]
    table = pyarrow.table({"document": [f"리뷰 {n}" for n in range(1000)], "value": values})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=300)
    assert rows_of(tmp_path / "a.parquet") == table.to_pylist()


def test_an_unknown_time_zone_in_parquet_is_one_line(tmp_path):
    when = pyarrow.array([1], pyarrow.timestamp("us", tz="Not/AZone"))
    pyarrow.parquet.write_table(pyarrow.table({"document": ["좋다"], "when": when}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="a.parquet: not a readable parquet file: .*Not/AZone"):
        rows_of(tmp_path / "a.parquet")


AROUND = [
    lambda value: pyarrow.StructArray.from_arrays([value], ["a"]),
    lambda value: pyarrow.ListArray.from_arrays([0, 1], value),
    lambda value: pyarrow.MapArray.from_arrays([0, 1], ["k"], value),
]


@pytest.mark.parametrize("around", AROUND)
def test_lists_and_structs_of_parquet_stand_at_most_so_deep(tmp_path, around):
    """As in jsonl the row itself is one of the 100; 250 structs were a traceback."""
    value = pyarrow.array([1])
    for level in range(1, 251):
        value = around(value)
        if level not in (30, 99, 100, 250):
            continue
        path = tmp_path / "a.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"document": ["좋다"], "x": value}), path, store_schema=False)
        if level == 30:
            assert rows_of(path)[0]["x"] == value.to_pylist()[0]
        elif level > 99:
            with pytest.raises(DataError, match="a.parquet: expected at most 100 nested lists and structs"):
                rows_of(path)
        else:
            parquet.check_levels(pyarrow.parquet.read_schema(path), path)
