"""What a report says, in Korean and English beside each other in phrases.json. Words in braces are filled in.

Phrases named _can and _cannot say what may be concluded from a section, and what may not.
"""

import json

from ..visualization.page import file

LANGUAGES = ("ko", "en")


def phrases(language: str) -> dict[str, str]:
    """Return the phrases in one of LANGUAGES, by key; no line ends before a percent sign."""
    pairs: dict[str, dict[str, str]] = json.loads(file("phrases.json", __package__))
    return {key: texts[language].replace(" %", "\u00a0%") for key, texts in pairs.items()}
