"""Drawn screens of ten kinds with the boxes and texts of their lines, and the lines that `read` finds and reads.

    NSMC_ATTENTION_DATA=... python -m benchmarks.reading.screens OUT_FOLDER [--count 400] [--seed 1] [--phones]
    python -m benchmarks.reading.screens OUT_FOLDER --score [--verbose]

Chat programs, cards in cards, dark mode, tables, phones and reviews with stars, drawn by Chromium at one to three pixels a
CSS pixel, letters of 10 to 40 CSS pixels, two in five as JPEG. `--phones` draws one screen of each kind as a phone shows it:
letters of 15 CSS pixels, three pixels each. Fonts are the packaged Nanum Gothic and, if installed, Noto Sans KR and Noto Serif
KR (`pip install pylopdf-fonts-ko`). The texts come from the official test file. The layout was tuned on seed 1, and seed 2
evaluates it.
"""

import html
import os
import time
from collections import defaultdict
from importlib import util
from pathlib import Path

import numpy
from PIL import Image

from nsmc_attention.corpora import nsmc
from nsmc_attention.drawing.figure import font_file
from nsmc_attention.systems.read.reader import PictureReader
from nsmc_attention.systems.sequences.characters import edit_distance

from .__main__ import read_at
from .screenshots import known, matches, parser_of, photograph, pictures_in

# CSS pixels of the text of a page, and how often
SIZES = [*range(11, 19)] * 4 + [*range(19, 29), *range(30, 41, 2)]
SCALES, JPEG_SHARE, QUALITIES = (1, 2, 3), 0.4, (60, 93)
# Size, scale and weight on a phone
PHONE = 15, 3, 400
CSS = """
* { box-sizing: border-box; margin: 0; padding: 0 } body { width: 28em; line-height: 1.45; overflow-wrap: anywhere }
small, .small { font-size: max(10px, .78em) } b { font-weight: 700 } i.face { flex: none; width: 2.6em; height: 2.6em; border-radius: 40%;
  background: linear-gradient(130deg, #d96, #468 60%, #8b5) } i.photo { display: block; background-size: cover }
.bar { display: flex; justify-content: space-between; align-items: center; padding: .7em 1em }
.side { display: flex; gap: .6em; margin: .7em 1em } .side.right { flex-direction: row-reverse }
.bubble { width: fit-content; max-width: 17em; padding: .45em .75em; border-radius: 1.1em; margin: .25em 0 }
.end { align-self: flex-end; white-space: nowrap } .pill { width: fit-content; padding: .15em .8em; border-radius: 1em; margin: .7em auto }
.card { border-radius: .8em; padding: 1em; margin: .8em } .chips { display: flex; gap: 1.4em; flex-wrap: wrap; margin: .5em 0 }
.chips > * { padding: .2em .7em; border-radius: 1em; white-space: nowrap } .spread { display: flex; justify-content: space-between; gap: 3em; white-space: nowrap }
h1, h2 { font-size: min(1.6em, 40px) }
svg { width: 1.4em; height: 1.4em; flex: none } .stars { letter-spacing: .02em } .nav { display: flex; justify-content: space-around }
table { border-collapse: collapse; width: 100% } td, th { padding: .45em .8em; text-align: left; white-space: nowrap; font-weight: inherit }
"""
ICONS = (
    '<svg viewBox="0 0 24 24"><path d="M4 12h14M12 5l7 7-7 7" fill="none" stroke="currentColor" stroke-width="2"/></svg>',
    '<svg viewBox="0 0 24 24"><circle cx="10" cy="10" r="6" fill="none" stroke="currentColor" stroke-width="2"/><path d="M15 15l6 6" stroke="currentColor" stroke-width="2"/></svg>',
    '<svg viewBox="0 0 24 24"><path d="M12 20C2 12 4 5 8 5c2 0 4 2 4 3 0-1 2-3 4-3 4 0 6 7-4 15z" fill="currentColor"/></svg>',
    '<svg viewBox="0 0 24 24"><path d="M3 6h18M3 12h18M3 18h18" stroke="currentColor" stroke-width="2"/></svg>',
)


