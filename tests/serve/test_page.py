"""The page in a real Chromium: `apt install chromium; pip install playwright`; skipped where these are missing."""
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")


@pytest.fixture(scope="module")
def address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "nsmc_attention", "serve", "--port", str(port)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/"
    for _ in range(300):
        try:
            urllib.request.urlopen(address + "readyz")
            break
        except OSError:
            time.sleep(0.1)
    yield address
    process.terminate()
    # uvicorn finishes what it has begun, and then raises the signal it was sent
    assert process.wait(30) == 0


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=[{"viewport": {"width": 1100, "height": 800}, "color_scheme": "light"},
                        {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}], ids=["desk", "phone"])
def page(request, chromium, address):
    context = chromium.new_context(locale="ko-KR", accept_downloads=True, **request.param)
    page, problems, asked = context.new_page(), [], []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda problem: problems.append(str(problem)))
    page.on("dialog", lambda dialog: (problems.append("dialog"), dialog.dismiss()))
    page.on("request", lambda sent: asked.append(sent.url))
    page.goto(address)
    page.asked = asked
    yield page
    assert not [problem for problem in problems if "422" not in problem]
    assert all(url.startswith((address, "data:", "blob:")) for url in asked), "nothing is loaded from outside"
    context.close()


def panel(page):
    page.wait_for_selector("#answer .word")
    return page.locator("#answer .panel")


def test_a_review_is_answered_as_it_is_typed(page):
    page.fill("#text", "배우는 좋은데 영화는 별로")
    assert "negative" in panel(page).locator(".head").inner_text()
    assert page.locator("#answer .word").all_inner_texts()[-1] == "별로"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "no sideways scrolling"


def test_a_word_shows_its_row_and_the_matrix_opens(page):
    page.click("#examples button >> nth=1")
    panel(page)
    page.click("#answer .word >> nth=0")
    assert page.locator('#answer .word[aria-pressed="true"]').count() == 1
    assert "→" in page.locator("#answer .say").inner_text()
    page.click("#answer .more")
    assert page.locator("#answer td").count() == page.locator("#answer .word").count() ** 2


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
    for _ in range(24):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"chip", "method", "by-word", "word", "more", "lines", "score", "pick"} <= seen
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
    scores = [float(text.split("\t")[1]) for text in page.locator("#table tbody tr").all_inner_texts()]
    assert scores == sorted(scores)
    with page.expect_download() as download:
        page.click("#save")
    saved = download.value.path().read_text(encoding="utf-8-sig")
    assert saved.splitlines()[0] == "document,label,score,probability,error" and len(saved.splitlines()) == 4


@pytest.mark.parametrize("name, content", [
    ("mine.csv", "id,리뷰\n1,최고\n2,\"별로, 정말\"\n"), ("mine.tsv", "id\t리뷰\n1\t최고\n2\t별로, 정말\n"),
    ("mine.jsonl", '{"id": 1, "리뷰": "최고"}\n{"id": 2, "리뷰": "별로, 정말"}\n')])
def test_a_table_of_any_kind_is_scored_by_its_own_column(page, name, content):
    page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": content.encode()})
    page.wait_for_selector("#table td")
    assert page.locator("#column").input_value() == "리뷰"
    assert [row.split("\t")[2] for row in page.locator("#table tbody tr").all_inner_texts()] == ["최고", "별로, 정말"]


def test_a_bad_table_says_what_is_wrong(page):
    page.set_input_files("#file", {"name": "bad.csv", "mimeType": "text/csv", "buffer": b"document,b\n1\n"})
    playwright.expect(page.locator("#table-problem")).to_contain_text("expected 2 fields")


def test_english_is_a_click_away(page):
    page.click("#language")
    assert page.locator("label[for=text]").inner_text() == "Write a review"
    assert page.evaluate("document.documentElement.lang") == "en"


def test_no_review_is_ever_html(page):
    page.fill("#text", "<script>alert(1)</script><b>영화</b> 최고")
    panel(page)
    assert page.locator("#answer .words").inner_text() == "<script>alert(1)</script><b>영화</b> 최고"
    assert not page.locator("#answer script, #answer b b").count()
