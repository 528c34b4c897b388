"""What a file is, whatever its name says: its encoding, kind and delimiter, and whether its quotes are letters."""

import csv
import gzip
import io
import json

import pandas
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.tables.rows import parts_of
from nsmc_attention.tables.source import DELIMITERS, delimiter_of, find_source, quotes_enclose, source_lines

ROWS = [
    {"nickname": "하늘", "review": "배우 연기가 참 좋았다, 정말", "score": "9"},
    {"nickname": "바다", "review": "지루해서\n나왔다", "score": "2"},
]
FRAME = pandas.DataFrame(ROWS)
CONTENTS = {
    **{delimiter: FRAME.to_csv(index=False, sep=delimiter) for delimiter in DELIMITERS},
    "lines of JSON": FRAME.to_json(orient="records", lines=True, force_ascii=False),
    "a list": FRAME.to_json(orient="records", force_ascii=False, indent=1),
}
# what a cell may be, but NUL, which Python's csv took only from 3.11 on
letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
HEADER = "id\tdocument\tlabel"


def written_by_csv(rows, **options):
    text = io.StringIO(newline="")
    csv.writer(text, **options).writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
def test_a_table_called_txt_is_read_as_one_and_that_is_said(written, rows_of, stdin, capsys, name, encoding):
    path = written("crawl.txt", CONTENTS[name].encode(encoding))
    assert rows_of(path) == ROWS
    assert f"{path}: read as " in capsys.readouterr().err
    stdin(path.read_bytes())
    assert rows_of("-") == ROWS


@pytest.mark.parametrize("name, delimiter", [("a.tsv", ","), ("a.tsv", ";"), ("a.csv", "\t"), ("a.csv", "|")])
def test_the_delimiter_is_found_whatever_the_name_says(written, rows_of, name, delimiter):
    assert rows_of(written(name, CONTENTS[delimiter])) == ROWS


def test_what_is_read_otherwise_than_the_name_promises_is_said_once(written, rows_of, capsys):
    path = written("a.csv", CONTENTS[";"].encode("cp949"))
    for _ in range(2):
        rows_of(path)
    assert capsys.readouterr().err == f"{path}: read as CP949, semicolon-separated\n"
    rows_of(written("usual.csv", CONTENTS[","].encode("utf-8-sig")))
    rows_of(written("named.csv", CONTENTS[","].encode("cp949")), encoding="euc-kr")
    assert capsys.readouterr().err == ""


def test_a_byte_beyond_ascii_may_come_late(written, stdin):
    content = b"good\n" * 100_000 + "좋다\n".encode("cp949")
    stdin(content)
    for path in (written("a.txt", content), "-"):
        assert list(source_lines(find_source(path)))[-2:] == ["good", "좋다"]
    with pytest.raises(DataError, match="line 300001: expected UTF-8 text, .*found byte 0xff"):
        find_source(written("a.txt", "좋다\n".encode() * 300_000 + b"\xff"))
    stdin("좋다\n".encode() * 200_000 + b"\xff")
    with pytest.raises(DataError, match="stdin: expected UTF-8 text, found byte 0xff"):
        list(source_lines(find_source("-")))


@pytest.mark.parametrize(
    "codec, encoding, line", [("cp949", "utf-8", 2), ("utf-8", "cp949", 2), ("utf-16", "utf-8", 1)]
)
def test_an_encoding_that_is_named_wrongly_is_refused_with_the_line(written, codec, encoding, line):
    path = written("a.csv", CONTENTS[","].encode(codec))
    with pytest.raises(DataError, match=f"line {line}: expected {encoding.upper()} text, found byte 0x.*--encoding"):
        find_source(path, encoding=encoding)
    with pytest.raises(ConfigError, match="--encoding: unknown encoding 'utf-9'; did you mean 'utf-8'"):
        find_source(path, encoding="utf-9")


