"""`bulk`: files of any size on Dask."""

from collections.abc import Mapping

COMMANDS = ("bulk",)
NAMES: Mapping[str, str] = {}
