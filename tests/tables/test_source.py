"""What a file is, whatever its name says: its encoding, kind and delimiter, and whether its quotes are letters."""

import csv
import gzip
import io

import pandas
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.tables.rows import parts_of
from nsmc_attention.tables.source import DELIMITERS, delimiter_of, find_source, quotes_enclose, source_lines

ROWS = [{"nickname": "하늘", "review": "배우 연기가 참 좋았다, 정말", "score": "9"}]
ROWS += [{"nickname": "바다", "review": "지루해서\n나왔다", "score": "2"}]
FRAME = pandas.DataFrame(ROWS)
CONTENTS = {
    **{delimiter: FRAME.to_csv(index=False, sep=delimiter) for delimiter in DELIMITERS},
    "lines of JSON": FRAME.to_json(orient="records", lines=True, force_ascii=False),
    "a list": FRAME.to_json(orient="records", force_ascii=False, indent=1),
}
# but NUL, which Python's csv takes from 3.11 on
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
HEADER = "id\tdocument\tlabel"


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
def test_a_table_of_another_name_is_read_as_one_and_that_is_said(written, rows_of, stdin, capsys, kind, encoding):
    content = CONTENTS[kind].encode(encoding)
    for name in ("crawl.txt", *(["a.csv", "a.tsv"] if kind in DELIMITERS else ["a.json", "a.jsonl"])):
        path = written(name, content)
        assert rows_of(path) == ROWS
        assert name != "crawl.txt" or f"{path}: read as " in capsys.readouterr().err
    stdin(content)
    assert rows_of("-") == ROWS


def test_what_is_read_otherwise_than_the_name_promises_is_said_once(written, rows_of, capsys):
    path = written("a.csv", CONTENTS[";"].encode("cp949"))
    for _ in range(2):
        rows_of(path)
    assert capsys.readouterr().err == f"{path}: read as CP949, semicolon-separated\n"
    rows_of(written("usual.csv", CONTENTS[","].encode("utf-8-sig")))
    rows_of(written("named.csv", CONTENTS[","].encode("cp949")), encoding="euc-kr")
    assert capsys.readouterr().err == ""


def test_a_byte_beyond_ascii_may_come_late(written, stdin):
    content = b"good\n" * 300_000 + "좋다\n".encode("cp949")
    stdin(content[-600_000:])
    for path in (written("a.txt", content), "-"):
        assert list(source_lines(find_source(path)))[-2:] == ["good", "좋다"]
    with pytest.raises(DataError, match="line 300001: expected UTF-8 text, .*found byte 0xff"):
        find_source(written("a.txt", "좋다\n".encode() * 300_000 + b"\xff"))
    stdin("좋다\n".encode() * 200_000 + b"\xff")
    with pytest.raises(DataError, match="stdin: expected UTF-8 text, found byte 0xff"):
        list(source_lines(find_source("-")))


@pytest.mark.parametrize(
    "codec, end, given, message",
    [
        ("cp949", b"", "utf-8", "line 2: expected UTF-8 text, found byte 0x.*name its encoding by encoding .--enc"),
        ("utf-8", b"", "cp949", "line 2: expected CP949 text, found byte 0x"),
        ("utf-16", b"", "utf-8", "line 1: expected UTF-8 text, found byte 0x"),
        ("utf-16", b"\0\xd8", None, "expected UTF-16 text"),
        ("utf-8", b"\xea\xb0", None, "line 5: expected UTF-8 text, .*byte 0xea; save it as UTF-8"),
        ("cp949", b"\xb0\n", None, "line 5: expected CP949 text, which the rest of the file is, found byte 0xb0"),
        ("utf-8", b"", "utf-9", "--encoding: unknown encoding 'utf-9'; did you mean 'utf-8'"),
    ],
)
def test_a_byte_of_no_encoding_is_refused_with_its_line(written, rows_of, codec, end, given, message):
    with pytest.raises((DataError, ConfigError), match=message):
        rows_of(written("a.csv", CONTENTS[","].encode(codec) + end), encoding=given)


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


