"""The raw star reviews: what is read, and above all what is left out."""
import json
import zipfile

import pandas
import pytest

from nsmc_attention.errors import DataError
from nsmc_attention.reviews import nsmc, raw


def review(number, text, stars=8, film=1):
    return {"review_id": str(number), "movie_id": str(film), "review": text, "rating": str(stars), "date": "15.06.09",
            "author": "a***"}


FILMS = {"1": [review(1, "정말 좋다", 10), review(2, " ", 3), review(3, "지루하다", 1)],
         "2": [review(4, "그저 그렇다", 5, 2), review(1, "정말 좋다", 10), review(5, "최고!", 9, 2)]}


@pytest.fixture(params=["zip", "folder"])
def archive(request, tmp_path):
    contents = {f"{film}.json": json.dumps(reviews, ensure_ascii=False) for film, reviews in FILMS.items()}
    if request.param == "folder":
        folder = tmp_path / "raw"
        folder.mkdir()
        for name, content in contents.items():
            (folder / name).write_text(content, encoding="utf-8")
        return folder
    with zipfile.ZipFile(tmp_path / raw.ARCHIVE, "w") as file:
        file.writestr("nsmc-master/README.md", "not a film")
        file.writestr("nsmc-master/code/x.json", "not a film either")
        for name, content in contents.items():
            file.writestr(f"nsmc-master/raw/{name}", content)
    return tmp_path / raw.ARCHIVE


def test_reviews_come_with_stars_film_and_date(archive):
    found = raw.load(archive, [])
    assert found.documents == ["정말 좋다", "지루하다", "그저 그렇다", "최고!"]
    assert found.frame["film"].tolist() == ["1", "1", "2", "2"] and set(found.frame["date"]) == {"15.06.09"}
    assert found.targets.tolist() == pytest.approx([1, 0, 4 / 9, 8 / 9])
    assert found.counts == {"read": 6, "blank": 1, "repeated": 1, "left_out_by_id": 0, "left_out_by_text": 0, "kept": 4}


@pytest.mark.parametrize("leave_out, reason, gone", [
    ({"id": ["3"], "document": ["something else"]}, "left_out_by_id", "지루하다"),
    ({"id": ["99"], "document": ["그저   그렇다"]}, "left_out_by_text", "그저 그렇다"),
    ({"document": ["그저그렇다"]}, "left_out_by_text", "그저 그렇다"),
    ({"document": ["\u110e\u116c고!"]}, "left_out_by_text", "최고!"),
])
def test_what_is_tested_on_is_left_out_by_id_and_by_text(archive, leave_out, reason, gone):
    found = raw.load(archive, [pandas.DataFrame(leave_out)])
    assert gone not in found.documents and found.counts[reason] == 1 and found.counts["kept"] == 3


@pytest.mark.parametrize("content, message", [
    ("{", "expected a list of reviews"), ("[{}]", "KeyError"), ("[1]", "TypeError"),
    (json.dumps([review(1, "좋다", 11)]), "1 to 10 stars"), (json.dumps([review(1, "좋다", "viel")]), "ValueError"),
    (json.dumps([review(1, None, 3)]), "expected a text"), ("[" * 100000, "expected a list of reviews"),
])
def test_a_file_that_holds_no_reviews_is_named(tmp_path, content, message):
    (tmp_path / "7.json").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=f"7.json: .*{message}"):
        raw.load(tmp_path, [])


def test_an_archive_that_is_none_is_told(tmp_path):
    path = tmp_path / raw.ARCHIVE
    with pytest.raises(DataError, match="no such file"):
        raw.load(path, [])
    path.write_bytes(b"PK not a zip")
    with pytest.raises(DataError, match="not a readable zip archive"):
        raw.load(path, [])
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.txt", "y")
    with pytest.raises(DataError, match="no raw review is left"):
        raw.load(path, [])


def test_a_truncated_archive_is_refused_and_an_altered_member_too(archive, tmp_path):
    if archive.is_dir():
        return
    content = archive.read_bytes()
    broken = tmp_path / "broken.zip"
    broken.write_bytes(content[:len(content) // 2])
    with pytest.raises(DataError, match="zip"):
        raw.load(broken, [])
    at = content.index("정말".encode())
    broken.write_bytes(content[:at] + b"\0" + content[at + 1:])
    with pytest.raises(DataError, match="zip"):
        raw.load(broken, [])


def test_no_raw_review_of_the_archive_is_in_the_official_test_file(nsmc_folder):
    test = nsmc.load("nsmc", "test").frame
    found = raw.load(raw.find(), [test])
    assert not set(found.frame["id"]) & set(test["id"])
    assert not set(map(raw.folded, found.documents)) & set(map(raw.folded, test["document"]))
    assert found.counts["left_out_by_id"] > 40000 and found.counts["kept"] > 500000