class Source:
    """Texts of reviews, names, dates and numbers, drawn at random."""

    def __init__(self, reviews, random):
        self.reviews, self.random = reviews, random

    def pick(self, *values):
        return values[self.random.randint(len(values))]

    def number(self, low, high):
        return int(self.random.randint(low, high))

    def text(self, longest=60):
        """A review, or the first words of it."""
        words = self.pick(*self.reviews).split(" ")
        while len(" ".join(words)) > longest and len(words) > 1:
            words.pop()
        return " ".join(words)[:longest]

    def some(self, low, high, longest=60):
        return [self.text(self.number(8, longest)) for _ in range(self.number(low, high))]

    def name(self):
        return self.pick(
            "하늘",
            "민수",
            "영화광",
            "관객12",
            "김지우",
            "달빛",
            "movie_fan",
            "솔이네",
            "박서준",
            "Hana",
            "초보 관객",
            "ksy0***",
        )

    def date(self):
        year, month, day = self.number(2009, 2027), self.number(1, 13), self.number(1, 29)
        return self.pick(
            f"{year}.{month:02}.{day:02}",
            f"{year}년 {month}월 {day}일",
            f"{month}월 {day}일",
            f"{year}-{month:02}-{day:02}",
        )

    def time(self):
        return f"{self.pick('오전', '오후')} {self.number(1, 13)}:{self.number(0, 60):02}"

    def stars(self):
        count = self.number(0, 6)
        return "★" * count + "☆" * (5 - count)

    def tags(self):
        return [
            f"#{self.pick('추천', '비추', '여운', '가족영화', '킬링타임', '명작', '음악', '연기')}"
            for _ in range(self.number(1, 4))
        ]

    def icon(self):
        return self.pick(*ICONS)

    def photo(self, width, height):
        """A picture without letters: blurred noise, as a poster."""
        import base64
        import io

        small = self.random.randint(0, 256, (7, 5, 3)).astype("uint8")
        picture = Image.fromarray(small).resize((140, 200), Image.Resampling.BICUBIC)
        noisy = numpy.asarray(picture).astype("int16") + self.random.randint(-14, 15, (200, 140, 3))
        file = io.BytesIO()
        Image.fromarray(noisy.clip(0, 255).astype("uint8")).save(file, "JPEG", quality=85)
        data = base64.b64encode(file.getvalue()).decode()
        return f'<i class="photo" style="flex:none;width:{width}em;height:{height}em;background-image:url(data:image/jpeg;base64,{data})"></i>'


def said(text, tag="p", style="", name=""):
    return f'<{tag} class="{name}" style="{style}">{html.escape(text)}</{tag}>'


def chat(source, colors, tail=".3em", inner_time=False):
    """Return a chat: a bar, a date, bubbles left and right, a place to write."""
    page, ink, faint, left, right, right_ink, bar = colors
    corner = f"border-radius:1.1em 1.1em 1.1em {tail}"
    rows = [
        f'<div class="bar" style="background:{bar}">{source.icon()}{said(source.name(), "b")}{source.icon()}</div>',
        said(
            source.date(),
            "small",
            f"display:block;background:{source.pick('transparent', '#0000001c')};color:{faint}",
            "pill",
        ),
    ]
    for _ in range(source.number(4, 9)):
        own = source.random.random_sample() < 0.45
        look = f"background:{right};color:{right_ink}" if own else f"background:{left};{corner}"
        clock = said(source.time(), "small", f"color:{faint};display:block", "end")
        inside = clock if inner_time else ""
        bubbles = [f'<div class="bubble" style="{look}">{said(text)}{inside}</div>' for text in source.some(1, 3)]
        name = "" if own else said(source.name(), "small", f"color:{faint};display:block")
        face = "" if own else '<i class="face"></i>'
        outer = "" if inner_time else clock
        rows.append(f'<div class="side{" right" * own}">{face}<div>{name}{"".join(bubbles)}</div>{outer}</div>')
    rows.append(
        f'<div class="bar" style="background:{bar}">{said("메시지 입력", "span", "opacity:.75")}{source.icon()}</div>'
    )
    return f'<body style="background:{page};color:{ink}">{"".join(rows)}'