@pytest.mark.parametrize(
    "bad, encoding, message",
    [
        (b"\xb0\xff", "utf-8", "line 11: expected UTF-8 text, .*byte 0xb0; save it as UTF-8"),
        (b"\xea\xb0", "utf-8", "line 11: expected UTF-8 text, .*byte 0xea"),
        (b"\xb0\n", "cp949", "line 11: expected CP949 text, which the rest of the file is, found byte 0xb0"),
        (b"\0\xd8", "utf-16", "expected UTF-16 text"),
    ],
)
def test_a_byte_of_no_encoding_is_refused_with_its_line(written, rows_of, bad, encoding, message):
    with pytest.raises(DataError, match=message):
        rows_of(written("a.csv", ("리뷰\n" + "정말 좋다\n" * 9).encode(encoding) + bad))


@pytest.mark.parametrize(
    "name, content, kind",
    [
        *(("a.csv", "document", "csv"), ("a.tsv", "document", "tsv"), ("a.TXT", "리뷰", "lines")),
        *(("a.ndjson", "{}", "jsonl"), ("a.txt", f"{HEADER}\r\n", "nsmc"), ("a.tsv", HEADER, "nsmc")),
        *(("a.tsv", f"\ufeff{HEADER}\r\n", "nsmc"), ("a.tsv", f"\n{HEADER}\n", "tsv")),
        *(("a.tsv", f"{HEADER}\tfilm", "tsv"), ("a.csv", HEADER, "csv"), ("a.txt", "리뷰\n둘째\t리뷰", "lines")),
        *(("a.json", '{"review": "가"}\n{"review": "나"}', "jsonl"), ("a.jsonl", '[{"review": "가"}]', "json")),
    ],
)
def test_a_kind_is_told_by_name_and_first_line_also_of_a_packed_file(written, name, content, kind):
    assert find_source(written(name, content)).kind == kind
    assert find_source(written(f"{name}.gz", gzip.compress(content.encode()))).kind == kind


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "json"])
def test_a_packed_table_has_its_rows(written, rows_of, name):
    content = {
        "csv": CONTENTS[","],
        "tsv": CONTENTS["\t"],
        "jsonl": CONTENTS["lines of JSON"],
        "json": json.dumps(ROWS),
    }
    packed = gzip.compress(content[name].encode())
    assert rows_of(written(f"a.{name}.gz", packed)) == ROWS
    for damaged in (content[name].encode(), packed[:-9], packed[:20] + b"\xff\xff" + packed[22:]):
        with pytest.raises(DataError, match=f"a.{name}.gz: "):
            rows_of(written(f"a.{name}.gz", damaged))


@pytest.mark.parametrize(
    "lines",
    [
        "재미, 감동, 연기\n스토리, 음악, 최고",
        "내용, 연기 다 좋았다\n영상, 음악 다 별로",
        "리뷰; 그냥 그렇다\n별점; 다섯 개",
        '[스포] 범인은 그 사람이다\n["인생 영화"라고 하더니',
        *("{이건 뭐지}\n좋다", "리뷰\n좋다, 정말", "좋다|싫다\n싫다|좋다"),
    ],
)
def test_reviews_with_commas_stay_lines(written, rows_of, lines):
    assert [row["document"] for row in rows_of(written("a.txt", lines))] == lines.split("\n")


@given(st.lists(st.text("가나 ,.;|!", min_size=1, max_size=12), min_size=1, max_size=6))
def test_no_text_of_letters_and_marks_alone_is_a_table(written, lines):
    assert find_source(written("a.txt", "\n".join(lines) + "\n")).kind == "lines"


@pytest.mark.parametrize(
    "name, content",
    [
        *(("a.csv", b"PK\x03\x04"), ("a.txt", b"\x1f\x8b\x08"), ("a.tsv", b"\xd0\xcf\x11\xe0"), ("a.csv", b"PAR1")),
        *(("a.csv", b"<html><table><tr>"), ("a.txt", b"\n<!DOCTYPE html>"), ("a.csv", b"%PDF-1.7")),
    ],
)
def test_a_file_with_the_name_of_another_kind_is_refused_with_what_to_do(written, name, content):
    with pytest.raises(DataError, match=f"{name}: expected text, found .*; (name|save|open)"):
        find_source(written(name, content))


