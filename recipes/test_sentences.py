"""Written reviews for training the packaged classifier, and their held-out part."""

import hashlib
import os

import numpy
import pandas
import pytest

from benchmarks.classification import unseen
from nsmc_attention import load_classifier
from recipes.sentences import (
    FOLDER,
    HELD_OUT,
    NEWER,
    is_held_out,
    judge,
    letters,
    read,
    shared_with_suite,
    texts,
    training_table,
    written,
)
from recipes.vocabulary import NEAREST, moved

KINDS = {"slang", "negation", "double negation", "litotes", "comparison", "irony", "mixed", "idiom", "rating", "emoji"}
KINDS |= {"verdict", "inverted", "neutral", "plain", "long", "clause"}


@pytest.fixture(scope="module")
def reviews():
    return written(NEWER)


def test_every_review_is_whole(reviews):
    assert set(reviews["label"]) == {0, 0.5, 1} and set(reviews["kind"]) == KINDS
    assert reviews["document"].str.strip().str.len().min() > 0 and (reviews["frame"] != "").all()
    assert reviews["year"].isin([0, *range(1990, 2027)]).all()
    assert not reviews["document"].duplicated().any()
    assert (reviews.loc[reviews["kind"] == "neutral", "label"] == 0.5).all()


def test_labels_are_in_balance_and_minimal_pairs_differ_in_them(reviews):
    clear = reviews[reviews["label"] != 0.5]
    assert abs(clear["label"].mean() - 0.5) < 0.03
    paired = reviews[reviews["pair"] != ""].groupby(["file", "pair"])["label"].nunique()
    assert (paired > 1).mean() > 0.97


def test_no_review_shares_eight_letters_with_the_suite(reviews):
    assert shared_with_suite(reviews["document"]) == []
    assert shared_with_suite(pandas.Series(["배우들의 연기가 훌륭했다!"])), "a sentence of the suite itself is found"


def test_no_unseen_text_is_written_for_training(reviews):
    known = {*map(letters, [*reviews["document"], *texts()["document"]])}
    assert not known & {*map(letters, unseen.texts()["document"])}


def test_a_twentieth_of_the_frames_is_held_out_whole_and_with_its_pairs(reviews):
    held_out = is_held_out(reviews)
    assert 0.5 < held_out.mean() * HELD_OUT < 3
    pairs = reviews[reviews["pair"] != ""].assign(held_out=held_out).groupby(["file", "pair"])["held_out"].nunique()
    assert (pairs == 1).all()


def test_training_has_all_others_as_often_as_asked(reviews):
    table, held_out = training_table(templates=0, times=2, also=NEWER), is_held_out(reviews)
    assert sorted(table["document"]) == sorted([*reviews.loc[~held_out, "document"]] * 2)
    assert not set(reviews.loc[held_out, "document"]) & set(table["document"])


def test_newer_reviews_are_added_only_if_asked_for(reviews):
    table, newer = training_table(templates=0, times=1), reviews["file"].isin(NEWER)
    assert [*table["document"]] == [*reviews.loc[~is_held_out(reviews) & ~newer, "document"]]
    added = set(training_table(templates=0, times=1, also=NEWER)["document"]) - set(table["document"])
    assert added == set(reviews.loc[~is_held_out(reviews) & newer, "document"]) and added


@pytest.mark.slow
@pytest.mark.skipif("NSMC_ATTENTION_DATA" not in os.environ, reason="needs the official files")
def test_the_sentences_of_the_packaged_classifier_can_be_made_again(tmp_path):
    recorded, path = load_classifier().bundle.manifest["data"]["sentences"], tmp_path / "sentences5.csv"
    training_table(templates=20000, times=5).to_csv(path, index=False)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == recorded["sha256"]


def test_a_judged_pair_is_right_only_if_both_of_its_reviews_are():
    frame = read(FOLDER / "denials.tsv")
    assert judge(frame, None).loc["pairs", "size"] == frame.loc[frame["pair"] != "", "pair"].nunique()
    turned = frame["label"].where(frame.index % 2 == 0, 1 - frame["label"])
    unpaired, halves = judge(frame.assign(pair=""), None), judge(frame.assign(label=turned), None)
    assert unpaired.loc["pairs", "size"] == 0 and halves.loc["pairs", "mean"] < halves.loc["all", "mean"]


def test_a_new_vocabulary_keeps_the_rows_that_it_knows_and_begins_others_near():
    drawn = numpy.random.RandomState(0)
    known = {f"t{index}": index for index in range(30)}
    wanted = {"new": 0, **{f"t{index}": 30 - index for index in range(30)}}
    rows, others = drawn.randn(30, 4).astype("float32"), drawn.randn(31, 6)
    found = moved(rows, known, others, wanted)
    assert all((found[index] == rows[known[token]]).all() for token, index in wanted.items() if token in known)
    cosines = others[1:] @ others[0] / numpy.linalg.norm(others[1:], axis=1)
    assert found[0] == pytest.approx(found[1:][numpy.argsort(cosines)[-NEAREST:]].mean(axis=0), abs=1e-6)
