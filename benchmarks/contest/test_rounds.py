"""The contest: its workloads, rounds and rows, and a missing library. No time is asserted."""

import itertools
import json

import numpy
import pytest

from benchmarks.contest import comparisons
from benchmarks.contest.contestants import CONTESTANTS, Workload, review_flop
from benchmarks.contest.rounds import Comparison, compare
from nsmc_attention.corpora import nsmc

# PyTorch and OpenVINO are not installed with the core, and a compiler may be missing
CORE = [name for name in CONTESTANTS if not any(word in name for word in ("PyTorch", "OpenVINO", "native"))]


@pytest.fixture(scope="module")
def workload():
    return comparisons.real(nsmc.load("sample", "train"), 120, 16)


def test_batches_hold_every_review_once_and_no_padding(workload):
    assert workload.reviews == len(workload.documents) == 120
    for token_ids, valid_length, labels in workload.batches:
        assert len(token_ids) == len(valid_length) == len(labels) <= 16
        assert (valid_length == token_ids.shape[1]).all()
    words = sorted(document.count(" ") + 1 for document in workload.documents)
    assert words == sorted(int(length) for _, lengths, _ in workload.batches for length in lengths)


@pytest.mark.parametrize("name", CORE)
def test_every_contestant_of_the_core_install_runs(name, workload):
    contestant = CONTESTANTS[name](workload)
    contestant()
    contestant()


@pytest.mark.slow
def test_pytorch_computes_the_same_architecture(workload):
    torch = pytest.importorskip("torch")
    from benchmarks.contest.contestants import network
    from benchmarks.contest.pytorch import TorchTraining
    from nsmc_attention.network.parameters import snapshot

    mxnet, ours = network(workload)
    token_ids, valid_length, _ = workload.batches[0]
    given = mxnet.nd.array(token_ids, dtype="int32"), mxnet.nd.array(valid_length)
    ours(*given)
    theirs = TorchTraining(workload).plain.eval()
    arrays = {name: torch.from_numpy(array) for name, array in snapshot(ours).items()}
    names = {name: name for name in ("embedding.weight", "output.weight", "output.bias")}
    names |= {f"query.{kind}": f"attention._query_mid_layer.{kind}" for kind in ("weight", "bias")}
    names |= {"key.weight": "attention._key_mid_layer.weight", "score.weight": "attention._attention_score.weight"}
    for what, (layer, kind) in itertools.product(("weight", "bias"), (("ih", "i2h"), ("hh", "h2h"))):
        for ending, direction in (("", "forward"), ("_reverse", "backward")):
            names[f"gru.{what}_{layer}_l0{ending}"] = f"encoder.{direction}_gru._unfused.0.{kind}_{what}"
    theirs.load_state_dict({name: arrays[own] for name, own in names.items()})
    with torch.no_grad():
        found = theirs(torch.from_numpy(token_ids).long())
    for one, other in zip(ours(*given), found):
        numpy.testing.assert_allclose(one.asnumpy(), other.numpy(), atol=1e-5)


@pytest.mark.slow
def test_rounds_give_a_rate_and_a_ratio_for_each_contestant(workload):
    names = ("nsmc_attention, onnx", "TF-IDF + logistic regression", "sgemm")
    rows = compare(Comparison("try", workload, names, baseline="TF-IDF"), 2)
    assert [row["contestant"] for row in rows] == list(names)
    for row in rows:
        assert 0 < row["rate"]["min"] <= row["rate"]["median"] <= row["rate"]["max"] and row["peak_mb"] > 0
        assert comparisons.as_line(row).count("|") == 7
    assert rows[1]["ratio"] == {"min": 1, "median": 1, "max": 1} and "ratio" not in rows[2]
    assert json.loads(json.dumps(rows)) == rows


@pytest.mark.slow
def test_a_contestant_that_cannot_run_is_a_row_with_its_reason(workload):
    broken = Workload(workload.batches, [], 1, workload.model, workload.training)
    absent, present = compare(Comparison("try", broken, ("TF-IDF + logistic regression", "sgemm")), 1)
    assert "ValueError" in absent["absent"] and "absent" in comparisons.as_line(absent)
    assert present["rate"]["min"] > 0


def test_flop_of_a_review_are_those_of_its_matrix_products():
    model, _ = comparisons.settings()
    by_hand = 20 * (2 * 2 * 3 * 128 * 256 + 2 * 2 * 256 * 32 + 2 * 256) + 20 * 20 * (2 * 32 + 2)
    assert review_flop(20, model) == by_hand
