"""`report`: one page about the reviews of a table."""

from collections.abc import Mapping

COMMANDS = ("report",)
NAMES: Mapping[str, str] = {}
