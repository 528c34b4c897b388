"""What is installed: setup.cfg, the lock files and pre-commit agree; and what works where little is."""

import json
import os
import platform
import re
import subprocess
import sys
from configparser import ConfigParser
from importlib.metadata import distribution, files, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import nsmc_attention
from nsmc_attention.registry import SYSTEMS

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = ROOT / ".github/workflows/ci.yml"
# What the Dockerfile installs
SERVE = "requirements/serve.txt"
PYTHONS = ("3.9.18", "3.10.13", "3.11.7", "3.12.1", "3.13.0", "3.14.0")
HERE = {"platform_machine": "x86_64", "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}


def setup_cfg():
    settings = ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    return settings


def declared(*extras):
    """Return the requirements of setup.cfg: the package's and those of some extras."""
    return requirements(setup_cfg()["options"]["install_requires"].splitlines()) + added(*extras)


def added(*extras):
    lines = [line for extra in extras for line in setup_cfg()["options.extras_require"][extra].splitlines()]
    return requirements(line for line in lines if not line.startswith("nsmc_attention["))


def requirements(lines):
    return [Requirement(line) for line in map(str.strip, lines) if line and not line.startswith("#")]


def locked(name="requirements/lock.txt"):
    text = (ROOT / name).read_text(encoding="utf-8")
    return requirements(line.rstrip("\\") for line in text.splitlines() if not line.startswith((" ", "#")))


def wanted_on(found, python):
    environment = {**HERE, "python_full_version": python, "python_version": python.rpartition(".")[0]}
    return [each for each in found if each.marker is None or each.marker.evaluate(environment)]


def test_the_pythons_of_the_classifiers_are_those_of_the_readme():
    versions = re.findall("Python :: (3[.][0-9]+)", setup_cfg()["metadata"]["classifiers"])
    assert versions == [each.rpartition(".")[0] for each in PYTHONS]
    assert f"run: .ci/release --try dist {' '.join(versions)}\n" in WORKFLOW.read_text(encoding="utf-8")
    for name, words in {"README.md": "Python 3.9 to 3.14", "README.ko.md": "Python 3.9~3.14"}.items():
        assert words in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("version", [(3, 8, 18), (3, 15, 0)])
def test_another_python_is_one_line_before_anything_is_compiled(version):
    code = f"import sys; sys.version_info = {version}; exec(open('setup.py').read())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    expected = f"error: nsmc_attention needs Python 3.9 to 3.14, this is Python 3.{version[1]}\n"
    assert (done.returncode, done.stderr) == (1, expected)


@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="wheels are tried on x86-64 Linux"
)
@pytest.mark.parametrize(
    "arguments, expected",
    [
        ("--help", "usage: .ci/release [--try] FOLDER"),
        ("new ../3.9", "error: expected a Python from 3.9 to 3.14, found ../3.9"),
        ("full", "full has files already; name an empty folder, or --try the wheels in it"),
    ],
)
def test_a_release_that_cannot_be_made_is_one_line_and_makes_nothing(arguments, expected, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/any").touch()
    done = subprocess.run([ROOT / ".ci/release", *arguments.split()], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and done.stdout == "" and done.stderr.count("\n") == 1 and expected in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["full"]


@pytest.mark.parametrize("python", PYTHONS)
def test_lock_holds_one_allowed_version_of_each_requirement(python):
    lock = {}
    for each in wanted_on(locked(), python):
        assert each.name not in lock, f"{each.name} is locked twice for Python {python}"
        lock[each.name] = re.fullmatch("==([^*]+)", str(each.specifier)).group(1)
    for each in wanted_on(declared("parquet", "bulk", "serve"), python):
        version = lock[re.sub("[-_.]+", "-", each.name).lower()]
        assert each.specifier.contains(version), f"{each} is locked at {version}"


def test_the_container_has_the_versions_of_the_lock_and_no_mxnet():
    names = ("requirements/lock.txt", SERVE)
    whole, image = ({each.name: each.specifier for each in wanted_on(locked(name), "3.11.7")} for name in names)
    assert image.items() <= whole.items() and not {"mxnet", "pandas"} & image.keys()
    assert {"numpy", "click", "python-mecab-ko-dic", *(each.name for each in added("excel", "serve"))} <= image.keys()


@pytest.mark.parametrize("name", ["requirements/lock.txt", SERVE])
def test_every_locked_file_is_known_by_its_hash(name):
    blocks = re.split(r"\n(?=\S)", (ROOT / name).read_text(encoding="utf-8"))
    for block in blocks:
        if not block.startswith("#"):
            assert "--hash=sha256:" in block, block.splitlines()[0]


def test_every_requirement_has_an_oldest_version():
    """Without one, an installer that prefers old versions takes untested ones (scipy 0.8)."""
    for each in declared("parquet", "excel", "bulk", "serve"):
        assert {part.operator for part in each.specifier} & {">=", "=="}, str(each)


def test_actions_of_the_workflow_are_pinned_by_their_digest():
    used = re.findall(r"uses: (.*)", WORKFLOW.read_text(encoding="utf-8"))
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", each) for each in used)


def test_every_folder_of_modules_is_packaged():
    packages = set(setup_cfg()["options"]["packages"].split())
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "nsmc_attention").rglob("*.py")}
    data = {f"nsmc_attention.{each.name}" for task in SYSTEMS.values() for each in task.layout.packaged}
    assert packages - data - {"nsmc_attention.sample"} == {".".join(each.parts) for each in folders}


