"""A whole training on the sample: what it writes, resumed = uninterrupted, and what it refuses."""

import json
import shutil

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.settings import LAYOUT, TrainingConfig
from nsmc_attention.classifier.train import train
from nsmc_attention.corpora import nsmc
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.training import loop as fit_module
from nsmc_attention.training.checkpoint import read_arrays
from nsmc_attention.training.runs import Run, read_settings

TIMES = {"seconds"}


@pytest.fixture(scope="module")
def short(tiny):
    """Settings of a training of one second: one epoch, the network alone."""
    return tiny.with_fields(epochs=1, ngram_buckets=0, erasure_reviews=0)


def history(folder):
    lines = (folder / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [{name: value for name, value in json.loads(line).items() if name not in TIMES} for line in lines]


def parameters(folder):
    return (folder / "bundle" / "model.safetensors").read_bytes()


def test_a_run_folder_ends_with_a_bundle_curves_and_history(run_folder, tiny):
    bundle = load_bundle(run_folder / "bundle", LAYOUT)
    assert bundle.config == tiny
    assert (run_folder / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in run_folder.glob("*.png")] == ["curves.png"], "one figure a stage"
    assert [record["epoch"] for record in history(run_folder)] == [1, 2, 3]
    assert len(list(run_folder.glob("*.safetensors"))) == 2, "the last state and the best parameters"
    assert bundle.manifest["data"]["train"]["used"] == 486 and bundle.manifest["data"]["dev"]["used"] == 54


def test_the_best_epoch_is_the_one_that_is_kept(run_folder):
    from nsmc_attention.classifier.engines import load_engine
    from nsmc_attention.network.parameters import loaded, snapshot, stored

    # the attention's stage is the last that changes a parameter
    best = read_arrays(run_folder / "attention" / "best.safetensors")
    kept = snapshot(load_engine(load_bundle(run_folder / "bundle", LAYOUT), "gluon").graph.block)
    assert set(kept) == set(best)
    for name in set(best) - {"output.weight", "output.bias"}:  # these are scaled by the calibration
        assert numpy.array_equal(loaded(stored(name, best[name]))[name], kept[name]), name


def test_a_run_folder_is_left_as_it_is_by_another_run(run_folder, tiny, tmp_path):
    before, other = sorted(path.stat().st_mtime_ns for path in run_folder.iterdir()), tiny.with_fields(hidden_size=9)
    for config, folder, resume, message in (
        (tiny, run_folder, False, "the run folder exists; continue with --resume"),
        (other, run_folder, True, "cannot resume with another config.model.encoder.hidden_size: .* has 8, found 9"),
        (tiny, tmp_path / "none", True, "no run to resume"),
    ):
        with pytest.raises(ConfigError, match=message):
            train("sample", config, folder, quiet=True, resume=resume)
    assert sorted(path.stat().st_mtime_ns for path in run_folder.iterdir()) == before


@pytest.mark.parametrize(
    "rows, message",
    [
        ("가,3\n", "few.csv: column label row 2: expected labels 0 and 1, .*found '3'"),
        ("좋다,1\n최고,1\n", "expected reviews of both labels, found one"),
        ("좋다,1\n별로,0\n", "dev part of .* out: expected at least .*found 1 negative and 1 positive"),
    ],
)
def test_a_bad_file_or_too_little_data_leaves_no_run_folder(tiny, tmp_path, rows, message):
    (tmp_path / "few.csv").write_text("document,label\n" + rows, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        train(tmp_path / "few.csv", tiny, tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()


@pytest.fixture
def stars_folder(tmp_path, monkeypatch):
    """A test file beside a small archive of raw reviews, some of which are in the test file."""
    folder = tmp_path / "data"
    (folder / "raw").mkdir(parents=True)
    name = nsmc.FILES["test"]
    tested = nsmc.load("sample", "train")
    content = b"".join((nsmc.sample_folder() / nsmc.FILES["train"]).read_bytes().splitlines(keepends=True)[:101])
    (folder / name).write_bytes(content)
    monkeypatch.setitem(nsmc.SHA256, "test", nsmc.sha256(content))
    own = nsmc.load("sample", "test").documents
    reviews = [
        {"review_id": f"own{number}", "movie_id": "1", "review": text, "rating": str(1 + number % 10)}
        for number, text in enumerate(own + tested.documents[:3])
    ]
    (folder / "raw" / "1.json").write_text(json.dumps(reviews, ensure_ascii=False), encoding="utf-8")
    return folder


def lose_checkpoints(run, stage):
    """Leave the run folder as if the training had been stopped in the first epoch of that stage."""
    shutil.rmtree(run / "bundle")
    for folder in [run, run / "pretraining"][: 2 if stage == "stars" else 1]:
        (folder / "checkpoint.safetensors").unlink()


def test_the_stage_of_stars_learns_the_sentences_too(stars_folder, tiny, tmp_path):
    lines = [f"시간 가는 줄 몰랐다 {number},1," for number in range(200)]
    (tmp_path / "own.csv").write_text("\n".join(["document,label,signs", *lines]), encoding="utf-8")
    config = tiny.with_fields(pretrain_epochs=1, epochs=1, erasure_reviews=0, ngram_buckets=0, batch_size=4)
    run = tmp_path / "run"
    train("sample", config, run, quiet=True, data_dir=stars_folder, sentences=tmp_path / "own.csv")
    # four a batch, and a batch more for some of the lengths; of stars alone there would be 45 and so many more
    assert 95 <= history(run / "pretraining")[-1]["steps"] <= 95 + 48


@pytest.mark.parametrize("resume", [(), pytest.param(("stars", "labels"), marks=pytest.mark.slow)])
def test_pretraining_on_stars_comes_first_and_leaves_out_the_test_file(stars_folder, tiny, tmp_path, resume):
    config = tiny.with_fields(pretrain_epochs=2, epochs=1, erasure_epochs=1, rare_words="pieces", vocab_size=800)
    run = tmp_path / "run"
    bundle = train("sample", config, run, quiet=True, data_dir=stars_folder)
    found = bundle.manifest["data"]["pretraining"]
    assert found["left_out_by_text"] == 3 and found["kept"] == 180
    assert "star ratings of 180 of " in (run / "bundle" / "README.md").read_text(encoding="utf-8")
    assert [record["epoch"] for record in history(run / "pretraining")] == [1, 2]
    before = parameters(run)
    for stage in resume:
        lose_checkpoints(run, stage)
        train("sample", config, run, quiet=True, resume=True, data_dir=stars_folder)
        assert parameters(run) == before, stage


@given(st.integers(1, 400), st.floats(0, 1), st.sampled_from(["cosine", "constant"]))
def test_the_learning_rate_rises_to_its_highest_and_never_above(total, warmup, schedule):
    training = TrainingConfig(warmup=warmup, schedule=schedule)
    rates = [fit_module.learning_rate(step, total, 0.002, training) for step in range(total)]
    assert min(rates) >= 0 and max(rates) <= 0.002
    assert rates[min(total - 1, int(warmup * total))] == pytest.approx(0.002)


def test_a_dev_file_is_used_whole_and_other_columns_and_another_vocabulary_are_another_run(short, tmp_path):
    reviews = nsmc.load("sample", "train").frame.assign(other=lambda frame: 1 - frame["label"])
    reviews.to_csv(tmp_path / "own.csv", index=False)
    reviews[:20].to_csv(tmp_path / "dev.csv", index=False)
    run, valid = tmp_path / "run", tmp_path / "dev.csv"
    bundle = train(tmp_path / "own.csv", short, run, valid=valid, quiet=True, label_column="other")
    assert "--label-column other" in bundle.manifest["command"]
    assert bundle.manifest["data"]["dev"]["used"] == 20 and bundle.manifest["data"]["train"]["used"] == 540
    with pytest.raises(ConfigError, match="cannot resume with another columns.label: the run has 'other', found"):
        train(tmp_path / "own.csv", short, run, valid=valid, quiet=True, resume=True)
    settings = json.loads((run / "settings.json").read_text(encoding="utf-8"))
    settings["reads"]["vocabulary"] = "0"
    (run / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot resume with another reads.vocabulary"):
        train(tmp_path / "own.csv", short, run, valid=valid, quiet=True, resume=True, label_column="other")
    reviews[:500].to_csv(tmp_path / "own.csv", index=False)
    with pytest.raises(ConfigError, match="cannot resume with another data.sha256"):
        train(tmp_path / "own.csv", short, run, valid=valid, quiet=True, resume=True, label_column="other")


def test_a_finished_run_that_is_resumed_through_a_link_keeps_its_parameters(run_folder, tiny, tmp_path):
    run, link = shutil.copytree(run_folder, tmp_path / "run"), tmp_path / "link"
    link.symlink_to("run")
    train("sample", tiny, link, quiet=True, resume=True)
    assert parameters(run) == parameters(run_folder)


def test_a_folder_in_which_another_training_has_begun_meanwhile_is_refused(tmp_path):
    run = Run(tmp_path / "run")
    run.check({"config": "own"})
    Run(tmp_path / "run").begin({"config": "of the other"})
    with pytest.raises(ConfigError, match="the run folder exists; continue with --resume"):
        run.begin({"config": "own"})
    assert read_settings(tmp_path / "run") == {"config": "of the other"}
