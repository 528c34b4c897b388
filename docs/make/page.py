"""The pictures of the page of `serve` in docs/serving.md, taken in Chromium at its present state.

    python -m docs.make.page                              # page.png, page.ko.png; needs Chromium
    python -m docs.make.page --bundle runs/transformer    # page-heads.png, of a classifier with heads
    python -m docs.make.page --films                      # page-films.png, of docs/reviews.csv

Options are those of `nsmc-attention serve`. docs/explaining.md has the command of the training.
"""

import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

from playwright.sync_api import sync_playwright

from .pictures import BOTH, PICTURES, REVIEW, WIDTH, WINDOW, named, save

# Pixels around a picture, and the reviews that are shown of a film
MARGIN, REVIEWS = 12, 6
# What the restorer has something to correct in
MISSPELLED = "배우는 조은데 영화는별로. 시간이 아깝네여"


@contextmanager
def served(options):
    """Yield the address of a server of these options, once its models are loaded."""
    command = [sys.executable, "-m", "nsmc_attention", "serve", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        lines = []
        for line in process.stderr or ():
            lines.append(line)
            print(line, end="", file=sys.stderr)
            if "ready: bundle" in line:
                break
        try:
            (address,) = re.findall(r"http://[\d.:]+", "".join(lines))
            yield address
        finally:
            process.terminate()


def of_page(page, language):
    page.check("#restore")
    page.fill("#text", MISSPELLED)
    page.wait_for_selector("#pairs ins")
    page.click("#answer .more")
    page.mouse.move(0, 0)
    photograph(page, "page", language, until="section >> nth=0")


def of_heads(page):
    page.fill("#text", REVIEW)
    page.select_option("#method", "attention")
    # the button after the one of the matrix
    page.locator("#answer .more").last.click()
    page.locator("#answer .small").last.click()
    save(page.locator("#answer").screenshot(), named("page-heads"))


def of_films(page):
    page.set_input_files("#file", PICTURES.parent / "reviews.csv")
    page.wait_for_selector("#table td")
    page.select_option("#group", "film")
    page.click("#film-table td button >> nth=0")
    page.wait_for_selector("#film .word")
    photograph(page, "page-films", "en", "#by-film", f"#film .words >> nth={REVIEWS - 1}")


def photograph(page, name, language, since="header", until=""):
    """Save the page from the top of one element to the bottom of another, as wide as the page."""
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, 0)")
    top, last = (page.locator(each).bounding_box() for each in (since, until))
    height = last["y"] + last["height"] + MARGIN - max(0, top["y"] - MARGIN)
    clip = {"x": 0, "y": max(0, top["y"] - MARGIN), "width": WIDTH, "height": height}
    save(page.screenshot(clip=clip, full_page=True), named(name, language))


def main(options):
    films = "--films" in options
    with served([each for each in options if each != "--films"]) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for language in BOTH:
            page = browser.new_page(**WINDOW, locale=language)
            page.goto(address)
            page.wait_for_selector("#method option >> nth=1", state="attached")
            heads = page.evaluate("hasHeads")
            if not films and not heads:
                of_page(page, language)
            elif language == "en":
                of_films(page) if films else of_heads(page)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
