"""What docs/getting-started.md shows: its spreadsheet of reviews, the report and the heatmap.

    python -m docs.make.tour     # apt install chromium; pip install '.[test]'

Writes docs/reviews.csv (those of recipes/first_sample.tsv, with invented films and dates) and in docs/pictures report.png
and tour-notebook.png, by the command and the code of the page.
"""

import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import numpy
import pandas
from nbclient import NotebookClient
from playwright.sync_api import sync_playwright

from recipes.sample import first_sample

from .pictures import BOTH, PICTURES, WIDTH, WINDOW, named, save

DOCS = PICTURES.parent
# Films, and which part of the negative and of the positive reviews is theirs
FILMS = {
    "별빛 아래": (0.10, 0.30),
    "긴 겨울": (0.35, 0.10),
    "마지막 상영관": (0.20, 0.25),
    "여름의 끝": (0.20, 0.20),
    "소금길": (0.15, 0.15),
}


def blocks(language):
    page = (DOCS / "getting-started.md").read_text(encoding="utf-8").replace("\\\n", "")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def write_reviews(path):
    frame = pandas.concat(first_sample().values(), ignore_index=True).astype({"label": int})
    random, count = numpy.random.RandomState(0), len(frame)
    odds = dict(enumerate(zip(*FILMS.values())))
    frame["film"] = [random.choice(list(FILMS), p=odds[label]) for label in frame["label"]]
    days = zip(random.randint(1, 10, count), random.randint(1, 29, count))
    frame["date"] = [f"2026-{month:02d}-{day:02d}" for month, day in days]
    frame.sort_values("date", kind="stable")[["film", "date", "document"]].to_csv(path, index=False)


def of_report(browser, folder):
    shutil.copy(DOCS / "reviews.csv", folder)
    (command,) = re.findall("^.* report .*$", "".join(blocks("bash")).replace("\\\n", ""), re.MULTILINE)
    subprocess.run(
        f"{sys.executable} -m nsmc_attention {command.partition(' ')[2]}", shell=True, cwd=folder, check=True
    )
    page = browser.new_page(**WINDOW)
    page.goto((folder / "report.html").as_uri())
    bottom = page.locator("section").first.bounding_box()
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": bottom["y"] + bottom["height"]}
    save(page.screenshot(clip=clip, full_page=True), named("report"))


def of_notebook(folder, code, language):
    os.environ["NSMC_ATTENTION_LANGUAGE"] = language
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    (output,) = [each["data"] for each in notebook.cells[0].outputs if "data" in each]
    save(base64.b64decode(output["image/png"]), named("tour-notebook", language))


def main():
    write_reviews(DOCS / "reviews.csv")
    (notebook,) = blocks("py")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        of_report(browser, Path(name))
        browser.close()
        for language in BOTH:
            of_notebook(name, notebook, language)


if __name__ == "__main__":
    main()
