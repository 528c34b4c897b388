import re
from dataclasses import replace
from html import escape

import pandas
import pytest

from nsmc_attention.apps.report.build import phrases, report
from nsmc_attention.classifier.predictor import Classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.corpora.data import Texts
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.tables.parts import PART_ROWS


@pytest.fixture
def reviews(tmp_path):
    texts = nsmc.load("sample", "test").documents
    texts = [*texts, " ", "</script><b>@@BODY@@ WORDS_JS 영화 추천"]
    frame = pandas.DataFrame({"document": texts, "film": "영화<1>", "date": "2019.04.01"})
    frame.loc[::2, ["film", "date"]] = ["다른 <b>영화</b>", "없음"]
    path = tmp_path / "리뷰.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_report_counts_every_review_and_needs_nothing_else(classifier, reviews, tmp_path):
    found = report(classifier, reviews, tmp_path / "r.html", "film", "date", tables_to=tmp_path / "tables")
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert found["groups"]["count"].sum() == 181 and found["months"].index.tolist() == ["2019-04"]
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == set(found)
    read = pandas.read_csv(tmp_path / "tables" / "groups.csv", index_col="group")
    assert read["count"].tolist() == found["groups"]["count"].tolist()
    outside_the_font = re.sub("base64,[A-Za-z0-9+/=]+", "", html)
    assert not re.findall(r"https?:|<link|@import|@@FONT|@@TITLE|@@REVIEWS|WORDS_CSS", outside_the_font)
    assert html.count("<script") == html.count("</script>") == 2 and "<b>영화" not in html
    assert "<dd>181</dd>" in html and "1개는 읽을 단어가 없어" in html and "날짜를 읽지 못해" in html
    example = found["reviews"].dropna().iloc[0]
    assert f'"source": "{example["group"]} · 2019-04-01"'.replace("<", "\\u003c") in html


# Beginnings of the keys of phrases that other pages have
ELSEWHERE = "title found_ share_ stars_ key_stars key_agreed agreement films_unlike aspects_unlike aspects_own".split()


@pytest.mark.parametrize("language, other", [("ko", "en"), ("en", "ko")])
def test_a_page_speaks_one_language(packaged, reviews, tmp_path, language, other):
    report(packaged, reviews, tmp_path / "r.html", "film", "date", title="<b>여름</b>", language=language)
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert f'<html lang="{language}">' in html and "<h1>&lt;b&gt;여름&lt;/b&gt;</h1>" in html
    own, others = (
        {
            text
            for key, text in phrases(each).items()
            if "{" not in text and not key.startswith(tuple(ELSEWHERE)) and not key.endswith("_attention")
        }
        for each in (language, other)
    )
    assert all(escape(text) in html for text in own)
    assert not [text for text in others if len(text) > 8 and escape(text) in html]


@pytest.mark.parametrize("language", ["ko", "en"])
def test_neutral_reviews_and_those_without_an_opinion_are_told(packaged, made, language):
    texts = ["최고의 영화예요"] * 3 + ["최악의 영화"] * 2 + ["그냥 그래요. 나쁘지도 좋지도 않은 영화"] * 4
    texts += ["오늘 개봉하는 영화예요", " "]
    found, html = made(packaged, {"document": texts, "film": ["가", *"나" * 10]}, "film", language=language)
    say = phrases(language)
    counts = dict(zip(["positive", "neutral", "negative", "no_opinion"], [3, 4, 2, 1]))
    assert found["sentiments"]["count"].to_dict() == counts
    assert found["sentiments"]["share"].tolist() == [0.3, 0.4, 0.2, 0.1]
    assert found["groups"]["neutral"].to_dict() == {"가": 0, "나": 4} and found["groups"]["no_opinion"].sum() == 1
    for kind, count in counts.items():
        assert f"{say[kind]}</dt><dd>{count} · {count}0.0\u00a0%</dd>" in html
    assert say["method_neither"] in html and html.count(f"<h3>{say['most_neutral']}</h3>") == 1
    reviews = found["reviews"]
    assert reviews.groupby(level="kind").size().to_dict() == {"negative": 1, "neutral": 1, "positive": 1}
    assert (reviews["sentiment"] == reviews.index.get_level_values("kind")).all()
    stars = reviews.loc["neutral", "expected_stars"].iloc[0]
    assert f'"source": "{say["neutral_stars"].format(stars=stars)} · 나"' in html


