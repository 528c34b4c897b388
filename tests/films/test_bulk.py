"""`bulk --group-by`: the table of films is that of `film` on the same rows, however they are divided, and resumed."""

import csv
import json

import pandas
import pytest

pytest.importorskip("distributed")

from nsmc_attention.bulk import FILMS, fingerprints, model_of, rate_films, score_partition, split
from nsmc_attention.films.parts import load_pools, merged, save_pools
from nsmc_attention.films.rater import load_film
from nsmc_attention.films.tables import rate_table

TEXTS = [
    "정말 재미있다",
    "지루하다",
    "",
    "최고의 영화",
    "돈이 아깝다",
    "배우들 연기가 좋다",
    '두 줄\n"좋다"',
    "=1+1 좋다",
]
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
    """Score the files of a folder as bulk's workers do, in this process; return the partitions."""
    (out / FILMS).mkdir(parents=True)
    paths = enumerate(sorted(folder.iterdir()))
    partitions = [each for place, path in paths for each in split(path, place, style, rows, group_by="film")]
    for each in partitions:
        score_partition(each, rater.reference, str(out))
    return partitions


def read(path, style):
    if style == "parquet":
        return [[film, *figures] for film, *figures in pandas.read_parquet(path).itertuples(index=False)]
    with open(path, encoding="utf-8", newline="") as file:
        if style == "jsonl":
            return [[*json.loads(line).values()] for line in file]
        return [*csv.reader(file)][1:]


@pytest.mark.parametrize("rows", [1, 10, 100])
def test_the_table_of_films_is_that_of_film(rater, files, tmp_path, rows):
    partitions = scored(rater, files, tmp_path / "out", "csv", rows)
    assert rate_films(rater, partitions, tmp_path / "out", "csv", False) == 7
    rate_table(rater, tmp_path / "whole.csv", "film", tmp_path / "films.csv")
    found, wanted = (tmp_path / place for place in (f"out/{FILMS}/groups.csv", "films.csv"))
    # a digit may be rounded the other way
    for one, other in zip(read(found, "csv"), read(wanted, "csv")):
        assert one[:2] == other[:2]
        assert [float(cell or 0) for cell in one[2:]] == pytest.approx(
            [float(cell or 0) for cell in other[2:]], abs=0.011
        )
    assert len(read(found, "csv")) == len(read(wanted, "csv")) == 7


@pytest.mark.parametrize("style", ["csv", "jsonl", "parquet"])
def test_rows_are_scored_as_without_films(rater, files, tmp_path, style):
    partitions = scored(rater, files, tmp_path / "out", style, 20)
    (tmp_path / "plain").mkdir()
    for each in partitions:
        plain = split(each.source.path, 0, style, 20)
        same = next(part for part in plain if part.span == each.span)
        score_partition(same, model_of(None, "auto", False), str(tmp_path / "plain"))
        one, other = (read(tmp_path / place, style) for place in (f"out/{each.output}", f"plain/{same.output}"))
        assert len(one) == len(other)
        for row, alike in zip(one, other):
            assert [cell for cell in map(str, row) if "0." not in cell] == [
                cell for cell in map(str, alike) if "0." not in cell
            ]


def test_jsonl_has_the_reviews_with_the_largest_weights_of_all_parts(rater, files, tmp_path):
    partitions = scored(rater, files, tmp_path / "out", "jsonl", 10)
    rate_films(rater, partitions, tmp_path / "out", "jsonl", False)
    rate_table(rater, tmp_path / "whole.csv", "film", tmp_path / "films.jsonl")
    found, wanted = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (tmp_path / "out" / FILMS / "groups.jsonl", tmp_path / "films.jsonl")
    )
    assert [list(line) for line in found] == [list(line) for line in wanted]
    for one, other in zip(found, wanted):
        texts = [[each["text"] for each in line["representative"]] for line in (one, other)]
        assert texts[0] == texts[1] and one["stars"] == (other["stars"] and pytest.approx(other["stars"], abs=1e-4))


