"""What a file is, whatever its name says; quotes that are letters; JSON that is one value; lines that are no reviews."""

import io
import json

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsmc_attention.errors import DataError
from nsmc_attention.tables import oddities
from nsmc_attention.tables.table import open_table
from nsmc_attention.tables.source import find_source
from nsmc_attention.text.encoding import clean

ROWS = [
    {"nickname": "하늘", "review": "배우 연기가 참 좋았다, 정말", "score": "9"},
    {"nickname": "바다", "review": "지루해서\n나왔다", "score": "2"},
]
FRAME = pandas.DataFrame(ROWS)
TABLES = {
    **{sep: FRAME.to_csv(index=False, sep=sep) for sep in ",;\t|"},
    "lines of JSON": FRAME.to_json(orient="records", lines=True, force_ascii=False),
    "a list": FRAME.to_json(orient="records", force_ascii=False, indent=1),
}
JSON = {
    "lines": TABLES["lines of JSON"],
    "list": TABLES["a list"],
    "one line": FRAME.to_json(orient="records"),
    "within": json.dumps({"count": 2, "reviews": ROWS}, ensure_ascii=False, indent=2),
    **{orient: FRAME.to_json(orient=orient) for orient in ("columns", "index", "split", "table")},
    "columns as lists": json.dumps(FRAME.to_dict(orient="list"), ensure_ascii=False),
}


def rows_of(path, **options):
    return [dict(zip(part, row)) for part in open_table(path, **options).parts for row in zip(*part.values())]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949"])
def test_a_table_called_txt_is_read_as_one_and_that_is_said(tmp_path, capsys, monkeypatch, name, encoding):
    path = tmp_path / "crawl.txt"
    path.write_bytes(TABLES[name].encode(encoding))
    assert rows_of(path) == ROWS
    assert f"{path}: read as " in capsys.readouterr().err
    with open(path, encoding="latin-1") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert rows_of("-") == ROWS


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
def test_reviews_with_commas_stay_lines(tmp_path, lines):
    (tmp_path / "a.txt").write_text(lines, encoding="utf-8")
    assert [row["document"] for row in rows_of(tmp_path / "a.txt")] == lines.split("\n")


@given(st.lists(st.text("가나 ,.;|!", min_size=1, max_size=12), min_size=1, max_size=6))
@settings(max_examples=50, deadline=None)
def test_no_text_of_letters_and_marks_alone_is_a_table(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert find_source(path).kind == "lines"


@pytest.mark.parametrize("name, sep", [("a.tsv", ","), ("a.tsv", ";"), ("a.csv", "\t")])
def test_the_delimiter_is_found_whatever_the_name_says(tmp_path, name, sep):
    FRAME.to_csv(tmp_path / name, index=False, sep=sep)
    assert rows_of(tmp_path / name) == ROWS


@pytest.mark.parametrize(
    "name, content, found",
    [
        ("a.csv", b"PK\x03\x04", "a workbook or archive"),
        ("a.txt", b"\x1f\x8b\x08", "a gzip archive; unpack it"),
        ("a.tsv", b"\xd0\xcf\x11\xe0", "an old Excel workbook; save it as .xlsx"),
        ("a.csv", b"<html><table><tr>", "an HTML or XML page; open it in Excel"),
    ],
)
def test_a_file_with_the_name_of_another_kind_is_refused_with_what_to_do(tmp_path, name, content, found):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name}: expected text, found {found}"):
        find_source(tmp_path / name)


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("suffix", ["json", "txt"])
def test_json_of_any_form_has_the_same_rows(tmp_path, name, suffix):
    (tmp_path / f"a.{suffix}").write_text(JSON[name], encoding="utf-8")
    found = [{key: str(row[key]) for key in ROWS[0]} for row in rows_of(tmp_path / f"a.{suffix}")]
    assert found == ROWS


def test_a_list_of_texts_is_a_column(tmp_path):
    (tmp_path / "a.json").write_text('["좋다", "별로"]', encoding="utf-8")
    assert rows_of(tmp_path / "a.json") == [{"document": "좋다"}, {"document": "별로"}]


@pytest.mark.parametrize(
    "content, message",
    [
        (
            '[{"review": "가"}, {"review": "나"',
            'a.json object 2: expected a JSON object, found \'{"review": "나"\'; write',
        ),
        ('[{"review": "가"}, 3]', "a.json object 2: expected a JSON object, found int"),
        ('[{"review": "가"}] x', "expected the end of the file after the list"),
        ('{"a": [{"review": "가"}], "b": [{"review": "나"}]}', "expected one list of objects, found 2"),
        ('{\n"review": [{"가"\n}', "a.json line 3: expected one JSON list or object"),
    ],
)
def test_damaged_json_is_refused_with_its_place_and_the_way_to_lines(tmp_path, content, message):
    (tmp_path / "a.json").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        rows_of(tmp_path / "a.json")