def test_a_classifier_without_heads_has_two_sides(classifier, reviews, tmp_path):
    found = report(classifier, reviews, tmp_path / "r.html", "film", language="en")
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert not classifier.heads and "sentiments" not in found and "neutral" not in found["groups"]
    assert {*found["reviews"].index.get_level_values("kind")} == {"positive", "negative"}
    assert 'class="parts"' not in html and "no opinion" not in html and "Neutral" not in html


def test_phrases_in_both_languages_have_the_same_blanks():
    korean, english = phrases("ko"), phrases("en")
    assert korean.keys() == english.keys()
    for key in korean:
        assert sorted(re.findall(r"{.*?}", korean[key])) == sorted(re.findall(r"{.*?}", english[key])), key


def test_every_section_says_what_may_be_concluded_and_what_not(packaged, reviews, tmp_path):
    report(packaged, reviews, tmp_path / "r.html", "film", "date")
    parts = (tmp_path / "r.html").read_text(encoding="utf-8").split("<section><h2>")[1:-1]
    assert len(parts) == 7
    assert all(part.count("알 수 있는 것") == part.count("알 수 없는 것") == 1 for part in parts)


def test_many_months_are_drawn_as_years_and_stay_months_in_the_table(classifier, made):
    months = [f"{year}.{month}.1" for year in range(2010, 2016) for month in range(1, 13)]
    found, html = made(classifier, {"document": "최고의 영화", "date": months}, date_column="date")
    assert len(found["months"]) == 72 and ">2010</b>" in html and ">2010-01</b>" not in html


