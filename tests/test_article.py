"""The article's classifier in one file runs as it is printed, and the first chapter is made of its code."""

import ast
import json
import subprocess
import sys
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def test_the_article_trains_and_draws_in_seventy_lines(tmp_path):
    assert len((NOTEBOOKS / "article.py").read_text(encoding="utf-8").splitlines()) <= 70
    ran = subprocess.run([sys.executable, NOTEBOOKS / "article.py"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0 and "MXNet start" not in ran.stderr, ran.stderr
    assert [line.split(":")[0] for line in ran.stdout.splitlines()] == [
        *(f"epoch {n}" for n in range(1, 7)),
        "article.png",
    ]
    assert (tmp_path / "article.png").read_bytes().startswith(b"\x89PNG")


def statements(code):
    return {ast.unparse(each) for each in ast.parse(code).body}


def test_the_first_chapter_has_the_code_of_the_article():
    cells = json.loads((NOTEBOOKS / "1_article.ipynb").read_text(encoding="utf-8"))["cells"]
    chapter = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    article = (NOTEBOOKS / "article.py").read_text(encoding="utf-8").split('"""', 2)[2].split("network, objective")[0]
    # the folder is an argument of the file alone
    lines = [line for line in article.splitlines() if not line.startswith(("import sys", "FOLDER"))]
    assert statements("\n".join(lines)) <= statements(chapter.replace("%matplotlib inline", ""))
