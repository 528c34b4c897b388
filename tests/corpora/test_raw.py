"""The raw star reviews: what is read, and above all what is left out."""

import json
import zipfile
from hashlib import sha256

import pandas
import pytest

from nsmc_attention.corpora import nsmc, raw


def review(number, text, stars=8, film=1):
    names = ("review_id", "movie_id", "review", "rating", "date", "author")
    return dict(zip(names, (str(number), str(film), text, str(stars), "15.06.09", "a***")))


def texts(found):
    return found.frame["document"].tolist()


FILMS = {
    "1": [review(1, "정말 좋다", 10), review(2, " ", 3), review(3, "지루하다", 1)],
    "2": [review(4, "그저 그렇다", 5, 2), review(1, "정말 좋다", 10), review(5, "최고!", 9, 2)],
}


@pytest.fixture(params=["zip", "folder"])
def archive(request, tmp_path):
    contents = {f"{film}.json": json.dumps(reviews, ensure_ascii=False) for film, reviews in FILMS.items()}
    if request.param == "folder":
        (tmp_path / "raw").mkdir()
        for name, content in contents.items():
            (tmp_path / "raw" / name).write_text(content, encoding="utf-8")
        return tmp_path / "raw"
    return zipped(tmp_path / raw.ARCHIVE, {f"nsmc-master/raw/{name}": content for name, content in contents.items()})


def zipped(path, contents):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in contents.items():
            file.writestr(name, content)
    return path


def test_reviews_come_with_stars_film_and_date_and_a_hash_of_ids_and_texts(archive):
    found = raw.load(archive, [])
    assert texts(found) == ["정말 좋다", "지루하다", "그저 그렇다", "최고!"]
    assert found.frame["film"].tolist() == ["1", "1", "2", "2"] and set(found.frame["date"]) == {"15.06.09"}
    assert found.targets.tolist() == pytest.approx([1, 0, 4 / 9, 8 / 9])
    assert found.counts == {"read": 6, "blank": 1, "repeated": 1, "left_out_by_id": 0, "left_out_by_text": 0, "kept": 4}
    kept = "1\t정말 좋다\n3\t지루하다\n4\t그저 그렇다\n5\t최고!\n"
    assert found.describe()["sha256"] == found.sha256 == sha256(kept.encode()).hexdigest()


@pytest.mark.parametrize(
    "leave_out, by_id, by_text, kept",
    [
        ({"id": ["3"], "document": ["something else"]}, 1, 0, ["정말 좋다", "그저 그렇다", "최고!"]),
        ({"id": ["99"], "document": ["그저   그렇다"]}, 0, 1, ["정말 좋다", "지루하다", "최고!"]),
        ({"document": ["그저그렇다", "\u110e\u116c고!"]}, 0, 2, ["정말 좋다", "지루하다"]),
        # of a review that both would leave out, the id counts
        ({"id": [1], "document": ["정말 좋다"]}, 2, 0, ["지루하다", "그저 그렇다", "최고!"]),
    ],
)
def test_what_is_tested_on_is_left_out_by_id_and_by_text(archive, leave_out, by_id, by_text, kept):
    found = raw.load(archive, [pandas.DataFrame(leave_out)])
    assert texts(found) == kept
    assert (found.counts["left_out_by_id"], found.counts["left_out_by_text"]) == (by_id, by_text)


@pytest.mark.slow
def test_no_raw_review_of_the_archive_is_in_the_official_test_file(nsmc_folder):
    test = nsmc.load("nsmc", "test").frame
    found = raw.load(raw.find(), [test])
    assert not set(found.frame["id"]) & set(test["id"])
    assert not set(map(raw.folded, texts(found))) & set(map(raw.folded, test["document"]))
    assert found.counts["left_out_by_id"] > 40000 and found.counts["kept"] > 500000


def test_only_films_of_an_archive_are_read(tmp_path):
    others = dict.fromkeys("1.json draw/1.json raw/1.txt raw/deep/1.json raw/json README.md".split(), "no film")
    films = {name: json.dumps([review(name, "좋다")]) for name in ("raw/1.json", "x/raw/2.json")}
    found = raw.load(zipped(tmp_path / "a.zip", {**films, **others}), [])
    assert found.frame["id"].tolist() == ["raw/1.json", "x/raw/2.json"]


def test_a_review_without_a_date_has_an_empty_one(tmp_path):
    without = {name: value for name, value in review(2, "나쁘다").items() if name != "date"}
    content = json.dumps([{**review(1, "좋다"), "date": None}, without])
    (tmp_path / "1.json").write_text(content, encoding="utf-8")
    assert raw.load(tmp_path, []).frame["date"].tolist() == ["None", ""]


def test_a_text_of_many_combining_marks_is_compared_at_once():
    assert raw.folded("좋 다\u0301\u0316" + "\u0301\u0316" * 20000) == raw.folded("좋다" + "\u0301\u0316" * 15)
