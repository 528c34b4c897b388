"""What the model cards of all systems share."""

import json
import re


def in_yaml(name: str) -> str:
    """Return a list of one name as YAML reads it: as JSON has it, unless it is plainly a word."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name)
    return f"[{name}]" if plain else json.dumps([name], ensure_ascii=False)
