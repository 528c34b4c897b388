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
# From the ground up: a folder imports from those before it. One that is not here is still in no circle
ORDER = """
    _io _runtime native, text drawing, model reviews, evaluation bundle, training inference, restoration language,
    classification, films reading, visualization, report serve, cli
"""
FLOOR = {folder: number for number, folders in enumerate(ORDER.split(",")) for folder in folders.split()}
MODULES = sorted(PACKAGE.rglob("*.py"))


def room(path):
    """The first name below the package: `training` for training/loop.py, `bulk` for bulk.py."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def own_imports(path):
    """Yield the files of the package that a file imports, also within functions, but not for type checkers alone."""
    package = ("nsmc_attention", *path.relative_to(PACKAGE).parts[:-1])
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for block in [each for each in ast.walk(tree) if isinstance(each, ast.If)]:
        if ast.unparse(block.test) == "TYPE_CHECKING":
            block.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = PACKAGE.joinpath(*package[1 : len(package) - node.level + 1], *(node.module or "").split("."))
            for name in node.names:
                yield next(
                    each
                    for each in (base / f"{name.name}.py", base.with_suffix(".py"), base / "__init__.py")
                    if each.exists() or "native" in str(each)
                )


FILES = {path: set(own_imports(path)) for path in MODULES}
ROOMS = {
    name: {room(other) for path in MODULES if room(path) == name for other in FILES[path]} - {name}
    for name in map(room, MODULES)
}


def in_circles(imports):
    """Return what is left without those that import none of the others, or that none of them imports."""
    while ends := [
        name
        for name in imports
        if not imports[name] & set(imports) or not any(name in each for each in imports.values())
    ]:
        imports = {name: others for name, others in imports.items() if name not in ends}
    return sorted(map(str, imports))


def test_folders_import_only_from_those_before_them():
    pairs = [(name, other) for name in ROOMS for other in ROOMS[name] if name in FLOOR and other in FLOOR]
    assert not [f"{name} imports {other}" for name, other in pairs if FLOOR[other] >= FLOOR[name]]


@pytest.mark.parametrize("imports", [ROOMS, FILES], ids=["folders", "files"])
def test_nothing_imports_itself_in_a_circle(imports):
    assert in_circles(imports) == []


def test_a_circle_is_found():
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}) == ["b", "c"]


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "code, unwanted",
    [
        (
            "from nsmc_attention.cli import run; run(['--help'])",
            "numpy mxnet pandas konlpy matplotlib onnxruntime requests",
        ),
        ("from nsmc_attention import predict; predict('정말 재미있는 영화')", "mxnet gluonnlp onnx onnxruntime"),
        (
            "from nsmc_attention.cli import run; run(['predict', '정말 재미있는 영화'])",
            "mxnet pandas pyarrow matplotlib requests tqdm konlpy onnxruntime nsmc_attention.systems.restoration.restorer",
        ),
    ],
)
def test_no_more_is_imported_than_is_needed(code, unwanted):
    printed = run_python(f"import sys; {code}; print(sorted(set({unwanted.split()}) & set(sys.modules)))")
    assert printed.splitlines()[-1] == "[]"


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
