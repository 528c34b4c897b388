"""Adapting: a classifier learns from a small table of another kind, says how much better it is, and does not pretend."""

import csv
import io
import shutil
from contextlib import redirect_stderr, redirect_stdout

import numpy
import pandas
import pytest

from nsmc_attention import adapt, load_classifier
from nsmc_attention.apps.report.build import report
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.adapt import SURPRISING, threshold_shift
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.cli import run
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.errors import DataError

GOODS = "신발 가방 모자 시계 우산 이불 책상 의자 냄비 접시 수건 장갑".split()
# words that say nothing about a film
SAID = {"1": "배송 도착 포장 꼼꼼", "0": "환불 반품 누락 파손"}


def rows_of(goods):
    return [(f"{each} {word}", label) for label, words in SAID.items() for word in words.split() for each in goods]


ROWS = rows_of(GOODS[:8])


@pytest.fixture(scope="module", autouse=True)
def few_passes():
    """A third of the passes over a small table that the command makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nsmc_attention.classifier.adapt.ADAPT_EPOCHS", (6, 10))
        yield


def written(path, rows, header=("review", "label")):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture(scope="module")
def adapted(tmp_path_factory):
    """The packaged bundle adapted to 64 rows with one label that is wrong, beside a row without a label and a row twice."""
    folder = tmp_path_factory.mktemp("adapted")
    rows = [(text, "0" if i == 5 else label) for i, (text, label) in enumerate(ROWS)]
    adapt(written(folder / "goods.csv", [*rows, ("양말 보통", ""), rows[0]]), folder / "run", quiet=True)
    return folder / "run"


@pytest.fixture(scope="module")
def starred(tmp_path_factory, bundle_folder):
    """A tiny bundle adapted by the command to a table of stars."""
    folder, stars = tmp_path_factory.mktemp("starred"), {"1": ["5점", "★★★★★", "4/5"], "0": ["1/5", "★☆☆☆☆", "2점"]}
    rows = [(text, stars[label][i % 3]) for i, (text, label) in enumerate(ROWS)][:44]
    left_out = [("보통", "3"), ("글쎄", "3"), ("양말", ""), ("장화", "평가 없음"), ("", ""), (" \u200b", "5")]
    table = written(folder / "in.csv", [*left_out, rows[0], rows[0], rows[1], *rows], ("review", "별점"))
    first = shutil.copytree(bundle_folder, folder / "first")
    before = {path.name: path.read_bytes() for path in first.iterdir()}
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        words = ["adapt", table, "--bundle", first, "--out", folder / "run", "--force"]
        assert run([str(word) for word in words]) == 0, err.getvalue()
    assert out.getvalue() == f"{folder / 'run' / 'bundle'}\n"
    assert before == {path.name: path.read_bytes() for path in first.iterdir()}
    return folder, load_bundle(folder / "run", LAYOUT), err.getvalue().splitlines()


def test_it_learns_what_the_words_mean_there(packaged, adapted):
    reviews, labels = zip(*rows_of(GOODS[8:]))
    positive = numpy.array(labels) == "1"
    classifier = load_classifier(adapted)
    before, after = (((each.probabilities(reviews) > 0.5) == positive).mean() for each in (packaged, classifier))
    assert before < 0.75 and after > 0.9
    manifest = classifier.bundle.manifest
    figures = manifest["adapted"]
    assert figures["before"] < 0.75 < figures["interval"][0] < figures["after"] <= figures["interval"][1]
    assert manifest["data"]["train"]["used"] == len(ROWS)
    assert manifest["data"]["init_from"]["fingerprint"] == packaged.bundle.fingerprint
    assert manifest["command"] == "nsmc-attention adapt goods.csv --text-column review --label-column label"
    # the packaged bundle has signed values
    assert classifier.bundle.config.model.values.signed and "gate.weight" in parameters_of(classifier.bundle)[1]


def test_a_report_says_how_often_the_adapted_bundle_is_right(adapted, tmp_path):
    out = tmp_path / "report.html"
    report(load_classifier(adapted), adapted.parent / "goods.csv", out, language="en")
    share = 100 * load_classifier(adapted).bundle.manifest["adapted"]["after"]
    said = f"adapted to {len(ROWS)} labelled reviews. Of such reviews it gets {share:.1f}\xa0%"
    assert said in out.read_text("utf-8")


def test_a_frame_is_adapted_to_as_its_file_and_half_of_what_is_learnt_is_halfway(starred):
    """Of the parameters that the folds train; the bundle's own last layer is calibrated besides."""
    folder, whole, _ = starred
    frame = pandas.read_csv(folder / "in.csv", dtype=str)
    half = adapt(frame, folder / "half", folder / "first", force=True, mix=0.5, quiet=True).bundle
    assert "--mix 0.5" in half.manifest["command"] and "--mix" not in whole.manifest["command"]
    first, whole, half = (parameters_of(bundle)[1] for bundle in (load_bundle(folder / "first", LAYOUT), whole, half))
    # not one that a file rounds to bytes
    trained = [name for name in first if "gru" in name and "weight" in name]
    assert trained and all(abs(whole[name] - first[name]).max() > 1e-3 for name in trained)
    for name in trained:
        numpy.testing.assert_allclose(half[name] - first[name], (whole[name] - first[name]) / 2, atol=1e-6)


