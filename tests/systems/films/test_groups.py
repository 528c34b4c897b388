"""`bulk --group-by`: the table of films is that of `film` on the same rows, however they are divided, and resumed."""

import csv
import json
import pickle

import pandas
import pytest

pytest.importorskip("distributed")

from nsmc_attention.apps.bulk.run import FILMS, model_of, pool_partition, score_partition, split, write_films
from nsmc_attention.systems.films.groups import merge
from nsmc_attention.systems.films.rater import load_film
from nsmc_attention.systems.films.rows import rate_table, shown_in

TEXTS = ["정말 재미있다", "지루하다", "", "최고의 영화", "돈이 아깝다", "배우들 연기가 좋다"]
TEXTS += ['두 줄\n"좋다"', "=1+1 좋다"]
ROWS = [(f"영화 {(7 * n) % 5}" if n % 11 else "", TEXTS[n % len(TEXTS)]) for n in range(60)]
ROWS += [("=영화", "최악의 연출"), ("빈 영화", " "), (None, "이름이 없다")]


@pytest.fixture(scope="module")
def rater(tiny_film):
    return load_film(tiny_film)


@pytest.fixture
def files(tmp_path):
    """The rows as two files of two kinds, and as one."""
    frame, folder = pandas.DataFrame(ROWS, columns=["film", "review"]), tmp_path / "in"
    folder.mkdir()
    frame[:25].to_csv(folder / "a.csv", index=False)
    frame[25:].to_parquet(folder / "b.parquet", row_group_size=9)
    frame.to_csv(tmp_path / "whole.csv", index=False)
    return folder


def scored(rater, folder, out, style, rows):
    """Score the files of a folder as bulk's workers do, in this process; return the partitions and their films' pools."""
    out.mkdir(exist_ok=True)
    paths = enumerate(sorted(folder.iterdir()))
    partitions = [part for place, path in paths for part in split(path, place, style, rows, group_by="film")]
    pools = {}
    for part in partitions:
        merge(pools, pickle.loads(pickle.dumps(pool_partition(part, rater.reference, str(out))[1])), shown_in(style))
    write_films(rater, pools, "film", out / FILMS / f"groups.{style}", verbatim=False, marked=False)
    return partitions


def read(path, style):
    if style == "parquet":
        return [[film, *figures] for film, *figures in pandas.read_parquet(path).itertuples(index=False)]
    with open(path, encoding="utf-8", newline="") as file:
        if style == "jsonl":
            return [[*json.loads(line).values()] for line in file]
        return [*csv.reader(file)][1:]


def alike(one, other):
    """Return whether two cells are the same, up to the digits that depend on what a batch has beside."""
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and alike([*one.values()], [*other.values()])
    try:
        return float(one) == pytest.approx(float(other), abs=0.011, nan_ok=True)
    except (TypeError, ValueError):
        return one == other


@pytest.mark.parametrize("style, rows", [("csv", 1), ("csv", 10), ("csv", 100), ("jsonl", 10), ("parquet", 10)])
def test_the_table_of_films_is_that_of_film(rater, files, tmp_path, style, rows):
    scored(rater, files, tmp_path / "out", style, rows)
    table, films = tmp_path / "out" / FILMS / f"groups.{style}", tmp_path / f"films.{style}"
    rate_table(rater, tmp_path / "whole.csv", "film", films)
    assert len(read(table, style)) == 7 and alike(read(table, style), read(films, style))
    before = table.read_bytes()
    scored(rater, files, tmp_path / "out", style, rows)
    assert table.read_bytes() == before, "partitions whose output is there are read again"


@pytest.mark.parametrize("style", ["csv", "jsonl", "parquet"])
def test_rows_are_scored_as_without_films(rater, files, tmp_path, style):
    partitions = scored(rater, files, tmp_path / "out", style, 20)
    (tmp_path / "plain").mkdir()
    for part in partitions:
        score_partition(part, model_of(None, "auto", False), str(tmp_path / "plain"))
        assert alike(read(tmp_path / "out" / part.output, style), read(tmp_path / "plain" / part.output, style))


def test_a_folder_of_parquet_still_reads_as_one_table_of_reviews(rater, files, tmp_path):
    scored(rater, files, tmp_path / "out", "parquet", 20)
    frame = pandas.read_parquet(tmp_path / "out")
    assert len(frame) == len(ROWS) and list(frame) == ["film", "review", "label", "score", "probability", "error"]
    films = pandas.read_parquet(tmp_path / "out" / FILMS / "groups.parquet")
    assert films["reviews"].sum() == sum(bool(film and text.strip()) for film, text in ROWS)
    assert films["stars"].isna().tolist() == [film == "빈 영화" for film in films["film"]]


def test_a_rerun_scores_what_is_missing_and_ends_with_the_same_films(command, tiny_film, files, tmp_path):
    out = tmp_path / "out"
    arguments = ["bulk", files, "--output", out, "--rows", 20, "--workers", 1, "--format", "csv"]
    arguments += ["--film-bundle", tiny_film]
    done = command(*arguments, "--group-by", "film")
    assert done.returncode == 0 and f"(63 reviews) now; 7 films in {out}/_groups/groups.csv" in done.stdout
    table = (out / FILMS / "groups.csv").read_bytes()
    sorted(out.glob("*.csv"))[0].unlink()
    (out / FILMS / "groups.csv").unlink()
    again = command(*arguments, "--group-by", "film")
    assert again.returncode == 0 and ", 1 of them" in again.stdout
    assert (out / FILMS / "groups.csv").read_bytes() == table
    other = command(*arguments, "--group-by", "review")
    assert other.returncode == 2 and "was begun with other group by; name another --output" in other.stderr
