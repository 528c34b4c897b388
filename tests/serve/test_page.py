"""The page in a real Chromium: `apt-get install chromium; pip install playwright`, or $CHROMIUM.

Without them these tests are skipped; where $CI is set they fail.
"""

import csv
import json
import os
import re
import shutil
import subprocess
from urllib.parse import quote

import pytest

from nsmc_attention._io.spreadsheets import as_cell
from nsmc_attention.classification.display import METHODS
from nsmc_attention.classification.explain import explain
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.films.rater import load_film
from nsmc_attention.language.model import load_language_model
from nsmc_attention.restoration.restorer import load_restorer

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
if os.environ.get("CI"):
    import playwright.sync_api as playwright

    assert CHROMIUM, "no Chromium: apt-get install chromium, or set CHROMIUM to its path"
else:
    pytest.importorskip("fastapi")
    playwright = pytest.importorskip("playwright.sync_api")
    pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs Chromium: apt-get install chromium, or $CHROMIUM")

DESK = {"viewport": {"width": 1100, "height": 800}, "color_scheme": "light"}
PHONE = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}
# What depends on the layout runs on both by default
BOTH = pytest.mark.parametrize("device", [DESK, PHONE], indirect=True, ids=["desk", "phone"])


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=[DESK, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["desk", "phone"])
def device(request):
    return request.param


@pytest.fixture
def page(device, chromium, server):
    yield from opened(device, chromium, server)


@pytest.fixture
def restoring(device, chromium, start, tiny_editor):
    """The page of a server that restores."""
    yield from opened(device, chromium, start(restore_bundle=tiny_editor))


@pytest.fixture
def blanks(device, chromium, start, tiny_language):
    """The page of a server that fills blanks."""
    yield from opened(device, chromium, start(language_bundle=tiny_language))


@pytest.fixture
def heads(device, chromium, start, tiny_transformer, tiny_language):
    """The page of a server whose classifier and language model are Transformers."""
    yield from opened(device, chromium, start(bundle=tiny_transformer, language_bundle=tiny_language))


def opened(device, chromium, server):
    address = f"http://127.0.0.1:{server.port}/"
    context = chromium.new_context(locale="ko-KR", accept_downloads=True, **device)
    page, problems, asked = context.new_page(), [], []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda problem: problems.append(str(problem)))
    page.on("dialog", lambda dialog: (problems.append("dialog"), dialog.dismiss()))
    page.on("request", lambda sent: asked.append(sent.url))
    page.goto(address)
    page.asked = asked
    yield page
    assert not [problem for problem in problems if "422" not in problem and "ERR_FAILED" not in problem]
    assert all(url.startswith((address, "data:", "blob:")) for url in asked), "nothing is loaded from outside"
    context.close()


def panel(page):
    page.wait_for_selector("#answer .word")
    return page.locator("#answer .panel")


@BOTH
def test_a_review_is_classified_as_it_is_typed(page):
    page.fill("#text", "배우는 좋은데 영화는 별로")
    assert "부정" in panel(page).locator(".head").inner_text()
    assert page.locator("#answer .word").all_inner_texts()[-1] == "별로"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"


def test_a_word_shows_its_row_and_the_matrix_opens(page):
    page.click("#examples button >> nth=1")
    panel(page)
    page.click("#answer .word >> nth=0")
    assert page.locator('#answer .word[aria-pressed="true"]').count() == 1
    assert "→" in page.locator("#answer .say").inner_text()
    page.click("#answer .more")
    assert page.locator("#answer tbody td").count() == page.locator("#answer .word").count() ** 2
    assert page.locator("#answer th").count() == 2 * page.locator("#answer .word").count(), "no empty heading"


def test_a_hop_shades_the_words_by_its_row(device, chromium, start, tiny_structured):
    text = "배우는 좋은데 영화는 별로"
    expected = load_classifier(tiny_structured).predict(text)
    for page in opened(device, chromium, start(bundle=tiny_structured)):
        page.fill("#text", text)
        hops = panel(page).locator(".words").nth(1).locator("button")
        assert hops.all_inner_texts() == ["홉 1", "홉 2", "홉 3"]
        hops.nth(1).click()
        titles = page.locator("#answer .words >> nth=0 >> .word").evaluate_all("words => words.map(word => word.title)")
        assert titles == [f"{token}: {weight:.3f}" for token, weight in zip(expected.tokens, expected.weights[1])]
        page.click("#answer .more")
        assert page.locator("#answer tbody th").all_inner_texts() == ["홉 1", "홉 2", "홉 3"]
        assert "행의 홉이 열의 단어에" in page.locator("#numbers").text_content()


