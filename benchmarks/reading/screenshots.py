"""Screenshots of reviews in Chromium with the boxes of their lines, and the share of lines that `find_lines` finds.

    NSMC_ATTENTION_DATA=... python -m benchmarks.reading.screenshots OUT_FOLDER [--reviews 200]    # apt install chromium
    python -m benchmarks.reading.screenshots OUT_FOLDER --score

Reviews of the official test file on a list, in chat bubbles and on cards in two columns, in light and dark colours and
at one and two pixels a CSS pixel, in fonts that no network here was trained on (Debian's fonts-noto-cjk, fonts-nanum,
fonts-baekmuk). lines.json has the lines of each picture as the browser laid them out: `text`, and `box` in pixels (left,
top, right, bottom), as wide as its letters and as high as Korean letters of the font are.
"""

import argparse
import html
import itertools
import json
import shutil
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import numpy
from PIL import Image

from nsmc_attention.corpora import nsmc
from nsmc_attention.systems.read.layout import find_lines

FAMILIES = ("Noto Sans CJK KR", "Noto Serif CJK KR", "NanumSquareRound", "Baekmuk Gulim")
SIZES = range(13, 19)
STYLES, THEMES, SCALES = ("list", "chat", "cards"), ("light", "dark"), (1, 2)
# Reviews on one page, and the page's width in CSS pixels
ON_PAGE, WIDTH = 10, {"list": 720, "chat": 420, "cards": 760}
SEED = 21
# Of a line and a box: how much of their heights and of their widths they must share
SAME_HEIGHT, SAME_WIDTH = 0.6, 0.9
COLORS = {
    "light": "--page:#fff;--ink:#222;--faint:#888;--card:#fff;--line:#ddd;--left:#eceff1;--right:#fee500;--said:#191919",
    "dark": "--page:#121212;--ink:#e4e4e4;--faint:#999;--card:#1e1e1e;--line:#3a3a3a;--left:#2c2c2e;--right:#0a60c8;--said:#fff",
}
CSS = """
* { box-sizing: border-box } body { margin: 0; padding: 16px; background: var(--page); color: var(--ink); line-height: 1.5 }
h1 { font-size: 1.5em; margin: 0 0 12px } p { margin: 0; overflow-wrap: anywhere } small { color: var(--faint); display: block; white-space: nowrap }
.list article { display: flex; gap: 12px; padding: 12px 0; border-bottom: 1px solid var(--line) }
i { flex: none; width: 36px; height: 36px; border-radius: 50%; background: linear-gradient(130deg, #d96, #468 60%, #8b5) }
.chat article { display: flex; gap: 8px; margin: 10px 0; align-items: flex-end } .chat i { align-self: flex-start }
.chat p { max-width: 72%; padding: 8px 12px; border-radius: 16px; background: var(--left) }
.chat article:nth-of-type(3n) { flex-direction: row-reverse } .chat article:nth-of-type(3n) i { display: none }
.chat article:nth-of-type(3n) p { background: var(--right); color: var(--said) }
.cards { columns: 2; column-gap: 20px } .cards h1 { column-span: all }
.cards article { break-inside: avoid; margin: 0 0 16px; padding: 14px; border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); box-shadow: 0 2px 8px #0004 }
"""
# The characters of each text node by the rows that they are in; heights are those of Korean letters, and of higher ones
LINES = """() => {
  const pen = document.createElement("canvas").getContext("2d"), parts = new Intl.Segmenter("ko"), lines = [];
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = nodes.nextNode());) {
    pen.font = getComputedStyle(node.parentElement).font;
    const rows = new Map();
    for (const { segment, index } of parts.segment(node.data)) {
      const range = document.createRange();
      range.setStart(node, index), range.setEnd(node, index + segment.length);
      const rect = range.getClientRects()[0];
      if (!rect || !rect.width || !segment.trim()) { for (const row of rows.values()) row.space = true; continue }
      const key = [...rows.keys()].find((each) => Math.abs(each - rect.bottom) < rect.height / 2) ?? rect.bottom;
      const row = rows.get(key) ?? { text: "", top: rect.top, first: segment, left: rect.left };
      row.text += (row.space && row.text ? " " : "") + segment;
      rows.set(key, { ...row, space: false, last: segment, right: rect.right });
    }
    for (const row of rows.values()) {
      const all = pen.measureText("가를" + row.text), first = pen.measureText(row.first), last = pen.measureText(row.last);
      const base = row.top + all.fontBoundingBoxAscent;
      lines.push({ text: row.text, box: [row.left - first.actualBoundingBoxLeft, base - all.actualBoundingBoxAscent,
        row.right - last.width + last.actualBoundingBoxRight, base + all.actualBoundingBoxDescent] });
    }
  }
  return lines;
}"""


def page_of(style, theme, family, size, reviews):
    """Return a page of reviews as HTML."""
    articles = []
    for number, review in enumerate(reviews):
        said, face = f"<p>{html.escape(review)}</p>", "<i></i>"
        name = f"<small>관객{number * 37 % 100} 2026.0{number % 9 + 1}.1{number % 10}</small>"
        time_of_day = f"<small>오후 {number + 1}:{number * 7 % 50 + 10}</small>"
        inside = {"list": f"{face}<div>{name}{said}</div>", "chat": face + said + time_of_day, "cards": name + said}[
            style
        ]
        articles.append(f"<article>{inside}</article>")
    look = f"{COLORS[theme]};font-size:{size}px;font-family:'{family}'"
    title = "" if style == "chat" else "<h1>관람객 평점과 리뷰</h1>"
    return f'<!doctype html><meta charset="utf-8"><style>{CSS}</style><body style="{look}" class="{style}">{title}{"".join(articles)}'


