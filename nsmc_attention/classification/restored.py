"""Reviews restored, then classified: the two predictors in turn, used as one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy
from numpy.typing import NDArray

from ..inference.reference import Reference, Row
from ..restoration.restorer import Restorer, packaged_restorer
from ..reviews.pieces import cut
from .predictor import WINDOW, Classifier

# Whether to restore: False, True (by the restorer that ships with the package), or by which
Restore = Union[bool, Restorer]


@dataclass(frozen=True)
class RestoringReference:
    """The references that load a RestoringClassifier in another process."""

    restorer: Reference
    classifier: Reference

    def load(self, device: str = "auto", threads: Optional[int] = None) -> "RestoringClassifier":
        return RestoringClassifier(self.restorer.load(device, threads), self.classifier.load(device, threads))


@dataclass(frozen=True)
class RestoringClassifier:
    """A classifier that is given restored texts; its output columns are the restorer's, then its own."""

    restorer: Restorer
    classifier: Classifier

    @property
    def types(self) -> Mapping[str, str]:
        return {**self.restorer.types, **self.classifier.types}

    @property
    def reference(self) -> RestoringReference:
        return RestoringReference(self.restorer.reference, self.classifier.reference)

    def probabilities(self, texts: Iterable[str]) -> NDArray[numpy.float64]:
        """Return (N,), the probability of positive of each restored text; NaN where it is blank."""
        return self.classifier.probabilities(restored.text for restored in self.restorer.restore_stream(texts))

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return the row of the restorer and that of the classifier of each text, as one."""
        restored = self.restorer.rows(texts)
        scored = self.classifier.rows(text for text, _ in restored)
        return [(*one, *other) for one, other in zip(restored, scored)]

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[dict[str, Any]]:
        """Yield `Prediction.to_dict()` of each restored text, after its source, `restored` and any `restore_error`."""
        for part in cut(texts, WINDOW, len):
            # without the alignments, which take more memory than the texts
            restored = [(one.source, one.text, one.error) for one in self.restorer.restore_stream(part)]
            scored = self.classifier.objects((text for _, text, _ in restored), weights)
            for (source, text, error), values in zip(restored, scored):
                reason = {"restore_error": error} if error else {}
                yield {"source": source, "restored": text, **reason, **values}


def restoring(classifier: Classifier, restore: Restore = False) -> Union[Classifier, RestoringClassifier]:
    """Return the classifier, of restored texts where `restore` says so."""
    if not restore:
        return classifier
    return RestoringClassifier(packaged_restorer() if restore is True else restore, classifier)