def test_the_first_key_is_asked_at_once_then_one_a_pause_and_a_newer_question_ends_the_one_before(page):
    held = []
    page.route("**/explain", lambda route: route.continue_() if len(held) > 1 else held.append(route))
    with page.expect_event("requestfailed"):
        page.evaluate("""for (const typed of ["최", "최고", "최고의"]) {
            $("text").value = typed;
            $("text").dispatchEvent(new Event("input"));
        }""")
    while len(held) < 2:
        page.wait_for_timeout(50)
    with page.expect_event("requestfailed"):
        page.select_option("#method", "erasure")
    assert [route.request.post_data_json["inputs"] for route in held] == ["최", "최고의"]
    assert "단어 제거" in panel(page).locator(".head").inner_text()
    assert len([url for url in page.asked if url.endswith("/explain")]) == 3


@BOTH
def test_a_text_is_corrected_as_it_is_typed_and_then_classified(restoring, tiny_editor):
    page, source = restoring, "배우들 연기가  정말조앗는데 <b>별로</b>엿다"
    expected = load_restorer(tiny_editor)(source)
    assert expected.changed
    page.check("#restore")
    height = page.locator("#restoration").bounding_box()["height"]
    page.fill("#text", "배우들")
    playwright.expect(page.locator("#pairs .pair")).not_to_have_count(0)
    assert abs(page.locator("#restoration").bounding_box()["height"] - height) < 1, "the page does not jump"
    page.fill("#text", source)
    playwright.expect(page.locator("#said")).to_contain_text(f": {expected.text}")
    was, now = (page.locator(f"#pairs .{row}").all_inner_texts() for row in ("was", "now"))
    assert "".join(was).replace("␣", " ") == expected.source and "".join(now).replace("␣", " ") == expected.text
    differs = [pair for pair in expected.segments if pair[0] != pair[1]]
    assert page.locator("#pairs ins").count() == page.locator("#pairs del").count() == len(differs)
    assert f"{len(differs)}곳을 고쳤습니다" in page.inner_text("#restored")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"
    page.focus("#use")
    page.keyboard.press("Enter")
    assert page.input_value("#text") == expected.text and page.evaluate("document.activeElement.id") == "text"
    playwright.expect(page.locator("#answer .words")).to_have_text(expected.text)


@BOTH
def test_the_attention_behind_a_correction_opens_as_a_matrix(device, chromium, start, tiny_writer):
    source = "이영화 정말조타 가나"
    expected = load_restorer(tiny_writer)(source)
    for page in opened(device, chromium, start(restore_bundle=tiny_writer)):
        page.check("#restore")
        assert page.is_disabled("#attend")
        page.fill("#text", source)
        page.locator("#attend:enabled").press("Enter")
        playwright.expect(page.locator("#attend")).to_have_attribute("aria-expanded", "true")
        rows, columns = (page.locator(f"#attention {part} th").all_inner_texts() for part in ("tbody", "thead"))
        assert "".join(rows) == expected.text.replace(" ", "␣") and "".join(columns) == source.replace(" ", "␣")
        assert page.locator("#attention tbody td").count() == expected.weights.size
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"
        page.evaluate("restored.text = '다른 글'; drawAttention()")
        playwright.expect(page.locator("#attended")).to_contain_text(
            f"인코더-디코더)이 고친 글입니다: “{expected.text}”"
        )
        page.fill("#text", "가" * 141)
        playwright.expect(page.locator("#attended")).to_have_text("어텐션은 140자까지 볼 수 있습니다 (입력 141자)")
        assert not page.locator("#attention td").count()
        page.click("#attend")
        playwright.expect(page.locator("#attend")).to_have_attribute("aria-expanded", "false")
        assert not page.inner_text("#attended")


def test_the_correction_is_of_the_text_in_the_field_in_the_language_of_the_page(restoring):
    page = restoring
    page.fill("#text", "영화")
    page.check("#restore")
    playwright.expect(page.locator("#pairs .pair")).not_to_have_count(0)
    page.fill("#text", "\u3164")
    playwright.expect(page.locator("#restored")).to_have_text("고칠 글이 없습니다")
    assert not page.locator("#pairs .pair").count() and page.is_disabled("#use")
    page.click("#language")
    playwright.expect(page.locator("#restored")).to_have_text("blank: nothing to restore")
    page.fill("#text", "")
    playwright.expect(page.locator("#pairs")).to_have_text("Write a review to see its source above, corrected below")
    page.fill("#text", "최고 영화")
    page.wait_for_url(re.compile(f"text={quote('최고')}.*restore=1"))
    page.reload()
    playwright.expect(page.locator("#pairs .pair")).not_to_have_count(0)
    page.uncheck("#restore")
    assert page.is_hidden("#restoration")


