"""The table of stages has every stage, and the stages of a review add up. No time is asserted."""

from pathlib import Path

import pytest

from benchmarks.speed import file_to_file, stages
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.native.kernels import is_built

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled parts are not built")


def test_stages_of_a_file_add_up_and_fill_the_table(tmp_path):
    path = tmp_path / "reviews.csv"
    file_to_file.write_reviews(path, nsmc.load("sample", "test").documents, 20)
    works = stages.works(path, load_classifier())
    for work in works.values():
        work()
        work()
    assert (tmp_path / "one.csv").read_text(encoding="utf-8").count("\n") == 21
    spent = {name: float(1 << place) for place, name in enumerate(works)}
    *parts, whole = stages.budget(spent).values()
    assert sum(parts) == sum(spent[name] for name in ("read", "rows", "share", "write"))
    assert whole == spent["file"]
    lines = [*stages.table([("avx2", {"read": 1.0, "write": 2.0}), ("vnni", {"read": 0.5, "write": 2.25})])]
    assert lines == ["| µs a review | avx2 | vnni |", "|---|---|---|", "| read | 1.0 | 0.5 |", "| write | 2.0 | 2.2 |"]
    assert not Path("/proc/stat").exists() or stages.idle() > 0
