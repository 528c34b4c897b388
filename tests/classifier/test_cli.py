"""Commands on classifiers of several attentions: structured ones with hops, a Transformer with heads, and neither."""

import json

import numpy
import pytest

from nsmc_attention.classifier.explain import explain
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.views.terminal import faithfulness_table

TEXT, HOPS = "배우는 좋은데 영화는 정말 별로", 3


def test_predictions_have_a_row_of_weights_for_each_hop(command, tiny_structured):
    options = ["--bundle", tiny_structured, "--format", "jsonl", "--weights"]
    found = json.loads(command("predict", TEXT, *options).stdout)
    assert found["axes"] == ["hops", "keys"] and numpy.shape(found["weights"]) == (HOPS, len(found["tokens"]))
    assert found["token_weights"] == pytest.approx(numpy.mean(found["weights"], axis=0), abs=1e-5)
    blank = json.loads(command("predict", "", *options).stdout)
    assert blank["weights"] == [] and "blank" in blank["error"]


def test_a_review_is_explained_with_a_picture_of_its_heads(command, tiny_transformer, tmp_path):
    done = command("explain", TEXT, "--bundle", tiny_transformer, "--heads", tmp_path / "a.png")
    found = explain(TEXT, load_classifier(tiny_transformer))
    assert done.returncode == 0 and " - attention - " in done.stdout
    assert f"별로({found.values[-1]:.2f})" in done.stdout
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_has_a_row_for_each_hop_and_a_page_a_button(command, tiny_structured, tmp_path):
    for name in ("a.png", "a.html"):
        assert command("explain", TEXT, "--bundle", tiny_structured, "--output", tmp_path / name).returncode == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert '"queries": ["hop 1", "hop 2", "hop 3"]' in (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("fixture", ["bundle_folder", "tiny_structured"])
def test_faithfulness_measures_every_order_and_tells(command, request, fixture):
    options = ["--data", "sample", "--bundle", request.getfixturevalue(fixture), "--limit", 20]
    found = json.loads(command("faithfulness", *options, "--json").stdout)
    orders = ["attention", "gradient", "erasure", "random"]
    assert found["reviews"] <= 20 and set(found["orders"]) == set(orders)
    for tau in (found["tau"]["attention"][measure] for measure in ("erasure", "gradient")):
        assert -1 <= tau["low"] <= tau["mean"] <= tau["high"] <= 1
    done = command("faithfulness", *options)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[:-1] == faithfulness_table(found).splitlines()[:-1]
    assert [line.split("  ")[0] for line in lines[2 : 2 + len(orders)]] == orders


def test_hops_prints_the_words_of_each_hop_and_their_overlap(command, tiny_structured, tmp_path):
    options = ["hops", "--data", "sample", "--bundle", tiny_structured, "--fewest", 5, "--top", 4]
    *lines, last = command(*options).stdout.splitlines()
    found = json.loads(command(*options, "--json").stdout)
    assert [line.split(":")[0] for line in lines] == ["hop 1", "hop 2", "hop 3"]
    assert all(len(words) == 4 and all(each["count"] >= 5 for each in words) for words in found["words"])
    best = found["words"][0][0]
    assert lines[0].startswith(f"hop 1: {best['token']} {best['weight']:.2f}, ")
    assert last == f"overlap {found['overlap']:.3f} (0: no token in common, 1: equal), {found['reviews']} reviews"
    (tmp_path / "a.csv").write_text("review\n정말 좋다\n\n별로 재미없다\n", encoding="utf-8")
    few = json.loads(command("hops", "--data", tmp_path / "a.csv", "--bundle", tiny_structured, "--json").stdout)
    assert few["reviews"] == 2 and few["words"] == [[], [], []] and 0 <= few["overlap"] <= 1


def test_evaluate_and_report_read_a_classifier_with_hops(command, tiny_structured, tmp_path):
    assert command("evaluate", "--data", "sample", "--bundle", tiny_structured).stdout.startswith("n ")
    lines = [f'"{text}"' for text in nsmc.load("sample", "test").documents[:30]]
    (tmp_path / "a.csv").write_text("\n".join(["review", *lines]), encoding="utf-8")
    done = command("report", tmp_path / "a.csv", "-o", tmp_path / "a.html", "--bundle", tiny_structured)
    assert done.returncode == 0, done.stderr
