"""The READMEs' pictures of commands that write no picture: what a terminal showed, drawn by Chromium, and two curves.

    NSMC_ATTENTION_DATA=... python -m docs.make.pictures     # apt install chromium; pip install '.[test]'

Everything shown is run here, in a folder of its own: tables.png, bulk.png, tools.png.
"""

import base64
import html
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas
from playwright.sync_api import sync_playwright

from nsmc_attention import score_column
from nsmc_attention.reviews import tables
from nsmc_attention.visualization.page import font_of

PICTURES = Path(__file__).parents[1] / "pictures"
REVIEWS = """film,date,document
별빛 아래,2026-03-02,배우는 좋은데 영화는 별로
별빛 아래,2026-03-05,"재밌게 봤어요, 두 번 봄ㅋㅋㅋ"
별빛 아래,2026-03-09,
긴 겨울,2026-04-01,나무랄 데 없는 연출
긴 겨울,2026-04-02,=cmd|' /C calc'!A0 지루해서 나왔다
"""
STYLE = """
@font-face {{ font-family: nanum; src: url(data:font/woff;base64,{font}); }}
body {{ margin: 0; padding: 16px; width: max-content; background: #fff; font: 15px nanum, sans-serif; }}
pre {{ margin: 0; padding: 16px 20px; border-radius: 8px; background: #1d2129; color: #e6e6e6;
      font: 14px/1.55 "DejaVu Sans Mono", "Liberation Mono", nanum, monospace; }}
pre b {{ color: #8fd18f; font-weight: normal; }}
table {{ border-collapse: collapse; margin: 14px 0; }}
td, th {{ border: 1px solid #c4c8cf; padding: 4px 10px; text-align: left; font-weight: normal; }}
th {{ background: #eef0f3; }}
"""


def typed(command, folder):
    """Run a command line as if typed; return the terminal's lines as HTML, a bar of progress as it ended."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "COLUMNS": "100"}
    # a terminal of its own, for which progress is drawn
    shown = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        cwd=folder,
        env=environment,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ).stdout.decode()
    lines = [line.rstrip("\r").rpartition("\r")[2].replace("\x1b[A", "") for line in shown.split("\n")]
    return "\n".join([f"<b>$ {html.escape(command)}</b>", *(html.escape(line) for line in lines if line.strip())])


def terminal(folder, *commands):
    return "<pre>" + "\n".join(typed(command, folder) for command in commands) + "</pre>"


def sheet(frame):
    return frame.to_html(index=False, na_rep="", border=0)


def shoot(browser, name, body):
    font = base64.b64encode(font_of({*body, *"가"})).decode()
    page = browser.new_page(device_scale_factor=1.5, viewport={"width": 1200, "height": 200})
    page.set_content(f"<meta charset=utf-8><style>{STYLE.format(font=font)}</style><body>{body}")
    page.evaluate("document.fonts.ready")
    page.locator("body").screenshot(path=PICTURES / name)
    page.close()


def of_tables(browser, folder):
    (folder / "reviews.csv").write_text(REVIEWS, encoding="utf-8")
    shown = terminal(folder, "nsmc-attention predict --input reviews.csv --output scored.csv")
    shoot(browser, "tables.png", shown + sheet(pandas.read_csv(folder / "scored.csv", dtype=str)))


def of_bulk(browser, folder):
    """The 50,000 official test reviews in four files, by two workers."""
    (folder / "reviews").mkdir()
    reviews = tables.load_reviews("nsmc", "test").frame
    for start in range(0, len(reviews), 12_500):
        reviews[start : start + 12_500].to_parquet(folder / "reviews" / f"{start // 12_500}.parquet")
    shoot(
        browser,
        "bulk.png",
        terminal(
            folder,
            'nsmc-attention bulk "reviews/*.parquet" --output scored --workers 2',
            "ls scored",
            "rm scored/0002-*",
            'nsmc-attention bulk "reviews/*.parquet" --output scored --workers 2',
        ),
    )


def of_tools(browser, folder):
    frame = pandas.read_csv(folder / "reviews.csv", keep_default_na=False)[["film", "document"]]
    code = '<pre><b>&gt;&gt;&gt; frame.join(score_column(frame["document"]).round(4))</b></pre>'
    shoot(browser, "tools.png", code + sheet(frame.join(score_column(frame["document"]).round(4))))


def main():
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        of_tables(browser, folder)
        of_tools(browser, folder)
        of_bulk(browser, folder)
        browser.close()


if __name__ == "__main__":
    main()
