"""What type checkers see: `__init__.pyi` beside the names that are imported on first use."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nsmc_attention

PACKAGE = Path(nsmc_attention.__file__).parent
ROOT = Path(__file__).resolve().parents[1]


def stub_names():
    """Return {public name: module below the package} of the stub."""
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    for node in imports:
        assert node.level == 1 and all(name.asname == name.name for name in node.names), ast.unparse(node)
    return {name.name: node.module for node in imports for name in node.names}


def test_the_stub_has_the_names_that_are_imported_on_first_use():
    assert stub_names() == nsmc_attention.EXPORTS
    assert dir(nsmc_attention) == sorted([*nsmc_attention.EXPORTS, "__version__"])


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()
    assert "nsmc_attention = py.typed, *.pyi\n" in (ROOT / "setup.cfg").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_public_names_have_their_types(checker):
    """Of mypy's this is part of lint too: tests/typed.py is among its files."""
    if not shutil.which(checker, path=Path(sys.executable).parent):
        pytest.skip(f"needs {checker}")
    done = subprocess.run([sys.executable, "-m", checker, "tests/typed.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
