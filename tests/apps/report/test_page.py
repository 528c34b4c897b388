"""The report in a real Chromium, as a reader opens, prints and hears it; see `chromium`."""

import re

import pandas
import pytest

from nsmc_attention.apps.report.build import report
from nsmc_attention.corpora import nsmc

SIZES = {"desk": {"width": 1100, "height": 800}, "phone": {"width": 390, "height": 844}}
SCRIPT = "<img src=x onerror=alert(1)>"
INSIDE = """[...document.querySelectorAll(".column b")].every(name =>
  name.getBoundingClientRect().right <= document.querySelector("main").getBoundingClientRect().right)"""


@pytest.fixture(scope="module")
def pages(packaged, tmp_path_factory):
    """The report of the sample's test reviews in both languages, in a folder of its own, with the packaged stars."""
    folder = tmp_path_factory.mktemp("report")
    texts = [text if n % 9 else f"{SCRIPT} {text}" for n, text in enumerate(nsmc.load("sample", "test").documents)]
    dates = [f"{2025 + n % 13 // 12}.{1 + n % 13 % 12}.3" for n in range(len(texts))]
    frame = pandas.DataFrame({"document": texts, "date": dates})
    frame["film"] = ["아주 긴 제목의 영화 " * 6 if n % 3 else SCRIPT for n in range(len(texts))]
    frame.to_csv(folder / "reviews.csv", index=False)
    for language in ("ko", "en"):
        report(packaged, folder / "reviews.csv", folder / f"{language}.html", "film", "date", language=language)
    return folder


@pytest.mark.parametrize("size", SIZES)
def test_a_report_fits_the_screen_and_shades_every_example(chromium, pages, size):
    page, problems = chromium.new_page(viewport=SIZES[size]), []
    page.on("console", lambda message: problems.append(message.text))
    page.on("dialog", lambda dialog: (problems.append("dialog"), dialog.dismiss()))
    page.goto((pages / "ko.html").as_uri())
    assert page.locator("main img").count() == 0 and SCRIPT in "".join(page.locator(".examples").all_inner_texts())
    assert "2개를 모두" in page.inner_text("main")
    assert page.evaluate(INSIDE), "the last month is whole"
    assert page.evaluate("document.documentElement.scrollWidth") == SIZES[size]["width"]
    assert page.locator(".examples .panel .word").count() > page.locator(".examples > li").count() > 8
    assert not problems
    page.close()


def test_a_report_without_scripts_has_its_charts_and_reviews(chromium, pages):
    """As a mail's preview shows it."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((pages / "ko.html").as_uri())
    assert all(text.strip() for text in page.locator(".examples > li").all_text_contents())
    # two films' shares, and their stars; an aspect is praised, blamed or both
    aspects = page.locator("section", has=page.locator("h2", has_text="무엇을 칭찬하고"))
    assert page.locator(".lines .dot").count() - aspects.locator(".lines .dot").count() == 4
    named = aspects.locator(".lines > li").count()
    shown, examples = (place.locator("details .examples > li").count() for place in (page, aspects))
    assert shown - examples == 6 and aspects.locator("details").count() == named <= examples <= 2 * named
    assert page.locator(".columns .dot").count() == 13
    context.close()


@pytest.mark.slow
def test_a_report_is_printed_on_a4(chromium, pages):
    page = chromium.new_page()
    page.goto((pages / "ko.html").as_uri())
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", page.pdf(prefer_css_page_size=True))
    assert {(round(float(wide)), round(float(high))) for wide, high in boxes} == {(595, 842)}
    page.close()


@pytest.mark.system
@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colors", ["light", "dark"])
def test_axe_finds_nothing_serious(chromium, pages, serious, language, size, colors):
    # the page's own policy lets no other script in
    context = chromium.new_context(viewport=SIZES[size], color_scheme=colors, bypass_csp=True)
    page = context.new_page()
    page.goto((pages / f"{language}.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert not serious(page)
    context.close()
