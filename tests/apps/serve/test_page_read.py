"""Screenshots on the page in a real Chromium: chosen, pasted and dropped, and where their letters were read."""

import base64

import pytest

from nsmc_attention.systems.read.reader import load_reader

expect = pytest.importorskip("playwright.sync_api").expect
# Pastes or drops a file, as a browser does
GIVE = """([name, type, content]) => {
    const data = new DataTransfer(), bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
    data.items.add(new File([bytes], "a", { type }));
    const options = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
    const given = name === "paste" ? new ClipboardEvent(name, options) : new DragEvent(name, options);
    $("text").dispatchEvent(given);
}"""


@pytest.mark.layout
def test_a_chosen_picture_is_shown_with_its_lines_and_a_letter_shows_where_it_was_read(page, screenshot):
    expected = load_reader()(screenshot)
    page.set_input_files("#shot-file", {"name": "리뷰.png", "mimeType": "image/png", "buffer": screenshot})
    lines, mark = page.locator("#shot-lines .letters"), page.locator("#shot-mark")
    expect(lines).to_have_text([line.text for line in expected.lines])
    assert page.locator("#shot-boxes i").count() == 2 and page.inner_text("#shot-name") == "리뷰.png"
    assert "정" in page.inner_text("#shot-lines .label >> nth=0") and page.inner_text("#shot-count").startswith("2줄")
    picture = page.locator("#shot-image").bounding_box()
    lines.nth(1).locator("span").nth(2).click()
    place, box = expected.lines[1].places[2], mark.bounding_box()
    scale = picture["width"] / expected.pixels.shape[1]
    assert (box["x"] + box["width"] / 2 - picture["x"]) / scale == pytest.approx(place, abs=1.5 / scale)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#shot-say")).to_contain_text("1번째 줄:")
    assert mark.is_hidden() and page.locator("#shot-lines [aria-selected=true]").get_attribute("id") == "shot-line-0"
    page.keyboard.press("ArrowRight")
    expect(page.locator("#shot-say")).to_contain_text(f"“{expected.lines[0].text[0]}”")
    page.click("#language")
    expect(page.locator("#shot-say")).to_contain_text("Line 1, “")


def test_a_picture_is_pasted_or_dropped_anywhere_and_what_is_none_is_said(page, screenshot):
    content = base64.b64encode(screenshot).decode()
    for name in ("paste", "drop"):
        page.evaluate(GIVE, [name, "image/png", content])
        expect(page.locator("#shot-lines .letters")).to_have_count(2)
        page.evaluate("forgetShot('a'); drawShot()")
        assert page.is_hidden("#shot")
    page.evaluate(GIVE, ["paste", "image/png", "AAAA"])
    expect(page.locator("#shot-problem")).to_contain_text("읽을 수 없는 파일입니다")
    assert page.is_hidden("#shot") and page.is_hidden("#shot-busy")
    page.set_input_files("#shot-file", {"name": "a.svg", "mimeType": "image/svg+xml", "buffer": b"<svg/>"})
    page.click("#language")
    expect(page.locator("#shot-problem")).to_contain_text("expected a picture (PNG, ")
