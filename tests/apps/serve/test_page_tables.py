"""The page in a real Chromium: tables and films, how they are shown, sorted and saved."""

import csv
import io
import json
import re

import pandas
import pytest

from nsmc_attention.apps.serve.film import MOST_FILMS
from nsmc_attention.systems.film.rater import load_film
from nsmc_attention.tables.writers import as_cell

expect = pytest.importorskip("playwright.sync_api").expect


def put(page, name, content):
    page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": content.encode()})


def rows_of(page):
    page.wait_for_selector("#table td")
    return [row.split("\t") for row in page.locator("#table tbody tr").all_inner_texts()]


def downloaded(page):
    with page.expect_download() as download:
        page.click("#save")
    return download.value.path().read_bytes().decode()


def test_a_pasted_list_becomes_a_table_to_sort_by_the_keyboard_and_download(page):
    page.fill("#lines", '정말 "최고"의 영화, 추천\n\n별로\n<img src=x onerror=alert(1)> 별로예요')
    page.click("#score")
    rows = rows_of(page)
    assert [row[2] for row in rows] == ['정말 "최고"의 영화, 추천', "별로", "<img src=x onerror=alert(1)> 별로예요"]
    assert [row[0] for row in rows[:2]] == ["긍정", "부정"]
    page.focus("#table th >> nth=1 >> button")
    page.keyboard.press("Enter")
    shown = [row[1] for row in rows_of(page)]
    assert shown == sorted(shown, key=lambda share: float(share.split()[0]))
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "긍정 확률 ↓", "the focus stays"
    saved = csv.DictReader(downloaded(page).lstrip("\ufeff").splitlines())
    assert [f"{100 * value:.1f} %" for value in sorted(float(row["probability"]) for row in saved)] == shown


def test_the_sheet_of_a_workbook_is_chosen(page):
    """Scripts in the names of files, sheets and columns and in cells are shown as text."""
    script, workbook = "<img src=x onerror=alert(1)> 별로예요", io.BytesIO()
    with pandas.ExcelWriter(workbook) as writer:
        pandas.DataFrame({"값": [script]}).to_excel(writer, sheet_name="3월", index=False)
        reviews = pandas.DataFrame({"리뷰": [script, "최고"], script: ["a", "b"]})
        reviews.to_excel(writer, sheet_name="<b>4", index=False)
    page.set_input_files("#file", {"name": f"{script}.xlsx", "mimeType": "", "buffer": workbook.getvalue()})
    # that of the reviews is found
    expect(page.locator("#table tbody tr")).to_have_count(2)
    assert page.locator("#sheet option").all_inner_texts() == ["<b>4", "3월"]
    page.select_option("#sheet", "3월")
    expect(page.locator("#table tbody tr")).to_have_count(1)
    expect(page.locator("#share")).to_contain_text("긍정 리뷰의 비율: 알 수 없음")
    page.select_option("#sheet", "<b>4")
    assert [row[2] for row in rows_of(page)] == [script, "최고"] and page.input_value("#sheet") == "<b>4"
    page.select_option("#group", script)
    expect(page.locator("#film-table tbody tr")).to_have_count(2)
    put(page, "a.csv", "document\n최고\n")
    expect(page.locator("#table tbody tr")).to_have_count(1)
    assert page.is_hidden("#sheets")


NONE = "빈 리뷰: 분류할 단어가 없습니다"


@pytest.mark.parametrize(
    "name, content, labels",
    [
        ("a.csv", "document,label,predicted_label\n최고,1,negative\n별로,0,positive\n", ["긍정", "부정"]),
        ("a.jsonl", '{"document": "", "label": "1"}\n{"document": "별로", "label": "positive"}\n', [NONE, "부정"]),
        ("a.jsonl", '{"document": "최고"}\n{"document": "별로", "predicted_label": "positive"}\n', ["긍정", "부정"]),
    ],
)
def test_a_column_of_the_user_is_not_taken_for_the_prediction(page, name, content, labels):
    put(page, name, content)
    rows = rows_of(page)
    assert [row[0] for row in rows] == labels
    assert all((float(row[1].split()[0]) >= 50) == (row[0] == "긍정") for row in rows if row[1])
    expect(page.locator("#unlike")).to_be_hidden()
    share = 100 * labels.count("긍정") / sum(bool(row[1]) for row in rows)
    assert f"긍정 {labels.count('긍정')} ({share:.1f} %)" in page.inner_text("#count")