def test_a_server_without_a_restorer_offers_no_correction(page):
    if "restore_bundle" in page.evaluate("fetch('readyz').then(each => each.json())"):
        pytest.skip("an editor is packaged")
    page.goto(f"{page.url}?restore=1&text=영화")
    panel(page)
    assert page.is_hidden("#restore") and not [url for url in page.asked if url.endswith("/restore")]


@BOTH
def test_a_blank_is_filled_by_candidates_that_are_tried_in_the_sentence(blanks, tiny_language):
    page, text = blanks, "<b>주인공</b>의 [MASK]에 소름이 돋았다"
    expected = load_language_model(tiny_language)(text)
    page.fill("#blank", text)
    page.press("#blank", "Enter")
    candidates, sentence = page.locator("#candidates button"), page.locator("#sentence")
    playwright.expect(candidates).to_have_text(
        [f"{each.token} {100 * each.probability:.1f} %" for each in expected.candidates]
    )
    playwright.expect(sentence).to_have_text(expected.candidates[0].text)
    page.keyboard.press("Tab")
    candidates.nth(1).press("Enter")
    playwright.expect(page.locator("#filled")).to_have_text(expected.candidates[1].text)
    assert [each.get_attribute("aria-pressed") for each in candidates.all()] == ["false", "true", *["false"] * 3]
    candidates.nth(2).hover()
    playwright.expect(sentence).to_have_text(expected.candidates[2].text)
    page.hover("#mask-attended .word >> nth=0")
    playwright.expect(sentence).to_have_text(expected.candidates[1].text)
    assert page.locator("#mask-attended .word").all_inner_texts() == [*expected.tokens]
    assert page.inner_text("#mask-attended .say") == f"{expected.tokens[0]}: {expected.attended[0]:.3f}"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"


def test_a_text_without_a_blank_is_refused_in_the_language_of_the_page_and_gets_one_by_a_button(blanks):
    page = blanks
    assert page.input_value("#blank") == "주인공의 [MASK]에 소름이 돋았다" and page.is_hidden("#filling")
    page.click("#blank-examples button >> nth=1")
    playwright.expect(page.locator("#candidates button")).to_have_count(5)
    page.fill("#blank", "이 영화 정말 좋다")
    page.click("#fill .primary")
    playwright.expect(page.locator("#blank-problem")).to_contain_text("[MASK]가 없습니다")
    assert page.is_hidden("#filling")
    page.click("#language")
    playwright.expect(page.locator("#blank-problem")).to_contain_text("expected one [MASK] in the text, found 0")
    page.locator("#blank").select_text()
    page.click("#mask")
    assert page.input_value("#blank") == "[MASK]"
    page.keyboard.type(" 최고")
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#mask-attended .say")).to_contain_text("the more [MASK] attended")
    assert not page.inner_text("#blank-problem")
    page.wait_for_url("**fill=**")
    page.reload()
    playwright.expect(page.locator("#sentence")).to_contain_text("최고")
    assert page.input_value("#blank") == "[MASK] 최고"
    page.evaluate("delete filling.attended; drawFilling()")
    assert page.locator("#candidates button").count() == 5 and not page.inner_text("#mask-attended")


def test_a_server_without_a_language_model_has_no_blank(page):
    if "language_bundle" in page.evaluate("fetch('readyz').then(each => each.json())"):
        pytest.skip("a language model is packaged")
    page.goto(f"{page.url}?fill=[MASK]&text=영화")
    panel(page)
    assert page.is_hidden("#blank") and not [url for url in page.asked if url.endswith("/fill")]