def kakao(source):
    light = "#b2c7da", "#191919", "#4c5a66", "#fff", "#fee500", "#191919", "#b2c7da"
    other = source.pick("#abc1d1", "#f5f5f5", "#e5e5e5", "#9bbbd4", "#cfd8dc")
    dark = "#1e2022", "#e8e8e8", "#a0a0a0", "#363738", "#f7e600", "#191919", "#1e2022"
    return chat(source, source.pick(light, light, (other, *light[1:6], other), dark))


def line(source):
    light = "#8cabd8", "#111", "#25364f", "#fff", "#8de055", "#111", "#2c3e58;color:#fff"
    white = "#fff", "#111", "#777", "#efefef", "#c3f69d", "#111", "#fff"
    dark = "#111", "#eee", "#9a9a9a", "#2b2b2b", "#4cc764", "#0b0b0b", "#111"
    return chat(source, source.pick(light, white, dark), tail="1.1em")


def telegram(source):
    light = "linear-gradient(160deg,#dbddbb,#88b884 60%,#d5d88d)", "#000", "#44603f", "#fff", "#effdde", "#000", "#fff"
    plain = "#e6ebee", "#000", "#62727f", "#fff", "#e3f6ca", "#000", "#527da3;color:#fff"
    dark = "#0e1621", "#f5f5f5", "#8ea4b8", "#182533", "#2b5278", "#fff", "#17212b"
    return chat(source, source.pick(light, plain, dark), inner_time=True)


def imessage(source):
    light = "#fff", "#000", "#77777c", "#e9e9eb", source.pick("#0b84fe", "#34a853"), "#fff", "#f6f6f6"
    dark = "#000", "#fff", "#98989f", "#26252a", source.pick("#0b84fe", "#2c9a48"), "#fff", "#161617"
    return chat(source, source.pick(light, dark))


def nested(source):
    """Return cards in cards: a review quotes another one, with tags in pills."""
    page, card, inner, edge = source.pick(
        ("#f5f5f5", "#fff", "#f7f8fa", "#e3e5e8"),
        ("#e9edf2", "#fff", "#eef3ff", "#cdd6e4"),
        ("#fff", "#f4f4f5", "#fff", "#d4d4d8"),
    )
    border = source.pick(f"border:1px solid {edge}", "box-shadow:0 .15em .6em #0003", "")
    cards = []
    for _ in range(source.number(2, 4)):
        quote = "".join(said(text) for text in source.some(1, 3))
        chips = "".join(
            said(tag, "small", f"background:{source.pick(edge, '#3b6cf6;color:#fff', '#222;color:#fff')}")
            for tag in source.tags()
        )
        cards.append(
            f'<div class="card" style="background:{card};{border}"><div class="spread">{said(source.name(), "b")}{said(source.date(), "small", "color:#777")}</div>'
            f'{said(source.text())}<div class="card" style="background:{inner};{border}">{said(source.name(), "small", "color:#777")}{quote}</div><div class="chips">{chips}</div></div>'
        )
    return f'<body style="background:{page};color:#222;padding:.2em">{said(source.pick("관람객 평점과 리뷰", "오늘의 한 줄"), "h2", "margin:.6em .8em")}{"".join(cards)}'


