import contextlib
import io
import itertools
import json
import weakref
from decimal import Decimal

import pandas
import psutil
import pyarrow.parquet
import pytest

from nsmc_attention.corpora import nsmc
from nsmc_attention.errors import DataError, NsmcError
from nsmc_attention.scoring.files import line_parts, row_stream, score_table, table_parts
from nsmc_attention.tables.parts import PART_ROWS, TablePart
from nsmc_attention.tables.table import Table, open_table


@pytest.fixture
def score_rows(classifier, tmp_path):
    """A function that scores rows, of a jsonl file or as its text; returns the path of the output."""

    def score(rows, name, **options):
        text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "in.jsonl").write_text(text, encoding="utf-8")
        score_table(classifier, tmp_path / "in.jsonl", tmp_path / name, **options)
        return tmp_path / name

    return score


def test_workers_and_one_process_write_the_same_rows_in_order(classifier, tmp_path):
    """Of more rows than one piece, so that workers score them; every hundredth is blank."""
    texts = itertools.islice(itertools.cycle(nsmc.load("sample", "train").documents), PART_ROWS + 100)
    frame = pandas.DataFrame({"document": ["" if number % 100 == 0 else text for number, text in enumerate(texts)]})
    frame.to_csv(tmp_path / "many.csv", index_label="number")
    for processes in (1, 2):
        score_table(classifier, tmp_path / "many.csv", tmp_path / f"{processes}.csv", processes=processes)
    one, two = (pandas.read_csv(tmp_path / f"{processes}.csv", keep_default_na=False) for processes in (1, 2))
    assert one["number"].tolist() == two["number"].tolist() == list(range(len(frame)))
    assert one["label"].tolist() == two["label"].tolist() and set(two["error"][::100]) == {"blank: no word to score"}
    numbers = [pandas.to_numeric(table["probability"]).fillna(0) for table in (one, two)]
    assert max(abs(numbers[0] - numbers[1])) <= 1e-5


def test_no_more_windows_are_read_than_the_workers_need(classifier):
    read_so_far = []

    def windows():
        for number in range(1000):
            read_so_far.append(number)
            yield [f"영화 {number}"]

    stream = row_stream(classifier, windows(), processes=2)
    assert next(stream)[0] == ["영화 0"] and len(read_so_far) <= 6
    stream.close()


def test_parquet_has_the_types_of_the_whole_table(score_rows, tmp_path):
    """Of several pieces and row groups: what comes late, and what changes its type on the way."""
    rows = [{"document": "", "number": row, "word": None} for row in range(8500)]
    rows += [{"document": "", "number": row / 2, "word": "x"} for row in range(8500, 80_000)]
    for row in range(70_001, 80_000):
        rows[row]["late"] = [row]
    with pyarrow.parquet.ParquetFile(score_rows(rows, "out.parquet", processes=1)) as file:
        assert file.num_row_groups == 2
        found = file.read()
    types = {"document": "string", "number": "double", "word": "string", "late": "list"}
    types.update(label="string", score="double", probability="double", error="string")
    assert {field.name: str(field.type).partition("<")[0] for field in found.schema} == types
    assert found.select(["document", "number", "word", "late"]).to_pylist() == [{"late": None, **row} for row in rows]
    assert {path.name for path in tmp_path.iterdir()} == {"in.jsonl", "out.parquet"}


LATE = {"document": "", "a": "x"}


UNLIKE = [
    ([{**LATE, "a": [0]}, LATE], "column 'a'"),
    ([{**LATE, "a": [0]}] * PART_ROWS + [LATE], "a column"),
    *(([{"document": "", "n": value}], "") for value in ({}, [2**53 + 1, 0.5])),
]


@pytest.mark.parametrize("rows, where", UNLIKE, ids=itertools.count())
def test_what_parquet_cannot_hold_is_one_line(score_rows, tmp_path, rows, where):
    with pytest.raises(DataError, match=f"parquet: expected values of one type that parquet has in {where}"):
        score_rows(rows, "out.parquet", processes=1)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("rows", [1, PART_ROWS])
def test_numbers_beside_a_text_are_texts_in_parquet(score_rows, rows):
    given = [{"document": "", "n": value} for value in (5, 1.5, None, True) for _ in range(rows)]
    given += [{"document": "좋다", "n": "\ud83d"}]
    found = pandas.read_parquet(score_rows(given, "out.parquet", processes=1))
    assert found["n"].drop_duplicates().tolist() == ["5", "1.5", None, "True", "?"]


def test_parquet_answers_stand_beside_a_column_that_comes_late(score_rows):
    """A user's own label in the second piece is not taken for an answer; half a surrogate pair is no character."""
    rows = [{"document": "좋다" if row in (0, PART_ROWS) else ""} for row in range(PART_ROWS + 1)]
    rows[-1].update(label="mine", other="\ud83d", **{"k\ud83d": 1})
    found = pyarrow.parquet.read_table(score_rows(rows, "out.parquet", processes=1))
    answers = [f"predicted_{name}" for name in ("label", "score", "probability", "error")]
    assert found.column_names == ["document", "label", "other", "k?", *answers]
    first, last = found.slice(0, 1).to_pylist()[0], found.slice(PART_ROWS, 1).to_pylist()[0]
    assert (first["label"], last["label"], last["other"], last["k?"]) == (None, "mine", "?", 1)
    assert first["predicted_label"] == last["predicted_label"] in ("positive", "negative")


