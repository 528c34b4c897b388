import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.apps.report.statistics import (
    agreement,
    attended_words,
    count_words,
    dates_of,
    distinctive_words,
    extreme_reviews,
    shares_by,
)
from nsmc_attention.apps.words import content_words
from nsmc_attention.text.tokenizers import mecab_tags


def scored(probabilities):
    labels = ["positive" if value >= 0.5 else "negative" for value in probabilities]
    return pandas.DataFrame({"label": labels, "probability": probabilities})


def test_groups_are_counted_and_what_differs_is_an_outlier():
    keys = pandas.Series(["가"] * 400 + ["나"] * 400 + [None] * 10)
    rows = shares_by(keys, scored([0.95, 0.05] * 200 + [0.95] * 400 + [0.05] * 10))
    assert rows.index.tolist() == ["가", "나"] and rows["count"].tolist() == [400, 400]
    assert rows["positive"].tolist() == [200, 400] and rows["outlier"].all() and rows["above"].tolist() == [False, True]
    same = shares_by(pandas.Series(["가", "나"] * 200), scored([0.95] * 200 + [0.05] * 200))
    assert not same["outlier"].any()


def test_a_share_is_estimated_and_one_of_few_reviews_is_unknown():
    keys = pandas.Series(["가"] * 300 + ["나"] * 3)
    rows = shares_by(keys, scored([0.95] * 240 + [0.3] * 60 + [0.9] * 3))
    assert rows.loc["가", "low"] <= rows.loc["가", "share"] <= rows.loc["가", "high"]
    # labels count 80 %
    assert rows.loc["가", "share"] > 0.85 and numpy.isnan(rows.loc["나", "share"])
    assert rows.loc["나", ["low", "high"]].tolist() == [0, 1], "the others of the table say nothing of three"


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["positive", "negative", None])), min_size=1))
def test_an_interval_has_all_that_undecided_mentions_may_be(mentions):
    frame = pandas.DataFrame(mentions, columns=["aspect", "label"]).astype(object)
    frame["probability"] = frame["label"].map({"positive": 0.97, "negative": 0.03}).fillna(0.6)
    decided = frame[frame["label"].notna()]
    alone, rows = shares_by(decided["aspect"], decided), shares_by(frame["aspect"], frame)
    for name, row in rows.iterrows():
        own = frame["label"][frame["aspect"] == name]
        part = own.isna().mean()
        low, high = alone.loc[name, ["low", "high"]] if name in alone.index else (0, 1)
        assert row["low"] == pytest.approx(low * (1 - part)) and row["high"] == pytest.approx(high * (1 - part) + part)
        assert row["count"] == len(own) and row.get("undecided", 0) == own.isna().sum()


def test_stars_of_the_table_stand_beside_the_estimate():
    keys = pandas.Series(["가", "가", "나", "나"])
    frame = scored([0.9, 0.1, 0.9, 0.8]).assign(stars=[5.0, 3.0, 1.0, None], star_label=[1, None, 0, None])
    rows = shares_by(keys, frame)
    assert rows["mean_stars"].tolist() == [4.0, 1.0] and rows["share_by_stars"].tolist() == [1.0, 0.0]
    many = pandas.concat([frame] * 100, ignore_index=True)
    rows = shares_by(pandas.concat([keys] * 100, ignore_index=True), many)
    # by labels there are more in the second group
    assert rows["outlier"].all() and rows["above"].tolist() == [True, False]


def test_labels_are_counted_beside_the_stars():
    frame = scored([0.9, 0.1, 0.9, 0.8, 0.2]).assign(stars=[5, 3, 1, None, 2], star_label=[1, None, 0, None, 0])
    assert agreement(frame).loc["negative", ["positive", "negative"]].tolist() == [1, 1]
    said = frame.assign(sentiment=["positive", "neutral", "no_opinion", "positive", "negative"])
    assert agreement(said).to_numpy().tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]


def known(dates):
    return [date if date == date else None for date in dates_of(dates)]


def test_dates_are_read_as_koreans_write_them():
    dates = ["15.08.25", "2019.04.01.", "2019-04-01 12:30", "2019/4/1", "20190401", "2019년 4월 1일", "19. 04. 01."]
    dates += ["2019. 4. 1. 오후 3시", "2019-04", "2019-04-30T23:30:00+09:00", "2019-04-30 23:30:00.5Z", "20190401T0930"]
    dates += ["190401", "19.4.1.월", "2019-04-01(월)", "Apr 1, 2019", "Mon, 1 April 2019 10:22", "01-Apr-19"]
    assert [date[:7] for date in known(dates)] == ["2015-08", *["2019-04"] * 17]
    assert known(["19. 4. 1.", "2019-04", "Apr 2019", "Apr 19"]) == ["2019-04-01", "2019-04", "2019-04", None]
    others = [None, "어제", "", "99.99.99", "08:15", "19.04", "12.5", "2019-13-01", "2019-02-30", 7, "3/4/2019"]
    assert known([*others, "03.04.2019", "9999-01-01", "0001-01-01", "3일 전", "1234567"]) == [None] * 16
    there = pandas.Series(pandas.to_datetime(["2019-01-01", "2019-07-01"]).tz_localize("Europe/Berlin"))
    assert known(there) == ["2019-01-01", "2019-07-01"] and known([]) == []


def test_dates_are_read_as_programs_count_them():
    numbers = ["44547", 44547.5, "44547.0", "1639699200", 1639699200.0, 1639699200123, "1639699200123", "211217"]
    assert known(numbers) == ["2021-12-17"] * 8
    # midnight in Korea, which is the day before elsewhere
    assert known([1639666800, 1639666799]) == ["2021-12-17", "2021-12-16"]