def dark(source):
    page, card, ink, faint, link = source.pick(
        ("#121212", "#1e1e1e", "#e4e4e4", "#9a9a9a", "#8ab4f8"),
        ("#000", "#16181c", "#e7e9ea", "#71767b", "#1d9bf0"),
        ("#18191a", "#242526", "#e4e6eb", "#b0b3b8", "#4599ff"),
    )
    posts = []
    for _ in range(source.number(3, 6)):
        counts = "".join(
            said(f"{word} {source.number(1, 999)}", "small", f"color:{faint}") for word in ("답글", "공유", "좋아요")
        )
        posts.append(
            f'<div class="card" style="background:{card}"><div class="side" style="margin:0"><i class="face"></i><div>{said(source.name(), "b")}<br>{said(source.date(), "small", f"color:{faint}")}</div></div>'
            f'{said(source.text())}{said(" ".join(source.tags()), "p", f"color:{link}")}<div class="spread">{counts}</div></div>'
        )
    return f'<body style="background:{page};color:{ink}"><div class="bar">{said("피드", "h2")}{source.icon()}</div>{"".join(posts)}'


def table(source):
    head, edge, zebra = source.pick(
        ("#f2f4f7", "#cfd4dc", "#fff"), ("#2f5597;color:#fff", "#9db2d6", "#eaf0fa"), ("#fff", "#ddd", "#fafafa")
    )
    rule = source.pick(f"border:1px solid {edge}", f"border-bottom:1px solid {edge}", "")
    rows = [("번호", "별점", "날짜", "한 줄 평")]
    rows += [
        (str(n), f"{source.number(1, 11)}점", source.date(), source.text(14)) for n in range(1, source.number(7, 14))
    ]
    cells = [
        f'<tr style="background:{head if not n else zebra if n % 2 else "#fff;color:#222"}">{"".join(said(cell, "td", rule) for cell in row)}</tr>'
        for n, row in enumerate(rows)
    ]
    return f'<body style="background:#fff;color:#222;padding:1em;width:34em">{said("평점 목록", "h2", "margin-bottom:.5em")}<table>{"".join(cells)}</table>'


def phone(source):
    """Return an app on a phone: a status bar, a list of chats with counts, tabs below."""
    page, ink, faint, top = source.pick(
        ("#fff", "#111", "#777", "#fff"),
        ("#f2f2f7", "#000", "#6c6c70", "#f2f2f7"),
        ("#101012", "#f2f2f2", "#98989d", "#1c1c1e"),
    )
    battery = '<i style="display:block;width:1.7em;height:.8em;border:.1em solid;border-radius:.25em;background:linear-gradient(90deg,currentColor 70%,#0000 70%)"></i>'
    status = f'<div class="bar small" style="background:{top}">{said(f"{source.number(1, 13)}:{source.number(0, 60):02}", "b")}<div class="nav" style="gap:2.2em;align-items:center">{said(source.pick("LTE", "5G", "SKT"), "span")}{battery}</div></div>'
    rows = []
    for _ in range(source.number(4, 8)):
        badge = said(
            str(source.number(10, 99)),
            "small",
            "background:#e53935;color:#fff;border-radius:1em;padding:0 .5em;align-self:flex-end",
        )
        rows.append(
            f'<div class="side" style="border-bottom:1px solid #8883;padding-bottom:.6em"><i class="face"></i><div style="flex:1;min-width:0"><div class="spread">{said(source.name(), "b")}{said(source.time(), "small", f"color:{faint}")}</div>'
            f'<div class="spread">{said(source.text(12), "span", f"color:{faint}")}{badge}</div></div></div>'
        )
    tabs = "".join(
        f'<div style="text-align:center"><div>{icon}</div>{said(word, "small")}</div>'
        for icon, word in zip(ICONS, ("친구", "채팅", "더보기", "설정"))
    )
    return f'<body style="background:{page};color:{ink}">{status}<div class="bar">{said(source.pick("채팅", "알림", "메시지"), "h2")}{source.icon()}</div>{"".join(rows)}<div class="nav" style="background:{top};padding:.5em">{tabs}</div>'


