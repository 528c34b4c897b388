"""Reviews classified, and those in doubt restored and classified again: two predictors as one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from ...bundle import load_bundle
from ...classifier.predictor import WINDOW, Classifier
from ...errors import check_kind
from ...machine.aliases import Record
from ...scoring.reference import Reference, Row, check_texts
from ...tables.parts import cut
from ...text.encoding import clean
from .engines import engine_beside
from .restorer import Restorer, packaged_restorer

# A label of at least this probability is not asked for again: `python -m benchmarks.restoration.doubtful`
SURE_LABEL = 0.8
checked = partial(check_texts, kind="reviews", advice="give it in a list")
# Whether to restore: False, True (by the restorer that ships with the package), or by which
Restore = Union[bool, Restorer]


@dataclass(frozen=True)
class RestoringClassifier:
    """A classifier that is given the restored text where it is less than SURE_LABEL of a text as it was typed.

    Its output columns are the restorer's, then its own. Of a text that was not restored, `restored` is the clean text. Of
    references to a Restorer and a Classifier it is the reference that loads both in another process.
    """

    restorer: Any
    classifier: Any

    @property
    def types(self) -> Mapping[str, str]:
        return {**self.restorer.types, **self.classifier.types}

    @property
    def judge(self) -> Any:
        return self.classifier

    @property
    def reference(self) -> "RestoringClassifier":
        return RestoringClassifier(self.restorer.reference, self.classifier.reference)

    def load(self, device: str = "auto", threads: Optional[int] = None) -> "RestoringClassifier":
        return RestoringClassifier(*(each.load(device, threads) for each in (self.restorer, self.classifier)))

    def judged(self, texts: list[str]) -> tuple[list[Row], list[Row]]:
        """Return the restorer's row of each text, and the classifier's of what it says."""
        results = self.classifier.rows(texts)
        found = numpy.array([probability for *_, probability, _ in results], dtype="float64")
        cleaned = [*map(clean, texts)]
        rows: list[Row] = [(text, None) for text in cleaned]
        # also blank texts, whose probability is no number
        doubtful = numpy.flatnonzero(~(numpy.maximum(found, 1 - found) >= SURE_LABEL)).tolist()
        for place, row in zip(doubtful, self.restorer.rows(texts[place] for place in doubtful)):
            rows[place] = row
        changed = [place for place in doubtful if rows[place][0] != cleaned[place]]
        for place, result in zip(changed, self.classifier.rows(rows[place][0] for place in changed)):
            results[place] = result
        return rows, results

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return the row of the restorer and that of the classifier of each text, as one."""
        return [(*row, *result) for row, result in zip(*self.judged(list(checked(texts))))]

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[Record]:
        """Yield `Prediction.to_dict()` of each restored text, after its source, `restored` and any `restore_error`."""
        for part in cut(checked(texts), WINDOW, len):
            rows, _ = self.judged(part)
            scored = self.classifier.objects((text for text, _ in rows), weights)
            for source, (text, error), values in zip(part, rows, scored):
                reason = {"restore_error": error} if error else {}
                yield {"source": clean(source), "restored": text, **reason, **values}


def over(classifier: Classifier, restore: Restore = False) -> Union[Classifier, RestoringClassifier]:
    """Return the classifier, of restored texts where `restore` says so."""
    check_kind("restore", restore, bool, Restorer)
    if not restore:
        return classifier
    return RestoringClassifier(packaged_restorer() if restore is True else restore, classifier)


def reference(classifier: Reference, restore: Union[bool, str, Path], engine: str) -> RestoringClassifier:
    """Return the reference that loads `over` in another process, by the packaged editor (True) or a bundle."""
    editor = load_bundle(None if isinstance(restore, bool) else restore, Restorer.layout)
    return RestoringClassifier(Reference.of(Restorer, editor, engine_beside(editor, engine)), classifier)