def test_a_label_that_surprises_is_listed_by_its_row(adapted):
    with open(adapted / "surprising.csv", encoding="utf-8-sig") as file:
        listed = list(csv.DictReader(file))
    assert ("7", "negative", ROWS[5][0]) in [(each["row"], each["label"], each["document"]) for each in listed]
    own = [float(each["probability"]) for each in listed]
    assert own == sorted(own) and own[-1] <= SURPRISING


def test_labels_without_a_meaning_are_refused(bundle_folder, tmp_path, command):
    # the interval is that of 95 %: of RandomState(0) to (9) the first is accepted by chance
    labels = numpy.random.RandomState(1).permutation([label for _, label in ROWS])
    table = written(tmp_path / "in.csv", [(text, label) for (text, _), label in zip(ROWS, labels)])
    done = command("adapt", table, "--bundle", bundle_folder, "--out", tmp_path / "run")
    assert done.returncode == 2 and "no bundle is written, --force writes it" in done.stderr
    assert "in.csv: no better than chance with 32 negative reviews: check the labels, or label more;" in done.stderr
    assert "64 labelled reviews, 32 positive" in done.stderr and "left out" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_taken_is_not_replaced(starred, command):
    folder, _, _ = starred
    done = command("adapt", folder / "in.csv", "--bundle", folder / "first", "--out", folder / "run")
    assert done.returncode == 2 and "run: the run folder exists; name another with --out\n" in done.stderr


def test_rows_that_are_left_out_are_counted(starred):
    folder, bundle, said = starred
    assert said[:3] == [
        "data: in.csv, 44 labelled reviews, 32 positive",
        "left out: 3 without a label, 2 of middle stars, 1 without text, 3 repeated",
        "labels are the stars in column 별점: of 5, up to 2 negative, from 4 on positive, the middle left out",
    ]
    figures = bundle.manifest["adapted"]
    assert figures["positive"] == 32 / 44 and 0 <= figures["balanced_before"] < figures["balanced_after"] <= 1
    balanced = "balanced accuracy, the mean of the shares of both labels: adapted"
    assert f"{balanced} {100 * figures['balanced_after']:.1f} %" in said[4]
    assert f"the balanced accuracy is {figures['balanced_after']:.1%}" in bundle.read("README.md").decode()
    # so that the rarer label is still found
    assert bundle.manifest["calibration"]["bias"] == threshold_shift(numpy.repeat([1, 0], [32, 12])) < 0


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("label", ROWS[::4], "expected at least 40 different .* 8 negative and 8 positive ones; label more; 100"),
        ("label", ROWS[:35], "found 3 negative and 32 positive ones; label more"),
        ("label", [(text, "") for text, _ in ROWS], "expected labels in column label, found none"),
        ("note", [(text, "글") for text, _ in ROWS], "expected a column of labels or stars, .* found note; name"),
        ("평점", [(text, "11") for text, _ in ROWS], "row 2: expected stars of 5 or 10, found 11 as the largest"),
    ],
)
def test_a_table_that_does_not_do_is_refused(bundle_folder, tmp_path, name, rows, message):
    with pytest.raises(DataError, match=message):
        adapt(written(tmp_path / "in.csv", rows, ("review", name)), tmp_path / "run", bundle_folder, quiet=True)
    assert not (tmp_path / "run").exists()
