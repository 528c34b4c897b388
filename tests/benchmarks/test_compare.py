"""The table of presets and baselines: a row for each name and seed, and what is trained is not trained again."""

import pandas
import pytest

from benchmarks.compare import as_markdown, compare
from nsmc_attention.errors import ConfigError
from nsmc_attention.reviews.data import Labelled

SMALL = {"embedding_size": 8, "ngram_buckets": 300, "epochs": 1, "dev_fraction": 0.1}


def test_every_name_is_scored_with_every_seed_and_trained_once(tmp_path):
    names = ["majority", "tfidf", "average"]
    table = compare(Labelled("sample"), names, tmp_path, (0, 1), test=True, changes=SMALL)
    assert table[["name", "seed"]].values.tolist() == [[name, seed] for name in names for seed in (0, 1)]
    assert table[["dev_accuracy", "test_accuracy", "dev_log_loss", "test_ece"]].notna().all(axis=None)
    assert as_markdown(table).count("\n") == 5 and "| average | 2 |" in as_markdown(table)
    again = compare(Labelled("sample"), names, tmp_path, (0, 1), test=True, changes=SMALL).drop(columns="seconds")
    pandas.testing.assert_frame_equal(again, table.drop(columns="seconds"))
    with pytest.raises(ConfigError, match="has a run with other settings or reviews; name another folder with --out"):
        compare(Labelled("sample"), ["average"], tmp_path, changes={**SMALL, "embedding_size": 9})
