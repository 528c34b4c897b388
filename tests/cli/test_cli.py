"""The command line: in this process, or in one of its own where streams, signals and exit codes are tested."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib import import_module

import pytest

from nsmc_attention import load_classifier
from nsmc_attention.classifier.explain import explain
from nsmc_attention.classifier.prediction import METHODS
from nsmc_attention.cli import commands, run
from nsmc_attention.cli.app import COMMANDS
from nsmc_attention.corpora import nsmc
from nsmc_attention.registry import SYSTEMS
from nsmc_attention.schema import SHORT_NAMES
from nsmc_attention.tables.source import say_once
from nsmc_attention.views.terminal import ATTENTION, NEGATIVE, POSITIVE, WHITE, has_colors, shade, words

SENTENCE = "가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집"


def child(*arguments, **options):
    """Run a command line in a process of its own; stdout and stderr as bytes."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([sys.executable, "-m", "nsmc_attention", *map(os.fsencode, arguments)], **options)


def test_one_review_is_classified(command, bundle_folder):
    done = child("predict", SENTENCE, "--bundle", bundle_folder)
    assert done.returncode == 0 and done.stderr == b""
    assert re.fullmatch(rf"(positive|negative)\t[01]\.\d{{4}}\t{SENTENCE}\n", done.stdout.decode())
    assert command("predict", SENTENCE, "--bundle", bundle_folder).stdout == done.stdout.decode()


def test_lines_on_stdin_keep_their_order_and_blank_ones_their_place(command, bundle_folder):
    for dash in ([], ["-"]):
        done = command("predict", *dash, "-f", "jsonl", "--bundle", bundle_folder, stdin="\ufeff첫째\r\n\n셋째\n")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [row["text"].strip("\ufeff") for row in rows] == ["첫째", "", "셋째"]
    assert rows[1]["label"] is None and rows[1]["error"] == "blank: no word to score"


def test_a_table_keeps_its_columns_and_rows(command, bundle_folder, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text('label,document,predicted_label\n1,"좋다, 정말",A\n0,,B\n1,별로,C\n', encoding="utf-8-sig")
    done = command("predict", "--input", source, "--output", tmp_path / "out.csv", "--bundle", bundle_folder)
    assert done.returncode == 0 and done.stdout == ""
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text(encoding="utf-8-sig"))))
    assert [row["predicted_label"] for row in rows] == ["A", "B", "C"] and rows[0]["document"] == "좋다, 정말"
    added = [f"predicted_predicted_{name}" for name in ("label", "score", "probability", "error")]
    assert list(rows[0]) == ["label", "document", "predicted_label", *added]
    assert [rows[1][name] for name in added] == ["", "", "", "blank: no word to score"]
    said = f"{source}: the table already has label; the results are in {', '.join(added)}"
    assert said in done.stderr.splitlines()
    # text output has none of the table's columns
    assert "already has" not in command("predict", "--input", source, "--bundle", bundle_folder).stderr


def test_an_output_file_is_announced_with_its_rows_and_errors(command, bundle_folder, tmp_path):
    (tmp_path / "a.csv").write_text("document,film\n좋다,A\n,B\n", encoding="utf-8")
    for name in ("o.csv", "o.jsonl", "o.parquet"):
        done = command("predict", "-i", tmp_path / "a.csv", "-o", tmp_path / name, "--bundle", bundle_folder)
        said, share = done.stderr.splitlines()
        assert (done.stdout, said) == ("", f"{tmp_path / name}: 2 reviews, 1 with an error")
        assert share.startswith(f"{tmp_path / 'a.csv'}: positive reviews: unknown")
    done = command("predict", "좋다", "-f", "text", "-o", tmp_path / "o.txt", "--bundle", bundle_folder)
    assert done.stderr == f"{tmp_path / 'o.txt'}: 1 review, 0 with an error\n"


@pytest.mark.parametrize("text", ["-1점 영화", "--별로", "- 좋다", "-ㅋㅋ"])
def test_a_review_that_begins_with_a_dash_goes_after_two(command, bundle_folder, text):
    lines = command("predict", "--bundle", bundle_folder, "--", text, "좋다").stdout.splitlines()
    assert [line.split("\t")[2] for line in lines] == [text, "좋다"]
    done = command("predict", text)
    assert done.returncode == 2 and "A text that begins with a dash goes after --." in done.stderr


def test_a_run_folder_stands_for_its_bundle(command, run_folder, tmp_path):
    given, inner = (command("predict", "좋다", "--bundle", each) for each in (run_folder, run_folder / "bundle"))
    assert given.returncode == 0 and given.stdout == inner.stdout
    (tmp_path / "settings.json").write_text("{}", encoding="utf-8")
    refused = command("predict", "좋다", "--bundle", tmp_path)
    assert refused.returncode == 2 and "whose training has not ended; continue it" in refused.stderr