def test_what_a_spreadsheet_would_compute_is_shown_and_explained_as_it_is_and_marked_in_the_file(page):
    put(page, "a.csv", "=리뷰,b\n=최고,1\n'-별로,2\n")
    page.select_option("#column", "=리뷰")
    assert [row[2] for row in rows_of(page)] == ["=최고", "'-별로"]
    page.click("#table td button >> nth=0")
    page.wait_for_selector("#answer .word")
    assert page.locator("#answer .words").inner_text() == page.input_value("#text") == "=최고"
    assert downloaded(page).startswith("\ufeff'=리뷰,b,label,score,sentiment,stars,probability,error\n'=최고,1,")


# of the letters each 64th: those that are no letter may matter
@pytest.mark.parametrize("step", [64, pytest.param(1, marks=pytest.mark.slow)])
def test_every_mark_is_taken_away_and_no_other_apostrophe(page, step):
    letters = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    chosen = [letter for letter in letters if not letter.isalnum() or ord(letter) % step == 0]
    texts = [begin + letter + end for letter in chosen for begin in ("", "'") for end in ("=1", "")]
    assert page.evaluate("cells => cells.map(unmarked)", [as_cell(text) for text in texts]) == texts


def test_the_newest_table_wins_and_a_refused_one_leaves_none(page):
    held = []
    page.route("**/predict/batch*", lambda route: route.continue_() if held else held.append((route, route.fetch())))
    put(page, "a.csv", "document,b\n최고,별로\n")
    while not held:
        page.wait_for_timeout(50)
    put(page, "b.csv", "document,b\n별로,최고\n")
    assert rows_of(page)[0][2] == "별로"
    route, answer = held[0]
    route.fulfill(response=answer)
    page.wait_for_timeout(200)
    assert rows_of(page)[0][2] == "별로"
    put(page, "b.csv", "document,b\n1\n")
    problem = page.locator("#table-problem")
    expect(problem).to_have_text("b.csv 2행: 머리글은 2칸인데 이 행은 1칸입니다")
    assert not page.locator("#table td >> visible=true").count() and page.is_hidden("#save")
    page.click("#language")
    expect(problem).to_contain_text("b.csv row 2: expected 2 cells")


@pytest.mark.parametrize(
    "name, content, column",
    [
        ("mine.csv", 'id,쪽지\n1,최고\n2,"별로, 정말"\n', "쪽지"),
        ("mine.csv", '\r\n\r\nid,"a\nb"\r\n1,최고\r\n2,"별로, 정말"\r\n', "a\nb"),
        ("mine.csv", 'id,a"b\n1,최고\n2,"별로, 정말"\n', 'a"b'),
        ("mine.csv", f'id,{"가" * 300}\n1,최고\n2,"별로, 정말"\n', "가" * 300),
        ("mine.tsv", "id\t쪽지\n1\t최고\n2\t별로, 정말\n", "쪽지"),
        ("mine.jsonl", '\n \n{"id": 1, "쪽지": "최고"}\n{"id": 2, "쪽지": "별로, 정말"}\n', "쪽지"),
    ],
)
def test_a_table_of_any_kind_is_scored_by_the_column_that_is_chosen_and_saved_as_it_was(page, name, content, column):
    put(page, name, content)
    expect(page.locator("#table-problem")).to_have_text(f"{name}: 리뷰가 있는 열을 골라 주세요")
    options = page.locator("#column option")
    assert options.evaluate_all("options => options.map(each => each.value)")[1:] == ["id", column]
    assert page.inner_text("#file-name") == name
    page.select_option("#column", column)
    assert [row[2] for row in rows_of(page)] == ["최고", "별로, 정말"]
    assert page.input_value("#column") == column and options.count() == 2
    saved = downloaded(page)
    assert json.loads(saved.splitlines()[0])["label"] if name.endswith("jsonl") else saved.startswith("\ufeffid")
    assert page.get_attribute("#save", "download") == name.replace(".", "-scored.")


