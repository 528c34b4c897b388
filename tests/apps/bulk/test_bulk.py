"""Partitions, resuming and death of workers, on real Dask processes."""

import io
import json
import os
import shutil
import subprocess
import sys
import time

import pandas
import psutil
import pyarrow.parquet
import pytest

distributed = pytest.importorskip("distributed")

from nsmc_attention.apps import bulk  # noqa: E402
from nsmc_attention.bundle import load_bundle, read_contents, write_bundle  # noqa: E402
from nsmc_attention.classifier.predictor import Classifier, load_classifier  # noqa: E402
from nsmc_attention.classifier.settings import LAYOUT  # noqa: E402
from nsmc_attention.cli import run  # noqa: E402
from nsmc_attention.corpora import nsmc  # noqa: E402
from nsmc_attention.errors import BundleError, ConfigError, DataError  # noqa: E402
from nsmc_attention.machine.files import PREFIX  # noqa: E402
from nsmc_attention.scoring.reference import Reference  # noqa: E402
from nsmc_attention.tables.table import open_table  # noqa: E402


@pytest.fixture(scope="module")
def texts():
    return nsmc.load("sample", "train").documents[:100]


@pytest.fixture
def folder(tmp_path, texts):
    """The same 100 reviews as csv, jsonl and parquet, beside a file that is no table."""
    folder = tmp_path / "in"
    folder.mkdir()
    frame = pandas.DataFrame({"id": range(100), "document": texts})
    frame.loc[7, "document"] = '두 줄\n"좋다"'
    frame.loc[8, "document"] = ""
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_json(folder / "b.jsonl", orient="records", lines=True, force_ascii=False)
    frame.to_parquet(folder / "c.parquet", row_group_size=16)
    (folder / "notes.md").write_text("no table", encoding="utf-8")
    return folder


@pytest.fixture
def score(bundle_folder, capsys):
    """Run bulk here with one worker, unless told otherwise; return the exit code, and the last lines of its output."""

    def score(*arguments, bundle=bundle_folder):
        options = [] if "--scheduler" in arguments else ["--workers", "1"]
        code = run(["bulk", *map(str, [*options, *arguments, "--bundle", bundle])])
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        return code, (found.out or found.err).splitlines()[-1]

    return score


def test_lines_stay_lines_the_output_is_one_table_and_a_source_that_changed_is_another_plan(score, tmp_path):
    """A tab in a line that begins a partition; a column that is missing in one partition and not in the other; a name that is not UTF-8."""
    source = tmp_path / os.fsdecode(b"lines\xff.txt" if sys.platform == "linux" else b"lines.txt")
    source.write_text("좋다\n탭\t있다\n", encoding="utf-8")
    table = pyarrow.table({"document": ["좋다", "별로"], "n": pyarrow.array([None, 2], pyarrow.int32())})
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet", row_group_size=1)
    arguments = [source, tmp_path / "in.parquet", "--output", tmp_path / "out", "--rows", 1]
    code, line = score(*arguments)
    assert code == 0 and line.startswith("4 partitions in")
    lines, rows = (sorted((tmp_path / "out").glob(f"*-{name}*-*")) for name in ("lines", "in"))
    texts = [pandas.read_parquet(io.BytesIO(path.read_bytes()))["document"].tolist() for path in lines]
    assert texts == [["좋다"], ["탭\t있다"]]
    assert {str(pyarrow.parquet.read_schema(path).field("n").type) for path in rows} == {"int32"}
    # of the same size: rows of the new one would be mixed with outputs of the old one
    source.write_text("별로\n탭\t없다\n", encoding="utf-8")
    os.utime(source, ns=(0, source.stat().st_mtime_ns + 1))
    code, line = score(*arguments)
    assert code == 2 and "was begun with other sources (or they were written or copied" in line


def test_paths_patterns_and_folders_name_files_once(folder):
    whole = bulk.expand([folder])
    assert [path.name for path in whole] == ["a.csv", "b.jsonl", "c.parquet"]
    assert bulk.expand([folder / "*.csv", folder, folder / "a.csv"]) == whole
    for nothing in ("*.tsv", "none.csv"):
        with pytest.raises(DataError, match="no such file, folder of tables, or pattern"):
            bulk.expand([folder / nothing])