def reviews(source):
    """Return reviews of a shop: small stars, counters, a photograph."""
    gold = source.pick("#f5a623", "#e8590c", "#222", "#d4a017")
    body = []
    for _ in range(source.number(3, 6)):
        small = source.number(10, 15)
        counts = f'<div class="chips">{said(f"도움돼요 {source.number(1, 300)}", "small", "border:1px solid #ccc;border-radius:.4em")}{said(f"댓글 {source.number(1, 40)}", "small", "background:#f1f3f5")}</div>'
        picture = source.photo(5, 7) if source.random.random_sample() < 0.4 else ""
        body.append(
            f'<div style="padding:.9em 1em;border-bottom:1px solid #e5e5e5"><div class="spread">{said(source.name(), "b")}{said(source.date(), "small", "color:#888")}</div>'
            f'{said(source.stars(), "p", f"font-size:{small}px;color:{gold}", "stars")}<div class="side" style="margin:0">{picture}<div>{said(source.text())}</div></div>{counts}</div>'
        )
    share = "".join(
        f'<div class="side" style="margin:.2em 1em;gap:2em;align-items:center">{said(f"{n}점", "small")}<i style="width:9em;height:.5em;background:linear-gradient(90deg,{gold} {10 * n}%,#e9ecef {10 * n}%)"></i>{said(f"{source.number(2, 90)}%", "small")}</div>'
        for n in (5, 4, 3)
    )
    return f'<body style="background:#fff;color:#222"><div class="bar">{said(f"상품평 {source.number(2, 999)}", "h2")}{said("최신순", "small")}</div>{share}{"".join(body)}'


def article(source):
    """Return a page of a desktop: a heading, paragraphs, a quotation, two columns."""
    page, ink, faint, accent = source.pick(
        ("#fff", "#222", "#777", "#03c75a"),
        ("#fbf7ef", "#3a3128", "#7a6f60", "#b5651d"),
        ("#0d1117", "#c9d1d9", "#8b949e", "#58a6ff"),
    )
    links = "".join(said(word, "span") for word in ("홈", "영화", "예매 순위", "평점"))
    columns = "".join(
        f"<div>{said(source.name(), 'b')}{''.join(said(text) for text in source.some(2, 4))}</div>" for _ in range(2)
    )
    quote = "".join(said(text) for text in source.some(1, 3))
    return (
        f'<body style="background:{page};color:{ink};padding:1em;width:44em"><div class="nav" style="border-bottom:.15em solid {accent};padding:.5em">{links}</div>'
        f"{said(source.text(24), 'h1', 'margin:.5em 0')}{said(source.date(), 'small', f'color:{faint};display:block')}{''.join(said(text, style='margin:.6em 0') for text in source.some(2, 4, 150))}"
        f'<div style="border-left:.25em solid {accent};padding-left:1em;margin:1em 0;color:{faint}">{quote}</div><div style="display:grid;grid-template-columns:1fr 1fr;gap:2.5em">{columns}</div>'
    )


KINDS = {
    kind.__name__: kind for kind in (kakao, line, telegram, imessage, nested, dark, table, phone, reviews, article)
}


FONTCONFIG = "<fontconfig>{}<include>/etc/fonts/fonts.conf</include></fontconfig>"


def faces(path):
    """Write a configuration of fontconfig with the fonts; return their families."""
    folders, families = [font_file().parent], ["NanumGothic"]
    noto = util.find_spec("pylopdf_fonts_ko")
    if noto and noto.origin:
        folders.append(Path(noto.origin).parent)
        families += ["Noto Sans KR", "Noto Serif KR"]
    path.write_text(FONTCONFIG.format("".join(f"<dir>{folder}</dir>" for folder in folders)), encoding="utf-8")
    return families


