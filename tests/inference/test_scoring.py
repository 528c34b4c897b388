import csv
import json

import pytest

from nsmc_attention.inference.parallel import probability_stream
from nsmc_attention.inference.predictor import load_classifier
from nsmc_attention.inference.scoring import score_table
from nsmc_attention.reviews import nsmc, tables


@pytest.fixture(scope="module")
def classifier(bundle_folder):
    return load_classifier(bundle_folder)


@pytest.fixture
def table(tmp_path):
    """More rows than one piece, so that workers score it; every hundredth is blank."""
    documents = nsmc.load("sample", "train").documents * 20
    path = tmp_path / "many.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["number", "document"])
        rows.writerows([number, "" if number % 100 == 0 else text] for number, text in enumerate(documents))
    assert len(documents) > tables.ROWS
    return path


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_workers_and_one_process_write_the_same_rows_in_order(classifier, table, tmp_path):
    score_table(classifier, table, tmp_path / "two.csv", processes=2)
    score_table(classifier, table, tmp_path / "one.csv", processes=1)
    two, one = read(tmp_path / "two.csv"), read(tmp_path / "one.csv")
    assert [row["number"] for row in two] == [row["number"] for row in one] == list(map(str, range(len(one))))
    assert [row["label"] for row in two] == [row["label"] for row in one]
    assert all(row["error"] == "blank: no word to score" for row in two[::100])
    numbers = [(float(a["probability"]), float(b["probability"])) for a, b in zip(one, two) if a["label"]]
    assert max(abs(a - b) for a, b in numbers) <= 1e-5


def test_jsonl_and_csv_say_the_same(classifier, table, tmp_path):
    score_table(classifier, table, tmp_path / "a.csv", processes=1)
    score_table(classifier, table, tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = read(tmp_path / "a.csv")
    assert [row["label"] or None for row in rows] == [line["label"] for line in lines]
    assert [line["number"] for line in lines] == [row["number"] for row in rows]


def test_no_more_windows_are_read_than_the_workers_need(classifier):
    read_so_far = []

    def windows():
        for number in range(1000):
            read_so_far.append(number)
            yield [f"영화 {number}"]

    stream = probability_stream(classifier, windows(), processes=2)
    assert next(stream)[0] == ["영화 0"] and len(read_so_far) <= 6
    stream.close()
