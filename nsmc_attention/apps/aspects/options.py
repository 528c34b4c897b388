"""`--aspects` of `predict`, and the list of words of `report`."""

from pathlib import Path
from typing import Any, NamedTuple, Optional

from ...cli.declare import option


class ReportOptions(NamedTuple):
    aspects_file: Optional[Path] = option("table with the columns word and aspect  [default: the words of films]")


class ColumnOptions(NamedTuple):
    aspects: bool = option("add a column for each aspect (praised or criticised): 연기, 이야기, 연출, ...")
    aspects_file: Optional[Path] = option("the same for your own words: a table with the columns word and aspect")

    def over(self, scorer: Any, model: object) -> Any:
        """Return the scorer, with aspects where they are asked for."""
        from .aspects import AspectReader
        from .clauses import read_words

        return AspectReader(scorer, read_words(self.aspects_file)) if self.aspects or self.aspects_file else scorer
