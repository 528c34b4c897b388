"""Model cards: a system's template, `card.md` in its folder, filled from a bundle's manifest."""

import json
import re
from pathlib import Path

from ..config import TaskConfig
from .format import Manifest

# What is shown only where a value is true; within a line, or lines of their own
OPTIONAL = re.compile(r"<!-- if (\w+) -->(\n?)(.*?)<!-- end -->\2", re.DOTALL)


def fill_card(template: Path, config: TaskConfig, manifest: Manifest, **values: object) -> str:
    """Return the card as Markdown with YAML front matter, as model hubs read it.

    A template has fields as `str.format` does, and parts from `<!-- if NAME -->` to `<!-- end -->`. Names are those of the
    manifest, of its data and of `values`; and `config` and `network`, what the network is.
    """
    known = {**manifest, **manifest["data"], "config": config, "network": config.model.describe(), **values}
    text = OPTIONAL.sub(lambda match: match[3] if known.get(match[1]) else "", template.read_text(encoding="utf-8"))
    return text.format_map(known)


def in_yaml(name: str) -> str:
    """Return a list of one name as YAML reads it: as JSON has it, unless it is plainly a word."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name)
    return f"[{name}]" if plain else json.dumps([name], ensure_ascii=False)