def test_explain_draws_reviews_and_models_beside_each_other(command, bundle_folder, tmp_path):
    models = ["--bundle", bundle_folder, "--beside", bundle_folder, "--method", "attention", "--method", "erasure"]
    done = command("explain", SENTENCE, "별로", "--output", tmp_path / "a.html", *models, "--by-word")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    assert (tmp_path / "a.html").read_text(encoding="utf-8").count('"method": "erasure"') == 4


def test_explain_without_an_output_prints_the_words_with_their_weights(command, bundle_folder):
    done = command("explain", "--method", "erasure", "--bundle", bundle_folder, "--", "배우는 좋은데", "-별로")
    (first, second), number = done.stdout.split("\n\n"), r"\([+-]\d+\.\d\d\)"
    assert done.returncode == 0 and "\x1b" not in done.stdout and "--output words.png" in done.stderr
    title, words, strongest, meaning = first.splitlines()
    assert re.fullmatch(r"(positive|negative) \d+\.\d % - erasure - .*", title)
    assert re.sub(number, "", words) == "배우는 좋은데" and len(re.findall(number, words)) >= 4
    assert strongest.startswith("strongest: ") and meaning.endswith("+ for positive, - for negative")
    assert re.sub(number, "", second.splitlines()[1]) == "-별로"


def test_words_on_a_terminal_are_shaded_by_hue_of_the_method(bundle_folder):
    classifier = load_classifier(bundle_folder)
    for method, ramps in (("attention", [ATTENTION]), ("erasure", [POSITIVE, NEGATIVE])):
        found = explain(SENTENCE, classifier, method)
        shown = words(found, colors=True)
        shades = {int(each) for each in re.findall(r"48;5;(\d+)m", shown)} - {WHITE}
        assert shades and shades <= {color for ramp in ramps for color in ramp}
        assert re.sub(r"\x1b\[[\d;]*m", "", shown) == found.text
    assert shade(1.0, True) == POSITIVE[-1] and shade(-1.0, True) == NEGATIVE[-1] and shade(0.01, True) == WHITE


def test_words_are_shaded_only_where_the_terminal_says_so():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    assert has_colors(Terminal(), {"TERM": "xterm-256color"}) and has_colors(Terminal(), {"COLORTERM": "truecolor"})
    assert not has_colors(Terminal(), {"TERM": "xterm-256color", "NO_COLOR": "1"})
    assert not has_colors(Terminal(), {"TERM": "linux"}) and not has_colors(io.StringIO(), {"TERM": "xterm-256color"})


def test_help_names_every_command_and_every_setting(command):
    (done, top, training) = command(), command("--help").stdout, command("train", "--help").stdout
    assert (done.returncode, done.stderr, done.stdout) == (0, "", top)
    assert all(f"--{name.replace('_', '-')}" in training for name in SHORT_NAMES)
    order = "fetch train adapt evaluate faithfulness hops explain export predict restore fill film read report bulk"
    named = [line.split()[0] for line in top.split("Commands:\n")[1].splitlines()]
    assert named == [name for name in [*order.split(), "serve"] if name in COMMANDS] == list(COMMANDS)


def test_help_shows_choices(command):
    presets = "|".join(name for task in SYSTEMS.values() for name in task.layout.presets)
    assert f"[{presets}]" in command("train", "--help").stdout
    explaining = command("explain", "--help").stdout
    for flag, names in (
        ("--method", ["auto", *METHODS]),
        ("--engine", ["auto", "native", "native-bf16", "onnx", "gluon"]),
    ):
        (shown,) = re.findall(rf"{flag} \[([^]]*)\]", explaining)
        assert sorted(shown.split("|")) == sorted(names)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_short_flags_are_the_same_in_all_commands(name):
    meant = {"-i": "--input", "-o": "--output", "-f": "--format"}
    options = {flag for each in commands.get_command(None, name).params for flag in each.opts}
    assert [short in options for short in meant] == [flag in options for flag in meant.values()]


@pytest.mark.parametrize("module", ["numpy.no_part", "nsmc_attention.no_part", "no_package_of_ours"])
def test_an_import_that_no_installation_mends_is_a_bug(monkeypatch, module):
    monkeypatch.setattr(commands, "main", lambda *_, **__: import_module(module))
    with pytest.raises(ModuleNotFoundError):
        run(["predict"])


def test_a_closed_pipe_is_quiet_and_known_by_the_exit_code(bundle_folder, tmp_path):
    (tmp_path / "many.txt").write_text("영화 좋다\n" * 20000, encoding="utf-8")
    predicting = f"{sys.executable} -m nsmc_attention predict --bundle {bundle_folder} < {tmp_path}/many.txt"
    line = predicting + " | head -n 1; echo ${PIPESTATUS[*]}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.stdout.splitlines()[1:] == ["141 0"] and done.stderr == ""


def test_lone_surrogates_from_the_shell_are_answered(bundle_folder):
    done = child("predict", b"\xff\xfe " + "좋다".encode(), "--bundle", bundle_folder)
    assert done.returncode == 0 and done.stdout.endswith("좋다\n".encode())


