"""The page in a real Chromium: reviews, corrections and blanks, as they are typed and shown; see `chromium`."""

import re
from urllib.parse import quote

import pytest

from nsmc_attention.classifier.explain import explain
from nsmc_attention.classifier.prediction import METHODS
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.systems.language.model import load_language_model
from nsmc_attention.systems.restore.restorer import load_restorer

expect = pytest.importorskip("playwright.sync_api").expect
TEXT = "배우는 좋은데 영화는 별로"


def panel(page):
    page.wait_for_selector("#answer .word")
    return page.locator("#answer .panel")


def explanations(page):
    return len([url for url in page.asked if url.endswith("/explain")])


@pytest.mark.layout
def test_a_review_is_classified_as_it_is_typed_and_never_read_as_html(page):
    page.fill("#text", TEXT)
    assert "부정" in panel(page).locator(".head").inner_text()
    assert page.locator("#answer .word").all_inner_texts()[-1] == "별로"
    page.fill("#text", "<script>alert(1)</script><b>영화</b> 최고")
    expect(page.locator("#answer .words")).to_have_text("<script>alert(1)</script><b>영화</b> 최고")
    assert not page.locator("#answer script, #answer b b").count()


def test_the_sentiment_and_the_stars_stand_beside_the_label(page):
    said = {"그냥 그렇다": "중립 · {}점 / 10점", "어제 개봉했다": "의견 없음", "최고의 영화": "긍정 · {}점 / 10점"}
    for text, words in said.items():
        stars = load_classifier().predict(text).stars
        page.fill("#text", text)
        expect(page.locator("#answer .words")).to_have_text(text)
        expect(page.locator("#answer .opinion")).to_have_text(words.format(f"{stars or 0:.1f}"))
        assert re.match("(긍정|부정) [0-9.]+ %$", page.inner_text("#answer .head b"))
    expect(page.locator("#summary")).to_contain_text("점 / 10점, 기여도")
    assert "의견과 별점" in page.locator("#numbers").text_content()
    page.click("#language")
    expect(page.locator("#answer .opinion")).to_have_text(f"positive · {stars:.1f} of 10 stars")
    page.fill("#text", "어제 개봉했다")
    expect(page.locator("#answer .opinion")).to_have_text("no opinion")


@pytest.mark.parametrize("device", ["phone-dark"], indirect=True)
def test_a_line_ends_between_words_and_only_a_word_longer_than_a_line_is_broken(page):
    lines = "words => words.map(word => new Set([...word.children].map(part => part.offsetTop)).size)"
    for text in (10 * "배우들의 연기는 훌륭했지만 이야기가 너무 늘어졌네요. ", 60 * "😀", 100 * "아까웠네요"):
        page.fill("#text", text)
        expect(page.locator("#answer .words")).to_have_text(text.strip())
        counts = page.locator("#answer .whole").evaluate_all(lines)
        assert (max(counts) == 1) == (" " in text) and len(counts) == len(text.split())


def test_a_hop_shades_the_words_by_its_row(open_page, tiny_structured):
    expected, page = load_classifier(tiny_structured).predict(TEXT), open_page(bundle=tiny_structured)
    page.fill("#text", TEXT)
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

    def wait_for(number):
        while len(held) < number:
            page.wait_for_timeout(20)

    page.route("**/explain", lambda route: held.append(route))
    with page.expect_event("requestfailed"):
        page.evaluate("""for (const typed of ["최", "최고", "최고의"]) {
            $("text").value = typed;
            $("text").dispatchEvent(new Event("input"));
        }""")
    wait_for(2)
    with page.expect_event("requestfailed"):
        page.select_option("#method", "erasure")
    wait_for(3)
    assert [route.request.post_data_json["inputs"] for route in held] == ["최", "최고의", "최고의"]
    held[2].continue_()
    assert "단어 제거" in panel(page).locator(".head").inner_text()
    page.select_option("#method", "attention")
    expect(page.locator("#busy")).to_have_text("계산하는 중: 어텐션")
    assert not page.locator("#answer .panel").count(), "no picture stays under the name of another method"
    wait_for(4)
    held[3].continue_()
    assert "어텐션" in panel(page).locator(".head").inner_text() and page.is_hidden("#busy")
    assert explanations(page) == 4