def test_the_bytes_of_a_file_are_sent_as_they_are_with_the_type_of_its_name(page):
    sent = []
    page.route("**/predict/batch*", lambda route: (sent.append(route.request), route.abort()))
    for name, content in (("a.xlsx", b"PK\x03\x04\xff"), ("a.csv", "리뷰\n최고\n".encode("cp949"))):
        with page.expect_event("requestfailed"):
            page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": content})
        assert sent[-1].post_data_buffer == content
    assert "spreadsheetml.sheet" in sent[0].headers["content-type"] and sent[1].headers["content-type"] == "text/csv"
    expect(page.locator("#table-problem")).to_have_text("서버에 연결할 수 없습니다")


def test_a_table_unlike_film_reviews_without_rows_or_of_another_kind_is_reported(page):
    put(page, "a.csv", "document\n" + 20 * "I think the battery was not worth the money.\n")
    expect(page.locator("#unlike")).to_contain_text("100행에 라벨을 붙여 nsmc-attention adapt FILE --out RUN")
    put(page, "a.pdf", "")
    expect(page.locator("#table-problem")).to_contain_text("a.pdf: csv, tsv, xlsx, jsonl 파일을 고르세요")
    put(page, "a.csv", "")
    expect(page.locator("#table-problem")).to_have_text("a.csv: 빈 파일입니다")
    put(page, "a.jsonl", "\n\n")
    expect(page.locator("#count")).to_contain_text("0개")
    assert not page.inner_text("#table-problem")


def test_results_are_paged_filtered_and_searched(page):
    put(page, "a.csv", "document\n" + "최고\n" * 60 + "정말 별로\n" * 3 + '""\n')
    assert len(rows_of(page)) == 50 and page.inner_text("#shown") == "1–50 / 64"
    page.click("#next")
    assert len(rows_of(page)) == 14 and page.is_disabled("#next")
    page.select_option("#only", "negative")
    assert [row[0] for row in rows_of(page)] == ["부정"] * 3 and page.is_disabled("#previous")
    page.select_option("#only", "none")
    assert len(rows_of(page)) == 1
    page.select_option("#only", "")
    page.fill("#search", "정말")
    assert page.inner_text("#shown") == "1–3 / 3"


TEXTS = ["최고의 영화", "그냥 그렇다", "어제 개봉했다", "", "정말 별로"]
KINDS = ["긍정", "중립", "의견 없음", NONE, "부정"]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_row_shows_the_sentiment_and_of_four_kinds_there_are_counts_and_filters(page, kind):
    lines = ["document,sentiment", *(f"{text},mine" for text in TEXTS)]
    if kind == "jsonl":
        lines = [json.dumps({"document": text, "sentiment": "mine"}) for text in TEXTS]
    put(page, f"a.{kind}", "\n".join(lines))
    assert [row[0] for row in rows_of(page)] == KINDS
    counts = "5개 · 긍정 1 (25.0 %) · 중립 1 (25.0 %) · 부정 1 (25.0 %) · 의견 없음 1 (25.0 %) · 분류 안 됨 1"
    assert page.inner_text("#count") == counts
    options = page.locator("#only option")
    assert options.all_inner_texts() == ["전체", "긍정", "중립", "부정", "의견 없음", "분류 안 됨"]
    for option, chosen in zip(options.all_inner_texts()[1:], (0, 1, 4, 2, 3)):
        page.select_option("#only", label=option)
        assert [row[2] for row in rows_of(page)] == [TEXTS[chosen]]
    page.select_option("#only", "")
    page.click("#table th button >> nth=0")
    assert [row[0] for row in rows_of(page)] == [KINDS[place] for place in (0, 1, 4, 2, 3)]
    page.click("#table th button >> nth=0")
    assert [row[0] for row in rows_of(page)] == [KINDS[place] for place in (2, 4, 1, 0, 3)]
    assert re.fullmatch(r"중립 · \d\.\d점 / 10점", page.get_attribute("#table td:has(.neutral)", "title"))
    saved = downloaded(page).lstrip("\ufeff").splitlines()
    if kind == "csv":
        names = [f"predicted_{name}" for name in "label score sentiment stars probability error".split()]
        assert saved[0].split(",")[2:] == names and ",neutral," in saved[2]
    else:
        assert json.loads(saved[1])["predicted_sentiment"] == "neutral"
    page.click("#language")
    expect(page.locator("#count")).to_contain_text("neutral 1 (25.0 %) · negative 1 (25.0 %) · no opinion 1 (25.0 %)")


