"""A bundle of any task -> its predictor."""

from pathlib import Path
from typing import Optional, Union

from ..bundle.format import load_bundle
from .film import FilmRater
from .language import LanguageModel
from .predictor import Classifier
from .restorer import Restorer

AnyPredictor = Union[Classifier, Restorer, LanguageModel, FilmRater]
PREDICTORS: dict[str, type[AnyPredictor]] = {
    each.task: each for each in (Classifier, Restorer, LanguageModel, FilmRater)
}


def load(bundle: Optional[Union[str, Path]] = None, engine: str = "auto", device: str = "auto") -> AnyPredictor:
    """Load the predictor for a bundle's task: a Classifier, Restorer, LanguageModel or FilmRater; None is the packaged
    classifier.

    Engine, device and errors are those of `load_classifier`.
    """
    verified = load_bundle(bundle, None)
    return PREDICTORS[verified.config.task].from_bundle(verified, engine, device)