@pytest.mark.layout
def test_a_text_is_corrected_as_it_is_typed_and_then_classified(page):
    source = "배우들 연기가  정말조앗는데 <b>별로</b>엿다"
    expected = load_restorer()(source)
    assert expected.changed
    page.check("#restore")
    height = page.locator("#restoration").bounding_box()["height"]
    page.fill("#text", "배우들")
    expect(page.locator("#pairs .pair")).not_to_have_count(0)
    assert abs(page.locator("#restoration").bounding_box()["height"] - height) < 1, "the page does not jump"
    page.fill("#text", source)
    expect(page.locator("#said")).to_contain_text(f": {expected.text}")
    was, now = (page.locator(f"#pairs .{row}").all_inner_texts() for row in ("was", "now"))
    assert "".join(was).replace("␣", " ") == expected.source and "".join(now).replace("␣", " ") == expected.text
    differs = [pair for pair in expected.segments if pair[0] != pair[1]]
    assert page.locator("#pairs ins").count() == page.locator("#pairs del").count() == len(differs)
    assert f"{len(differs)}곳을 고쳤습니다" in page.inner_text("#restored")
    page.focus("#use")
    page.keyboard.press("Enter")
    assert page.input_value("#text") == expected.text and page.evaluate("document.activeElement.id") == "text"
    expect(page.locator("#answer .words")).to_have_text(expected.text)


def test_what_is_taken_back_is_not_in_the_text_that_is_used(page):
    source = "배우들연기가 정말조앗는데 스토리가별로엿다"
    expected, buttons, first = load_restorer()(source), *map(page.locator, ("#pairs button", "#pairs button >> nth=0"))
    page.check("#restore")
    page.fill("#text", source)
    expect(buttons).to_have_count(len(expected.changes))
    assert f"{100 * expected.changes[0].probability:.0f}%" in first.get_attribute("title")
    for number in range(len(expected.changes)):
        buttons.nth(number).click()
    assert page.is_disabled("#use") and page.inner_text("#restored").startswith("모두 되돌렸습니다")
    for number in range(len(expected.changes)):
        buttons.nth(number).press("Enter")
    assert page.inner_text("#said").endswith(f": {expected.text}")
    first.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
    page.click("#language")
    expect(first).to_have_attribute("aria-pressed", "false")
    assert page.locator("#pairs ins").count() == len(expected.changes) - 1
    page.click("#use")
    change, was = expected.changes[0], expected.source
    changed = slice(change.start + len(change.text), None)
    assert page.input_value("#text") == was[: change.start] + change.source + expected.text[changed]


@pytest.mark.layout
def test_the_attention_behind_a_correction_opens_as_a_matrix(tiny_page, tiny_writer):
    source, page = "이영화 정말조타 가나", tiny_page
    expected = load_restorer(tiny_writer)(source)
    page.check("#restore")
    assert page.is_disabled("#attend")
    page.fill("#text", source)
    page.locator("#attend:enabled").press("Enter")
    expect(page.locator("#attend")).to_have_attribute("aria-expanded", "true")
    rows, columns = (page.locator(f"#attention {part} th").all_inner_texts() for part in ("tbody", "thead"))
    assert "".join(rows) == expected.text.replace(" ", "␣") and "".join(columns) == source.replace(" ", "␣")
    assert page.locator("#attention tbody td").count() == expected.weights.size
    assert page.locator("#attention .zoom").text_content() == "확대"
    assert page.locator("#answer").bounding_box()["y"] < page.locator("#attention").bounding_box()["y"]
    page.evaluate("restored.text = '다른 글'; drawAttention()")
    expect(page.locator("#attended")).to_contain_text(
        f"새로 생성하는 다른 모델의 어텐션입니다. 위의 교정과 달리 “{expected.text}”"
    )
    page.fill("#text", "가" * 141)
    expect(page.locator("#attended")).to_have_text("어텐션은 텍스트가 140자 이하일 때만 볼 수 있습니다 (입력 141자)")
    assert not page.locator("#attention td").count()
    page.click("#attend")
    expect(page.locator("#attend")).to_have_attribute("aria-expanded", "false")
    assert not page.inner_text("#attended")


