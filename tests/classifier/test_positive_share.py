import json
import math
from dataclasses import replace

import pandas
import pytest

from nsmc_attention import positive_share, score_column
from nsmc_attention.classifier.positive_share import LEANING, MOST_ODDS, LabelsByShare, parsed_share
from nsmc_attention.classifier.predictor import Classifier
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.measure.share import Evidence, Tally
from nsmc_attention.scoring.reference import worker_scorer

TEXTS = "최고의 영화|지루하고 돈이 아까워요|정말 재미있는 영화였어요| |별로|감동적이에요|또 보고 싶다".split("|")


def test_texts_have_the_same_share_whatever_holds_them(packaged):
    found = positive_share(TEXTS, packaged)
    assert found == positive_share(pandas.Series(TEXTS), packaged) == positive_share(iter(TEXTS))
    assert found == positive_share([None, math.nan, *TEXTS]) == positive_share(pandas.DataFrame({"review": TEXTS}))
    evidence = Evidence.of(packaged.probabilities(TEXTS)) + packaged.sample(TEXTS)
    assert found == evidence.share and found.n == 6


def test_neutral_reviews_hardly_change_the_share(packaged):
    table = ["정말 재미있는 영화였어요", "최고의 영화", "감동적이에요", "또 보고 싶다", "지루하고 돈이 아까워요"]
    table, neutral = [f"{text} {n}" for n in range(10) for text in table], ["그냥 그래요 무난한 영화", "쏘쏘 평범하다"]
    more = [f"{text} {n}" for n in range(20) for text in neutral]
    alone, beside = positive_share(table), positive_share([*table, *more])
    counted, without = (Evidence.of(packaged.probabilities(texts)).share for texts in (table, [*table, *more]))
    assert abs(beside.share - alone.share) < abs(without.share - counted.share)


def test_stars_of_films_say_nothing_of_what_a_classifier_was_adapted_to(packaged):
    bundle = replace(packaged.bundle, manifest={**packaged.bundle.manifest, "adapted": {}})
    adapted, texts = Classifier(bundle, packaged.engine), [text for text in TEXTS if text.strip()]
    assert len(packaged.sample(texts).sample) == len(texts) and not len(adapted.sample(texts).sample)


def test_a_text_that_many_rows_are_counts_once_and_is_said(packaged, tmp_path, command):
    own = [f"{text} {n}" for n in range(5) for text in TEXTS if text.strip()]
    again = [*own, *["배송 빠르고 좋아요"] * 30]
    assert positive_share(again) == positive_share([*own, "배송 빠르고 좋아요"])
    pandas.DataFrame({"review": again}).to_csv(tmp_path / "a.csv", index=False)
    done = command("predict", "--input", tmp_path / "a.csv", "--format", "csv")
    assert done.stderr.rstrip().endswith("; 30 rows are '배송 빠르고 좋아요', which count once")
    assert done.stdout.count("배송 빠르고 좋아요,positive") == 30


@pytest.mark.parametrize("texts", [["worst movie ever"] * 30, ["12345"] * 30, ["つまらない"] * 30])
def test_texts_without_hangul_have_no_share(texts):
    found = positive_share(texts)
    assert (found.share, found.low, found.high) == (None, 0, 1)


@pytest.mark.parametrize(
    "reviews, message",
    [
        ("최고", "found one string; give a list or a column of them"),
        ([0.5, 1.5], r"texts\[0\]: expected a review as str, found float"),
        (["최고", 3], r"texts\[1\]: expected a review as str, found int"),
    ],
)
def test_other_values_are_refused(reviews, message):
    with pytest.raises(DataError, match=message):
        positive_share(reviews)


def test_a_label_by_the_share_stands_beside_the_review_s_own(packaged):
    scorer, limit = LabelsByShare(packaged, 0.9), MOST_ODDS / math.exp(packaged.prior)
    own, rows = packaged.rows(TEXTS), scorer.rows(TEXTS)
    names = [*scorer.types]
    assert names == ["label", "score", "probability", *LEANING, "error"]
    for plain, row in zip(own, rows):
        assert (*row[:3], row[-1]) == plain
        assert plain[0] is None or row[4] / (1 - row[4]) == pytest.approx(limit * plain[2] / (1 - plain[2]), rel=1e-4)
    for row, values in zip(rows, scorer.objects(TEXTS)):
        assert [values[name] for name in LEANING] == pytest.approx(list(row[3:6])) or row[0] is None
    assert worker_scorer(scorer.reference).rows(TEXTS[:1]) == rows[:1]


def test_share_table_reads_the_table_twice(tmp_path, command):
    table = tmp_path / "a.csv"
    pandas.DataFrame({"review": TEXTS * 5, "n": range(35)}).to_csv(table, index=False)
    done = command("predict", "--input", table, "--output", tmp_path / "b.csv", "--share", "table")
    read = pandas.read_csv(tmp_path / "b.csv")
    share = positive_share(TEXTS * 5).share
    assert done.returncode == 0 and read["share"].dropna().unique() == pytest.approx(share, abs=1e-6)
    assert f"{table}: positive reviews: about {100 * share:.0f} %" in done.stderr
    plain = command("predict", "--input", table, "--format", "csv")
    assert plain.stdout.splitlines()[0] == "review,n,label,score,probability,error"


def test_a_number_is_given_as_such_or_in_percent():
    assert (parsed_share("0.85"), parsed_share("85%"), parsed_share("table")) == (0.85, 0.85, None)
    with pytest.raises(ConfigError, match="found '1.2'"):
        parsed_share(1.2)


def test_tallies_of_parts_add_up_to_that_of_the_whole():
    probabilities = [0.9, None, 0.2, math.nan, 0.5]
    texts = ["가", "", "나", " ", "x"]
    whole = Tally.of(texts, probabilities, 2)
    parts = Tally.of(texts[:2], probabilities[:2], 1) + Tally.of(texts[2:], probabilities[2:], 1)
    assert (whole.rows, whole.errors, whole.positive, whole.korean) == (5, 2, 2, 2)
    assert (parts.rows, parts.errors, parts.positive, parts.korean) == (5, 2, 2, 2)
    assert (whole.evidence.bins == parts.evidence.bins).all()


def test_every_command_that_reads_a_table_says_the_share(tmp_path, command):
    table = tmp_path / "a.csv"
    pandas.DataFrame({"review": TEXTS * 5}).to_csv(table, index=False)
    line = f"positive reviews: {positive_share(TEXTS * 5)}; 67 % of the labels, within the interval"
    line += f"; 30 rows are {TEXTS[0]!r} or 5 other texts, which count once"
    for arguments in (["predict", "--input", table, "--format", "jsonl"], ["report", table, "-o", tmp_path / "r.html"]):
        done = command(*arguments)
        assert done.stderr.splitlines()[-1] == f"{table}: {line}"
    assert json.loads(command("predict", "--input", table, "--format", "jsonl").stdout.splitlines()[0])["label"]
    assert score_column(pandas.Series(TEXTS))["label"].notna().sum() == 6
