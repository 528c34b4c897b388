"""Files that no reader of reviews takes: refused in one line that says where and what was expected."""

import json

import pytest

from nsmc_attention.errors import DataError
from nsmc_attention.systems.films import reviews as films
from nsmc_attention.tables import labelled, nsmc, raw, tables
from nsmc_attention.tables.data import Labelled
from nsmc_attention.tables.sources import find_source

HEAD = "id\tdocument\tlabel\n"


def chunks(path):
    return list(tables.open_table(path).parts)


def spans(path):
    return list(tables.spans(find_source(path), 1))


def film_reviews(path):
    return films.load(Labelled(path))


def archive(path):
    return raw.load(path, [])


def folder(path):
    return raw.load(path.parent, [])


def film(text="좋다", stars=8):
    return json.dumps([{"review_id": "1", "movie_id": "1", "review": text, "rating": str(stars)}], ensure_ascii=False)


STARS = "expected a text and 1 to 10 stars, found"
DAMAGED = [
    (nsmc.read, b"", "the file is empty"),
    (nsmc.read, b"\xef\xbb\xbf\r\n", "the file is empty"),
    (nsmc.read, HEAD, "has a header but no reviews"),
    (nsmc.read, "id,document,label\n1,a,1\n", "line 1: expected the header"),
    (nsmc.read, "x" * 100, f"found '{'x' * 60}'$"),
    (nsmc.read, HEAD + "1\t가\t1\n2\t나\n", "line 3: expected 3 tab-separated fields, found 2"),
    (nsmc.read, HEAD + "1\t가\t1\n2\t나\t다\t1\n", "line 3: expected 3 tab-separated fields, found 4"),
    (nsmc.read, HEAD + "1\t가\t2\n", "line 2: expected label 0 or 1, found '2'"),
    (nsmc.read, HEAD + "1\t가\t" + "x" * 100, f"line 2: expected label 0 or 1, found '{'x' * 20}'$"),
    (nsmc.read, HEAD.encode() + "1\t가나\t1\n".encode("cp949"), "line 2: expected UTF-8 text, found byte 0xb0"),
    (nsmc.read, b"a\xb0", "line 1: expected UTF-8 text, found byte 0xb0"),
    (nsmc.read, b"\n\n\xb0\n\xb0", "line 3: expected UTF-8 text, found byte 0xb0"),
    (nsmc.read, None, "no such file"),
    (lambda path: nsmc.read(path.parent), "", "cannot be read: Is a directory"),
    (archive, None, "no such file"),
    (archive, b"PK not a zip", "not a readable zip archive"),
    (folder, "{", "a.json: .*expected a list of reviews"),
    (folder, "[" * 100000, "a.json: .*expected a list of reviews"),
    (folder, "[{}]", "a.json: .*KeyError"),
    (folder, "[1]", "a.json: .*TypeError"),
    (folder, film(stars="viel"), "a.json: .*ValueError"),
    (folder, film(None, 3), "a.json: expected a text"),
    *((folder, film(stars=stars), rf"a.json: {STARS} \('좋다', {stars}\)$") for stars in (0, 11, -1)),
    *(
        (film_reviews, f"film,stars,review\n가,9,좋다\n나,{stars},별로", "column stars row 2: .*; mend it")
        for stars in ("x", "inf", "-1")
    ),
    (film_reviews, "a,b,review\n1,2,좋다\n", "expected one column called film, .*; found a, b, review; name the one"),
    (film_reviews, "film,b,review\n1,2,좋다\n", "expected one column called stars, .*name the one of the stars by"),
    (labelled.load_reviews, "document,label\n", "a.csv: the file has no reviews"),
    (labelled.load_reviews, "document,film\n가,1\n", "expected a column of labels or stars, .*, found film; name"),
    (
        labelled.load_reviews,
        f"document,label\n가,{'z' * 100}\n",
        f"row 1: expected labels 0 and 1, .*'{'z' * 20}'; leave",
    ),
    *(
        (
            labelled.load_reviews,
            f"document,label\n가,1\n나,{label}\n",
            f"column label row 2: .*found '1', '{label}'; name",
        )
        for label in ("2", "positive", "0.5")
    ),
    (chunks, "id,label\n가,1\n", "expected one column called document, .*후기; found id, label; name the one"),
    (chunks, f"{'y' * 300}\n1\n", f"found {'y' * 200}…; name the one of the texts by text_column"),
    (chunks, "text,리뷰\n가,나\n", "expected one column called .*; found text, 리뷰; name the one of the texts"),
    (chunks, "stars,text\n5,10\n3,2\n", "expected reviews, found numbers in column 'text' .10.; the others are stars"),
    (chunks, "document,document\n가,1\n", "expected each column once, found 'document' twice"),
    (chunks, "film,document,film\nA,가,1\n", "a.csv line 1: expected each column once, found 'film' twice"),
    (chunks, "document\n가나\n".encode("cp949") + b"\xb0\n", "line 3: expected CP949 text, which .* byte 0xb0"),
    (chunks, "document\n가나\n".encode("utf-16") + b"\0\xd8", "line 3: expected UTF-16 text"),
    *(
        (reader, *row)
        for reader in (chunks, spans)
        for row in (
            ("document,label\n가,1\n나\n", "line 3: expected 2 fields as in the header, found 1"),
            ("document,label\n가,1\n나,1,2\n", "line 3: expected 2 fields as in the header, found 3"),
            ('document,label\n"가,1\n', "line 2: expected each quote to be closed, found unexpected end of data in"),
            ("document\n가나\n".encode() + b"\xb0\n", "line 3: expected UTF-8 text, found byte 0xb0"),
            ("document\n가나\n\0\n", "line 3: expected text, found a NUL character; save"),
        )
    ),
]
KINDS = [
    ("a.xls", "x", "unknown kind of file '.xls'; expected one of .*; save it as .xlsx in Excel"),
    ("a.xlsx", "x", "a.xlsx: not a readable xlsx file: File is not a zip file"),
    ("a.xlsx", b"\xd0\xcf\x11\xe0", "found an old .xls, or one protected by a password; save it as .xlsx"),
    ("a.txt", "번호\t리뷰\n", "a.txt line 1: expected one review a line, or the header"),
    ("a.jsonl", '{"document": "가"}\n{"document"\n', "line 2: expected a JSON object"),
    ("a.jsonl", "[" * 100000, "line 1: expected a JSON object"),
    ("a.jsonl", "[1]\n", "line 1: expected a JSON object, found list"),
    ("a.jsonl", "\n" + "x" * 100, f"line 2: expected a JSON object, found '{'x' * 40}'$"),
    ("a.jsonl", "\n\n", "expected a column 'document'"),
    ("a.parquet", "no parquet", "not a readable parquet file: .*[Mm]agic"),
    *((f"a.{kind}", "", "the file is empty; expected reviews") for kind in ("csv", "tsv", "txt", "jsonl", "parquet")),
]
NAMES = {nsmc.read: "a.txt", archive: "a.zip", folder: "a.json"}


@pytest.mark.parametrize(
    "read, name, content, message",
    [
        *((read, NAMES.get(read, "a.csv"), *rest) for read, *rest in DAMAGED),
        *((labelled.load_reviews, *row) if row[1] == "\n\n" else (chunks, *row) for row in KINDS),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, read, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        read(tmp_path / name)
