"""Commands on a classifier whose encoder is a Transformer: its rollout and its heads."""

import json

import pytest

from nsmc_attention.classification.explain import explain
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.visualization.faithfulness import as_text

TEXT = "배우는 좋은데 영화는 별로"


def test_a_review_is_explained_by_its_rollout_with_a_picture_of_its_heads(command, tiny_transformer, tmp_path):
    options = ["--bundle", tiny_transformer, "--method", "rollout", "--heads", tmp_path / "a.png", "--layer", 2]
    done = command("explain", TEXT, *options)
    assert done.returncode == 0 and " - rollout - " in done.stdout and "carried from the states" in done.stdout
    found = explain(load_classifier(tiny_transformer), TEXT, "rollout")
    assert f"별로({found.values[-1]:.2f})" in done.stdout
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([TEXT, "--heads", "a.png", "--head", "3"], "head: expected 1 to 2, found 3"),
        ([TEXT, "별로", "--heads", "a.png"], "explain --heads: expected one TEXT, found 2; put it in quotes"),
        ([TEXT, "--heads", "a.html"], "a.html: unknown suffix '.html'"),
        ([TEXT, "--layer", "1"], "--layer, --head: expected --heads too"),
    ],
)
def test_heads_that_cannot_be_drawn_are_one_line(command, tiny_transformer, arguments, message):
    done = command("explain", *arguments, "--bundle", tiny_transformer)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "options, message",
    [
        (
            ["--method", "rollout"],
            "error: method rollout: expected a classifier whose encoder is a transformer, found gru;",
        ),
        (["--heads", "a.png"], "a.png: expected the heads of an encoder that is a transformer, found another encoder"),
    ],
)
def test_a_classifier_without_heads_is_refused_in_one_line(command, bundle_folder, options, message):
    done = command("explain", TEXT, *options, "--bundle", bundle_folder)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr and done.stderr.count("\n") == 1


def test_faithfulness_measures_the_rollout_as_the_other_orders(command, tiny_transformer):
    options = ["--bundle", tiny_transformer, "--limit", 20, "--json"]
    found = json.loads(command("faithfulness", "--data", "sample", *options).stdout)
    assert set(found["orders"]) == {"attention", "rollout", "gradient", "erasure", "random"}
    assert set(found["tau"]["rollout"]) == {"erasure", "gradient"}
    assert set(found["orders"]["rollout"]) == {"comprehensiveness", "sufficiency"}
    assert [line.split()[0] for line in as_text(found).splitlines()[2:7]] == [
        "attention",
        "rollout",
        "gradient",
        "erasure",
        "random",
    ]
