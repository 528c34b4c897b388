"""What the built site needs to show all of itself without loading anything from outside, and a check of its links.

Its own Hangul font, for machines without one: NanumGothic (SIL OFL) comes with the wheel of koreanize-matplotlib, which
the package needs anyway; only the characters that the pages have are kept, kilobytes of its megabytes. Formulas of
notebooks become MathML, which browsers draw themselves.
"""

import html
import logging
import re
from html.parser import HTMLParser
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from urllib.parse import unquote, urlsplit

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.DOTALL)
CODE = re.compile(r"(<pre\b.*?</pre>|<code\b.*?</code>)", re.DOTALL)
CELL = '<div class="jp-Cell '
# Code that fits a phone's line, as `--method attention`, would be broken after a hyphen
SHORT = re.compile("<code>(?=[^<]{1,30}</code>)")
# Links of pages to files of the source folder that are no pages
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./(?!docs/)[^)]*|advisories\.md)\)")


def on_page_markdown(markdown, page, config, files):
    """Drop the links that lead out of the site."""
    return OUTSIDE.sub(r"\1", markdown)


def on_page_content(html, page, config, files):
    return SHORT.sub('<code class="whole">', html)


def on_post_page(output, page, config):
    """Let the links of a notebook to docs/*.md lead to the site's pages, and draw its formulas."""
    if not page.file.src_uri.endswith(".ipynb"):
        return output
    output = re.sub(r'href="\.\./docs/([\w.-]+)\.md', r'href="../\1.html', output)
    output = re.sub(r'href="(\w+)\.ipynb', r'href="\1.html', output)
    output = re.sub(r'<a href="\.\./benchmarks/[^"]*">(.*?)</a>', r"\1", output)
    # headings have ids of their Latin letters alone, the table of contents those of page.toc
    anchors = iter([item.id for item in flattened(page.toc)])
    output = re.sub(r'(?<=<h)([1-6]) id="[^"]*"', lambda match: f'{match[1]} id="{next(anchors, "")}"', output)
    first, *cells = output.split(CELL)
    return CELL.join([first, *(with_formulas(cell) if cell.startswith("jp-MarkdownCell") else cell for cell in cells)])


def flattened(items):
    for item in items:
        yield item
        yield from flattened(item.children)


def with_formulas(cell):
    """Return the HTML of a Markdown cell, in which even parts are no code, with its LaTeX as MathML."""
    parts = CODE.split(cell)
    parts[::2] = [FORMULA.sub(as_mathml, part) for part in parts[::2]]
    return "".join(parts)


def as_mathml(formula):
    from latex2mathml.converter import convert

    block, inline = formula.groups()
    drawn = convert(html.unescape(block or inline), display="block" if block else "inline")
    return f'<div class="formula">{drawn}</div>' if block else drawn


def on_post_build(config):
    check_links(Path(config["site_dir"]).resolve())
    write_font(config)


class Links(HTMLParser):
    """The links of a page, and the names that links to it may have."""

    def __init__(self, page):
        super().__init__()
        self.links, self.names = [], {""}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names |= {attributes.get("id"), attributes.get("name") if tag == "a" else None}
        self.links += filter(None, (attributes.get("href"), attributes.get("src")))


def check_links(site):
    """Warn of links within the site that lead nowhere, so that `mkdocs build --strict` fails."""
    # the links of 404.html begin at the address of the site
    pages = {page: Links(page) for page in site.rglob("*.html") if page.name != "404.html"}
    for page, links in pages.items():
        for link in links.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if target.is_dir():
                target /= "index.html"
            if not target.exists() or target in pages and unquote(parts.fragment) not in pages[target].names:
                logging.getLogger("mkdocs.hooks").warning("%s: broken link %s", page.relative_to(site), link)


def write_font(config):
    """Write site/hangul.woff, which style.css names."""
    try:
        from fontTools import subset

        (font,) = [file for file in files("koreanize-matplotlib") or () if file.name == "NanumGothic.ttf"]
    except (ImportError, PackageNotFoundError):
        logging.getLogger("mkdocs").info("no Hangul font: install nsmc_attention to have one in the site")
        return
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    site = Path(config["site_dir"])
    pages = "".join(page.read_text(encoding="utf-8") for page in site.rglob("*.html"))
    options = subset.Options(flavor="woff", layout_features=[])
    subsetter = subset.Subsetter(options)
    loaded = subset.load_font(str(font.locate()), options)
    subsetter.populate(text=pages)
    subsetter.subset(loaded)
    subset.save_font(loaded, str(site / "hangul.woff"), options)
