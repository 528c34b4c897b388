"""The output columns of the command `restore`: those of every Restorer, and how many changes it made of what probability."""

from collections.abc import Iterable

from ...inference.reference import Row
from .restorer import TYPES, Restorer


class TableRestorer(Restorer):
    """A Restorer with `restore_changes`, their number, and `restore_probability`, the least of theirs, among its columns.

    The latter is None where nothing was changed, and of a writer, whose changes have none.
    """

    types = {"restored": "string", "restore_changes": "int64", "restore_probability": "double", **TYPES}

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return the values of `types` of each text."""
        rows = list[Row]()
        for restored in self.restore_stream(texts):
            changes = restored.changes
            least = min((each.probability for each in changes if each.probability is not None), default=None)
            rows.append((restored.text, len(changes), least, restored.error))
        return rows
