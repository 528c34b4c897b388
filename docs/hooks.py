"""Give the built site its own Hangul font, so that machines without one show the Korean words.

NanumGothic (SIL OFL) comes with the wheel of koreanize-matplotlib, which the package needs anyway. Only the
characters that the pages have are kept, which makes kilobytes of its megabytes.
"""

import logging
import re
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path


def on_post_page(output, page, config):
    """Let the links of a notebook to docs/*.md lead to the site's pages."""
    is_notebook = page.file.src_uri.endswith(".ipynb")
    return re.sub(r'href="\.\./docs/([\w.-]+)\.md', r'href="../\1.html', output) if is_notebook else output


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
