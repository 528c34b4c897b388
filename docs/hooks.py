"""What the built site needs to show all of itself without loading anything from outside.

Its own Hangul font, for machines without one: NanumGothic (SIL OFL) comes with the wheel of koreanize-matplotlib, which
the package needs anyway; only the characters that the pages have are kept, kilobytes of its megabytes. Formulas of
notebooks become MathML, which browsers draw themselves.
"""

import html
import logging
import re
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.DOTALL)
CODE = re.compile(r"(<pre\b.*?</pre>|<code\b.*?</code>)", re.DOTALL)
CELL = '<div class="jp-Cell '


def on_post_page(output, page, config):
    """Let the links of a notebook to docs/*.md lead to the site's pages, and draw its formulas."""
    if not page.file.src_uri.endswith(".ipynb"):
        return output
    output = re.sub(r'href="\.\./docs/([\w.-]+)\.md', r'href="../\1.html', output)
    first, *cells = output.split(CELL)
    return CELL.join([first, *(with_formulas(cell) if cell.startswith("jp-MarkdownCell") else cell for cell in cells)])


def with_formulas(cell):
    """Return the HTML of a Markdown cell, in which even parts are no code, with its LaTeX as MathML."""
    parts = CODE.split(cell)
    parts[::2] = [FORMULA.sub(as_mathml, part) for part in parts[::2]]
    return "".join(parts)


def as_mathml(formula):
    from latex2mathml.converter import convert

    block, inline = formula.groups()
    return convert(html.unescape(block or inline), "block" if block else "inline")


def on_post_build(config):
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