def test_a_folder_of_parquet_still_reads_as_one_table_of_reviews(rater, files, tmp_path):
    partitions = scored(rater, files, tmp_path / "out", "parquet", 20)
    rate_films(rater, partitions, tmp_path / "out", "parquet", False)
    frame = pandas.read_parquet(tmp_path / "out")
    assert len(frame) == len(ROWS) and list(frame) == ["film", "review", "label", "score", "probability", "error"]
    films = pandas.read_parquet(tmp_path / "out" / FILMS / "groups.parquet")
    assert films["reviews"].sum() == sum(bool(film and text.strip()) for film, text in ROWS)
    assert films["stars"].isna().tolist() == [film == "빈 영화" for film in films["film"]]


def test_pools_of_a_file_are_the_same(rater, tmp_path):
    pools = rater.pool([(film or "\udc80", text) for film, text in ROWS], shown=2)
    save_pools(pools, rater.bundle.config.model.units, tmp_path / "pools.safetensors")
    found = load_pools(tmp_path / "pools.safetensors", 2)
    assert list(found) == list(pools)
    for one, other in zip(found.values(), pools.values()):
        same = ("shown", "count", "blank", "highest", "total", "best")
        assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
        assert not one.count or (one.pooled == other.pooled).all()
    save_pools({}, 3, tmp_path / "none.safetensors")
    assert merged([tmp_path / "none.safetensors"], 0) == {}


def test_what_is_kept_of_a_film_does_not_grow_with_its_reviews(rater, tmp_path):
    sizes = []
    for many in (10, 1000):
        save_pools(
            rater.pool(("가", "정말 재미있다") for _ in range(many)), rater.bundle.config.model.units, tmp_path / "a"
        )
        sizes.append((tmp_path / "a").stat().st_size)
    assert sizes[0] == sizes[1]


def test_a_rerun_scores_what_is_missing_and_ends_with_the_same_films(command, tiny_film, files, tmp_path):
    out = tmp_path / "out"
    arguments = [
        "bulk",
        files,
        "--output",
        out,
        "--rows",
        20,
        "--workers",
        1,
        "--format",
        "csv",
        "--film-bundle",
        tiny_film,
    ]
    done = command(*arguments, "--group-by", "film")
    assert done.returncode == 0 and f"(63 reviews) now; 7 films in {out}/_groups/groups.csv" in done.stdout
    table = (out / FILMS / "groups.csv").read_bytes()
    sorted(out.glob("*.csv"))[0].unlink()
    sorted((out / FILMS).glob("*.safetensors"))[-1].unlink()
    (out / FILMS / "groups.csv").unlink()
    again = command(*arguments, "--group-by", "film")
    assert (
        again.returncode == 0 and ", 2 of them" in again.stdout and (out / FILMS / "groups.csv").read_bytes() == table
    )
    other = command(*arguments, "--group-by", "review")
    assert other.returncode == 2 and "was begun with other group by; name another --output" in other.stderr


@pytest.mark.parametrize(
    "options, message",
    [
        (
            ["--group-by", "movie"],
            "expected a column 'movie', found film, review; name the one of the films by group_by",
        ),
        (["--group-by", "film", "--restore"], "bulk --group-by: reads the texts as they are; leave --restore out"),
        (
            ["--film-bundle", "a"],
            "--film-bundle: expected --group-by too, found none; add it, or leave --film-bundle out",
        ),
        (["--group-by", "film", "--film-bundle", "a"], "a: no such bundle folder"),
    ],
)
def test_what_cannot_be_rated_is_one_line(command, files, tmp_path, options, message):
    done = command("bulk", files / "a.csv", "--output", tmp_path / "out", *options)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_plan_names_both_models(rater):
    assert fingerprints(rater) == {
        "bundle": rater.classifier.fingerprint,
        "restorer": None,
        "film": rater.bundle.fingerprint,
    }