def test_the_correction_is_of_the_text_in_the_field_in_the_language_of_the_page(page):
    page.fill("#text", "영화")
    page.check("#restore")
    expect(page.locator("#pairs .pair")).not_to_have_count(0)
    page.fill("#text", "\u3164")
    expect(page.locator("#restored")).to_have_text("교정할 텍스트가 없습니다")
    assert not page.locator("#pairs .pair").count() and page.is_disabled("#use")
    page.click("#language")
    expect(page.locator("#restored")).to_have_text("blank: nothing to restore")
    page.fill("#text", "")
    expect(page.locator("#pairs")).to_have_text("Write a review to see its source above, corrected below")
    page.fill("#text", "최고 영화")
    page.wait_for_url(re.compile(f"text={quote('최고')}.*restore=1"))
    page.reload()
    expect(page.locator("#pairs .pair")).not_to_have_count(0)
    page.uncheck("#restore")
    assert page.is_hidden("#restoration")


@pytest.mark.layout
def test_a_blank_is_filled_by_candidates_that_are_tried_in_the_sentence(tiny_page, tiny_language):
    page, text = tiny_page, "<b>주인공</b>의 [MASK]에 소름이 돋았다"
    expected = load_language_model(tiny_language)(text)
    page.fill("#blank", text)
    page.press("#blank", "Enter")
    buttons, sentence = page.locator("#candidates button"), page.locator("#sentence")
    expect(buttons).to_have_text([f"{each.token} {100 * each.probability:.1f} %" for each in expected.candidates])
    expect(sentence).to_have_text(expected.candidates[0].text)
    page.keyboard.press("Tab")
    buttons.nth(1).press("Enter")
    expect(page.locator("#filled")).to_have_text(expected.candidates[1].text)
    assert [each.get_attribute("aria-pressed") for each in buttons.all()] == ["false", "true", *["false"] * 3]
    buttons.nth(2).hover()
    expect(sentence).to_have_text(expected.candidates[2].text)
    page.hover("#mask-attended .word >> nth=0")
    expect(sentence).to_have_text(expected.candidates[1].text)
    assert page.locator("#mask-attended .word").all_inner_texts() == [*expected.tokens]
    expect(page.locator("#mask-attended .words")).to_have_text(text)
    assert page.inner_text("#mask-attended .say") == f"{expected.tokens[0]}: {expected.attended[0]:.3f}"


def test_a_text_without_a_blank_is_refused_in_the_language_of_the_page_and_gets_one_by_a_button(tiny_page):
    page = tiny_page
    assert page.input_value("#blank") == "주인공의 [MASK]에 소름이 돋았다" and page.is_hidden("#filling")
    page.click("#blank-examples button >> nth=1")
    expect(page.locator("#candidates button")).to_have_count(5)
    page.fill("#blank", "이 영화 정말 좋다")
    page.click("#fill .primary")
    expect(page.locator("#blank-problem")).to_contain_text("[MASK]가 없습니다")
    assert page.is_hidden("#filling")
    page.click("#language")
    expect(page.locator("#blank-problem")).to_contain_text("expected 1 to 5 [MASK] in the text, found 0")
    page.locator("#blank").select_text()
    page.click("#mask")
    assert page.input_value("#blank") == "[MASK]"
    page.keyboard.type(" 최고")
    page.keyboard.press("Enter")
    expect(page.locator("#mask-attended .say")).to_contain_text("the more [MASK] attended")
    assert not page.inner_text("#blank-problem")
    page.wait_for_url("**fill=**")
    page.reload()
    expect(page.locator("#sentence")).to_contain_text("최고")
    assert page.input_value("#blank") == "[MASK] 최고"
    page.evaluate("delete filling.attended; drawFilling()")
    assert page.locator("#candidates button").count() == 5 and not page.inner_text("#mask-attended")


def check_heads(page, section, tokens, expected):
    """Open the heads of a section by the keyboard, then the last one large, and close it again."""
    page.locator(f"{section} .more:text-is('헤드 보기')").press("Enter")
    small, cells = page.locator(f"{section} .small"), page.locator(f"{section} .large tbody td")
    layers, count = expected.shape[:2]
    expect(small).to_have_count(layers * count)
    names = [f"층 {layer + 1}, 헤드 {head + 1}" for layer in range(layers) for head in range(count)]
    assert [each.get_attribute("aria-label") for each in small.all()] == names
    small.last.press("Enter")
    assert [each.get_attribute("aria-pressed") for each in small.all()][-2:] == ["false", "true"]
    for part in ("tbody", "thead"):
        assert page.locator(f"{section} .large {part} th").all_inner_texts() == [*tokens]
    shown = [float(cell.get_attribute("title").rpartition(": ")[2]) for cell in cells.all()]
    assert shown == pytest.approx(expected[-1, -1].ravel(), abs=6e-4)
    assert f"{names[-1]}: " in page.inner_text(f"{section} .heads .say")
    small.last.press("Enter")
    assert not cells.count() and "누르면" in page.inner_text(f"{section} .heads .say")


