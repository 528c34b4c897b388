"""The READMEs, the pages of docs/ and docstrings show what is printed, and name flags, files and tests that exist.

A `console` block shows commands with their output, which is compared; a `python` block is run, and what follows
`print(...)  # ` is compared; the commands of `bash` blocks and of inline code are parsed, not run.
"""

import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import nsmc_attention
from nsmc_attention import preset
from nsmc_attention.cli import commands
from nsmc_attention.schema import SHORT_NAMES, paths

ROOT = Path(__file__).parent.parent
READMES = [ROOT / "README.md", ROOT / "README.ko.md"]
PAGES = [
    *READMES,
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("benchmarks/**/README.md")),
    *(ROOT / name for name in ("data/README.md", "docs/make/README.md", "recipes/README.md")),
]
FOLDERS = r"tests|benchmarks|recipes|requirements|docs/make|notebooks|\.ci"
MODULE = re.compile(r"python -m ((?:benchmarks|recipes|docs\.make)[\w.]*)(?!.*of commit)")
BASH_PROMPT = re.compile(r"^\$ ", re.MULTILINE)


def text_of(path):
    return path.read_text(encoding="utf-8")


def blocks(path, language=None):
    """Return the code blocks of a page, of one language ("" for none named) or all."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text_of(path), re.DOTALL | re.MULTILINE)
    return [code for named, code in found if language in (None, named)]


def sessions():
    """Return {command: output shown} of all pages; the READMEs' first command is followed by its output too."""
    shown = {}
    for path in PAGES:
        shown_blocks = [block.replace("\\\n", " ") for block in blocks(path, "console")]
        pairs = [part.split("\n", 1) for block in shown_blocks for part in BASH_PROMPT.split(block)[1:]]
        if path in READMES:
            (first,) = [block.replace("\\\n", " ") for block in blocks(path, "bash") if "install -q . &&" in block]
            pairs.append((first.split("pip install -q . &&")[1].strip(), blocks(path, "")[0]))
        for command, output in pairs:
            assert shown.setdefault(command, output) == output, f"{path.name} shows another output of {command}"
    return shown


SESSIONS = sessions()


def steady(output):
    """Drop what may differ from machine to machine: seconds, and digits beyond the third."""
    output = re.sub(r"seconds +\S+", "seconds", output)
    return re.sub(r"(\d\.\d{3})\d+", r"\1", output)


