"""The package is read in one direction, and importing it costs and changes nothing."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nsmc_attention
from nsmc_attention.corpora.nsmc import sample_folder

PACKAGE = Path(nsmc_attention.__file__).parent
# Files beside the folders
FILES_ALONE = {"__init__", "__main__", "errors", "version", "bundle", "registry", "schema", "system"}
# From the ground up: a folder or file imports from those before it
ORDER = """
    errors version, machine schema, native, text, bundle network tables, corpora drawing engines measure,
    sentiment scoring training, registry, classifier, apps/aspects views, systems/sequences,
    systems/film systems/language systems/read systems/restore, apps, apps/report apps/serve, cli
"""
# Lines of Python; what a folder needs beyond them makes room there first
BOUNDS = {
    "machine": 698,
    "native": 187,
    "text": 981,
    "network": 1080,
    "tables": 1760,
    "corpora": 916,
    "drawing": 411,
    "engines": 758,
    "measure": 615,
    "sentiment": 109,
    "scoring": 604,
    "training": 702,
    "classifier": 3635,
    "views": 533,
    "systems/sequences": 353,
    "systems/film": 1213,
    "systems/language": 585,
    "systems/read": 2016,
    "systems/restore": 2494,
    "apps/aspects": 320,
    "apps/report": 793,
    "apps/serve": 1434,
    "cli": 1388,
    "": 24935,
}
FLOOR = {folder: number for number, folders in enumerate(ORDER.split(",")) for folder in folders.split()}
MODULES = sorted(PACKAGE.rglob("*.py"))


def room(path):
    """The folder below the package, of a wing two: `training` for training/loop.py, `system` for system.py."""
    first, *others = path.relative_to(PACKAGE).parts
    return "/".join([first, *others[: len(others) > 1]]) if first in ("systems", "apps") else first.removesuffix(".py")


def own_imports(path, for_types=False):
    """Yield the files of the package that a file imports, also within functions, and maybe for type checkers alone."""
    package = ("nsmc_attention", *path.relative_to(PACKAGE).parts[:-1])
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for block in [each for each in ast.walk(tree) if isinstance(each, ast.If)]:
        if not for_types and ast.unparse(block.test) == "TYPE_CHECKING":
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
    name: {room(other) for path in MODULES if room(path) == name for other in own_imports(path, for_types=True)}
    - {name}
    for name in dict.fromkeys(map(room, MODULES))
}


def in_circles(imports):
    """Return those that are left without the ones that import none of the others, or that none of them imports."""
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


def lines_of(paths):
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def test_a_system_imports_no_other_system():
    systems = {name: others for name, others in ROOMS.items() if name.startswith("systems/")}
    for name, others in systems.items():
        assert others & systems.keys() <= {"systems/sequences"}, name


def test_each_folder_is_within_its_bound():
    counts = {name: lines_of(path for path in MODULES if room(path).startswith(name)) for name in BOUNDS}
    assert {name: count for name, count in counts.items() if count > BOUNDS[name]} == {}
    bounded = {name.partition("/")[0] for name in BOUNDS}
    assert {room(path).partition("/")[0] for path in MODULES} - bounded <= FILES_ALONE


TRAIN = "train --data sample --epochs 1 --erasure-reviews 0 --ngram-buckets 0 --embedding-size 8 --hidden-size 8"
# Says on stderr what uses the network
HOOK = """
import json, sys