@pytest.mark.layout
def test_heads_of_a_review_and_of_a_blank_open_as_a_grid_and_each_large(tiny_page, tiny_transformer, tiny_language):
    page, expected = tiny_page, explain(TEXT, load_classifier(tiny_transformer))
    page.fill("#text", TEXT)
    panel(page)
    asked = explanations(page)
    check_heads(page, "#answer", expected.tokens, expected.heads)
    assert explanations(page) == asked + 1, "sent only when they are opened"
    page.check("#by-word")
    expect(page.locator("#answer .word")).to_have_count(4)
    check_heads(page, "#answer", TEXT.split(), expected.by_word().heads)
    filling = load_language_model(tiny_language)("<b>이</b> 영화 정말 [MASK]")
    page.fill("#blank", "<b>이</b> 영화 정말 [MASK]")
    page.press("#blank", "Enter")
    check_heads(page, "#mask-attended", filling.tokens, filling.heads)


def test_a_grid_of_very_many_heads_scrolls_and_too_many_are_refused_in_the_language_of_the_page(tiny_page):
    page = tiny_page
    # when the page knows the server's methods, it draws its answer again
    page.wait_for_load_state("networkidle")
    page.evaluate("""() => {
        const heads = Array(12).fill(Array(24).fill([[0.25, 0.75], [1, 0]]));
        const section = element("section", "panel");
        section.append(headsOf(["영화", "최고"], () => Promise.resolve(heads)));
        $("answer").replaceChildren(section);
    }""")
    expect(page.locator(".small")).to_have_count(288)
    last = page.locator(".small").last.bounding_box()
    assert last["width"] >= 24 and abs(last["width"] - last["height"]) < 1, "a finger hits it"
    page.select_option("#method", "erasure")
    page.fill("#text", "영화가 " * 65)
    panel(page)
    page.click("#answer .more")
    expect(page.locator("#answer .heads")).to_have_text("헤드는 토큰이 128개 이하일 때만 볼 수 있습니다 (입력 130개)")
    page.click("#language")
    page.click("#answer .more")
    expect(page.locator("#answer .heads")).to_contain_text("heads: expected at most 128 tokens for 3 layers")
    page.click("#answer .more")
    assert not page.locator("#answer .heads").count()
    page.goto(f"{page.url.partition('?')[0]}?text=최고&method=contribution")
    expect(page.locator("#problem")).to_have_text("기여도는 단어마다 값을 더해 예측하는 모델에서만 계산할 수 있습니다")


@pytest.mark.parametrize("device", ["phone-dark"], indirect=True)
def test_a_phone_shows_where_a_matrix_goes_on(page):
    page.fill("#text", "배우들 연기는 정말 좋았지만 이야기가 너무 지루하고 결말이 아쉬웠다")
    panel(page)
    page.click("#answer .more")
    matrix = page.locator("#answer .matrix")
    assert matrix.evaluate("frame => frame.scrollWidth - frame.clientWidth") <= 1, "it fits at first"
    matrix.locator(".zoom").click()
    for scrolled, pale in ((0, "2.5rem"), (9999, "0px")):
        page.locator("#answer .matrix").evaluate("(frame, left) => { frame.scrollLeft = left; }", scrolled)
        expect(page.locator("#answer .matrix")).to_have_attribute("style", re.compile(f"--right: {pale}"))


