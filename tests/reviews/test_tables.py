import json

import pandas
import pytest

from nsmc_attention.errors import DataError
from nsmc_attention.reviews import tables

ROWS = [{"document": '"따옴표", 쉼표', "film": "A", "label": "1"}, {"document": "NA", "film": "", "label": "0"},
        {"document": "두 줄\n리뷰", "film": "003", "label": "1"}]


def write(folder, kind):
    path, frame = folder / f"table.{kind}", pandas.DataFrame(ROWS)
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), encoding="utf-8")
    else:
        frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_every_format_gives_the_same_rows_untouched(tmp_path, kind):
    frame = pandas.concat(tables.chunks(write(tmp_path, kind), rows=2))
    assert frame.to_dict("records") == ROWS


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_a_labelled_table_becomes_reviews(tmp_path, kind):
    reviews = tables.read_labelled(write(tmp_path, kind))
    assert reviews.labels.tolist() == [1, 0, 1] and reviews.name == f"table.{kind}"


def test_pieces_are_no_larger_than_asked_and_keep_the_order(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("document\n" + "".join(f"{i}\n" for i in range(10)), encoding="utf-8")
    pieces = [piece["document"].tolist() for piece in tables.chunks(path, rows=4)]
    assert [len(piece) for piece in pieces] == [4, 4, 2] and sum(pieces, []) == [str(i) for i in range(10)]


def test_a_text_file_is_one_review_a_line_unless_it_is_nsmc(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("첫째\n\n셋째, \"열린", encoding="utf-8-sig")
    assert [list(piece["document"]) for piece in tables.chunks(path)] == [["첫째", "", "셋째, \"열린"]]
    path.write_text("id\tdocument\tlabel\n1\t\"열린\t1\n", encoding="utf-8-sig")
    assert [list(piece.columns) for piece in tables.chunks(path)] == [["id", "document", "label"]]


@pytest.mark.parametrize("name, content, message", [
    ("a.xlsx", "x", "unknown kind of file '.xlsx'"),
    ("a.csv", "", "the file is empty"),
    ("a.csv", "text,label\n가,1\n", "expected a column 'document', found text, label"),
    ("a.csv", "document,label\n가,1\n나\n", "line 3: expected 2 fields as in the header, found 1"),
    ("a.csv", "document,label\n가,1\n나,1,2\n", "line 3: expected 2 fields as in the header, found 3"),
    ("a.csv", 'document,label\n"가,1\n', "line 2: unexpected end of data"),
    ("a.csv", "document,document\n가,1\n", "expected each column once, found 'document' twice"),
    ("a.csv", "document\n가나\n".encode("cp949"), "line 2: expected UTF-8 text"),
    ("a.jsonl", '{"document": "가"}\n{"document"\n', "line 2: expected a JSON object"),
    ("a.jsonl", "[" * 100000, "line 1: expected a JSON object"),
    ("a.jsonl", "[1]\n", "line 1: expected a JSON object, found list"),
    ("a.parquet", "no parquet", "not a readable parquet file"),
])
def test_a_damaged_table_is_refused_with_its_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        list(tables.chunks(tmp_path / name))


@pytest.mark.parametrize("label", ["2", "", "positive", "0.5"])
def test_a_label_that_is_not_0_or_1_is_refused_with_its_row(tmp_path, label):
    (tmp_path / "a.csv").write_text(f"document,label\n가,1\n나,{label}\n", encoding="utf-8")
    with pytest.raises(DataError, match="a.csv row 2: expected label 0 or 1"):
        tables.read_labelled(tmp_path / "a.csv")


def test_missing_cells_are_empty_text():
    assert [tables.as_text(value) for value in ("가", None, float("nan"), 3)] == ["가", "", "", "3"]