@given(
    st.lists(st.dictionaries(st.text('가"\\[]{}', max_size=4), st.integers() | st.text(max_size=9)), max_size=5),
    st.integers(1, 30),
)
@settings(deadline=None)
def test_a_list_is_the_same_read_in_pieces_of_any_size(items, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_tables, "BLOCK", size)
        found = list(json_items(io.StringIO(json.dumps(items, indent=1)), "a.json"))
    assert found == list(enumerate(items, start=1))


def test_one_object_is_parsed_up_to_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(json_tables, "WHOLE", 40)
    (tmp_path / "a.json").write_text(json.dumps({"data": ROWS}), encoding="utf-8")
    with pytest.raises(DataError, match="expected at most 40 characters in one JSON object, found more; write one"):
        rows_of(tmp_path / "a.json")


cell = st.text("가나 \"\t\n'", max_size=8).map(str.strip).filter(len)


@given(st.lists(cell, min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_what_pandas_quotes_is_read_back(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    rows = [{"id": str(number), "review": text, "n": "1"} for number, text in enumerate(texts)]
    pandas.DataFrame(rows).to_csv(path, index=False, sep="\t")
    assert rows_of(path, text_column="review") == rows


@given(st.lists(st.text('가나 "', min_size=1, max_size=8).filter(str.strip), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_no_row_is_swallowed_where_nothing_is_quoted(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    path.write_text("review\tgrade\n" + "".join(f"{text}\tA\n" for text in texts), encoding="utf-8")
    read = [row["review"] for row in rows_of(path)]
    assert len(read) == len(texts)
    # where each is closed, quotes may enclose
    enclosed = [(text, text.strip('"').replace('""', '"'), text[1:-1].replace('""', '"')) for text in texts]
    assert all(found in possible for found, possible in zip(read, enclosed))


@pytest.mark.parametrize(
    "lines, quotes",
    [
        (["a\tb\n", '"가\tA\n', '나"\tB\n'], False),
        (["a\tb\n", '"명작" 이다\tA\n'], False),
        (["a\tb\n", '"명작"\tA\n'], True),
        (["a\tb\n", '"두\n', '줄"\tA\n'], True),
        (["a\tb\n", '"탭\t과\n', '줄"\t5\n', "나\t1\n"], True),
        (["a\n", '"두\n', '줄"\n'], True),
        (["a\n", '"명작" 이다\n'], False),
    ],
)
def test_quotes_enclose_where_the_rows_agree_by_them_alone(lines, quotes):
    assert encloses(read_letters(lines), read_quoted(lines)) == quotes


def test_a_late_quote_decides_too_and_a_stream_is_refused_there(tmp_path, monkeypatch):
    path = tmp_path / "a.tsv"
    late = '"최고의 영화라더니\t5\n좋다\t1\n다시 본다"\t3\n'
    path.write_text("review\tstars\n" + "좋다\t1\n" * 20_000 + late, encoding="utf-8")
    assert len(rows_of(path)) == 20_003
    message = "line 20002: expected a row, found a quote that takes lines 20002 to 20004"
    with open(path, encoding="latin-1") as stdin, pytest.raises(DataError, match=message):
        monkeypatch.setattr("sys.stdin", stdin)
        rows_of("-", kind="tsv")


def test_lines_that_each_look_like_a_row_are_not_taken_as_one():
    assert swallowed(["최고\t5\n좋다\t1\n끝", "3"], "\t") and swallowed(["가,나,다\n라", "마", "바"], ",")
    assert not swallowed(["첫 줄, 좋다\n둘째 줄", "5"], ",") and not swallowed(["두\n줄"], ",")


@pytest.mark.parametrize(
    "text, meant",
    [
        ("&#51221;&#47568; &lt;br&gt;", "정말 <br>"),
        ("&#xC815;말&nbsp;&amp;quot;최고&amp;quot;", '정말 "최고"'),
        ("Q&A, R&B; &없음; &notanentity; a & b;", "Q&A, R&B; &없음; &notanentity; a & b;"),
    ],
)
def test_entities_are_read_as_what_they_stand_for(text, meant):
    assert clean(text) == meant == clean(meant)


NO_REVIEWS = """--------------- 2024년 1월 3일 수요일 ---------------
[하늘] [오후 3:12] 재밌다
2024. 1. 3. 오후 3:12, 하늘 : 재밌다
2024년 1월 3일 오후 3:12, 하늘 : 재밌다
2024년 1월 3일 수요일
https://a.kr/b?c=1
3f2b8c1a-0d1e-4f5a-9b7c-1a2b3c4d5e6f
2024-01-03 12:30
12345"""


@pytest.mark.parametrize("line", NO_REVIEWS.splitlines())
def test_lines_that_are_no_reviews_are_counted(line):
    said = oddities.oddity([line] * 3 + ["재밌다"] * 3 + [""])
    assert said.startswith("3 of the first 6 texts are ") and said.endswith("their labels mean nothing")
    assert oddities.oddity([line] + ["재밌다"] * 30) is None


def test_reviews_are_no_oddities():
    texts = ["10점 만점에 10점", "[스포] 재밌다", "오후 3시: 봤다", "2024년 최고의 영화", "-- 별로 --"]
    assert oddities.oddity(texts * 9) is None