@pytest.mark.parametrize(
    "lines",
    [
        *("재미, 감동, 연기\n스토리, 음악, 최고", "내용, 연기 다 좋았다\n영상, 음악 다 별로", "좋다|싫다\n싫다|좋다"),
        *("리뷰; 그냥 그렇다\n별점; 다섯 개", "리뷰\n좋다, 정말", "{이건 뭐지}\n좋다"),
        '[스포] 범인은 그 사람이다\n["인생 영화"라고 하더니',
    ],
)
def test_reviews_with_commas_stay_lines(written, rows_of, lines):
    assert [row["document"] for row in rows_of(written("a.txt", lines))] == lines.split("\n")


@given(st.lists(st.text("가나 ,.;|!", min_size=1, max_size=12), min_size=1, max_size=6))
def test_no_text_of_letters_and_marks_alone_is_a_table(written, lines):
    assert find_source(written("a.txt", "\n".join(lines) + "\n")).kind == "lines"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt"])
@pytest.mark.parametrize(
    "content", [b"PK\x03\x04", b"\x1f\x8b\x08", b"\xd0\xcf\x11\xe0", b"PAR1", b"<html><p>", b"\n<!DOCTYPE h", b"%PDF-"]
)
def test_a_file_with_the_name_of_another_kind_is_refused_with_what_to_do(written, suffix, content):
    with pytest.raises(DataError, match=f"a.{suffix}: expected text, found .*; (name|save|open)"):
        find_source(written(f"a.{suffix}", content))


@given(
    st.lists(st.lists(st.text(LETTERS, max_size=9), min_size=2, max_size=2), max_size=6),
    st.sampled_from([*DELIMITERS]),
    # until Python 3.13 a lone \r is quoted only where rows end in one
    st.sampled_from([(csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\n"), (csv.QUOTE_ALL, "\r")]),
)
@example([["가", '"둘째",\n줄\n' * 20_000]], ",", (csv.QUOTE_MINIMAL, "\r\n"))
@example([["2024-01-03", '"\n2024-01-04,"'], ["별로, 정말", "\n"]], ",", (csv.QUOTE_ALL, "\n"))
def test_what_csv_writes_is_read_back(written, texts, delimiter, style):
    rows, text = [[str(number), *row] for number, row in enumerate(texts)], io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=style[0], lineterminator=style[1])
    writer.writerows([["id", "review", "memo"], *rows])
    parts = parts_of(find_source(written("a.csv", text.getvalue())))
    assert [list(row) for part in parts for row in zip(*part.values())] == rows


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\r\n")), max_size=8))
@example([*["좋다"] * 8000, '"최고의 영화라더니', "좋다", '다시 본다"'])
@example(['"가', '나""', '"다"', '"'])
def test_a_tsv_of_quotes_that_are_letters_has_as_many_rows_as_lines(written, texts):
    path = written("a.tsv", "review\tgrade\n" + "".join(f"{text}\tA\n" for text in texts))
    (read, *_) = [part["review"] for part in parts_of(find_source(path))]
    assert len(read) == len(texts)
    # where each is closed, quotes may enclose
    assert all(found in (text, text[1:-1].replace('""', '"')) for text, found in zip(texts, read))


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


@pytest.mark.parametrize(
    "text, delimiter",
    [
        *(("document\n좋다; 정말\n별로, 그냥\n", ","), ("리뷰;평점\n좋다, 정말;5\n별로;1\n", ";"), ("", ",")),
        *(("a,b;c\n1,2;3\n", ","), ("리뷰\t평점\n깨진 행\n", "\t"), ('a;b\n"열린', ";")),
        ("리뷰,별점\n&lt;가&gt;,5\n", ","),
    ],
)
def test_the_delimiter_is_the_one_by_which_rows_agree(text, delimiter):
    assert delimiter_of(text, True) == delimiter
