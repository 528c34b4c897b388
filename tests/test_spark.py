"""The Spark example of docs/tables.md on a real local Spark, which needs Java.

pip install pyspark && python -m pytest -m system tests/test_spark.py
"""

import re
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

from nsmc_attention import score_column
from nsmc_attention.corpora import nsmc

ROOT = Path(__file__).parent.parent


@pytest.mark.system
def test_the_readmes_example_scores_every_row(tmp_path):
    pytest.importorskip("pyspark")
    (example,) = re.findall(r"```py\n(.*?)```", (ROOT / "docs/tables.md").read_text(encoding="utf-8"), re.DOTALL)
    documents = nsmc.load("sample", "train").documents[:99] + [""]
    frame = pandas.DataFrame({"id": map(str, range(100)), "document": documents})
    frame.to_csv(tmp_path / "reviews.csv", index=False)
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = pandas.read_parquet(tmp_path / "scored").sort_values("id", key=lambda ids: ids.astype(int))
    expected = score_column(frame["document"])
    assert found["label"].fillna("").tolist() == expected["label"].fillna("").tolist()
    probability, other = (table["probability"].fillna(0).tolist() for table in (found, expected))
    assert probability == pytest.approx(other, abs=1e-4)