def report(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        print("NETWORK", event, arguments, file=sys.stderr)

sys.addaudithook(report)
"""
WITHOUT = """
from importlib import import_module
from nsmc_attention import predict, registry
from nsmc_attention.cli import run
for name in sys.argv[1].split():
    import_module(name)
assert run(["--help"]) == 0 and predict("정말 재미있는 영화").label == "positive"
assert len(registry.SYSTEMS.values()) == 3 and run(["predict", "좋다"]) == 0
assert run([*"%s".split(), "--out", "run"]) == 0
import nsmc_attention
assert all(getattr(nsmc_attention, name) for name in nsmc_attention.__all__)
from nsmc_attention.apps.serve.app import create_app
create_app()
"""
# {system: its folder, its command, the module of its requests}; lines of other files that name it
REMOVABLE = {"language": ("language", "fill", "fill"), "read": ("read", "read", "read")}


def without_systems(folder):
    """Copy the package without two systems: their folders, files in cli and serve, and the lines that name these."""
    package = folder / "nsmc_attention"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(sample_folder(), folder / "data/sample")
    for task, (system, command, service) in REMOVABLE.items():
        shutil.rmtree(package / "systems" / system)
        shutil.rmtree(package / "apps/serve/pages" / task)
        (package / "cli" / f"{command}.py").unlink()
        (package / "apps/serve" / f"{service}.py").unlink()
        entry = rf'"(?:systems\.{system}\.\w+|{task}|{command})": "[^"]*"(?:,\s*)?'
        names = rf"{entry}|^    \"{task}\": System\((?:.*\),\n|\n(?:        .*\n)*    \),\n)|^    {task}_bundle: .*\n|, {task}_bundle\b"
        for path in ("__init__.py", "registry.py", "cli/app.py", "cli/apps.py", "apps/serve/service.py"):
            text = (package / path).read_text(encoding="utf-8")
            changed = re.sub(names, "", text, flags=re.MULTILINE)
            assert changed != text, path
            (package / path).write_text(changed, encoding="utf-8")


def test_without_systems_all_else_runs(tmp_path):
    without_systems(tmp_path)
    kept = [path for path in MODULES if (tmp_path / "nsmc_attention" / path.relative_to(PACKAGE)).exists()]
    names = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in kept if "__" not in path.name]
    code = [sys.executable, "-c", HOOK + WITHOUT % TRAIN, " ".join(names)]
    own = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(code, cwd=tmp_path, env=own, capture_output=True, text=True)
    assert done.returncode == 0 and "NETWORK" not in done.stderr, done.stderr


def test_a_circle_is_found():
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}) == ["b", "c"]


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "code, unwanted",
    [
        ("from nsmc_attention.cli import run; run(['--help'])", "numpy mxnet pandas konlpy matplotlib onnxruntime"),
        ("from nsmc_attention import predict; predict('정말 재미있는 영화')", "mxnet gluonnlp onnx onnxruntime"),
        (
            "from nsmc_attention.cli import run; run(['predict', '정말 재미있는 영화'])",
            "mxnet pandas pyarrow matplotlib requests tqdm konlpy onnxruntime nsmc_attention.systems.restore.restorer",
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


def test_downloads_and_progress_bars_are_made_in_one_place():
    words = ("pooch", "urllib", "http.client", "requests.")
    texts = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in MODULES}
    assert [path for path, text in texts.items() if any(word in text for word in words)] == ["corpora/nsmc.py"]
    bars = [path for path, text in texts.items() if "tqdm" in text.replace("as tqdm does", "")]
    assert bars == ["machine/progress.py"]


OFFLINE = """
from nsmc_attention.cli import run
for arguments in json.load(sys.stdin):
    print(*arguments, file=sys.stderr)
    assert run(arguments) == 0
"""
LOCAL = [
    ["predict", "정말 재미있는 영화였어요"],
    ["explain", "나무랄 데 없는 영화", "--output", "a.html"],
    ["explain", "나무랄 데 없는 영화", "--output", "a.png"],
    ["evaluate", "--data", "sample"],
    ["report", "reviews.csv", "--output", "report.html"],
]


def test_no_command_but_fetch_uses_the_network(tmp_path):
    """Nor a training: test_without_systems_all_else_runs."""
    (tmp_path / "reviews.csv").write_text("document\n" + "정말 좋다\n별로다\n" * 10, encoding="utf-8")
    code = [sys.executable, "-c", HOOK + OFFLINE]
    done = subprocess.run(code, input=json.dumps(LOCAL), cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "NETWORK" not in done.stderr, done.stderr


def test_onnxruntime_sends_no_telemetry(tmp_path):
    """Native code, which no audit hook sees; it writes a device number under the home folder before it sends."""
    switches = "ORT_DISABLE_TELEMETRY", "CI", "XDG_CACHE_HOME"
    environment = {name: value for name, value in os.environ.items() if name not in switches}
    subprocess.run(
        [sys.executable, "-m", "nsmc_attention", "predict", "좋다", "--engine", "onnx"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        env={**environment, "HOME": str(tmp_path)},
    )
    assert not [path for path in tmp_path.rglob("*") if "onnx" in path.name.lower() or path.name == "Microsoft"]