def test_every_row_is_scored_as_predict_does_and_a_rerun_does_what_is_missing(score, folder, bundle_folder, tmp_path):
    out = tmp_path / "out"
    arguments = [folder, "--output", out, "--rows", 30, "--workers", 2]
    code, line = score(*arguments)
    assert code == 0 and "12 partitions in" in line and "(300 reviews)" in line
    given = pandas.read_csv(folder / "a.csv")["document"].fillna("").tolist()
    expected = pandas.Series(load_classifier(bundle_folder).probabilities(given)).fillna(-1).tolist()
    for number in range(3):
        frame = pandas.concat([pandas.read_parquet(path) for path in sorted(out.glob(f"{number:04d}-*"))])
        assert frame["id"].astype(int).tolist() == list(range(100))
        assert frame["probability"].fillna(-1).tolist() == pytest.approx(expected, abs=1e-4)
        assert frame["error"].notna().tolist() == [place == 8 for place in range(100)]
    missing = sorted(out.glob("*.parquet"))[::5]
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.parquet") if path not in missing}
    for path in missing:
        path.unlink()
    (out / f"{PREFIX}0000-a-00000.parquet.abcdefgh").touch()
    assert f"{len(missing)} of them" in score(*arguments)[1]
    assert {path: path.stat().st_mtime_ns for path in before} == before and all(path.exists() for path in missing)
    assert not list(out.glob(f"{PREFIX}*"))
    code, line = score(*arguments, "--rows", 10)
    assert code == 2 and "was begun with other rows" in line


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_costs_its_partition_alone(bundle_folder, texts, tmp_path):
    with open(tmp_path / "many.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": n, "document": texts[n % 100]}) + "\n" for n in range(20_000))
    out = tmp_path / "out"
    options = ["--rows", "1000", "--format", "jsonl", "--workers", "2", "--bundle", str(bundle_folder)]
    process = subprocess.Popen(
        [sys.executable, "-m", "nsmc_attention", "bulk", tmp_path / "many.jsonl", "--output", out, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not list(out.glob("*.jsonl")):
        time.sleep(0.02)
    children = psutil.Process(process.pid).children(recursive=True)
    workers = [each for each in children if "spawn_main" in str(each.cmdline())]
    assert workers, "the workers are processes"
    workers[0].kill()
    output, errors = process.communicate(timeout=240)
    assert process.returncode == 0 and "20 partitions" in output, errors
    lines = [line for path in sorted(out.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [json.loads(line)["id"] for line in lines] == list(range(20_000))
    assert {path.suffix for path in out.iterdir()} == {".jsonl", ".json"}, "nothing half-written is left"


@pytest.mark.slow
def test_a_run_that_failed_before_any_output_can_be_begun_anew(score, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"review": "좋다"}\n' * 3 + "[]\n", encoding="utf-8")
    arguments = [tmp_path / "a.jsonl", "--output", tmp_path / "out", "--rows", 2]
    assert "expected a column 'document'" in score(*arguments)[1]
    code, line = score(*arguments, "--text-column", "review")
    assert code == 2 and "a.jsonl line 4: expected a JSON object, found list" in line, "the line in the whole file"
    (tmp_path / "b.csv").write_text("document\n좋다\n", encoding="utf-8")
    assert score(tmp_path / "b.csv", "--output", tmp_path / "two")[0] == 0


def test_a_source_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("document\n1번 좋다\n2번 좋다\n", encoding="utf-8")
    table = open_table(path)
    parts = bulk.partitions_of([(table.source, table.text_column)], [[str(path), *bulk.state_of(path)]], 1, "csv")
    assert next(parts).rows["document"] == ["1번 좋다"]
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    with pytest.raises(DataError, match="a.csv: was modified while bulk ran; begin again"):
        next(parts)


def test_a_plan_without_times_of_change_is_another_plan(tmp_path):
    """As versions before wrote it; a name that is not UTF-8 stays the same name."""
    plan = {"rows": 1, "sources": [[os.fsdecode(b"/b\xff.csv"), 3, 1795352122196924005]]}
    bulk.check_plan(tmp_path / "out", plan)
    (tmp_path / "out" / "0000-b-00000.csv").touch()
    bulk.check_plan(tmp_path / "out", plan)
    (tmp_path / "out" / "_plan.json").write_text(json.dumps({"rows": 1, "sources": [["/b?.csv", 3]]}), encoding="utf-8")
    with pytest.raises(ConfigError, match="was begun with other sources"):
        bulk.check_plan(tmp_path / "out", plan)


def test_a_bundle_that_was_replaced_meanwhile_scores_nothing(bundle_folder, tmp_path):
    """A worker loads it by its folder: rows by the new one would stand beside those by the old one."""
    folder = tmp_path / "bundle"
    shutil.copytree(bundle_folder, folder)
    (tmp_path / "a.csv").write_text("document\n좋다\n", encoding="utf-8")
    table = open_table(tmp_path / "a.csv")
    part = bulk.Partition(table.source, table.text_column, next(table.parts), "0000-a-00000.csv")
    began = load_bundle(folder, LAYOUT)
    same = (part, Reference.of(Classifier, began, "onnx"), str(tmp_path))
    assert bulk.score_partition(*same).rows == 1
    write_bundle(folder, began.manifest, {**read_contents(began), "README.md": b"another"})
    assert bulk.score_partition(*same).rows == 1, "what is loaded stays"
    now = Reference.of(Classifier, load_bundle(folder, LAYOUT), "onnx")
    assert bulk.score_partition(part, now, str(tmp_path)).rows == 1, "and is not taken for the new one"
    (tmp_path / part.output).unlink()
    with pytest.raises(BundleError, match="expected the bundle that was loaded at first, found another, .*; begin"):
        bulk.score_partition(*same)
    assert not (tmp_path / part.output).exists()


def test_nothing_of_it_listens_to_other_machines(tmp_path):
    """No port of scheduler, workers or their pages is open to the network."""
    with bulk.connected(None, workers=1):
        here = psutil.Process()
        found = {
            each.laddr.ip
            for process in (here, *here.children(recursive=True))
            for each in process.net_connections(kind="inet")
            if each.status == psutil.CONN_LISTEN
        }
    assert found == {"127.0.0.1"}


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler in a process of its own, with a worker in another."""
    where, module = tmp_path / "scheduler.json", [sys.executable, "-m"]
    file = ["--scheduler-file", str(where), "--no-dashboard"]
    start = [*module, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *file]
    work = [*module, "distributed.cli.dask_worker", *file, "--nthreads", "1", "--local-directory", str(tmp_path)]
    processes = [subprocess.Popen(each, cwd=tmp_path, stderr=subprocess.DEVNULL) for each in (start, work)]
    while not where.is_file() or not where.read_text():
        assert all(process.poll() is None for process in processes)
        time.sleep(0.05)
    yield json.loads(where.read_text())["address"]
    for process in processes:
        process.terminate()
        process.wait(timeout=30)


@pytest.mark.slow
def test_a_running_cluster_does_the_work(cluster, score, folder, tmp_path):
    code, line = score(folder, "--output", tmp_path / "out", "--scheduler", cluster)
    assert code == 0 and "3 partitions in" in line and "(300 reviews)" in line
    assert sum(len(pandas.read_parquet(path)) for path in (tmp_path / "out").glob("*.parquet")) == 300


def test_a_csv_of_a_named_sheet_begins_with_the_mark_by_which_excel_shows_hangul(score, tmp_path):
    with pandas.ExcelWriter(tmp_path / "a.xlsx") as book:
        for sheet, text in (("one", "별로"), ("two", "좋다")):
            pandas.DataFrame({"document": [text]}).to_excel(book, sheet_name=sheet, index=False)
    code, _ = score(tmp_path / "a.xlsx", "-o", tmp_path / "out", "-f", "csv", "--sheet", "two")
    assert code == 0
    (path,) = (tmp_path / "out").glob("*.csv")
    assert path.read_bytes().startswith("\ufeffdocument,label".encode()) and "좋다,positive" in path.read_text("utf-8")


def test_columns_of_results_that_a_file_has_are_said(tmp_path, capsys):
    path = tmp_path / "in.csv"
    path.write_text("review,label\n좋다,1\n", encoding="utf-8")
    bulk.opened(path, {"label": "string", "error": "string"}, None)
    said = "the table already has label; the results are in predicted_label, predicted_error"
    assert capsys.readouterr().err == f"{path}: {said}\n"