def test_a_date_without_a_year_has_that_of_the_others_where_the_day_of_the_week_fits():
    assert known(["3.12.목", "3월 12일 (목)", "3/12", "3.12.금"]) == [None] * 4
    found = known(["2019.11.3", "11.3.일", "3.12.목", "3월 12일 (목)", "3/12", "3.12.금"])
    assert found == [*["2019-11-03"] * 2, *["2020-03-12"] * 2, None, None]


def words_of(lists, labels):
    return distinctive_words(count_words((label, words, [], []) for words, label in zip(lists, labels))["reviews"])


def test_words_of_one_side_alone_lead_and_words_of_both_say_nothing():
    lists = [["영화", "최고"]] * 30 + [["영화", "별로", "별로"]] * 30
    rows = words_of(lists, ["positive"] * 30 + ["negative"] * 30).set_index("word")
    assert rows.index[0] == "최고" and rows.index[-1] == "별로"
    assert rows.loc["영화", "z"] == pytest.approx(0, abs=1e-9)
    assert rows.loc["별로", ["positive", "negative"]].tolist() == [0, 30], "a word counts once a review"
    assert words_of([["희귀"]], ["positive"]).empty


def test_a_word_is_on_the_side_where_it_is_commoner():
    lists = [["영화", f"말{place}"] for place in range(4)] + [["영화"]]
    lists += [[f"글{place}", f"뜻{place}"] for place in range(9)]
    rows = words_of(lists, ["positive"] * 4 + ["negative"] * 10)
    assert rows["word"].tolist() == ["영화"] and rows.loc[0, "z"] > 0
    few = words_of([["영화"]] * 9 + [["별로", "영화"]], ["positive"] * 9 + ["negative"])
    assert few.set_index("word")["z"].get("영화") == 0, "in all reviews of both"


@pytest.mark.filterwarnings("error")
def test_one_word_alone_tells_nothing():
    assert words_of([["영화"]] * 9, ["positive"] * 8 + ["negative"]).values.tolist() == [["영화", 8, 1, 0]]


def test_words_by_attention_are_means_over_windows():
    weights, windows = [1.0, 2.0, 6.0], []
    for window in ([0, 1], [2]):
        rows = [("positive", ["a"], ["a", ""], [weights[k], 9.0]) for k in window]
        windows.append(count_words(rows * 2))
    counts = pandas.concat(windows).groupby(level=0).sum()
    assert attended_words(counts).to_dict("records") == [{"label": "positive", "word": "a", "count": 6, "weight": 3.0}]


def test_extreme_reviews_are_of_their_side_and_the_neutral_ones_nearest_to_the_middle_first():
    rows = [
        ("positive", 0.9, 8.0),
        (None, numpy.nan, numpy.nan),
        ("negative", 0.1, 2.0),
        ("no_opinion", 1.0, numpy.nan),
        ("positive", 0.99, 9.0),
        ("neutral", 0.98, 7.5),
        ("no_opinion", 0.0, numpy.nan),
        ("neutral", 0.02, 5.5),
    ]
    frame = pandas.DataFrame(rows, columns=["sentiment", "probability", "expected_stars"])
    frame = frame.assign(
        text=[f"{place}번째로 본 그저 그런 영화예요" for place in range(8)],
        label=["positive" if p > 0.5 else "negative" for _, p, _ in rows],
    )
    found = {kind: own.index.tolist() for kind, own in extreme_reviews(frame).items()}
    assert found == {"positive": [4, 0], "negative": [2], "neutral": [7, 5]}
    found = extreme_reviews(frame.assign(text=frame["text"].where(frame.index != 7, "그저 그럼")), count=1)
    assert [own.index.tolist() for own in found.values()] == [[4], [2], [5]], "what is too short to read comes last"
    found = extreme_reviews(frame.assign(text="그저 그런데 볼만은 한 영화예요", sentiment="neutral"))
    assert [own.index.tolist() for own in found.values()] == [[], [], [7]], "a text is shown once"


def test_without_heads_the_sides_are_the_labels_and_nothing_is_neutral():
    found = extreme_reviews(scored([0.9, 0.1, 0.52, 0.99]).assign(text=list("가나다라")), count=2)
    assert [own.index.tolist() for own in found.values()] == [[3, 0], [1], []]


def test_neutral_reviews_and_those_without_an_opinion_are_counted_and_left_in_the_share():
    frame, keys = scored([0.9, 0.6, 0.4, 0.1, 0.9, 0.1] * 10), pandas.Series(["가"] * 50 + ["나"] * 10)
    said = frame.assign(sentiment=["positive", "neutral", "no_opinion", "negative", "positive", "negative"] * 10)
    without, rows = shares_by(keys, frame), shares_by(keys, said)
    assert rows["neutral"].tolist() == [9, 1] and rows["no_opinion"].tolist() == [8, 2]
    pandas.testing.assert_frame_equal(rows[without.columns], without)


@pytest.mark.parametrize(
    "text, words",
    [
        ("돈이 아까워요, 3번 봤어요 ㅋㅋㅋ!!", ["돈", "아깝다"]),
        ("지루하고 유치한데 재밌게 울었다", ["지루하다", "유치하다", "재밌다", "울다"]),
        ("감동적이고 사랑했던 배우", ["감동", "사랑", "배우"]),
        ("핵노잼 짜증나 컨저링", ["핵노잼", "핵노잼", "핵노잼", "짜증"]),
        ("", []),
    ],
)
def test_content_words_are_dictionary_forms_without_endings_numerals_and_pieces(text, words):
    found = content_words(text)
    assert [word for *_, word in found if word] == words
    assert [(start, end) for start, end, _ in found] == [(start, end) for start, end, _ in mecab_tags(text)]
