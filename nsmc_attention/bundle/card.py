"""Model cards: a system's template, `card.md` in its folder, filled from a bundle's manifest."""

import inspect
import json
import re
from pathlib import Path
from typing import Any

from .format import Layout, Manifest

# What is shown only where a value is true; within a line, or lines of their own
OPTIONAL = re.compile(r"<!-- if (\w+) -->(\n?)(.*?)<!-- end -->\2", re.DOTALL)


def model_card(layout: Layout[Any, Any], manifest: Manifest) -> str:
    """Return the card of a manifest as Markdown with YAML front matter, as model hubs read it.

    A template, `card.md` beside the settings, has fields as `str.format` does, and parts from `<!-- if NAME -->` to
    `<!-- end -->`. Names are those of the manifest, of its data and of `Layout.card`; and `config` and `network`.
    """
    config = layout.config.from_dict(manifest["config"])
    network, template = config.model.describe(), Path(inspect.getfile(layout.config)).with_name("card.md")
    known = {**manifest, **manifest["data"], "config": config, "network": network, **layout.card(config, manifest)}
    text = OPTIONAL.sub(lambda match: match[3] if known.get(match[1]) else "", template.read_text(encoding="utf-8"))
    return text.format_map(known)


def in_yaml(name: str) -> str:
    """Return a list of one name as YAML reads it: as JSON has it, unless it is plainly a word."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name)
    return f"[{name}]" if plain else json.dumps([name], ensure_ascii=False)