def check_heads(page, section, tokens, expected):
    """Open the heads of a section by the keyboard, then the last one large, and close it again."""
    page.locator(f"{section} .more:text-is('헤드 보기')").press("Enter")
    small, cells = page.locator(f"{section} .small"), page.locator(f"{section} .large tbody td")
    layers, count = expected.shape[:2]
    playwright.expect(small).to_have_count(layers * count)
    assert [each.get_attribute("aria-label") for each in small.all()] == [
        f"층 {layer + 1}, 헤드 {head + 1}" for layer in range(layers) for head in range(count)
    ]
    small.last.press("Enter")
    assert [each.get_attribute("aria-pressed") for each in small.all()][-2:] == ["false", "true"]
    for part in ("tbody", "thead"):
        assert page.locator(f"{section} .large {part} th").all_inner_texts() == [*tokens]
    shown = [float(cell.get_attribute("title").rpartition(": ")[2]) for cell in cells.all()]
    assert shown == pytest.approx(expected[-1, -1].ravel(), abs=6e-4)
    assert f"층 {layers}, 헤드 {count}: " in page.inner_text(f"{section} .heads .say")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"
    small.last.press("Enter")
    assert not cells.count() and "누르면" in page.inner_text(f"{section} .heads .say")


@BOTH
def test_the_heads_of_a_review_open_as_a_grid_and_each_of_them_large(heads, tiny_transformer):
    page, text = heads, "배우는 좋은데 영화는 별로"
    expected = explain(load_classifier(tiny_transformer), text)
    page.fill("#text", text)
    panel(page)
    asked = len([url for url in page.asked if url.endswith("/explain")])
    check_heads(page, "#answer", expected.tokens, expected.heads)
    assert len([url for url in page.asked if url.endswith("/explain")]) == asked + 1, "sent only when they are opened"
    page.check("#by-word")
    playwright.expect(page.locator("#answer .word")).to_have_count(4)
    check_heads(page, "#answer", text.split(), expected.by_word().heads)


@BOTH
def test_the_heads_behind_a_filled_blank_open_as_a_grid_and_each_of_them_large(heads, tiny_language):
    page, text = heads, "<b>이</b> 영화 정말 [MASK]"
    expected = load_language_model(tiny_language)(text)
    page.fill("#blank", text)
    page.press("#blank", "Enter")
    check_heads(page, "#mask-attended", expected.tokens, expected.heads)


def test_rollout_is_offered_and_heads_that_are_too_many_are_refused_in_the_language_of_the_page(heads):
    page = heads
    page.select_option("#method", "rollout")
    page.fill("#text", "영화가 " * 65)
    assert "롤아웃: 각 단어" in panel(page).inner_text() and not page.locator("#answer td").count()
    page.click("#answer .more")
    playwright.expect(page.locator("#answer .heads")).to_have_text("헤드는 토큰 128개까지 볼 수 있습니다 (입력 130개)")
    page.click("#language")
    page.click("#answer .more")
    playwright.expect(page.locator("#answer .heads")).to_contain_text("heads: expected at most 128 tokens for 3 layers")
    page.click("#answer .more")
    assert not page.locator("#answer .heads").count()


@BOTH
def test_a_grid_of_very_many_heads_scrolls_within_its_frame(heads):
    page = heads
    page.evaluate("""() => {
        const heads = Array(12).fill(Array(24).fill([[0.25, 0.75], [1, 0]]));
        const section = element("section", "panel");
        section.append(headsOf(["영화", "최고"], () => Promise.resolve(heads)));
        $("answer").replaceChildren(section);
    }""")
    playwright.expect(page.locator(".small")).to_have_count(288)
    sizes = [page.locator(".small").nth(place).bounding_box() for place in (0, 287)]
    assert all(each["width"] >= 24 and abs(each["width"] - each["height"]) < 1 for each in sizes), "a finger hits it"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"


def test_a_classifier_without_heads_has_no_rollout_and_shows_no_heads(page):
    page.fill("#text", "최고")
    assert panel(page).locator(".more").all_inner_texts() == ["1 × 1"]
    playwright.expect(page.locator("#method option")).to_have_count(len(METHODS) - 1)
    assert not page.locator("#method option[value=rollout]").count()
    page.goto(f"{page.url.partition('?')[0]}?text=최고&method=rollout")
    playwright.expect(page.locator("#problem")).to_have_text(
        "어텐션 롤아웃은 인코더가 트랜스포머인 모델에서만 계산할 수 있습니다"
    )


def test_a_page_that_is_not_told_the_methods_asks_again(heads):
    page, asked = heads, []

    def answer(route):
        asked.append(route)
        route.continue_() if asked[1:] else route.abort()

    page.route("**/readyz", answer)
    page.reload()
    playwright.expect(page.locator("#method option")).to_have_count(len(METHODS))
    assert len(asked) == 2