@pytest.mark.layout
def test_a_word_shows_its_contribution_or_its_row_and_the_matrix_opens(page):
    found = explain(TEXT, load_classifier())
    page.fill("#text", TEXT)
    assert "기여도: 단어가" in panel(page).inner_text() and page.input_value("#method") == "contribution"
    words = page.locator("#answer .words .word")

    def shown():
        titles = words.evaluate_all("words => words.map(word => word.title)")
        return [title.rpartition(": ")[2].replace("−", "-") for title in titles]

    assert [float(number) for number in shown()] == pytest.approx(found.values, abs=1e-3)
    assert page.locator("#answer .against").count() == (found.values < 0).sum() > 0
    words.first.click()
    assert page.locator('#answer .word[aria-pressed="true"]').count() == 1
    assert "→" in page.locator("#answer .say").inner_text()
    assert [float(number) for number in shown()] == pytest.approx(found.matrix[0], abs=1e-3)
    assert not page.locator("#answer .against").count() and not [each for each in shown() if each[0] in "+-"]
    count = len(found.tokens)
    expect(page.locator("#method option")).to_have_count(len(METHODS))
    assert panel(page).locator(".more").all_inner_texts() == [f"가중치 행렬 보기 ({count} × {count})"], "no heads"
    page.click("#answer .more")
    expect(page.locator("#answer tbody td")).to_have_count(count**2)
    assert page.locator("#answer th").count() == 2 * count, "no empty heading"
    page.wait_for_url("**?text=*")
    assert "method" not in page.url
    page.select_option("#method", "attention")
    page.wait_for_url("**method=attention")
    page.reload()
    assert "어텐션: 각 단어" in panel(page).inner_text() and page.input_value("#method") == "attention"


def test_a_page_that_is_not_told_the_methods_asks_again(tiny_page):
    asked = []

    def answer(route):
        asked.append(route)
        route.continue_() if asked[1:] else route.abort()

    tiny_page.route("**/readyz", answer)
    tiny_page.reload()
    expect(tiny_page.locator("#method option")).to_have_count(len(METHODS) - 1)
    assert len(asked) == 2


def test_everything_is_reached_by_the_keyboard(page):
    page.focus("#text")
    page.keyboard.type("최고")
    # the answer to 최, which comes first, is drawn anew, and so it is when the methods are known
    expect(page.locator("#answer .word")).to_have_text(["최고"])
    expect(page.locator("#method option")).to_have_count(len(METHODS))
    seen = set()
    for _ in range(34):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"chip", "method", "by-word", "compare", "word", "more", "picture", "copy", "lines", "score", "pick"} <= seen
    page.focus("#answer .word")
    page.keyboard.press("Enter")
    assert page.locator('#answer .word[aria-pressed="true"]').count() == 1


def test_two_reviews_are_compared_side_by_side_and_the_link_opens_them(page):
    page.check("#compare")
    page.fill("#text", "최고의 영화")
    page.fill("#other", "별로인 영화")
    page.select_option("#method", "erasure")
    expect(page.locator("#answer .panel")).to_have_count(2)
    page.wait_for_selector("#answer .word.against")
    summary = re.compile("예측: 긍정 .* %, 긍정 · .*, 단어 제거; 예측: 부정 .* %, 부정 · .*, 단어 제거")
    expect(page.locator("#summary")).to_have_text(summary)
    page.wait_for_url("**compare=**method=erasure")
    page.goto(page.url)
    expect(page.locator("#answer .panel")).to_have_count(2)
    assert page.input_value("#other") == "별로인 영화" and page.input_value("#method") == "erasure"


def test_the_answer_can_be_saved_as_a_picture(page):
    page.fill("#text", TEXT)
    panel(page)
    page.click("#answer .more")
    with page.expect_download() as download:
        page.click("#picture")
    content = download.value.path().read_bytes()
    width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
    assert content.startswith(b"\x89PNG") and width > 600 and height > 400
    assert download.value.suggested_filename == "attention.png" and not page.locator(".picture").count()


def test_the_page_and_its_predictions_are_in_the_language_that_is_chosen(page):
    page.fill("#text", TEXT)
    assert "기여도: 단어가" in panel(page).inner_text()
    assert "긍정" in panel(page).locator(".bar").get_attribute("title")
    assert not re.search("positive|negative|contribution", panel(page).inner_html())
    assert page.locator("label[for=lines]").inner_text().startswith("한 줄에 하나씩")
    page.click("#language")
    assert page.locator("label[for=text]").inner_text() == "Write a review"
    assert page.locator("label[for=lines]").inner_text().startswith("Paste one review per line")
    assert page.evaluate("document.documentElement.lang") == "en"
    assert re.search(f"negative.*{METHODS['contribution']}", panel(page).inner_text(), re.DOTALL)
    page.fill("#text", "\u3164")
    expect(page.locator("#problem")).to_contain_text("blank")
    page.click("#language")
    expect(page.locator("#problem")).to_have_text("빈 리뷰: 분류할 단어가 없습니다")
