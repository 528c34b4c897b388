"""The command line; see `main`."""

from .main import commands, main, run

__all__ = ["commands", "main", "run"]