def test_a_classifier_without_stars_has_two_kinds_and_no_column_of_films(tiny_page):
    page = tiny_page
    page.fill("#text", TEXTS[0])
    page.wait_for_selector("#answer .word")
    assert not page.locator("#answer .opinion").count() and "의견과 별점" not in page.locator("#numbers").text_content()
    put(page, "a.csv", "document,film\n" + "\n".join(f"{text},a" for text in TEXTS))
    assert {row[0] for row in rows_of(page)} <= {"긍정", "부정", NONE}
    assert page.locator("#only option").all_inner_texts() == ["전체", "긍정", "부정", "분류 안 됨"]
    assert page.is_hidden("#by-film")


FILMS = [("별빛 아래", text) for text in ("정말 재미있고 감동적이에요", "배우들 연기가 좋다", "조금 길지만 볼만하다")]
FILMS += [("<b>빈</b> 방", text) for text in ("지루하고 돈이 아까워요", "최악의 연출")]
FILMS += [("", "이름이 없다"), ("말 없는 영화", " ")]


def put_films(page, rows=FILMS):
    put(page, "films.csv", "\n".join(["film,review", *map(",".join, rows)]))
    page.wait_for_selector("#table td")


def rated(page, rows=FILMS):
    """Put a table of films, choose their column, and wait for them."""
    put_films(page, rows)
    page.select_option("#group", "film")
    page.wait_for_selector("#film-table td")
    return page.locator("#film-table tbody tr")


@pytest.mark.layout
def test_the_films_of_a_table_have_stars_and_the_chosen_one_its_reviews_and_words(page):
    expected, rows = dict(load_film().rate((film, text) for film, text in FILMS if film)), rated(page)
    names = [row.split("\t")[0].strip() for row in rows.all_inner_texts()]
    assert names == ["별빛 아래", "<b>빈</b> 방", "말 없는 영화"]
    first = expected["별빛 아래"]
    expect(rows.nth(0)).to_contain_text(f"{first.stars:.2f} ({first.stars_low:.1f}–{first.stars_high:.1f})")
    expect(rows.nth(2)).to_contain_text("분류 안 됨")
    assert not rows.nth(2).locator("button").count(), "there is nothing to show"
    page.locator("#film-table td button >> nth=0").press("Enter")
    page.wait_for_selector("#film .word")
    shares = page.locator("#film .weight").all_inner_texts()
    assert shares == [f"{100 * each.weight:.1f} %" for each in first.representative]
    texts = ["".join(words.split()) for words in page.locator("#film .words").all_inner_texts()]
    assert texts == ["".join(each.prediction.text.split()) for each in first.representative]
    page.hover("#film .word >> nth=0")
    token, weight = first.representative[0].prediction.tokens[0], first.representative[0].prediction.token_weights[0]
    assert page.inner_text("#film .say") == f"{token}: {weight:.3f}"
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    page.click("#language")
    expect(page.locator("#film .say")).to_contain_text("Of 3 reviews, those of the largest weight first")


def test_films_are_sorted_and_turned_in_pages(page):
    rows = rated(page, [*FILMS, *((f"영화 {number}", "좋다") for number in range(60))])
    assert rows.count() == 50 and "63편" in page.inner_text("#film-count")
    page.click("#film-table th button >> nth=1")
    stars = [float(text.split("\t")[1].split(" ")[0]) for text in rows.all_inner_texts()]
    assert stars == sorted(stars) and page.locator("#film-table th[aria-sort=ascending]").count() == 1
    page.click("#film-next")
    assert rows.count() == 13 and page.is_disabled("#film-next") and "51–63 / 63" in page.inner_text("#film-shown")
    assert "말 없는 영화" in rows.last.inner_text(), "without stars, and so the last"
    page.fill("#lines", "최고")
    page.click("#score")
    expect(page.locator("#films")).to_be_hidden()
    expect(page.locator("#by-film")).to_be_hidden()


def test_a_column_of_too_many_films_is_refused_in_the_language_of_the_page(page):
    put_films(page, [(str(number), "좋다") for number in range(MOST_FILMS + 1)])
    page.select_option("#group", "film")
    problem = page.locator("#film-problem")
    expect(problem).to_contain_text("films.csv: 'film' 열의 영화가 10000편보다 많습니다")
    page.click("#language")
    expect(problem).to_contain_text("films.csv: expected at most 10000 films in column 'film', found more")
    page.select_option("#group", "")
    expect(problem).to_have_text("")