def test_other_explanations_and_whole_words(page):
    page.fill("#text", "배우는 좋은데 영화는 별로")
    page.select_option("#method", "erasure")
    page.wait_for_selector("#answer .word.against")
    page.check("#by-word")
    playwright.expect(page.locator("#answer .word")).to_have_count(4)


def test_everything_is_reached_by_the_keyboard(page):
    page.focus("#text")
    page.keyboard.type("최고")
    panel(page)
    seen = set()
    for _ in range(34):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"chip", "method", "by-word", "compare", "word", "more", "picture", "copy", "lines", "score", "pick"} <= seen
    page.focus("#answer .word")
    page.keyboard.press("Enter")
    assert page.locator('#answer .word[aria-pressed="true"]').count() == 1


def test_a_pasted_list_becomes_a_table_to_sort_and_download(page, tmp_path):
    page.fill("#lines", '정말 "최고"의 영화, 추천\n\n별로\n<img src=x onerror=alert(1)>')
    page.click("#score")
    page.wait_for_selector("#table td")
    rows = [row.split("\t") for row in page.locator("#table tbody tr").all_inner_texts()]
    assert [row[2] for row in rows] == ['정말 "최고"의 영화, 추천', "별로", "<img src=x onerror=alert(1)>"]
    assert [row[0] for row in rows[:2]] == ["긍정", "부정"]
    page.click("#table th >> nth=1 >> button")
    shown = [text.split("\t")[1] for text in page.locator("#table tbody tr").all_inner_texts()]
    assert shown == sorted(shown)
    with page.expect_download() as download:
        page.click("#save")
    saved = list(csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines()))
    assert sorted(row["probability"] for row in saved) == shown, "rounded as in the file"


def put(page, name, content):
    page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": content.encode()})


def rows_of(page):
    page.wait_for_selector("#table td")
    return [row.split("\t") for row in page.locator("#table tbody tr").all_inner_texts()]


def downloaded(page):
    with page.expect_download() as download:
        page.click("#save")
    return download.value.path().read_bytes()


@pytest.mark.parametrize(
    "name, content, labels",
    [
        ("a.csv", "document,label,predicted_label\n최고,1,negative\n별로,0,positive\n", ["긍정", "부정"]),
        (
            "a.jsonl",
            '{"document": "", "label": "positive", "score": "9"}\n'
            '{"document": "별로", "label": "positive", "score": "9"}\n',
            ["빈 리뷰: 분류할 단어가 없습니다", "부정"],
        ),
        ("a.jsonl", '{"document": "최고"}\n{"document": "별로", "predicted_label": "positive"}\n', ["긍정", "부정"]),
    ],
)
def test_a_column_of_the_user_is_not_taken_for_the_prediction(page, name, content, labels):
    put(page, name, content)
    rows = rows_of(page)
    assert [row[0] for row in rows] == labels
    assert all((float(row[1]) >= 0.5) == (row[0] == "긍정") for row in rows if row[1])
    share = 100 * labels.count("긍정") / sum(bool(row[1]) for row in rows)
    assert f"긍정 {labels.count('긍정')} ({share:.1f} %)" in page.inner_text("#count")


def test_what_a_spreadsheet_would_compute_is_shown_and_explained_as_it_is_and_marked_in_the_file(page):
    put(page, "a.csv", "=리뷰,b\n=최고,1\n'-별로,2\n")
    page.select_option("#column", "=리뷰")
    assert [row[2] for row in rows_of(page)] == ["=최고", "'-별로"]
    page.click("#table td button >> nth=0")
    panel(page)
    assert page.locator("#answer .words").inner_text() == page.input_value("#text") == "=최고"
    assert downloaded(page).startswith("\ufeff'=리뷰,b,label,score,probability,error\n'=최고,1,".encode())


def check_marks(page, letters):
    texts = [begin + letter + end for letter in letters for begin in ("", "'") for end in ("=1", "")]
    assert page.evaluate("cells => cells.map(unmarked)", [as_cell(text) for text in texts]) == texts


LETTERS = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]


def test_every_mark_is_taken_away_and_no_other_apostrophe(page):
    # those that are no letter may matter; of the others each 64th
    check_marks(page, [letter for letter in LETTERS if not letter.isalnum() or ord(letter) % 64 == 0])


@pytest.mark.slow
def test_every_mark_is_taken_away_before_every_letter(page):
    check_marks(page, LETTERS)


