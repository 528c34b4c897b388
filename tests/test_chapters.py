"""The article in one file, and the chapters: short, illustrated, with exercises, in cells that the pages name."""

import ast
import json
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from nsmc_attention.corpora.nsmc import sample_folder

ROOT = Path(__file__).parents[1]
ARTICLE = ROOT / "notebooks/article.py"
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
REFERENCE = re.compile(r"\(notebooks/(\w+\.ipynb)\) §?(\d)절?(?: \[([\d, ]+)\])?")


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def sections(path):
    """Return {number of a section: numbers of its code cells}; the cells before the first are of none."""
    found, section, number = {}, None, 0
    for cell in cells(path):
        if cell["cell_type"] == "code":
            number += 1
            assert cell["execution_count"] == number, "not run from the first cell to the last"
            found.setdefault(section, []).append(number)
        for heading in re.findall(r"^## (\d)\.", "".join(cell["source"]) * (cell["cell_type"] == "markdown"), re.M):
            section = int(heading)
            found.setdefault(section, [])
    return found


def references(page):
    return REFERENCE.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))


def test_each_concept_of_the_articles_is_in_the_cell_that_the_page_names():
    named = references("articles.ko.md")
    assert len(named) > 43 and named == references("articles.md")
    for chapter, section, numbers in named:
        own = sections(ROOT / "notebooks" / chapter)
        assert int(section) in own and {int(each) for each in numbers.split(", ") if each} <= {*own[int(section)]}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_is_short_and_has_a_drawing_and_three_exercises_with_answers(path):
    code = "\n".join("".join(cell["source"]) for cell in cells(path) if cell["cell_type"] == "code")
    lines = code.split("\n")
    assert len([line for line in lines if line.strip()]) <= 260 and max(map(len, lines)) <= 100
    (drawing,) = [cell for cell in cells(path) if "from schematic import" in "".join(cell["source"])]
    assert "image/png" in drawing["outputs"][0]["data"]
    (exercises,) = [text for cell in cells(path) if (text := "".join(cell["source"])).startswith("## 연습")]
    asked, answered = exercises.split("<details><summary>답</summary>")
    assert [len(re.findall(r"^\d\. ", part, re.M)) for part in (asked, answered)] == [3, 3]
    assert "articles.ko.md" in "".join("".join(cell["source"]) for cell in cells(path))


@pytest.mark.parametrize("link, broken", [("b.html#one", False), ("b.html#two", True), ("c.html", True), ("#", False)])
def test_a_broken_link_of_the_built_site_is_a_warning(tmp_path, caplog, link, broken):
    spec = spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    hooks = module_from_spec(spec)
    spec.loader.exec_module(hooks)
    (tmp_path / "a.html").write_text(f'<a href="{link}">', encoding="utf-8")
    (tmp_path / "b.html").write_text('<h2 id="one">', encoding="utf-8")
    hooks.check_links(tmp_path)
    assert bool(caplog.messages) == broken


def test_the_article_trains_and_draws_in_seventy_lines(tmp_path):
    assert len(ARTICLE.read_text(encoding="utf-8").splitlines()) <= 70
    ran = subprocess.run([sys.executable, ARTICLE, sample_folder()], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0 and "MXNet start" not in ran.stderr, ran.stderr
    expected = [*(f"epoch {number}" for number in range(1, 7)), "article.png"]
    assert [line.split(":")[0] for line in ran.stdout.splitlines()] == expected
    assert re.search("largest weight is 0[.][0-9]+, after 540 reviews", ran.stdout)
    assert (tmp_path / "article.png").read_bytes().startswith(b"\x89PNG")


def statements(code):
    return {ast.unparse(each) for each in ast.parse(code).body}


def test_the_first_chapter_has_the_code_of_the_article():
    own = cells(ROOT / "notebooks" / "1_article.ipynb")
    chapter = "\n".join("".join(cell["source"]) for cell in own if cell["cell_type"] == "code")
    article = ARTICLE.read_text(encoding="utf-8").split('"""', 2)[2].split("network, objective")[0]
    # the folder is an argument of the file alone
    lines = [line for line in article.splitlines() if not line.startswith(("import sys", "FOLDER"))]
    assert statements("\n".join(lines)) <= statements(chapter.replace("%matplotlib inline", ""))
