"""Files from strangers: refused with one line, or read; nothing run, nothing else touched, memory bounded.

The campaign in full, 2,500 mutated files, minutes:

    python -m pytest tests/test_strangers_files.py -m slow
"""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import nsmc_attention
from nsmc_attention.errors import DataError
from nsmc_attention.tables.table import open_table

FUZZ = Path(__file__).parents[1] / "benchmarks/fuzz"
PACKAGE = Path(nsmc_attention.__file__).parent


@pytest.mark.parametrize("count, first", [(70, 0), pytest.param(2500, 10_000, marks=pytest.mark.slow)])
def test_mutated_files_are_refused_or_read(count, first):
    command = [sys.executable, "-W", "ignore", FUZZ / "files.py", str(count), str(first)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout)
    print(counts)
    assert counts["refused"] + counts["answered"] == counts["tried"] == count and counts["refused"] > count / 2


def test_a_message_is_one_line_that_steers_no_terminal(tmp_path):
    (tmp_path / "a.csv").write_text('"a\x1b[2J\nb",c\n1,2\n', encoding="utf-8")
    with pytest.raises(DataError) as problem:
        list(open_table(tmp_path / "a.csv").parts)
    assert str(problem.value).isprintable() and "a [2J b" in str(problem.value)


MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}
CALLS = {"eval", "exec", "numpy.load", "nd.load", "mxnet.nd.load", "torch.load", "joblib.load"}
METHODS = {"read_pickle", "load_parameters", "load_states", "save_states", "extractall", "extract"}
# pandas' patterns, no archive
PATTERNS = {"texts.extract"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_that_runs_what_it_reads_is_called(path):
    """No pickle, also not through numpy, pandas or MXNet; nor MXNet's native reader of files."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            assert not MODULES & {getattr(node, "module", None), *(name.name for name in node.names)}
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            method = called.rpartition(".")[2]
            assert called not in CALLS and (method not in METHODS or called in PATTERNS), called