@pytest.mark.parametrize("kind, content", [("csv", "document\n최고\n"), ("jsonl", '{"document": "최고"}\n')])
def test_the_file_is_of_its_kind(page, kind, content):
    put(page, f"a.{kind}", content)
    rows_of(page)
    saved = downloaded(page).decode()
    assert saved.startswith("\ufeffdocument,") if kind == "csv" else json.loads(saved)["label"] == "positive"
    assert page.get_attribute("#save", "download") == f"a-scored.{kind}" and "csv" not in page.inner_text("#save")


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
    playwright.expect(page.locator("#table-problem")).to_have_text(
        "b.csv 2번째 줄: 머리글처럼 칸이 2개여야 하는데 1개입니다"
    )
    assert not page.locator("#table td >> visible=true").count() and page.is_hidden("#save")
    page.click("#language")
    playwright.expect(page.locator("#table-problem")).to_contain_text("b.csv line 2: expected 2 fields")


@pytest.mark.parametrize(
    "name, content, column",
    [
        ("a.csv", "\r\n\r\ndocument,b\r\n최고,1\r\n", "document"),
        ("a.csv", '"a\nb",c\n최고,1\n', "a\nb"),
        ("a.csv", 'a"b,c\n최고,1\n', 'a"b'),
        ("a.jsonl", '\n \n{"document": "최고"}\n', "document"),
    ],
)
def test_a_table_that_begins_oddly_is_scored(page, name, content, column):
    put(page, name, content)
    playwright.expect(page.locator("#columns, #table td").locator("visible=true").first).to_be_visible()
    if page.is_hidden("#results"):
        page.select_option("#column", column)
    assert rows_of(page)[0][2] == "최고" and (page.is_hidden("#columns") or page.input_value("#column") == column)


def test_a_table_without_rows_is_reported(page):
    put(page, "a.csv", "")
    playwright.expect(page.locator("#table-problem")).to_have_text("a.csv: 빈 파일입니다")
    put(page, "a.jsonl", "\n\n")
    playwright.expect(page.locator("#count")).to_contain_text("0개")
    assert not page.inner_text("#table-problem")


def test_sorting_by_the_keyboard_keeps_the_focus(page):
    put(page, "a.csv", "document\n최고\n별로\n")
    rows_of(page)
    page.focus("#table th >> nth=1 >> button")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "긍정 확률 ↓"


@pytest.mark.parametrize(
    "name, content",
    [
        ("mine.csv", 'id,문장\n1,최고\n2,"별로, 정말"\n'),
        ("mine.tsv", "id\t문장\n1\t최고\n2\t별로, 정말\n"),
        ("mine.jsonl", '{"id": 1, "문장": "최고"}\n{"id": 2, "문장": "별로, 정말"}\n'),
    ],
)
def test_a_table_of_any_kind_is_scored_by_the_column_that_is_chosen(page, name, content):
    put(page, name, content)
    playwright.expect(page.locator("#table-problem")).to_have_text(f"{name}: 리뷰가 있는 열을 골라 주세요")
    assert page.locator("#column option").all_inner_texts() == ["열 선택", "id", "문장"]
    assert page.inner_text("#file-name") == name
    page.select_option("#column", "문장")
    assert [row[2] for row in rows_of(page)] == ["최고", "별로, 정말"]
    assert page.input_value("#column") == "문장" and page.locator("#column option").count() == 2


def test_the_bytes_of_a_file_are_sent_as_they_are_with_the_type_of_its_name(page):
    sent = []
    page.route("**/predict/batch*", lambda route: (sent.append(route.request), route.abort()))
    for name, content in (("a.xlsx", b"PK\x03\x04\xff"), ("a.csv", "리뷰\n최고\n".encode("cp949"))):
        with page.expect_event("requestfailed"):
            page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": content})
        assert sent[-1].post_data_buffer == content
    assert ["spreadsheetml.sheet" in sent[0].headers["content-type"], sent[1].headers["content-type"]] == [
        True,
        "text/csv",
    ]
    playwright.expect(page.locator("#table-problem")).to_have_text("서버에 연결할 수 없습니다")
    put(page, "a.pdf", "")
    playwright.expect(page.locator("#table-problem")).to_contain_text("a.pdf: csv, tsv, xlsx, jsonl 파일을 고르세요")


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


