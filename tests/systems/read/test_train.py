"""A whole training of `read`: what it refuses, and what it says of a reader that has learnt nothing."""

import pytest

from nsmc_attention.bundle import load_bundle
from nsmc_attention.corpora.data import Texts
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.systems.read.settings import LAYOUT
from nsmc_attention.systems.read.train import FEWEST_REVIEWS, train_reader
from nsmc_attention.training.runs import Run


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("review\n" + "정말 재미있는 영화였어요\n별로\n" * 15, encoding="utf-8")
    return Texts(path)


def test_a_reader_of_few_lines_says_that_it_is_of_no_use(tiny_reader, table, tmp_path, capsys):
    """Continued, it keeps its letters."""
    first = load_bundle(tiny_reader, LAYOUT)
    bundle = train_reader(table, first.config, Run(tmp_path / "run", quiet=True), tiny_reader)
    said = capsys.readouterr().err
    assert "most lines are read wrong (character error " in said and bundle.manifest["data"]["train"]["fonts"] >= 1
    assert bundle.manifest["metrics"]["dev"]["character_error"] > 0.3
    assert bundle.codec == first.codec and bundle.manifest["data"]["init_from"]["fingerprint"] == first.fingerprint


def test_too_few_reviews_or_no_fonts(tiny_reader, table, tmp_path):
    config = load_bundle(tiny_reader, LAYOUT).config
    few = tmp_path / "few.csv"
    few.write_text("review\n별로\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"expected at least {FEWEST_REVIEWS} reviews with text, found 1"):
        train_reader(Texts(few), config, Run(tmp_path / "run"))
    empty = config.with_settings({"training.fonts": str(tmp_path)})
    with pytest.raises(DataError, match="expected fonts with Korean letters, found none"):
        train_reader(table, empty, Run(tmp_path / "run"))
    with pytest.raises(ConfigError, match="expected a share with a file in training.others, found 0.3, ''"):
        train_reader(table, config.with_settings({"training.signs": 0.3}), Run(tmp_path / "run"))
