"""kill -9 at any moment: no half-written file under a final name, and the next start ends with the same bytes."""

import random
import shutil

import pytest

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.engines import load_engine
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import nsmc


def contents(bundle):
    return {path.name: path.read_bytes() for path in bundle.iterdir() if path.name != "README.md"}


def resume(command, training, run):
    done = command(*training, run, *["--resume"] * (run / "settings.json").exists())
    assert done.returncode == 0, done.stderr


def test_a_training_killed_in_a_checkpoint_resumes_to_the_same_bytes(die, command, training, run_folder, tmp_path):
    assert die(tmp_path, 9, "fsync", *training, tmp_path / "run")
    resume(command, training, tmp_path / "run")
    assert contents(tmp_path / "run/bundle") == contents(run_folder / "bundle")


@pytest.mark.slow
def test_a_training_killed_at_any_moment_resumes_to_the_same_bytes(die, command, training, run_folder, tmp_path):
    run, deaths = tmp_path / "run", 0
    while deaths < 30:
        again = ["--resume"] * (run / "settings.json").exists()
        deaths += die(tmp_path, random.randint(1, 40), "any", *training, run, *again)
        if (run / "bundle").exists():
            load_bundle(run / "bundle", LAYOUT)
    resume(command, training, run)
    assert contents(run / "bundle") == contents(run_folder / "bundle")


def test_an_adapting_that_is_killed_is_simply_started_again(die, command, bundle_folder, tmp_path, monkeypatch):
    """Between the files of its bundle, nothing is under a final name."""
    # passes over the table; the command makes up to 30
    module, few = "nsmc_attention.classifier.adapt", (1, 1)
    monkeypatch.setattr(f"{module}.ADAPT_EPOCHS", few)
    table, run = tmp_path / "in.csv", tmp_path / "run"
    nsmc.load("sample", "train").frame[:40].to_csv(table, index=False)
    given = ("adapt", table, "--bundle", bundle_folder, "--force", "--out")
    assert die(run, 3, "fsync", *given, run, also=f"import {module}\n{module}.ADAPT_EPOCHS = {few}\n")
    assert not (run / "bundle").exists()
    for folder in (tmp_path / "whole", run):
        done = command(*given, folder)
        assert done.returncode == 0, done.stderr
    assert contents(run / "bundle") == contents(tmp_path / "whole/bundle")


LINES = [("restore --input {films} --output", "a.csv"), ("film {films} --group-by 영화 --output", "a.xlsx")]


@pytest.mark.parametrize("line, name", LINES)
def test_killed_before_its_file_is_there_a_command_leaves_the_old_one(die, command, films_table, tmp_path, line, name):
    output = tmp_path / "disk" / name
    output.parent.mkdir()
    output.write_bytes(b"old")
    arguments = [*line.format(films=films_table).split(), output]
    assert die(output.parent, 1, "os.rename", *arguments) and output.read_bytes() == b"old"
    assert [path.name[:9] for path in output.parent.iterdir() if path != output] == [".partial-"]
    done = command(*arguments)
    assert done.returncode == 0 and output.stat().st_size > 1000, done.stderr


@pytest.mark.slow
def test_killed_at_each_change_in_turn_an_export_leaves_a_whole_bundle(die, bundle_folder, tmp_path):
    bundle = shutil.copytree(bundle_folder, tmp_path / "disk/bundle")
    k = 1
    while die(bundle.parent, k, "any", "export", "--bundle", bundle):
        # what docs/guarantees.md says where the bundle is missing
        for old in bundle.parent.glob("bundle.old-*"):
            if not bundle.exists():
                old.rename(bundle)
        assert load_engine(load_bundle(bundle, LAYOUT), "onnx")
        k += 1
    assert k > 10 and contents(bundle).keys() == contents(bundle_folder).keys()