def test_two_reviews_are_compared_side_by_side_and_the_link_opens_them(page):
    page.check("#compare")
    page.fill("#text", "최고의 영화")
    page.fill("#other", "별로인 영화")
    page.select_option("#method", "erasure")
    playwright.expect(page.locator("#answer .panel")).to_have_count(2)
    playwright.expect(page.locator("#summary")).to_have_text(
        re.compile("예측: 긍정 .* %, 단어 제거; 예측: 부정 .* %, 단어 제거")
    )
    page.wait_for_url("**compare=**method=erasure")
    page.goto(page.url)
    playwright.expect(page.locator("#answer .panel")).to_have_count(2)
    assert page.input_value("#other") == "별로인 영화" and page.input_value("#method") == "erasure"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"


def test_no_picture_stays_under_the_name_of_another_method(page):
    page.fill("#text", "최고")
    panel(page)
    held = []
    page.route("**/explain", lambda route: held.append(route))
    page.select_option("#method", "integrated")
    playwright.expect(page.locator("#busy")).to_have_text("계산하는 중: 통합 그래디언트")
    assert not page.locator("#answer .panel").count()
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    assert "통합 그래디언트" in panel(page).locator(".head").inner_text() and page.is_hidden("#busy")


def test_the_answer_can_be_saved_as_a_picture(page):
    page.fill("#text", "배우는 좋은데 영화는 별로")
    panel(page)
    page.click("#answer .more")
    with page.expect_download() as download:
        page.click("#picture")
    content = download.value.path().read_bytes()
    width, height = (int.from_bytes(content[place : place + 4], "big") for place in (16, 20))
    assert content.startswith(b"\x89PNG") and width > 600 and height > 400
    assert download.value.suggested_filename == "attention.png" and not page.locator(".picture").count()


def test_english_is_a_click_away(page):
    assert page.locator("label[for=lines]").inner_text().startswith("한 줄에 하나씩")
    page.click("#language")
    assert page.locator("label[for=text]").inner_text() == "Write a review"
    assert page.locator("label[for=lines]").inner_text().startswith("Paste one review per line")
    assert page.evaluate("document.documentElement.lang") == "en"


def test_a_prediction_is_in_the_language_of_the_page(page):
    page.fill("#text", "배우는 좋은데 영화는 별로")
    assert "어텐션: 각 단어" in panel(page).inner_text() and "긍정" in panel(page).locator(".bar").get_attribute(
        "title"
    )
    assert not re.search("positive|negative|attention", panel(page).inner_html())
    page.click("#language")
    assert re.search(f"negative.*{METHODS['attention']}", panel(page).inner_text(), re.DOTALL)
    page.fill("#text", "\u3164")
    playwright.expect(page.locator("#problem")).to_contain_text("blank")
    page.click("#language")
    playwright.expect(page.locator("#problem")).to_have_text("빈 리뷰: 분류할 단어가 없습니다")


def test_no_review_is_ever_html(page):
    page.fill("#text", "<script>alert(1)</script><b>영화</b> 최고")
    panel(page)
    assert page.locator("#answer .words").inner_text() == "<script>alert(1)</script><b>영화</b> 최고"
    assert not page.locator("#answer script, #answer b b").count()


FILMS = [("별빛 아래", text) for text in ("정말 재미있고 감동적이에요", "배우들 연기가 좋다", "조금 길지만 볼만하다")]
FILMS += [
    ("<b>빈</b> 방", "지루하고 돈이 아까워요"),
    ("<b>빈</b> 방", "최악의 연출"),
    ("", "이름이 없다"),
    ("말 없는 영화", " "),
]


def rated(page, rows=FILMS):
    """Put a table of films, choose their column, and wait for them."""
    put(page, "films.csv", "\n".join(["film,review", *map(",".join, rows)]))
    page.wait_for_selector("#table td")
    page.select_option("#group", "film")
    page.wait_for_selector("#film-table td")
    return page.locator("#film-table tbody tr")


@BOTH
def test_the_films_of_a_table_have_stars_and_the_chosen_one_its_reviews_and_words(page):
    expected = dict(load_film().rate((film, text) for film, text in FILMS if film))
    rows = rated(page)
    assert [row.split("\t")[0].strip() for row in rows.all_inner_texts()] == [
        "별빛 아래",
        "<b>빈</b> 방",
        "말 없는 영화",
    ]
    first = expected["별빛 아래"]
    figures = f"{first.stars:.2f} ({first.stars_low:.1f}–{first.stars_high:.1f})"
    playwright.expect(rows.nth(0)).to_contain_text(figures)
    playwright.expect(rows.nth(2)).to_contain_text("분류 안 됨")
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
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"
    page.click("#language")
    playwright.expect(page.locator("#film .say")).to_contain_text("Of 3 reviews, those of the largest weight first")


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
    playwright.expect(page.locator("#films")).to_be_hidden()
    playwright.expect(page.locator("#by-film")).to_be_hidden()