def test_pre_commit_formats_as_the_extra_dev_does():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    (revision,) = re.findall(r"ruff-pre-commit\s+rev: v(.*)", hooks)
    (ruff,) = (each for each in declared("dev") if each.name == "ruff")
    assert ruff.specifier.contains(revision)


# In an environment for prediction alone: lines that work there, and those that say what to install
WORKING = {
    "predict 좋다 --format jsonl": '"label": "positive"',
    "predict -i reviews.csv -f csv": "별로,B,negative,",
    "predict -i reviews.jsonl -o scored.tsv": "",
    "predict -i many.txt -o scored.csv": "",
    "predict 좋다 --restore": "positive",
    "restore 정말조앗다": "정말 좋았다",
    "explain 좋다 --method erasure": "erasure",
    "explain 좋다 -o page.html": "positive",
}
REFUSED = {
    "predict -i book.xlsx -f csv": "xlsx needs python_calamine: pip install 'python-calamine<1,>=0.4'",
    "predict -i table.parquet -f csv": "parquet needs pyarrow: pip install 'pyarrow<26,>=14.0.1'",
    "predict -i reviews.csv -o scored.xlsx": "xlsx needs openpyxl: pip install 'openpyxl<4,>=3.1'",
    "predict -i reviews.csv -o scored.parquet": "parquet needs pyarrow: pip install 'pyarrow<26,>=14.0.1'",
    "restore 좋다 --beam 1": "pip install 'onnxruntime<2,>=1.16'",
    "fill [MASK]": "pip install 'onnxruntime<2,>=1.16'",
    "read screenshot.png": "pip install 'pillow<14,>=10' 'scipy<2,>=1.10' 'onnxruntime<2,>=1.16'",
    "film reviews.csv --group-by film": "pip install 'onnxruntime<2,>=1.16'",
    "explain 좋다 -o page.png": "pip install 'matplotlib<4,>=3.7' 'koreanize-matplotlib==0.1.1'",
    "explain 좋다 --method gradient": "pip install ",
    "report reviews.csv -o report.html": "report needs pandas: pip install 'pandas<3,>=2.0'",
    "bulk reviews.csv -o scored": "bulk needs distributed: pip install 'distributed>=2023.5'",
    "serve": "'uvicorn[standard]<1,>=0.30'",
    "train --data sample --out run": "train needs pandas: pip install 'nsmc_attention[train]'",
    "evaluate --data sample": "pip install 'nsmc_attention[train]'",
    "faithfulness --data sample": "pip install 'nsmc_attention[train]'",
    "export --bundle run --output a.onnx": "pip install 'nsmc_attention[train]'",
}
RUN = """
import contextlib, io, json, sys
from nsmc_attention import load_classifier
from nsmc_attention.cli import run

results = {}
for line in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        results[line] = [run(line.split()), out.getvalue(), err.getvalue()]
assert [each.label for each in load_classifier().predict_many(["좋다", ""])] == ["positive", None]
json.dump(results, sys.stdout)
"""


def linked(folder):
    """Return a Python that sees nothing but this package and what prediction alone requires; .ci/release installs one."""
    pytest.importorskip("nsmc_attention.native._network")
    (folder / "nsmc_attention-1.dist-info").mkdir()
    lines = ["Name: nsmc_attention", *(f"Requires-Dist: {line}" for line in requires("nsmc_attention"))]
    (folder / "nsmc_attention-1.dist-info/METADATA").write_text("\n".join(lines), encoding="utf-8")
    known = [Path(nsmc_attention.__file__).parent]
    for name in ("numpy", "click", "python-mecab-ko-dic", "safetensors"):
        tops = {file.parts[0] for file in files(name) or ()} - {".."}
        known += [Path(str(distribution(name).locate_file(top))) for top in tops]
    for path in known:
        (folder / path.name).symlink_to(path)
    return [sys.executable, "-S"], {**os.environ, "PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Return {line: (exit code, stdout, stderr)} of all lines in an environment for prediction alone."""
    python, environment = linked(tmp_path_factory.mktemp("alone"))
    work = tmp_path_factory.mktemp("work")
    (work / "reviews.csv").write_text("document,film\n좋다,A\n별로,B\n", encoding="utf-8")
    (work / "reviews.jsonl").write_text('{"document": "좋다"}\n', encoding="utf-8")
    for name in ("book.xlsx", "table.parquet"):
        (work / name).write_bytes(b"any")
    # more than one process scores alone
    (work / "many.txt").write_text("좋다\n" * 9000, encoding="utf-8")
    lines = json.dumps([*WORKING, *REFUSED])
    done = subprocess.run([*python, "-c", RUN], cwd=work, env=environment, input=lines, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_prediction_alone_works_or_says_in_one_line_what_to_install(alone):
    for line, part in WORKING.items():
        code, stdout, stderr = alone[line]
        assert (code, part in stdout) == (0, True), f"{line}: {stdout}{stderr}"
    for line, install in REFUSED.items():
        code, stdout, stderr = alone[line]
        assert (code, stdout, stderr.count("\n")) == (2, "", 1) and install in stderr, f"{line}: {stdout}{stderr}"
        assert stderr.startswith("error: ")
