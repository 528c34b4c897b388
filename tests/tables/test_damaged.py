"""Files that no reader of labelled reviews takes: refused in one line that says where and what was expected."""

import json

import pytest

from nsmc_attention.corpora import raw
from nsmc_attention.corpora.data import Labelled
from nsmc_attention.corpora.labelled import load_reviews
from nsmc_attention.errors import DataError
from nsmc_attention.systems.film.train import reviews_by_film

HEAD = "id\tdocument\tlabel\n"


def film_reviews(path):
    return reviews_by_film(Labelled(path))


def archive(path):
    return raw.load(path, [])


def folder(path):
    return raw.load(path.parent, [])


def film(text="좋다", stars=8):
    return json.dumps([{"review_id": "1", "movie_id": "1", "review": text, "rating": str(stars)}], ensure_ascii=False)


NAMES = {archive: "a.zip", folder: "a.json"}
STARS = "expected a text and 1 to 10 stars, found"
DAMAGED = [
    (load_reviews, b"", "the file is empty"),
    (load_reviews, HEAD, "the file has no reviews"),
    (load_reviews, HEAD + "1\t가\t1\n2\t나\n", "row 3: expected 3 cells as in the header, found 2"),
    (archive, None, "no such file"),
    (archive, b"PK not a zip", "not a readable zip archive"),
    (folder, "[]", "no raw review is left"),
    (folder, "{", "a.json: .*expected a list of reviews"),
    (folder, "[" * 100_000, "a.json: .*expected a list of reviews"),
    *((folder, "[{}]", "a.json: .*KeyError"), (folder, "[1]", "a.json: .*TypeError")),
    *((folder, film(stars="viel"), "a.json: .*ValueError"), (folder, film(None, 3), "a.json: expected a text")),
    *((folder, film(stars=stars), rf"a.json: {STARS} \('좋다', {stars}\)$") for stars in (0, 11, -1)),
    *((film_reviews, f"film,stars,review\n가,9,좋다\n나,{it},별로", "row 3: .*; mend it") for it in ("x", "inf", "-1")),
    (film_reviews, "a,b,review\n1,2,좋다\n", "expected one column called film, .*; found a, b, review; name the one"),
    (film_reviews, "film,b,review\n1,2,좋다\n", "expected one column called stars, .*name the one of the stars by"),
    (load_reviews, "document,label\n", "a.csv: the file has no reviews"),
    (load_reviews, "document,film\n가,1\n", "expected a column of labels or stars, .*, found film; name"),
    (load_reviews, f"document,label\n가,{'z' * 100}\n", f"row 2: expected labels 0 and 1, .*'{'z' * 20}'; leave"),
    *(
        (load_reviews, f"document,label\n가,1\n나,{label}\n", f"column label row 3: .*found '1', '{label}'; name")
        for label in ("2", "positive", "0.5")
    ),
]


@pytest.mark.parametrize("read, content, message", DAMAGED)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, read, content, message):
    path = tmp_path / NAMES.get(read, "a.csv")
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        read(path)
