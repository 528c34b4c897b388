"""The Korean pages lead to each other and to the English ones, fit 120 columns, and use the field's own words."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.ko.md", ROOT / "docs/ko.md", *sorted((ROOT / "docs").glob("*.ko.md"))]
# what a dictionary has for attention, prediction and worker
TRANSLATED = re.compile("주의 (?:집중|기제|가중치)|판정|작업자")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_lines_of_a_korean_page_fit_and_no_term_is_translated_by_the_dictionary(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 or TRANSLATED.search(line)] == []


def test_each_korean_page_is_on_the_korean_index_and_names_its_english_one():
    index = (ROOT / "docs/ko.md").read_text(encoding="utf-8")
    for path in PAGES[2:]:
        assert f"({path.name})" in index, path.name
        assert path.name == "readme.ko.md" or "[English](" in path.read_text(encoding="utf-8"), path.name


def test_the_glossary_has_four_cells_a_term_and_no_term_twice():
    rows = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines()
    terms = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")]
    terms = [cells for cells in terms if cells[0] != "English"]
    assert {len(cells) for cells in terms} == {4} and all(all(cells) for cells in terms)
    assert len({cells[0] for cells in terms}) == len(terms) > 50
