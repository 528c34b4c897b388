"""`serve`: an interactive page and an HTTP API."""
