"""The pictures of the page of `serve` in docs/serving.md, taken in Chromium at its present state.

    python -m docs.make.page                              # page.png; apt install chromium; pip install '.[test]'
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

from .pictures import PICTURES

REVIEW = "배우는 좋은데 영화는 별로. 시간이 아깝네요"
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


def of_page(page):
    page.check("#restore")
    page.fill("#text", MISSPELLED)
    page.wait_for_selector("#pairs ins")
    page.click("#answer .more")
    page.click("#fill .primary")
    page.wait_for_selector("#candidates button")
    page.screenshot(path=PICTURES / "page.png", full_page=True)


def of_heads(page):
    page.fill("#text", REVIEW)
    page.select_option("#method", "rollout")
    page.click("#answer .more")
    page.locator("#answer .small").last.click()
    page.locator("#answer").screenshot(path=PICTURES / "page-heads.png")


def of_films(page):
    page.set_input_files("#file", PICTURES.parent / "reviews.csv")
    page.wait_for_selector("#table td")
    page.select_option("#group", "film")
    page.click("#film-table td button >> nth=0")
    page.wait_for_selector("#film .word")
    page.locator("#films").screenshot(path=PICTURES / "page-films.png")


def main(options):
    films = "--films" in options
    with served([each for each in options if each != "--films"]) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 800}, color_scheme="light", locale="ko-KR")
        page.goto(address)
        page.wait_for_selector("#method option >> nth=1", state="attached")
        if films:
            of_films(page)
        else:
            of_heads(page) if page.locator("#method option[value=rollout]").count() else of_page(page)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