def pages(texts, random):
    """Yield for each page its style, family, size and reviews: styles and families in turn."""
    for number, start in enumerate(range(0, len(texts), ON_PAGE)):
        style, family = STYLES[number % len(STYLES)], FAMILIES[number % len(FAMILIES)]
        yield style, family, int(random.choice(SIZES)), texts[start : start + ON_PAGE]


def take(folder, count):
    """Write the pictures of `count` reviews in each theme and scale to a folder, and lines.json."""
    texts = [" ".join(text.split()) for text in nsmc.load("nsmc", "test").documents]
    texts = [text for text in texts if text]
    with pictures_in(folder) as (browser, pictures):
        for theme, scale in itertools.product(THEMES, SCALES):
            random = numpy.random.RandomState(SEED + scale + 10 * THEMES.index(theme))
            drawn = [texts[index] for index in random.choice(len(texts), count, replace=False)]
            for number, (style, family, size, reviews) in enumerate(pages(drawn, random)):
                name = f"{theme}-{scale}-{number:02}-{style}.png"
                content = page_of(style, theme, family, size, reviews)
                lines = photograph(browser, content, WIDTH[style], scale, folder / name)
                about = {"theme": theme, "scale": scale, "style": style, "family": family, "size": size}
                pictures[name] = {**about, "lines": lines}


@contextmanager
def pictures_in(folder, **options):
    """Give a browser, and a dict for what is known of each picture by its name: lines.json of the folder at the end."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    pictures: dict = {}
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"], **options)
        yield browser, pictures
        browser.close()
    (folder / "lines.json").write_text(json.dumps(pictures, ensure_ascii=False, indent=1), encoding="utf-8")


def photograph(browser, content, width, scale, path):
    """Write the picture of a page, HTML or a file of it, that is at least `width` CSS pixels wide; return its lines."""
    view = {"width": width, "height": 400}
    page = browser.new_page(viewport=view, device_scale_factor=scale, locale="ko-KR")
    page.goto(content.as_uri()) if isinstance(content, Path) else page.set_content(content)
    page.screenshot(path=path, full_page=True)
    lines = page.evaluate(LINES)
    page.close()
    return [{"text": line["text"], "box": [round(edge * scale, 1) for edge in line["box"]]} for line in lines]


def shared(first, second, axis, around=0.0):
    """Return the share (N, M) of their extents, each `around` longer at both ends, that boxes (N, 4) and (M, 4) share."""
    starts, ends = ([boxes[:, axis + end] for boxes in (first, second)] for end in (0, 2))
    inner = numpy.minimum.outer(ends[0], ends[1]) - numpy.maximum.outer(starts[0], starts[1])
    outer = numpy.maximum.outer(ends[0], ends[1]) - numpy.minimum.outer(starts[0], starts[1])
    return (inner + 2 * around) / (outer + 2 * around)


def matches(true, found):
    """Return which boxes of `true` (N, 4) and of `found` (M, 4) have a match among the others.

    Half a height is added to both ends of widths: a pixel of a line of one letter is not a tenth of it.
    """
    around = float(numpy.median(true[:, 3] - true[:, 1])) / 2
    same = (shared(true, found, 1) > SAME_HEIGHT) & (shared(true, found, 0, around) > SAME_WIDTH)
    return same.any(axis=1), same.any(axis=0)


def known(folder):
    """Return what is known of each picture in a folder, (name, about)."""
    return json.loads((folder / "lines.json").read_text(encoding="utf-8")).items()


def score(folder, verbose=False):
    """Print for each theme, scale and style the share of lines found, the boxes that are no line, and the seconds."""
    sums: defaultdict = defaultdict(lambda: numpy.zeros(5))
    for name, about in known(folder):
        gray = numpy.asarray(Image.open(folder / name).convert("L"))
        started = time.perf_counter()
        boxes = find_lines(gray)
        seconds = time.perf_counter() - started
        true = numpy.array([line["box"] for line in about["lines"]])
        found = numpy.array(boxes, "float64").reshape(-1, 4)
        hit, right = matches(true, found)
        for key in ((about["theme"], about["scale"], about["style"]), ("all", "", "")):
            sums[key] += len(hit), hit.sum(), (~right).sum(), seconds, 1
        if verbose:
            for line in (about["lines"][index] for index in numpy.flatnonzero(~hit)):
                print(name, "missed", line)
            for index in numpy.flatnonzero(~right):
                print(name, "false", tuple(boxes[index]))
    print(f"{'':18}{'lines':>7}{'found':>9}{'false':>7}{'s/picture':>11}")
    for key, (lines, hits, false, seconds, number) in sums.items():
        where = " ".join(map(str, key)).strip()
        print(f"{where:18}{lines:7.0f}{hits / lines:9.2%}{false:7.0f}{seconds / number:11.3f}")


def parser_of(description):
    """Return a parser of the arguments that all programs which draw pictures have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--score", action="store_true", help="score the pictures in the folder")
    parser.add_argument("--verbose", action="store_true", help="with --score: print what is missed, misread or no line")
    return parser


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--reviews", type=int, default=200, help="in each theme and scale  [default: 200]")
    arguments = parser.parse_args()
    score(arguments.folder, arguments.verbose) if arguments.score else take(arguments.folder, arguments.reviews)


if __name__ == "__main__":
    main()
