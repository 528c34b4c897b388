"""The command `film`, and `train --task film` on a person's own table."""

import csv
import io
import json

import pandas
import pytest

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.systems.film.rater import load_film


@pytest.fixture(scope="module")
def by_hand(films_table, tiny_film):
    """Return {film: Rating} of the table."""
    with open(films_table, encoding="utf-8") as file:
        pairs = [(row["영화"], row["리뷰"]) for row in csv.DictReader(file)]
    return dict(load_film(tiny_film).rate(pairs))


@pytest.fixture
def film(command, films_table, tiny_film, tmp_path):
    """A function that predicts the films of the table, checks the page beside the output and returns this."""

    def run(style, *texts, options=()):
        page = tmp_path / "films.html"
        given = ("--group-by", "영화", "--bundle", tiny_film, "--format", style, "--explain", page, *options)
        done, content = command("film", films_table, *given), page.read_text(encoding="utf-8")
        assert content.count("<section>") == 100 and "nsmc-review" in content and "http" not in content
        assert all(text in content for text in texts)
        return done

    return run


def test_a_table_of_reviews_becomes_a_table_and_a_page_of_films(film, by_hand):
    done = film("csv", '<html lang="ko">', "영화 120편 가운데 앞의 100편만 표시합니다.", "<b>별점 ")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0]) == ["영화", "reviews", "stars", "stars_low", "stars_high"]
    assert [row["영화"] for row in rows] == list(by_hand) and "120 films" in done.stderr
    for row, rating in zip(rows, by_hand.values()):
        assert int(row["reviews"]) == rating.reviews
        assert [float(row[name]) for name in ("stars", "stars_low", "stars_high")] == pytest.approx(
            [rating.stars, rating.stars_low, rating.stars_high], abs=0.0051
        )


def test_jsonl_has_the_reviews_and_words_with_the_largest_weights(film, by_hand):
    done = film("jsonl", '<html lang="en">', "The first 100 of 120 films.", " stars</b>", options=("--language", "en"))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert list(lines[0]) == ["영화", "reviews", "stars", "stars_low", "stars_high", "representative"]
    for line in lines[:5]:
        shown = by_hand[line["영화"]].to_dict()["representative"]
        assert [each["text"] for each in line["representative"]] == [each["text"] for each in shown]
    assert list(lines[0]["representative"][0]) == ["text", "weight", "tokens", "token_weights"]


def write(path, rows, header="film,review"):
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


def test_rows_without_a_film_and_blank_reviews_are_left_out_and_counted(command, tiny_film, tmp_path):
    table = write(tmp_path / "a.csv", ["가,좋다", ",별로다", "가, ", "나,", " ,최고"])
    done = command("film", table, "--group-by", "film", "--bundle", tiny_film, "--format", "csv")
    assert done.stdout.splitlines()[1].startswith("가,1,") and done.stdout.splitlines()[2] == "나,0,,,"
    assert "2 films; 2 rows name no film and are left out; 2 blank reviews are left out" in done.stderr


def test_a_workbook_becomes_one_of_films_or_a_csv_that_excel_reads(command, tiny_film, tmp_path):
    pandas.DataFrame({"film": ["가", "나"], "review": ["좋다", None]}).to_excel(tmp_path / "a.xlsx", index=False)
    given = ["film", tmp_path / "a.xlsx", "--group-by", "film", "--bundle", tiny_film, "-o"]
    for output in ("b.xlsx", "b.csv"):
        done = command(*given, tmp_path / output)
        assert done.returncode == 0, done.stderr
    same = command(*given, tmp_path / "a.xlsx")
    assert same.returncode == 2 and "a.xlsx: would lose the reviews; name another --output" in same.stderr
    read = pandas.read_excel(tmp_path / "b.xlsx")
    assert read["film"].tolist() == ["가", "나"] and read["reviews"].tolist() == [1, 0]
    assert 1 < read["stars"][0] < 10 and pandas.isna(read["stars"][1])
    assert (tmp_path / "b.csv").read_bytes().startswith("\ufefffilm,reviews,stars".encode())


def test_a_film_that_a_spreadsheet_would_compute_is_marked(command, tiny_film, tmp_path):
    table = write(tmp_path / "a.csv", ["=1+1,좋다"], "stars,review")
    done = command("film", table, "--group-by", "stars", "--bundle", tiny_film, "--format", "csv")
    header, row = done.stdout.splitlines()
    assert header == "stars,predicted_reviews,predicted_stars,predicted_stars_low,predicted_stars_high"
    assert row.startswith("'=1+1,1,")


def test_a_training_that_is_resumed_at_its_end_writes_the_same_bundle(command, films_table, tmp_path):
    arguments = ["train", "--task", "film", "--data", films_table, "--out", tmp_path / "run", "--epochs", "1"]
    assert command(*arguments).returncode == 0
    first = load_film(tmp_path / "run").bundle
    manifest = first.manifest
    assert first.codec.classifier == load_bundle(None, LAYOUT).fingerprint
    assert not (tmp_path / "run" / "classifier").exists()
    assert manifest["command"].startswith("nsmc-attention train --task film --data films.csv")
    assert sum(manifest["data"][part]["films"] for part in ("train", "dev", "test")) == 120
    assert command("train", "--resume", "--data", films_table, "--out", tmp_path / "run").returncode == 0
    assert load_film(tmp_path / "run").bundle.fingerprint == first.fingerprint
