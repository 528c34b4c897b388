"""What the READMEs print is what the commands print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
READMES = ["README.md", "README.ko.md"]


def blocks(name, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)


def run(command, folder):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=True,
        env={**os.environ, "PATH": path},
    ).stdout


@pytest.mark.parametrize("name", READMES)
def test_the_console_block_prints_what_it_says(name, tmp_path):
    (block,) = blocks(name, "console")
    sessions = [part.split("\n", 1) for part in block.split("$ ")[1:]]
    assert len(sessions) >= 4
    for command, expected in sessions:
        assert steady(run(command, tmp_path)) == steady(expected), command


def steady(output):
    """Leave out what may differ from machine to machine: seconds, and digits beyond the third."""
    output = re.sub(r"seconds +\S+", "seconds", output)
    return re.sub(r"(\d\.\d{3})\d+", r"\1", output)


@pytest.mark.parametrize("name", READMES)
def test_the_python_lines_run(name, tmp_path):
    for number, block in enumerate(blocks(name, "python")):
        (tmp_path / f"try{number}.py").write_text(block, encoding="utf-8")
        printed = run(f"{sys.executable} try{number}.py", tmp_path)
        promised = re.search(r"print.*# (positive \d\.\d\d|\(.*\))", block).group(1)
        assert printed.startswith(promised)
    assert (tmp_path / "heatmap.png").is_file()


@pytest.mark.parametrize("name", READMES)
def test_the_first_command_prints_what_follows_it(name, tmp_path):
    text = (ROOT / name).read_text(encoding="utf-8")
    command = re.search(r"\.venv/bin/(nsmc-attention explain .*)\n", text).group(1)
    (expected,) = re.findall(r"```\n(negative.*?)```", text, re.DOTALL)
    assert steady(run(command, tmp_path)) == steady(expected)


def test_files_that_the_readmes_name_exist():
    for name in READMES:
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), target