@pytest.mark.parametrize(
    "output, columns, error, message",
    [
        ("r.pdf", {}, ConfigError, "expected a page that ends in .html"),
        ("no/r.html", {}, DataError, "no such folder"),
        ("r.html", {"tables_to": "no/tables"}, DataError, "no such folder"),
        ("r.html", {"language": "kr"}, ConfigError, "unknown language 'kr'; known: en, ko"),
        ("r.html", {"group_by": "movie"}, DataError, "expected a column 'movie'"),
        ("r.html", {"date_column": "day"}, DataError, "expected a column 'day'"),
        ("r.html", {"text_column": "text"}, DataError, "expected a column 'text'"),
    ],
)
def test_bad_input_leaves_nothing(classifier, reviews, tmp_path, monkeypatch, output, columns, error, message):
    monkeypatch.chdir(tmp_path)
    options = {name: value for name, value in columns.items() if name != "text_column"}
    with pytest.raises(error, match=message):
        report(classifier, Texts(reviews, text_column=columns.get("text_column")), output, **options)
    assert [path.name for path in tmp_path.iterdir()] == [reviews.name]


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.csv", b'document\n" "\n', "none with a word"),
        ("a.jsonl", b"\n\n", "expected reviews, found no"),
        ("a.parquet", pandas.DataFrame({"document": []}).to_parquet(), "expected reviews, found no"),
    ],
)
def test_a_table_without_reviews_says_so(classifier, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        report(classifier, tmp_path / name, tmp_path / "r.html")


def test_tables_go_only_where_nothing_else_is(classifier, reviews, tmp_path):
    """Neither the reviews themselves nor anything of the user's is in the way of a table."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "reviews.csv").write_text("document\n좋다\n", encoding="utf-8")
    for place in (mine, mine / "reviews.csv", tmp_path):
        with pytest.raises(ConfigError, match="expected a new or empty folder, or the tables"):
            report(classifier, mine / "reviews.csv", tmp_path / "r.html", tables_to=place)
    assert not (tmp_path / "r.html").exists()
    assert (mine / "reviews.csv").read_text(encoding="utf-8") == "document\n좋다\n"
    report(classifier, reviews, tmp_path / "r.html", "film", tables_to=tmp_path / "tables")
    found = report(classifier, reviews, tmp_path / "r.html", tables_to=tmp_path / "tables")
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == set(found), "none of the one before"
    assert set(found) == {"words_by_log_odds", "words_by_attention", "reviews"}, "without groups and dates"


@pytest.mark.parametrize("count", [1, 6, 11])
def test_a_group_of_one_opinion_and_no_date_at_all_is_a_report(classifier, made, count, capsys):
    found, html = made(classifier, {"document": ["최고의 영화"] * count, "film": "A", "date": ""}, "film", "date")
    assert found["groups"].loc["A", "count"] == count and found["months"].empty
    said = f"{count} of {count} rows have no date that can be read; they are not in the figure over time"
    assert f"a.csv: column date: {said}\n" in capsys.readouterr().err
    assert f"{count}개는 날짜를 읽지 못해" in html


def test_a_column_of_jsonl_may_come_late(classifier, tmp_path):
    lines = ['{"document": "좋다"}'] * PART_ROWS + ['{"document": "별로", "film": "가", "date": "2020.1.2"}'] * 3
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = report(classifier, tmp_path / "a.jsonl", tmp_path / "r.html", "film", "date")
    assert found["groups"]["count"].to_dict() == {"가": 3} and found["months"].index.tolist() == ["2020-01"]
    with pytest.raises(DataError, match="expected a column 'day'"):
        report(classifier, tmp_path / "a.jsonl", tmp_path / "r.html", date_column="day")


@pytest.mark.parametrize("data, told", [("nsmc", True), ("own.csv", False)])
def test_the_accuracy_that_is_told_is_that_of_the_nsmc_test_file(classifier, reviews, tmp_path, data, told):
    test = {"test": {"accuracy": 0.9, "data": data}}
    bundle = replace(classifier.bundle, manifest={**classifier.bundle.manifest, "metrics": test})
    report(Classifier(bundle, classifier.engine), reviews, tmp_path / "r.html")
    assert ("90.0\u00a0%를 맞힙니다" in (tmp_path / "r.html").read_text(encoding="utf-8")) == told


@pytest.mark.parametrize("language", ["ko", "en"])
def test_stars_of_the_table_lead_and_labels_are_compared_with_them(packaged, made, language):
    good, bad = "{}번 봐도 최고의 영화예요", "{}분 만에 나온 최악의 영화"
    texts = [said.format(number) for said in (good, bad) for number in range(8)]
    stars = [5, 4, 4, 5, 1, 3, "", 5, 1, 2, 5, 1, 2, 1, 3, 1]
    columns = {"document": texts, "별점": stars, "film": ["가", "나"] * 8}
    found, html = made(packaged, columns, "film", language=language)
    counts, say = found["agreement"], phrases(language)
    assert counts.loc[["positive", "negative"], ["positive", "negative"]].to_numpy().tolist() == [[5, 1], [1, 6]]
    assert counts.loc["neutral"].sum() == 2 and counts.to_numpy().sum() == 15
    figures = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", html)
    assert figures[0] == (escape(say["key_stars"]), "46\u00a0%") and figures[1][0] == say["key_share"]
    assert (say["key_agreed"], "85\u00a0%") in figures
    assert f"<th>{say['stars_neutral']}</th>" in html and "1 (14\u00a0%)" in html
    for film, share in found["groups"]["share_by_stars"].items():
        assert f"{say['stars_share'].format(share=100 * share)}" in html, film
    assert html.count('class="own') == 2


@pytest.mark.parametrize("language", ["ko", "en"])
def test_blank_groups_are_counted_at_the_top(packaged, made, language):
    texts = ["이야기가 따뜻하고 좋았다", "이야기가 지루했다", "음악이 훌륭했다", "음악이 최고였다"]
    found, html = made(packaged, {"film": ["봄날", "봄날", "", " "], "review": texts}, "film", language=language)
    assert phrases(language)["nameless"].format(count=2, name="film") in html.split("<section>")[0]
    assert set(found["aspects"].index) == {"이야기", "음악"} and found["groups"]["count"].tolist() == [2]


def test_undated_rows_are_said_in_one_line(classifier, made, capsys):
    dates = ["2026.03.11", "3.12.목", "3일 전", "46093", "", "1773241200"]
    # the last is a row of totals
    texts = [*["최고의 영화"] * len(dates), ""]
    columns = {"document": texts, "date": [*dates, "합계"], "별점": 5}
    found, html = made(classifier, columns, date_column="date", language="en")
    assert phrases("en")["stars_alone"].format(count=1) in html and found["agreement"].to_numpy().sum() == 6
    assert found["months"]["count"].to_dict() == {"2026-03": 4}
    said = "a.csv: column date: 2 of 6 rows have no date that can be read, as '3일 전'; they are not in the figure"
    assert said in capsys.readouterr().err


def test_aspects_are_looked_for_by_a_list_that_is_named(packaged, made, tmp_path):
    texts = [f"배송 포장 사이즈 환불 문의 {number}번 반품 교환 택배 연기" for number in range(30)]
    (tmp_path / "words.csv").write_text("word,aspect\n배송,배송\n", encoding="utf-8")
    found, html = made(packaged, {"document": texts, "shop": "가"}, "shop", language="en")
    assert "aspects" not in found and phrases("en")["aspects_unlike"] in html
    few = {"document": ["연기가 좋다", "배송이 빠르다"]}
    assert f"Looked for: {phrases('en')['aspects_of_films']}." in made(packaged, few, language="en")[1]
    _, html = made(packaged, few, language="en", aspects_file=tmp_path / "words.csv")
    assert "Looked for: the words of words.csv." in html


def test_a_sorted_table_is_judged_by_all_its_parts(packaged, made, capsys):
    """As many rows of films come first, which is as strange as the same rows in any order."""
    films = nsmc.load("sample", "test").documents[:100]
    texts = films * 30 + [f"배송 포장 사이즈 환불 문의 {number}번 반품 교환 택배" for number in range(9000)]
    _, html = made(packaged, {"document": texts}, language="en")
    assert "unlike the film reviews of the training" in capsys.readouterr().err
    assert phrases("en")["aspects_unlike"] in html


def test_examples_of_an_aspect_are_of_both_sides_and_none_is_made_up(packaged, made):
    texts = ["연기가 정말 훌륭하다", "연기가 좋다", "연기가 최악이다", "음악이 좋다", "음악이 정말 훌륭하다"]
    _, html = made(packaged, {"document": texts * 3}, language="en")
    lists = re.findall("<summary>(.*?):.*?<ul.*?>(.*?)</ul>", html)
    shown = {name: re.findall(">(.*?)</li>", items) for name, items in lists}
    assert shown["연기"][1:] == ["연기가 최악이다"] and len(shown["음악"]) == 1


@pytest.mark.parametrize(
    "name, cells, message",
    [
        ("평점", ["5", "시사회", "1"], "column 평점 row 3: expected 1 to 5 or 1 to 10 stars, found '시사회'"),
        ("만족도", ["1", "4", "7"], "column 만족도 row 4: expected stars of 5 or 10, found 7 as the largest number"),
        ("star", ["20", "80", "100"], "column star row 4: expected stars of 5 or 10, found 100 as the largest number"),
        ("만족도 (1-7)", ["1", "4", "7"], ""),
    ],
)
def test_stars_that_are_found_never_refuse_a_table_and_named_ones_do(classifier, made, capsys, name, cells, message):
    # a row of totals has no text
    columns = {"리뷰": ["최고의 영화", "별로", "그저 그렇다", ""], name: [*cells, "합계"]}
    assert ("mean stars" in made(classifier, columns, language="en")[1]) == (message == "")
    if message:
        said = capsys.readouterr().err
        assert f"{message}; " in said and "; the report goes on without stars\n" in said
        with pytest.raises(DataError, match=message):
            made(classifier, columns, stars_column=name)