def test_a_column_of_too_many_films_is_refused_in_the_language_of_the_page(device, chromium, start):
    for page in opened(device, chromium, start(films=2)):
        put(page, "films.csv", "\n".join(["film,review", *map(",".join, FILMS)]))
        page.wait_for_selector("#table td")
        page.select_option("#group", "film")
        problem = page.locator("#film-problem")
        playwright.expect(problem).to_contain_text("films.csv: 'film' 열의 영화가 2편보다 많습니다")
        page.click("#language")
        playwright.expect(problem).to_contain_text("films.csv: expected at most 2 films in column 'film', found more")
        page.select_option("#group", "")
        playwright.expect(problem).to_have_text("")


def test_a_server_without_a_film_network_offers_no_column_of_films(device, chromium, start, bundle_folder):
    for page in opened(device, chromium, start(bundle=bundle_folder)):
        put(page, "films.csv", "\n".join(["film,review", *map(",".join, FILMS)]))
        page.wait_for_selector("#table td")
        assert page.is_hidden("#by-film")


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The script of axe-core, which npm fetches."""
    if not shutil.which("npm"):
        pytest.skip("needs Node.js and npm")
    folder = tmp_path_factory.mktemp("axe")
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "axe-core@4"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"npm could not install axe-core: {done.stderr.splitlines()[-1:]}")
    return (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def serious(page, axe):
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [
        (each["id"], node["target"])
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


SCHEMES = pytest.mark.parametrize(
    "device",
    [{**size, "color_scheme": scheme} for size in (DESK, PHONE) for scheme in ("light", "dark")],
    indirect=True,
    ids=["desk-light", "desk-dark", "phone-light", "phone-dark"],
)


@pytest.mark.system
@SCHEMES
def test_axe_finds_nothing_serious_in_a_correction_and_a_filled_blank(
    device, chromium, start, axe, tiny_writer, tiny_language
):
    for page in opened(device, chromium, start(restore_bundle=tiny_writer, language_bundle=tiny_language)):
        page.check("#restore")
        page.fill("#text", "이영화 정말조타 가나")
        playwright.expect(page.locator("#pairs .pair")).not_to_have_count(0)
        assert not serious(page, axe)
        page.click("#attend")
        page.wait_for_selector("#attention td")
        assert not serious(page, axe)
        page.click("#fill .primary")
        page.click("#candidates button >> nth=1")
        assert not serious(page, axe)
        page.fill("#blank", "좋다")
        page.press("#blank", "Enter")
        page.wait_for_selector("#blank-problem:not(:empty)")
        assert not serious(page, axe)


@pytest.mark.system
@SCHEMES
def test_axe_finds_nothing_serious_in_heads(heads, axe):
    page = heads
    page.fill("#text", "배우는 좋은데 영화는 별로")
    panel(page)
    page.click("#fill .primary")
    for opener in ("#answer .more >> nth=1", "#mask-attended .more"):
        page.click(opener)
        page.locator(".small").last.wait_for()
        page.locator(".small").last.click()
        assert not serious(page, axe)


@pytest.mark.system
@SCHEMES
def test_axe_finds_nothing_serious(page, axe):
    assert not serious(page, axe)
    page.fill("#text", "배우는 좋은데 영화는 별로. 시간이 아깝네요")
    panel(page)
    page.click("#answer .more")
    page.click("details summary")
    assert not serious(page, axe)
    page.check("#compare")
    page.fill("#other", "최고")
    page.select_option("#method", "erasure")
    playwright.expect(page.locator("#answer .panel")).to_have_count(2)
    assert not serious(page, axe)
    put(page, "a.csv", "b,c\n최고,1\n")
    page.wait_for_selector("#columns >> visible=true")
    assert not serious(page, axe)
    page.select_option("#column", "b")
    rows_of(page)
    assert not serious(page, axe)


@pytest.mark.system
@SCHEMES
def test_axe_finds_nothing_serious_in_films(page, axe):
    rated(page)
    assert not serious(page, axe)
    page.click("#film-table td button >> nth=0")
    page.wait_for_selector("#film .word")
    assert not serious(page, axe)
