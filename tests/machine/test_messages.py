import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.cli import run
from nsmc_attention.machine import messages

TABLE = json.loads(Path(messages.__file__).with_name("messages.ko.json").read_text(encoding="utf-8"))
# Words that a Korean line keeps: names of files, columns, options, formats and programs
KEPT = "pdf positive negative nsmc attention adapt film predict restore report input output text label column stars group none header csv xlsx json"
KEPT += " review comment content document rating sentiment http file number language mine save excel"
TABLES = {
    "mine.csv": "a,b\nx,1\ny,2\n",
    "few.csv": "text,label\n정말 좋아요,1\n별로예요,0\n",
    "odd.csv": "text,label\n정말 좋아요,1\n별로예요,0\n그저,5\n",
    "numbers.csv": "text,label\n1,1\n2,0\n",
    "empty.csv": "",
    "long.csv": "text,label\n정말 좋아요,1,2\n",
    "old.xls": "a",
    "pdf.csv": "%PDF-1.4 and more",
    "broken.csv": "text\n\udcff정말\n",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    for name, content in TABLES.items():
        (tmp_path / name).write_text(content, encoding="utf-8", errors="surrogateescape")
    monkeypatch.chdir(tmp_path)
    for variable in messages.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


WRONG = """
    predict --input mine.csv
    predict --input few.csv --text-column txt
    predict --input nowhere.csv
    predict --input .
    predict --input empty.csv
    predict --input numbers.csv
    predict --input long.csv
    predict --input old.xls
    predict --input pdf.csv
    predict --input broken.csv
    predict --input few.csv --output scored.html
    predict few.csv
    predict --inptu few.csv
    adapt few.csv --out runs
    adapt odd.csv --out runs
    adapt mine.csv --out runs
    report few.csv
    report few.csv --output few.csv
    report few.csv --output page.html --group-by film
    film few.csv --group-by film
"""


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_what_an_analyst_does_wrong_is_said_in_korean(here, capsys, monkeypatch, line):
    words = line.split()
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    assert run(words) == 2
    korean = capsys.readouterr().err
    assert korean.startswith("오류: ") and korean.count("\n") == 1
    left = {word.lower() for word in re.findall(r"(?<![\w./'-])[A-Za-z]{3,}(?![\w./'-])", korean)} - {*KEPT.split()}
    assert not left, korean
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    assert run(words) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert run([*words, "--language", "ko"]) == 2
    assert capsys.readouterr().err == korean


def test_what_programs_read_is_the_same_in_each_language(here, capsys):
    found = {}
    for language in messages.LANGUAGES:
        arguments = ["predict", "--input", "few.csv", "--output", f"{language}.csv", "--language", language]
        assert run(arguments) == 0 and run(["predict", "정말 좋아요", "-f", "jsonl", "--language", language]) == 0
        written = capsys.readouterr()
        found[language] = written.out, (here / f"{language}.csv").read_bytes()
        assert (f"{language}.csv: 리뷰 2개, 오류 0개" in written.err) == (language == "ko")
    assert found["ko"] == found["en"]


def test_blanks_of_a_translation_are_those_of_its_line():
    for english, korean in TABLE["lines"].items():
        assert set(re.findall(r"\{\w+\}", korean)) <= set(re.findall(r"\{\w+\}", english)), english


@given(st.text())
def test_a_line_in_english_stays_as_it_is(line):
    assert messages.translated(line) == line


def test_what_a_user_wrote_is_not_translated(monkeypatch):
    monkeypatch.setenv(messages.VARIABLE, "ko")
    line = "weight.csv: expected a column 'negative', found attention, key"
    assert messages.translated(line) == "weight.csv: 'negative' 열이 없습니다. 있는 열: attention, key"
