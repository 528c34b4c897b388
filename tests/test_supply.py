"""What is installed: setup.cfg, the lock file, requirements-predict.txt and pre-commit agree."""

import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from nsmc_attention.tasks import TASKS

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.9.18", "3.10.13", "3.11.7", "3.12.1", "3.13.0", "3.14.0")
HERE = {
    "platform_machine": "x86_64",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
}


def setup_cfg():
    settings = ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    return settings


def declared(*extras):
    """Return the requirements of setup.cfg: the package's and those of some extras."""
    settings = setup_cfg()
    lines = settings["options"]["install_requires"].splitlines()
    for extra in extras:
        lines += settings["options.extras_require"][extra].splitlines()
    return requirements(line for line in lines if not line.startswith("nsmc_attention["))


def requirements(lines):
    return [Requirement(line) for line in map(str.strip, lines) if line and not line.startswith("#")]


def locked():
    text = (ROOT / "requirements-lock.txt").read_text(encoding="utf-8")
    return requirements(line.rstrip("\\") for line in text.splitlines() if not line.startswith((" ", "#")))


def wanted_on(found, python):
    environment = {**HERE, "python_full_version": python, "python_version": python.rpartition(".")[0]}
    return [each for each in found if each.marker is None or each.marker.evaluate(environment)]


@pytest.mark.parametrize("python", PYTHONS)
def test_lock_holds_one_allowed_version_of_each_requirement(python):
    lock = {}
    for each in wanted_on(locked(), python):
        assert each.name not in lock, f"{each.name} is locked twice for Python {python}"
        lock[each.name] = re.fullmatch("==([^*]+)", str(each.specifier)).group(1)
    for each in wanted_on(declared("parquet", "bulk", "serve"), python):
        version = lock[re.sub("[-_.]+", "-", each.name).lower()]
        assert each.specifier.contains(version), f"{each} is locked at {version}"


def test_every_locked_file_is_known_by_its_hash():
    blocks = re.split(r"\n(?=\S)", (ROOT / "requirements-lock.txt").read_text(encoding="utf-8"))
    for block in blocks:
        if not block.startswith("#"):
            assert "--hash=sha256:" in block, block.splitlines()[0]


def test_prediction_alone_asks_for_the_versions_that_setup_cfg_does():
    whole = {(each.name, str(each.marker)): each.specifier for each in declared()}
    lines = (ROOT / "requirements-predict.txt").read_text(encoding="utf-8").splitlines()
    for each in requirements(lines):
        assert each.specifier == whole[each.name, str(each.marker)]


def test_every_requirement_has_an_oldest_version():
    """Without one, an installer that prefers old versions takes untested ones (scipy 0.8)."""
    for each in declared("parquet", "excel", "bulk", "serve"):
        assert {part.operator for part in each.specifier} & {">=", "=="}, str(each)


def test_every_folder_of_modules_is_packaged():
    packages = set(setup_cfg()["options"]["packages"].split())
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "nsmc_attention").rglob("*.py")}
    data = {
        "nsmc_attention.sample",
        *(f"nsmc_attention.{each.name}" for task in TASKS.values() for each in task.layout.packaged),
    }
    assert packages - data == {".".join(each.parts) for each in folders}


def test_pre_commit_formats_as_the_extra_dev_does():
    (revision,) = re.findall(r"rev: v(.*)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (ruff,) = (each for each in declared("dev") if each.name == "ruff")
    assert ruff.specifier.contains(revision)


@pytest.fixture(scope="module")
def prediction_alone(tmp_path_factory):
    """A function that runs the command line of an environment made by the lines of docs/getting-started.md."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(".*", "build", "runs", "site", "*.egg-info"))
    page = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8")
    (install,) = re.findall(r"^pip install .*requirements-predict.txt.*$", page, re.MULTILINE)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    path = f"{folder / 'venv/bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PATH": path}
    subprocess.run(install, shell=True, cwd=folder / "source", env=environment, check=True, capture_output=True)
    (folder / "reviews.csv").write_text("document,film\n좋다,A\n별로,B\n", encoding="utf-8")
    return lambda line: subprocess.run(
        f"nsmc-attention {line}", shell=True, cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "line, installed",
    [
        ("predict 좋다", None),
        ("restore 좋다", None),
        ("fill '이 [MASK]'", None),
        ("film reviews.csv --group-by film", None),
        ("report reviews.csv -o report.html --group-by film", None),
        ("compare majority tfidf --data sample --out compared", None),
        ("train --data sample --out run", "pip install 'mxnet==1.9.1' 'gluonnlp==0.10.0'"),
        ("explain 좋다 --method gradient", "pip install 'mxnet==1.9.1' 'gluonnlp==0.10.0'"),
        ("predict -i reviews.csv -o scored.xlsx", "pip install 'openpyxl<4,>=3.1'"),
        ("predict -i reviews.csv -o scored.parquet", "pip install 'pyarrow<26,>=14.0.1'"),
        ("bulk reviews.csv -o scored", "pip install 'distributed>=2023.5'"),
        ("serve", "'uvicorn[standard]<1,>=0.30'"),
    ],
)
def test_prediction_alone_runs_or_says_in_one_line_what_to_install(prediction_alone, line, installed):
    done = prediction_alone(line)
    assert done.returncode == (2 if installed else 0), done.stderr
    if installed:
        *_, message = done.stderr.splitlines()
        assert message.startswith("error: ") and installed in message and "Traceback" not in done.stderr
