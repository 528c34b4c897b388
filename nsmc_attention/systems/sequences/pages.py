"""The page that systems write their results into."""

from pathlib import Path

from ...machine.files import write_text
from ...views.page import OWN_CHARACTERS, file, filled, font_of, in_base64


def write_page(path: Path, content: str, title: str, about: str, language: str) -> None:
    """Write a page of HTML with a heading, a paragraph about it, and the letters that it needs of the Hangul font."""
    font = in_base64(font_of({*OWN_CHARACTERS, *title, *about, *content}))
    fillings = {"LANGUAGE": language, "TITLE": title, "FONT_AS_BASE64": font, "HEADING": title, "ABOUT": about}
    write_text(path, filled(file("results.html", __package__), **fillings, CONTENT=content))
