"""The package is read in one direction, and importing it costs and changes nothing."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nsmc_attention

PACKAGE = Path(nsmc_attention.__file__).parent
# An import goes to a smaller number, or stays within its own folder
# Training and prediction do not know each other: `recipe` brings them together
RANK = {
    name: floor
    for floor, names in enumerate(
        [
            "version errors colors",
            "_io _runtime native",
            "settings",
            "text",
            "reviews model",
            "config",
            "evaluation",
            "bundle training",
            "inference",
            "visualization",
            "report export",
            "recipe judgement bulk",
            "unlabelled",
            "comparison estimator restoration language films serve",
            "cli",
            "__main__ __init__",
        ]
    )
    for name in names.split()
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def place(path):
    """The first name below the package: `training` for training/fit.py, `bundle` for bundle.py."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def own_imports(path):
    package = ("nsmc_attention", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [node.module] if node.module else [name.name for name in node.names]
            for name in names:
                yield (*base, *name.split("."))[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    upward = [name for name in own_imports(path) if name != place(path) and RANK[name] >= RANK[place(path)]]
    assert not upward


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_mxnet_is_imported_only_for_training_and_the_gluon_engine(path):
    rooms = {
        "_runtime/mxnet_shim.py",
        "text/vocabulary.py",
        "model/alignment.py",
        "model/blocks.py",
        "model/operators.py",
        "model/networks/article.py",
        "model/networks/classifier.py",
        "model/networks/editor.py",
        "model/networks/film.py",
        "model/networks/transformer_writer.py",
        "model/networks/writer.py",
        "model/networks/language.py",
        "model/transformer.py",
        "model/parameters.py",
        "model/tracing.py",
        "training/batches.py",
        "training/checkpoint.py",
        "training/distributed/communicator.py",
        "training/film.py",
        "training/initial.py",
        "training/language.py",
        "training/loop.py",
        "training/objectives.py",
        "training/restoring.py",
        "training/stages.py",
        "inference/engines.py",
        "inference/gradients.py",
        "inference/film_engines.py",
        "inference/interventions.py",
        "inference/restorer_engines.py",
        "inference/language.py",
    }
    text = path.read_text(encoding="utf-8")
    touches = any(word in text for word in ("import mxnet", "from mxnet", "import gluonnlp", "import_mxnet()"))
    assert not touches or str(path.relative_to(PACKAGE)) in rooms


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_loads_nothing_heavy():
    code = (
        "import sys, nsmc_attention, nsmc_attention.cli; print(sorted({'numpy', 'mxnet', 'pandas', 'konlpy', "
        "'matplotlib', 'onnxruntime', 'requests'} & set(sys.modules)))"
    )
    assert run_python(code).strip() == "[]"


def test_one_review_from_the_shell_loads_no_pandas():
    code = (
        "import sys; from nsmc_attention.cli import commands; "
        "commands(['predict', '정말 재미있는 영화'], standalone_mode=False); "
        "print(sorted({'mxnet', 'pandas', 'pyarrow', 'matplotlib', 'requests'} & set(sys.modules)))"
    )
    assert run_python(code).splitlines()[1:] == ["[]"], "half of its time"


def test_drawing_leaves_matplotlib_settings_alone():
    code = (
        "import matplotlib, numpy; before = dict(matplotlib.rcParams); "
        "from nsmc_attention import draw_heatmap; draw_heatmap(numpy.eye(2), ['가', '나']); "
        "print(before == dict(matplotlib.rcParams))"
    )
    assert run_python(code).strip() == "True"


@pytest.mark.parametrize("name", nsmc_attention.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(nsmc_attention, name) is not None


def test_no_function_is_longer_than_sixty_lines():
    """Of code: neither its parameters nor its docstring count."""
    functions = [
        (path.name, node)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    assert not [(name, node.name) for name, node in functions if node.end_lineno - code_starts(node) >= 60]


def code_starts(function):
    body = function.body
    return (body[1] if ast.get_docstring(function) and len(body) > 1 else body[0]).lineno


def test_downloads_are_made_in_one_place():
    words = ("pooch", "urllib", "http.client", "requests.")
    named = {
        str(path.relative_to(PACKAGE))
        for path in MODULES
        if any(word in path.read_text(encoding="utf-8") for word in words)
    }
    assert named == {"reviews/nsmc.py"}


def test_progress_bars_are_made_in_one_place():
    named = {path.name for path in MODULES if "tqdm" in path.read_text(encoding="utf-8").replace("as tqdm does", "")}
    assert named == {"progress.py"}


OFFLINE = """
import json, sys

def report(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        print("NETWORK", event, arguments, file=sys.stderr)

sys.addaudithook(report)
from nsmc_attention.cli import run
for arguments in json.load(sys.stdin):
    print(*arguments, file=sys.stderr)
    assert run(arguments) == 0
"""
TRAIN = "train --data sample --epochs 1 --erasure-reviews 0 --ngram-buckets 0 --embedding-size 8 --hidden-size 8"
LOCAL = [
    ["predict", "정말 재미있는 영화였어요"],
    ["explain", "나무랄 데 없는 영화", "--output", "a.html"],
    ["explain", "나무랄 데 없는 영화", "--output", "a.png"],
    ["evaluate", "--data", "sample"],
    ["report", "reviews.csv", "--output", "report.html"],
    [*TRAIN.split(), "--out", "run"],
]


def test_no_command_but_fetch_uses_the_network(tmp_path):
    (tmp_path / "reviews.csv").write_text("document\n" + "정말 좋다\n별로다\n" * 10, encoding="utf-8")
    code = [sys.executable, "-c", OFFLINE]
    done = subprocess.run(code, input=json.dumps(LOCAL), cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "NETWORK" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    "arguments", [["좋다"], pytest.param(["--input", "reviews.csv", "--output", "out.csv"], marks=pytest.mark.slow)]
)
def test_onnxruntime_sends_no_telemetry(arguments, tmp_path):
    """Native code, which no audit hook sees; it writes a device number under the home folder before it sends."""
    (tmp_path / "reviews.csv").write_text("document\n" + "정말 좋다\n별로다\n" * 10_000, encoding="utf-8")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("ORT_DISABLE_TELEMETRY", "CI", "XDG_CACHE_HOME")
    }
    subprocess.run(
        [sys.executable, "-m", "nsmc_attention", "predict", *arguments],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        env={**environment, "HOME": str(tmp_path)},
    )
    assert not [path for path in tmp_path.rglob("*") if "onnx" in path.name.lower() or path.name == "Microsoft"]