@pytest.mark.parametrize("rows", [0, 3])
def test_parquet_keeps_the_types_of_parquet(classifier, tmp_path, rows):
    given = pyarrow.table(
        {
            "document": pyarrow.array(["좋다".encode(), None, b""], pyarrow.binary()),
            "small": pyarrow.array([1, None, 3], pyarrow.int32()),
            "single": pyarrow.array([1.5, None, 2], pyarrow.float32()),
            "large": pyarrow.array([2**64 - 1, 0, None], pyarrow.uint64()),
            "money": pyarrow.array([Decimal("1.20"), None, None], pyarrow.decimal128(10, 2)),
            "when": pyarrow.array([1, 2, None], pyarrow.timestamp("ns", tz="Asia/Seoul")),
            "pairs": pyarrow.array([[("a", 1)], None, []], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
            "kind": pyarrow.array(["x", "y", "x"]).dictionary_encode(),
            "none": pyarrow.array([None] * 3, pyarrow.string()),
            "inside": pyarrow.array([{"a": 1}, None, {"a": 2}]),
        }
    ).slice(0, rows)
    pyarrow.parquet.write_table(given, tmp_path / "in.parquet")
    score_table(classifier, tmp_path / "in.parquet", tmp_path / "out.parquet")
    found = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert found.select(given.column_names).to_pylist() == given.to_pylist()
    assert [found.schema.field(name).type for name in given.column_names] == [field.type for field in given.schema]
    assert [(field.name, str(field.type)) for field in found.schema][-4:] == [*classifier.types.items()]


def test_a_number_that_json_has_not_is_null(score_rows):
    first = '{"document": "좋다", "n": 1e400, "inside": {"a": [-1e400, NaN, 1.5]}}\n'
    output = score_rows(first + '{"document": "좋다", "n": 2.5, "inside": null}\n', "out.jsonl")
    lines = output.read_text(encoding="utf-8").splitlines()
    first, second = (json.loads(line, parse_constant=pytest.fail) for line in lines)
    assert (first["n"], first["inside"], second["n"]) == (None, {"a": [None, None, 1.5]}, 2.5)


def end_workers():
    """kill -9, as the system does where memory runs out."""
    for child in psutil.Process().children():
        # a child of an earlier test may end meanwhile
        with contextlib.suppress(psutil.NoSuchProcess):
            if "import work" in " ".join(child.cmdline()):
                child.kill()


def test_a_worker_that_is_killed_is_one_line(classifier):
    def pieces():
        for _ in range(3):
            yield TablePart({"document": ["정말 좋다"] * PART_ROWS})
        end_workers()
        while True:
            yield TablePart({"document": ["정말 좋다"]})

    with pytest.raises(NsmcError, match="a worker process was killed, .*begin again"):
        list(table_parts(classifier, Table(None, "document", pieces()), io.StringIO(), "csv", processes=2))


@pytest.mark.parametrize("style, processes", [("jsonl", 1), ("csv", 1), ("csv", 2)])
def test_few_parts_of_a_table_are_held_at_once(classifier, style, processes):
    """`itertools.tee` frees none of 57 parts before it has read the next."""
    parts = []

    def read():
        for _ in range(70):
            part = TablePart({"document": ["좋다"]})
            parts.append(weakref.ref(part))
            yield part

    table = Table(None, "document", read())
    tallies = table_parts(classifier, table, io.StringIO(), style, processes=processes)
    held = [sum(part() is not None for part in parts) for _ in tallies]
    assert len(parts) == 70 and max(held) <= 2 * processes + 2


def test_lines_are_read_in_windows_of_bounded_size(classifier):
    """Of lines of 2**24 characters one is held, not 4,096."""
    read_so_far = []

    def lines():
        for number in range(8):
            read_so_far.append(number)
            yield "가" * 2**24
        yield "좋다"

    parts = line_parts(classifier, lines(), "jsonl")
    assert next(next(parts).results)["tokens"] and len(read_so_far) == 1
    parts.close()
    assert [part.texts for part in line_parts(classifier, iter(["a", "", "b"]), "csv")] == [["a", "", "b"]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16", "xlsx"])
def test_equal_predictions_have_a_mark_where_a_spreadsheet_program_wrote_the_table(classifier, tmp_path, encoding):
    frame = pandas.DataFrame({"번호": [0, 1], "리뷰": ["정말 재미있는 영화였어요", ""]})
    if encoding == "xlsx":
        frame.to_excel(path := tmp_path / "a.xlsx", index=False)
    else:
        frame.to_csv(path := tmp_path / "a.csv", index=False, encoding=encoding)
    score_table(classifier, path, tmp_path / "out.csv")
    content = (tmp_path / "out.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf") == (encoding != "utf-8")
    one = classifier.predict(frame["리뷰"][0])
    assert content.removeprefix(b"\xef\xbb\xbf").decode().splitlines() == [
        "번호,리뷰,label,score,probability,error",
        f"0,정말 재미있는 영화였어요,{one.label},{one.score:.6f},{one.probability:.6f},",
        "1,,,,,blank: no word to score",
    ]
    score_table(classifier, path, tmp_path / "out.csv", excel=True)
    assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_a_scored_workbook_has_numbers_and_text_that_is_never_computed(score_rows):
    rows = [{"리뷰": "=1+1 좋다", "평점": 5}, {"리뷰": None, "평점": None}]
    (part,) = open_table(score_rows(rows, "out.xlsx")).parts
    first, second = (dict(zip(part, row)) for row in zip(*part.values()))
    assert first["리뷰"] == "=1+1 좋다" and first["평점"] == 5 and isinstance(first["probability"], float)
    assert second["error"] == "blank: no word to score" and second["label"] is None