def take(folder, count, seed, phones):
    """Write the pictures of `count` screens, kinds in turn, and lines.json; those of phones are all of one size."""
    folder.mkdir(parents=True, exist_ok=True)
    letters = PictureReader.load().letters.ids
    texts = [
        " ".join("".join(one for one in text if one in letters).split()) for text in nsmc.load("nsmc", "test").documents
    ]
    source = Source([text for text in texts if len(text) > 1], numpy.random.RandomState(seed))
    families = faces(folder / "fonts.conf")
    fonts = {**os.environ, "FONTCONFIG_FILE": str(folder.resolve() / "fonts.conf")}
    with pictures_in(folder, env=fonts) as (browser, pictures):
        for number in range(count):
            kind, family = list(KINDS)[number % len(KINDS)], source.pick(*families)
            size, scale, weight = (
                PHONE if phones else (source.pick(*SIZES), source.pick(*SCALES), source.pick(400, 400, 400, 700))
            )
            look = f"{CSS} body{{font-size:{size}px;font-family:'{family}';font-weight:{weight}}} html{{background:inherit}}"
            page = folder.resolve() / "page.html"
            page.write_text(
                f'<!doctype html><meta charset="utf-8"><style>{look}</style>{KINDS[kind](source)}', encoding="utf-8"
            )
            name = f"{number:03}-{kind}.png"
            lines = photograph(browser, page, 28 * size, scale, folder / name)
            if not phones and source.random.random_sample() < JPEG_SHARE:
                picture, name = folder / name, f"{number:03}-{kind}.jpg"
                Image.open(picture).convert("RGB").save(folder / name, quality=source.number(*QUALITIES))
                picture.unlink()
            about = {"kind": kind, "family": family, "size": size, "scale": scale}
            pictures[name] = {**about, "lines": lines}


def score(folder, verbose=False):
    """Print for each kind the share of lines found, the lines that are none, and the share of letters read wrong."""
    reader = PictureReader.load()
    sums: defaultdict = defaultdict(lambda: numpy.zeros(9))
    for name, about in known(folder):
        picture = Image.open(folder / name)
        picture.load()
        started = time.perf_counter()
        reading = reader(picture)
        seconds = time.perf_counter() - started
        true = numpy.array([line["box"] for line in about["lines"]])
        boxes = [line.box for line in reading.lines]
        hit, right = matches(true, numpy.array(boxes, "float64").reshape(-1, 4))
        wrong = [edit_distance(read_at(each["box"], reading.lines), each["text"]) for each in about["lines"]]
        letters = sum(len(each["text"]) for each in about["lines"])
        left_out = len(reading.left_out)
        for key in (about["kind"], f"{about['scale']}x", name[-3:], f"{min(about['size'], 30) // 5 * 5} px", "all"):
            sums[key] += len(hit), hit.sum(), wrong.count(0), (~right).sum(), letters, sum(wrong), left_out, seconds, 1
        if verbose:
            for each, found, errors in zip(about["lines"], hit, wrong):
                if not found or errors > 1:
                    print(name, "read" if found else "missed", errors, each, repr(read_at(each["box"], reading.lines)))
            for index in numpy.flatnonzero(~right):
                print(
                    name,
                    "false",
                    tuple(boxes[index]),
                    repr(reading.lines[index].text),
                    round(reading.lines[index].score, 2),
                )
    print(
        f"{'':12}{'lines':>7}{'found':>9}{'exact':>9}{'false':>7}{'letters wrong':>15}{'left out':>10}{'s/screen':>10}"
    )
    for key, (lines, hits, exact, false, letters, wrong, left_out, seconds, number) in sums.items():
        print(
            f"{key:12}{lines:7.0f}{hits / lines:9.2%}{exact / lines:9.2%}{false:7.0f}{wrong / letters:15.2%}{left_out:10.0f}{seconds / number:10.3f}"
        )


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phones", action="store_true", help="ten screens of a phone")
    arguments = parser.parse_args()
    if arguments.score:
        score(arguments.folder, arguments.verbose)
    else:
        take(arguments.folder, 10 if arguments.phones else arguments.count, arguments.seed, arguments.phones)


if __name__ == "__main__":
    main()