@given(
    st.lists(st.lists(st.text(letters, max_size=9), min_size=2, max_size=2), max_size=6),
    st.sampled_from([*DELIMITERS]),
    # a lone \r is quoted if it is in the end of a row, until Python 3.13
    st.sampled_from([(csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\n"), (csv.QUOTE_ALL, "\r")]),
)
@example([["가", '"둘째",\n줄\n' * 20_000]], ",", (csv.QUOTE_MINIMAL, "\r\n"))
@example([["2024-01-03", '"\n2024-01-04,"'], ["별로, 정말", "\n"]], ",", (csv.QUOTE_ALL, "\n"))
def test_what_csv_writes_is_read_back(written, texts, delimiter, style):
    rows = [[str(number), *row] for number, row in enumerate(texts)]
    options = dict(zip(("quoting", "lineterminator"), style), delimiter=delimiter)
    path = written("a.csv", written_by_csv([["id", "review", "memo"], *rows], **options))
    assert [list(row) for part in parts_of(find_source(path)) for row in zip(*part.values())] == rows


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\r\n")), max_size=8))
@example(['"최고의 영화라더니', "좋다", '다시 본다"'])
@example(['"가', '나""', '"다"', '"'])
def test_a_tsv_of_quotes_that_are_letters_has_as_many_rows_as_lines(written, texts):
    path = written("a.tsv", "review\tgrade\n" + "".join(f"{text}\tA\n" for text in texts))
    (read, *_) = [part["review"] for part in parts_of(find_source(path))]
    assert len(read) == len(texts)
    # where each is closed, quotes may enclose
    assert all(found in (text, text[1:-1].replace('""', '"')) for text, found in zip(texts, read))


def test_a_late_quote_decides_too(written):
    content = "review\tstars\n" + "좋다\t1\n" * 20_000 + '"최고의 영화라더니\t5\n좋다\t1\n다시 본다"\t3\n'
    assert sum(part.rows for part in parts_of(find_source(written("a.tsv", content)))) == 20_003


@pytest.mark.parametrize(
    "text, enclose",
    [
        *(('a\tb\n"가\tA\n나"\tB\n', False), ('a\tb\n"명작" 이다\tA\n', False), ('a\tb\n"명작"\tA\n', True)),
        *(('a\tb\n"두\n줄"\tA\n', True), ('a\tb\n"탭\t과\n줄"\t5\n나\t1\n', False), ("a\tb\n가\t나\n", False)),
        *(('a\n"두\n줄"\n', True), ('a\n"명작" 이다\n', False), ('제목\n\na\tb\n"가\t1\n나"\t2\n', False)),
    ],
)
def test_quotes_enclose_where_the_rows_agree_by_them_alone(text, enclose):
    assert quotes_enclose(io.StringIO(text, newline="")) == enclose


@given(st.lists(st.lists(st.text("가a,;\t\"\n'", max_size=5), min_size=3, max_size=3), min_size=1, max_size=6))
def test_fields_never_hide_the_delimiter(cells):
    for delimiter in DELIMITERS:
        content = written_by_csv([["영화", "리뷰", "평점"], *cells], delimiter=delimiter)
        assert delimiter_of(content, True) == delimiter


@pytest.mark.parametrize(
    "text, delimiter",
    [
        *(("document\n좋다; 정말\n별로, 그냥\n", ","), ("리뷰;평점\n좋다, 정말;5\n별로;1\n", ";"), ("", ",")),
        *(
            ("a,b;c\n1,2;3\n", ","),
            ("리뷰\t평점\n깨진 행\n", "\t"),
            ('a;b\n"열린', ";"),
            ("리뷰,별점\n&lt;가&gt;,5\n", ","),
        ),
    ],
)
def test_the_delimiter_is_the_one_by_which_rows_agree(text, delimiter):
    assert delimiter_of(text, True) == delimiter
