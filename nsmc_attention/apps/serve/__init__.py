"""`serve`: an interactive page and an HTTP API."""

COMMANDS = ("serve",)
