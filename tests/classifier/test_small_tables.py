"""Tables of a few rows: a model that predicts its own training rows, and a warning that its figure says little."""

import json

import pytest

from nsmc_attention.corpora import nsmc
from nsmc_attention.training.runs import warn_if_small

SMALL = "--epochs 2 --erasure-reviews 0 --ngram-buckets 5000 --embedding-size 16 --hidden-size 16".split()


@pytest.mark.parametrize("rows, flags", [(30, []), (300, SMALL)])
def test_training_rows_are_predicted_better_than_chance(command, tmp_path, rows, flags):
    table, run = tmp_path / "few.csv", tmp_path / "run"
    frame = nsmc.load("sample", "train").frame.iloc[:rows]
    frame[["document", "label"]].to_csv(table, index=False)
    done = command("train", "--data", table, "--out", run, *flags)
    assert done.returncode == 0, done.stderr
    assert "warning: the dev part is" in done.stderr and "--valid" in done.stderr
    done = command("evaluate", "--data", table, "--bundle", run / "bundle", "--json")
    share = max(frame["label"].mean(), 1 - frame["label"].mean())
    assert json.loads(done.stdout)["accuracy"] > share + 0.1


@pytest.mark.parametrize(
    "figures, said",
    [
        ((27, "review", "accuracy", 1.0), "27 reviews: the accuracy may be anything from 88 to 100 %; train on more"),
        ((1, "film"), "1 film: its figures say little; train on more"),
        ((200, "film"), None),
    ],
)
def test_a_dev_part_of_a_few_is_said_with_what_it_is_worth(figures, said, capsys):
    warn_if_small(*figures)
    assert capsys.readouterr().err == (f"warning: the dev part is {said}\n" if said else "")
