"""The command line `nsmc-attention`: `app` runs it, the other files hold the commands."""

from .app import commands, main, run

__all__ = ["commands", "main", "run"]