def test_stdin_in_the_encoding_of_korean_windows_is_read(command, bundle_folder):
    say_once.cache_clear()
    done = command("predict", "--bundle", bundle_folder, stdin="정말 좋다\n".encode("cp949"))
    assert (done.returncode, done.stderr) == (0, "stdin: read as CP949\n") and done.stdout.endswith("\t정말 좋다\n")


def test_a_full_standard_output_is_one_line(bundle_folder):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = child("predict", "좋다", "--bundle", bundle_folder, stdout=full)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr


def test_jsonl_rows_keep_their_own_columns(command, bundle_folder, tmp_path):
    rows = '{"document": "좋다", "text": "own", "n": 1}\n{"document": null}\n'
    (tmp_path / "a.jsonl").write_text(rows, encoding="utf-8")
    options = ["--text-column", "document", "--format", "jsonl", "--bundle", bundle_folder]
    done = command("predict", "--input", tmp_path / "a.jsonl", *options)
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["text"], first["predicted_text"], first["n"]) == ("own", "좋다", 1)
    assert second["label"] is None and second["n"] is None


def test_standard_output_by_its_name_is_added_to(command, bundle_folder, tmp_path):
    given = ["--bundle", bundle_folder, "--input", tmp_path / "a.csv", "--format", "csv", "--output", "/dev/stdout"]
    (tmp_path / "a.csv").write_text("document\n좋다\n", encoding="utf-8")
    piped = command("predict", *given)
    assert piped.returncode == 0 and piped.stdout.startswith("document,label")
    (tmp_path / "kept.txt").write_text("old\n", encoding="utf-8")
    with open(tmp_path / "kept.txt", "a") as file:
        child("predict", *given, stdout=file, check=True)
    assert (tmp_path / "kept.txt").read_text(encoding="utf-8") == "old\n" + piped.stdout


@pytest.mark.parametrize(
    "closed, code, said",
    [("2>&-", 0, ""), ("<&-", 2, "error: stdin: the file is empty; expected a header and reviews\n")],
)
def test_a_stream_that_the_shell_has_closed_is_empty(bundle_folder, tmp_path, closed, code, said):
    (tmp_path / "a.csv").write_text("document\n좋다\n", encoding="utf-8")
    source = "- --input-format csv" if code else tmp_path / "a.csv"
    line = f"{sys.executable} -m nsmc_attention predict --bundle {bundle_folder} --input {source} {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (code, said) and ("좋다" in done.stdout) == (code == 0)


def test_figures_are_recorded_with_the_command_that_gave_them(command, bundle_folder, tmp_path):
    bundle = tmp_path / "bundle"
    shutil.copytree(bundle_folder, bundle)
    done = command("evaluate", "--data", "sample", "--bundle", bundle, "--record", "--json")
    found, manifest = json.loads(done.stdout), json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["metrics"]["test"]["accuracy"] == found["accuracy"] and found["n"] == 180
    assert found["engine"] == load_classifier().engine.name
    given = f"nsmc-attention evaluate --data sample --bundle {tmp_path.name}/bundle"
    assert manifest["metrics"]["test"]["command"] == given
    assert f"{100 * found['accuracy']:.2f}" in (bundle / "README.md").read_text(encoding="utf-8")
    again = command("evaluate", "--data", "sample", "--bundle", bundle, "--json")
    assert json.loads(again.stdout)["accuracy"] == found["accuracy"], "the bundle is still one"


def test_what_was_learned_from_is_not_recorded_as_a_test(command, run_folder, tmp_path):
    bundle = tmp_path / "bundle"
    shutil.copytree(run_folder / "bundle", bundle)
    texts = nsmc.load("sample", "train").frame
    texts.to_csv(tmp_path / "own.csv", index=False)
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    manifest["data"]["train"].update(name="own.csv", sha256=sha256((tmp_path / "own.csv").read_bytes()).hexdigest())
    (bundle / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    command("evaluate", "--data", tmp_path / "own.csv", "--bundle", bundle, "--record")
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["metrics"]) == {"dev", "training file"}


def test_names_of_columns_and_files_keep_their_hangul_in_any_locale_and_no_warning_is_an_error(tmp_path):
    (tmp_path / "영화.csv").write_text("이름,내용\n가,정말 좋다\n", encoding="utf-8")
    variables = {**os.environ, "LC_ALL": "C"}
    for column, code in (("내용", 0), ("네용", 2)):
        words = ["predict", "--input", "영화.csv", "--text-column", column, "--output", "결과.csv"]
        command = [sys.executable, "-W", "error::DeprecationWarning", "-m", "nsmc_attention", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", env=variables)
        assert done.returncode == code and "\\udc" not in done.stderr, done.stderr
    assert "영화.csv: expected a column '네용'" in done.stderr and (tmp_path / "결과.csv").is_file()


def test_products_of_numpy_take_one_thread(monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    shown = 'print(app.os.environ["OPENBLAS_NUM_THREADS"], "numpy" in sys.modules)'
    code = f"import sys; from nsmc_attention.cli import app; app.run = lambda words: {shown} or 0; app.main([])"
    # numpy reads the variable where it is imported, as late as a command needs it
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "1 False\n"
