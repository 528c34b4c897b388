"""The command `restore`, and bundles of one task given to the commands of another."""

import json
import re

import pytest

from nsmc_attention.restoration.restorer import load_restorer

LETTERS = "가나다라마바사자차하"
TEXTS = ["배우들연기가 정말조앗는데", "-1점 별로", "ㅋㅋㅋ 😀"]


@pytest.fixture
def refused(command):
    """Run a command line that is refused; return its message, which is one line."""

    def run(*arguments, **options):
        done = command(*arguments, **options)
        assert (done.returncode, done.stdout) == (2, "") and re.fullmatch("error: .*\n", done.stderr)
        return done.stderr

    return run


def test_texts_and_lines_are_printed_restored_one_a_line(command, tiny_editor):
    expected = "".join(f"{each.text}\n" for each in load_restorer(tiny_editor).restore_many(TEXTS))
    assert command("restore", *TEXTS, "--bundle", tiny_editor).stdout == expected
    assert command("restore", "--bundle", tiny_editor, stdin="\n".join(TEXTS)).stdout == expected


def test_jsonl_has_the_source_and_where_each_character_is_from(command, tiny_editor):
    first, blank = map(
        json.loads, command("restore", "좋다", " ", "-f", "jsonl", "--bundle", tiny_editor).stdout.splitlines()
    )
    assert list(first) == ["source", "text", "score", "alignment"] and len(first["alignment"]) == len(first["text"])
    assert blank["error"] == "blank: nothing to restore"


def test_a_file_is_written_and_counted(command, tiny_editor, tmp_path):
    (tmp_path / "in.csv").write_text("리뷰\n정말조앗다\n", encoding="utf-8")
    done = command("restore", "-i", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--bundle", tiny_editor)
    assert (done.returncode, done.stdout) == (0, "") and "out.csv: 1 review, 0 with an error" in done.stderr


def test_predict_shows_and_classifies_the_restored_text(command, tiny_editor):
    (restored,) = load_restorer(tiny_editor).restore_many(["정말조앗다"])
    done = command("predict", "정말조앗다", "--restore-bundle", tiny_editor)
    assert done.stdout == command("predict", "--", restored.text).stdout


@pytest.mark.parametrize(
    "options, message",
    [
        (
            ["in.csv"],
            "restore: expected the text of a review, found the name of a file, in.csv; restore its rows with --input",
        ),
        (["좋다", "--input", "in.csv"], "give reviews or --input, not both"),
        (["--input-format", "csv"], "--input-format needs --input"),
        (["--n-best"], "restore --n-best: expected TEXT, found none"),
        (["좋다", "--n-best", "-f", "csv"], "restore --n-best: prints text or jsonl"),
        (["좋다", "--explain", "a.gif"], "a.gif: unknown suffix '.gif'"),
        (["좋다", "별로", "--explain", "a.png"], "restore --explain: expected one TEXT, found 2"),
        (["--explain", "a.png"], "restore --explain: expected TEXT, found none"),
        (["좋다", "--beam", "4"], "beam 4: expected a writer's bundle, found an editor's"),
        (["좋다", "--n-best"], "n_best: expected a writer's bundle, found an editor's"),
        (["좋다", "-f", "xlsx"], "xlsx output: expected a table, found lines"),
        (["--input", "nowhere.csv"], "nowhere.csv: no such file"),
    ],
)
def test_what_cannot_be_restored_is_one_line_that_says_what_to_do(refused, tiny_editor, options, message):
    assert message in refused("restore", *options, "--bundle", tiny_editor)


CLASSIFYING = [
    ["predict", "좋다"],
    ["evaluate", "--data", "sample"],
    ["behaviour"],
    ["faithfulness", "--data", "sample"],
    ["explain", "좋다"],
    ["report", "in.csv", "--output", "out.html"],
    ["bulk", "in.csv", "--output", "out"],
    ["serve", "--port", "0"],
    ["export"],
]


@pytest.mark.parametrize("arguments", CLASSIFYING, ids=" ".join)
def test_a_restorers_bundle_is_refused_with_the_command_that_takes_it(
    refused, tiny_editor, arguments, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("document\n좋다\n", encoding="utf-8")
    found = refused(*arguments, "--bundle", tiny_editor)
    assert "expected a bundle of the task classify, found 'restore'; use it with `nsmc-attention restore`" in found
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    "arguments", [["restore", "좋다", "--bundle"], ["predict", "좋다", "--restore-bundle"]], ids=" ".join
)
def test_a_classifiers_bundle_is_refused_with_the_command_that_takes_it(refused, bundle_folder, arguments):
    found = refused(*arguments, bundle_folder)
    assert (
        "expected a bundle of the task restore, found one that names no task, a classifier's; use it with `nsmc-attention predict`"
        in found
    )


def test_figures_of_restored_reviews_are_not_recorded(refused, bundle_folder):
    found = refused("evaluate", "--data", "sample", "--record", "--restore", "--bundle", bundle_folder)
    assert "--record: the figures of restored reviews are not the bundle's own" in found


@pytest.mark.parametrize(
    "options, message",
    [
        (["--workers", "2"], "train --task restore: expected no --workers, found 2"),
        (["--kvstore", "dist_sync"], "train --task restore: expected no --kvstore, found dist_sync"),
        (["--positive", "긍정"], "train --task restore: expected no --positive, found 긍정"),
    ],
)
def test_a_training_of_restore_refuses_what_it_would_ignore(refused, tmp_path, options, message):
    assert message in refused("train", "--task", "restore", "--data", "sample", "--out", tmp_path / "run", *options)


def test_a_run_is_resumed_as_the_task_that_it_has(refused, tiny_editor):
    resume = ["train", "--data", "sample", "--resume", "--out", tiny_editor.parent]
    assert "cannot resume with another" in refused(*resume, "--learning-rate", "1")
    assert "cannot resume --task restore as --task classify; leave --task out" in refused(*resume, "--task", "classify")


def test_a_writer_with_a_transformers_decoder_is_trained_resumed_and_used(command, tmp_path):
    rows = (f"이 영화 정말 좋다 {one}{two}\n" for one in LETTERS for two in LETTERS)
    (tmp_path / "in.txt").write_text("".join(rows), encoding="utf-8")
    sizes = {"kind": "transformer", "units": 8, "heads": 2, "feed_forward": 16, "layers": 1}
    settings = [f"model.decoder.{name}={size}" for name, size in sizes.items()]
    settings += ["model.output_units=8", "text.min_count=1", "training.dev_fraction=0.02"]
    train = [
        "train",
        "--task",
        "restore",
        "--preset",
        "writer",
        "--data",
        tmp_path / "in.txt",
        "--out",
        tmp_path / "run",
    ]
    train += "--embedding-size 8 --hidden-size 4 --epochs 1".split()
    train += [word for each in settings for word in ("--set", each)]
    for more in ([], ["--resume"]):
        done = command(*train, *more)
        assert done.returncode == 0 and "--set model.decoder.kind=transformer" in done.stderr, done.stderr
    restore = ["restore", "이영화", "--bundle", tmp_path / "run" / "bundle"]
    for beam in (1, 3):
        found = {command(*restore, "--beam", beam, "--engine", engine).stdout for engine in ("onnx", "gluon")}
        assert len(found) == 1 and found != {""}
    restored = json.loads(command(*restore, "-f", "jsonl").stdout)
    assert len(restored["alignment"]) == len(restored["text"])
