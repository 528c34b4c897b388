import pandas
import pytest

from benchmarks.classification.compare import as_markdown, compare
from nsmc_attention.corpora import nsmc
from nsmc_attention.corpora.data import Labelled
from nsmc_attention.errors import ConfigError
from recipes.sample import first_sample, write

SAMPLE = Labelled("sample")
SMALL = {"embedding_size": 8, "ngram_buckets": 300, "epochs": 1, "dev_fraction": 0.1}


@pytest.fixture(scope="module", autouse=True)
def small_sample(tmp_path_factory):
    write(first_sample(), folder := tmp_path_factory.mktemp("sample"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NSMC_ATTENTION_SAMPLE", str(folder))
        yield


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    out = tmp_path_factory.mktemp("comparison")
    return out, compare(
        SAMPLE,
        ["majority", "tfidf", "average"],
        out,
        seeds=(0, 1),
        test=True,
        changes=SMALL,
        quiet=True,
        report=lambda row: None,
    )


def test_every_name_is_scored_with_every_seed(compared):
    out, table = compared
    expected = [[name, seed] for name in ("majority", "tfidf", "average") for seed in (0, 1)]
    assert table[["name", "seed"]].values.tolist() == expected
    assert table[["dev_accuracy", "test_accuracy", "dev_log_loss", "test_ece"]].notna().all(axis=None)
    pandas.testing.assert_frame_equal(pandas.read_csv(out / "comparison.csv"), table)
    text = (out / "comparison.md").read_text(encoding="utf-8")
    assert text == as_markdown(table) and text.count("\n") == 5 and "| average | 2 |" in text


def test_what_is_there_is_not_trained_again(compared):
    out, table = compared
    before = {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
    for changes, message in (
        ({}, "has majority-0, .*average-0 too"),
        ({"embedding_size": 9}, "is of other reviews or settings"),
    ):
        with pytest.raises(ConfigError, match=f"comparison.csv: {message}, and would be replaced; name another folder"):
            compare(SAMPLE, ["average"], out, seeds=(1,), changes={**SMALL, **changes}, quiet=True)
    assert before == {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
    (out / "comparison.csv").unlink()
    again = compare(SAMPLE, ["average"], out, seeds=(1,), changes=SMALL, quiet=True, report=lambda row: None)
    assert again["dev_accuracy"].tolist() == table.query("name == 'average' and seed == 1")["dev_accuracy"].tolist()
    (out / "comparison.csv").unlink()
    with pytest.raises(ConfigError, match="has a run with other settings"):
        compare(SAMPLE, ["average"], out, seeds=(1,), changes={**SMALL, "embedding_size": 9}, quiet=True)


def test_a_table_has_no_test_file_and_other_reviews_are_another_run(compared, tmp_path):
    out, _ = compared
    reviews = nsmc.load("sample", "train").frame
    reviews[["document", "label"]].rename(columns={"label": "y"}).to_csv(tmp_path / "own.csv", index=False)
    own = Labelled(tmp_path / "own.csv", label_column="y")
    with pytest.raises(ConfigError, match="--test: expected nsmc or sample, found .*, which has no test file"):
        compare(own, ["majority"], tmp_path / "out", test=True)
    (out / "comparison.csv").unlink(missing_ok=True)
    with pytest.raises(ConfigError, match="has a run on other reviews than own.csv"):
        compare(own, ["average"], out, changes=SMALL, quiet=True)


def test_a_change_that_does_not_fit_one_preset_is_told_before_anything_is_trained(tmp_path):
    with pytest.raises(ConfigError, match="unknown setting 'dropout' of the kind article"):
        compare(SAMPLE, ["average", "post"], tmp_path / "out", changes={"dropout": 0.1}, quiet=True)
    assert not (tmp_path / "out").exists()


def test_the_tokenizer_is_that_of_the_baselines_too(tmp_path):
    one, other = (
        compare(SAMPLE, ["tfidf"], tmp_path / name, changes={**SMALL, "tokenizer": name}, report=print)
        for name in ("mecab", "characters")
    )
    assert one["dev_log_loss"].tolist() != other["dev_log_loss"].tolist()
