import pyarrow.parquet
import pytest

from nsmc_attention.classification.prediction import TYPES
from nsmc_attention.errors import DataError
from nsmc_attention.inference.formats import WRITERS
from nsmc_attention.inference.scored_rows import ScoredRows
from nsmc_attention.tables import bounded_lines

UNKNOWN = [[None] * len(TYPES)]


def test_columns_are_bounded_over_all_pieces(monkeypatch, tmp_path):
    """Each piece is brought to the columns of all: few in each are many together."""
    monkeypatch.setattr(bounded_lines, "COLUMNS", 3)
    with open(tmp_path / "a.parquet", "wb") as file, WRITERS["parquet"](file, [], TYPES, False) as write:
        write(ScoredRows({"a": [1], "b": [2]}, [""], UNKNOWN))
        write(ScoredRows({"b": [3], "c": [4]}, [""], UNKNOWN))
        with pytest.raises(DataError, match="parquet: expected at most 3 columns, found 4"):
            write(ScoredRows({"d": [5]}, [""], UNKNOWN))
    found = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    assert found.column_names[:3] == ["a", "b", "c"] and found["b"].to_pylist() == [2, 3]
