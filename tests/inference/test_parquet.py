import pyarrow.parquet
import pytest

from nsmc_attention.classification.prediction import COLUMNS, TYPES
from nsmc_attention.errors import DataError
from nsmc_attention.inference.parquet import ParquetSpool
from nsmc_attention.reviews import tables

ANSWERS = {name: [None] for name in COLUMNS}


def test_columns_are_bounded_over_all_pieces(monkeypatch, tmp_path):
    """Each piece is brought to the columns of all: few in each are many together."""
    monkeypatch.setattr(tables, "COLUMNS", 3)
    with ParquetSpool(TYPES, tmp_path) as spool:
        spool.append({"a": [1], "b": [2]}, ANSWERS)
        spool.append({"b": [3], "c": [4]}, ANSWERS)
        with pytest.raises(DataError, match="parquet: expected at most 3 columns, found 4"):
            spool.append({"d": [5]}, ANSWERS)
        spool.write(tmp_path / "a.parquet")
    found = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    assert found.column_names[:3] == ["a", "b", "c"] and found["b"].to_pylist() == [2, 3]
