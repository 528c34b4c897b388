"""What type checkers see: `__init__.pyi` beside the names that are imported on first use."""

import ast
from pathlib import Path

import pandas
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
    assert dir(nsmc_attention) == sorted(nsmc_attention.EXPORTS) == nsmc_attention.__all__


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()
    assert "nsmc_attention = py.typed, *.pyi," in (ROOT / "setup.cfg").read_text(encoding="utf-8")


FRAME, PACKAGED = pandas.DataFrame({"review": ["정말 재미있다", "별로"]}), object()


@pytest.mark.parametrize(
    "name, arguments, line",
    [
        ("predict", [b"x"], "expected a review as str, found bytes"),
        ("predict", ["좋다", "runs/mine"], r"classifier: expected .*, found str; load one by load_classifier\(\)"),
        ("predict", [PACKAGED, "좋다"], "classifier: expected Classifier or None, found str"),
        ("score_column", [FRAME, "reviw"], "expected a column 'reviw', found review; did you mean 'review'"),
        ("score_column", ["review", FRAME], "classifier: expected Classifier or None, found DataFrame; load one"),
        ("score_column", [FRAME["review"], "review"], "text_column 'review': expected a DataFrame, found Series"),
        ("score_column", [FRAME, "review", PACKAGED], "restore: expected bool or Restorer, found Class"),
        ("restore_column", [FRAME, "reviw"], "expected a column 'reviw', found review; did you mean 'review'"),
        ("restore_column", [FRAME, PACKAGED], "restorer: expected Restorer or None, found Classifier"),
        ("restore", ["좋다", PACKAGED], "restorer: expected Restorer or None, found Classifier"),
        ("restore", [["x"]], r"expected a review as str, found list.*; use restore_many\(\) for several"),
        ("positive_share", [FRAME, "review"], "classifier: expected Classifier or None, found str"),
        ("film", [None], "expected a list of reviews, found NoneType"),
        ("film", ["x"], "expected a list of reviews, found one string; put it in a list"),
        ("film", [["x", 3]], r"texts\[1\]: expected a review as str, found int: '3'; leave it out, or give '' in"),
        ("fill", ["[MASK]", 0], "^top: expected a whole number of at least 1, found 0"),
        ("fill", ["[MASK]", "5"], "^top: expected a whole number of at least 1, found '5'"),
        ("load_restorer", [None, 2.5], "^beam: expected 1 to .*, found 2.5"),
        ("load_restorer", [None, "4"], "^beam: expected 1 to .*, found '4'"),
        ("load_restorer", [None, None, "auto", "auto", "x"], "^alpha: expected a number of at least 0, found 'x'"),
        ("evaluate", [None, "reviews.csv"], r"expected Reviews, found str; read them with load_reviews\(\)"),
        ("explain", [FRAME], "expected a review as str, found DataFrame"),
        ("explain", ["x", "y"], "expected Classifier or None, found str; load one by load_classifier"),
        ("save_heatmap", ["x", "a.png"], "expected Prediction, found str; get one from predict"),
        ("save_heads", ["x", "a.png"], "expected Attribution or Filling, found str; get one from explain"),
        ("save_heads", ["x", None], "expected the path of a picture, found None"),
        ("save_attributions", ["x", "a.png"], "expected Attribution, found str; get one from explain"),
        ("save_restoration", ["x", "a.png"], "expected Restoration, found str; get one from restore"),
    ],
)
def test_an_argument_of_another_type_is_told_in_a_line_of_python(packaged, name, arguments, line):
    with pytest.raises(nsmc_attention.NsmcError, match=line) as refused:
        getattr(nsmc_attention, name)(*(packaged if each is PACKAGED else each for each in arguments))
    assert "\n" not in str(refused.value)