@pytest.mark.parametrize("line", SESSIONS)
def test_a_command_prints_what_the_page_shows(command, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NSMC_ATTENTION_SAMPLE")
    program, *arguments = shlex.split(line)
    if program == "nsmc-attention" and not {*arguments} & {"|", "<", ">", "&&"}:
        done = command(*arguments)
    else:
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(line, shell=True, capture_output=True, encoding="utf-8", env=environment)
    assert done.returncode == 0, done.stderr
    assert steady(done.stdout) == steady(SESSIONS[line])


def without_comments(code):
    """Drop the comments, which are in the language of the page, but not the output after `print(...)`."""
    return re.sub(r"^((?!print)[^#\n]*?) *#.*$", r"\1", code, flags=re.MULTILINE)


EXAMPLES = {without_comments(block): path.name for path in reversed(PAGES) for block in blocks(path, "python")}


@pytest.mark.parametrize("code", EXAMPLES, ids=[f"{name}-{number}" for number, name in enumerate(EXAMPLES.values())])
def test_python_examples_print_what_they_say(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {})
    printed, position = steady(capsys.readouterr().out), 0
    for promised in re.findall(r"^print.*  # (.*)$", code, re.MULTILINE):
        assert promised in printed[position:]
        position = printed.index(promised, position) + len(promised)
    for drawn in re.findall(r"save_\w+\(.*\"(\S+)\"\)", code):
        assert (tmp_path / drawn).stat().st_size > 1000


def test_the_korean_readme_has_the_same_commands():
    english, korean = ([without_comments(block) for block in blocks(path)] for path in READMES)
    assert english == korean


def test_ci_runs_the_line_that_the_readmes_name_for_the_tests():
    (line,) = {block.strip() for path in READMES for block in blocks(path, "bash") if "pytest" in block}
    assert "[test]" in line and "\n" not in line and line in text_of(ROOT / ".ci/run").splitlines()


def anchors(path):
    """Return the anchors of a page's headings, as the documentation site makes them."""
    text = re.sub(r"^```.*?^```$", "", text_of(path), flags=re.DOTALL | re.M)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_pictures_exist(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(path)):
        file, _, anchor = target.partition("#")
        found = path.parent / file if file else path
        assert "://" in target or found.exists(), target
        assert not anchor or anchor in anchors(found), target


def typed_commands(path):
    """Yield the arguments of each `nsmc-attention ...` in bash blocks and in inline code."""
    typed = [line for block in blocks(path, "bash") for line in block.replace("\\\n", " ").splitlines()]
    typed += re.findall(r"`([^`\n]*nsmc-attention \w[^`\n]*)`", text_of(path))
    for line in typed:
        words = shlex.split(line, comments=True)
        while "nsmc-attention" in words:
            words = words[words.index("nsmc-attention") + 1 :]
            end = next((place for place, word in enumerate(words) if word in ("&&", "|", "&", ">")), len(words))
            yield words[:end]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_have_only_flags_that_exist(path):
    for name, *arguments in typed_commands(path):
        if name in ("--help", "COMMAND"):
            continue
        command = commands.get_command(None, name)
        # raises click.NoSuchOption, or click.BadOptionUsage where a value is missing
        command.make_parser(click.Context(command, info_name=name)).parse_args(arguments)


def test_every_setting_is_in_the_table_with_its_flag_and_default():
    page = text_of(ROOT / "docs/training.md")
    rows = re.findall(r"^\| (?:`--([\w-]+)`)? ?\| `([\w.]+)` \| (\S+) \|", page, re.MULTILINE)
    settings = {path: str(value) for path, value in paths(preset("default"))}
    flags = {name.replace("_", "-"): names[0] for name, names in SHORT_NAMES.items()}
    assert {flag: path for flag, path, _ in rows if flag} == flags
    assert settings.items() <= {path: default for _, path, default in rows}.items()
    run_flags = {option for each in commands.get_command(None, "train").params for option in each.opts}
    assert run_flags <= set(re.findall(r"`(-[\w-]+)", page)) | {"--help", "-h"}


def test_every_public_name_is_on_the_api_page():
    shown = set(re.findall(r"[\w.]+\.(\w+)$|(?<=[\[, ])(\w+)(?=[,\]])", text_of(ROOT / "docs/api.md"), re.MULTILINE))
    names = {name for pair in shown for name in pair}
    assert set(nsmc_attention.__all__) - {"__version__"} <= names


def test_files_and_tests_that_the_pages_name_exist():
    tests = "".join(text_of(path) for path in (ROOT / "tests").rglob("*.py"))
    for path in PAGES:
        for code in re.findall(r"`([^`\n]+)`", text_of(path)):
            for file in re.findall(rf"(?<![\w/.:])(?:{FOLDERS})/[\w/.]+\w", code):
                assert (ROOT / file).exists(), f"{path.name}: {file}"
            if re.fullmatch(r"test_\w+", code):
                assert f"def {code}(" in tests, f"{path.name}: {code}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_that_the_pages_run_exist(path):
    for module in MODULE.findall(text_of(path)):
        script = ROOT.joinpath(*module.split("."))
        assert script.with_suffix(".py").exists() or (script / "__main__.py").exists(), module


def test_the_page_of_other_languages_includes_the_whole_contract():
    start = int(re.search(r"pretrained/README.md:(\d+):", text_of(ROOT / "docs/api.md")).group(1))
    card = text_of(ROOT / "nsmc_attention/pretrained/README.md").splitlines()
    assert card[start - 3] == "## Running model.onnx in other languages"


KOREAN = [ROOT / "README.ko.md", ROOT / "docs/ko.md", *sorted((ROOT / "docs").glob("*.ko.md"))]


def test_each_korean_page_is_on_the_korean_index_and_names_its_english_one():
    index = text_of(ROOT / "docs/ko.md")
    for path in KOREAN[2:]:
        assert f"({path.name})" in index, path.name
        assert "[English](" in text_of(path), path.name


def test_the_glossary_has_four_cells_a_term_and_no_term_twice():
    rows = text_of(ROOT / "docs/glossary.md").splitlines()
    terms = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")]
    terms = [cells for cells in terms if cells[0] != "English"]
    assert {len(cells) for cells in terms} == {4} and all(all(cells) for cells in terms)
    assert len({cells[0] for cells in terms}) == len(terms) > 50


PACKAGE = Path(nsmc_attention.__file__).parent
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in text_of(path)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_examples_print_what_they_say(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert found.attempted and not found.failed
