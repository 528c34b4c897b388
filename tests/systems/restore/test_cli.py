"""The command `restore`, and bundles of one task given to the commands of another."""

import io
import json

import numpy
import pandas

from nsmc_attention.scoring.files import row_stream
from nsmc_attention.systems.restore.restorer import TableRestorer, load_restorer

LETTERS = "가나다라마바사자차하"
TEXTS = ["배우들연기가 정말조앗는데", "-1점 별로", "ㅋㅋㅋ 😀"]


def test_texts_and_lines_are_printed_restored_one_a_line(command, tiny_editor):
    expected = "".join(f"{each.text}\n" for each in load_restorer(tiny_editor).restore_many(TEXTS))
    assert command("restore", "--bundle", tiny_editor, "--", *TEXTS).stdout == expected
    assert command("restore", "--bundle", tiny_editor, stdin="\n".join(TEXTS)).stdout == expected


def test_jsonl_has_the_source_and_where_each_character_is_from(command, tiny_editor):
    done = command("restore", "좋다", " ", "-f", "jsonl", "--bundle", tiny_editor)
    first, blank = map(json.loads, done.stdout.splitlines())
    assert list(first) == ["source", "text", "score", "changes", "alignment"]
    assert len(first["alignment"]) == len(first["text"])
    assert blank["error"] == "blank: nothing to restore"


def test_changes_and_how_many_are_made_follow_the_least_probability(command):
    text = "정말조앗는데 밥한그릇"
    for least in (0.5, 0.99):
        expected = load_restorer(min_probability=least)(text)
        found = json.loads(command("restore", text, "-f", "jsonl", "--min-probability", least).stdout)
        assert found["changes"] == [change._asdict() for change in expected.changes]
    done = command("restore", text, "--beam", 4, "--min-probability", 0.7)
    assert "leave min_probability out" in done.stderr and done.returncode == 2


def test_a_table_says_how_many_changes_there_are_and_the_least_probability(command, tmp_path):
    texts = ["정말조앗다 넘재밋음", "정말 좋았다", " "]
    (tmp_path / "in.csv").write_text("\n".join(["리뷰", *texts]) + "\n", encoding="utf-8")
    for options, restorer in ([], load_restorer()), (["--beam", 2], load_restorer(beam=2)):
        done = command("restore", "-i", tmp_path / "in.csv", "-f", "csv", *options)
        found = pandas.read_csv(io.StringIO(done.stdout))
        expected = [*map(restorer, texts)]
        assert list(found) == ["리뷰", "restored", "restore_changes", "restore_probability", "restore_error"]
        assert found["restore_changes"].tolist() == [len(each.changes) for each in expected]
        least = [min((each.probability or numpy.nan for each in one.changes), default=numpy.nan) for one in expected]
        numpy.testing.assert_allclose(found["restore_probability"], least, atol=1e-6)
        assert found["restore_error"].fillna("").tolist() == [each.error or "" for each in expected]


def test_processes_give_the_rows_that_one_gives():
    restorer, windows = TableRestorer.load(min_probability=0.9), [TEXTS, ["정말조앗다", " "]]
    assert [rows for _, rows in row_stream(restorer, windows, 2)] == [restorer.rows(texts) for texts in windows]


def test_predict_shows_and_classifies_the_restored_text(command, tiny_editor):
    # the classifier is in doubt
    (restored,) = load_restorer(tiny_editor).restore_many(["이영화조앗다"])
    done = command("predict", "이영화조앗다", "--restore-bundle", tiny_editor)
    assert done.stdout == command("predict", "--", restored.text).stdout


def test_a_run_is_resumed_as_the_task_that_it_has(command, tiny_editor):
    resume = ["train", "--data", "sample", "--resume", "--out", tiny_editor.parent]
    assert "cannot resume with another" in command(*resume, "--learning-rate", "1").stderr
    done = command(*resume, "--task", "classify")
    assert "cannot resume --task restore as --task classify; leave --task out" in done.stderr and done.returncode == 2


def test_a_writer_is_trained_resumed_used_and_drawn(command, tmp_path):
    rows = (f"이 영화 정말 좋다 {one}{two}\n" for one in LETTERS for two in LETTERS)
    (tmp_path / "in.txt").write_text("".join(rows), encoding="utf-8")
    sizes = {"units": 8, "heads": 2, "feed_forward": 16, "layers": 1}
    settings = [f"model.decoder.{name}={size}" for name, size in sizes.items()]
    settings += [
        "model.encoder.hidden_size=4",
        "model.output_units=8",
        "text.min_count=1",
        "training.dev_fraction=0.02",
    ]
    train = ["train", "--task", "restore", "--preset", "writer", "--data", tmp_path / "in.txt"]
    train += ["--out", tmp_path / "run"]
    train += "--embedding-size 8 --epochs 1".split()
    train += [word for each in settings for word in ("--set", each)]
    for more in ([], ["--resume"]):
        done = command(*train, *more)
        assert done.returncode == 0 and "--set model.decoder.units=8" in done.stderr, done.stderr
        assert "sentences: the share restored exactly may be anything" in done.stderr
    restore = ["restore", "이영화", "--bundle", tmp_path / "run" / "bundle"]
    for beam in (1, 3):
        found = {command(*restore, "--beam", beam, "--engine", engine).stdout for engine in ("onnx", "gluon")}
        assert len(found) == 1 and found != {""}
    restored = json.loads(command(*restore, "-f", "jsonl").stdout)
    assert len(restored["alignment"]) == len(restored["text"])
