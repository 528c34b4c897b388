"""`serve`: an interactive page and an HTTP API."""

from collections.abc import Mapping

COMMANDS = ("serve",)
NAMES: Mapping[str, str] = {}
