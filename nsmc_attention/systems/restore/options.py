"""A restorer's options of `train` and `serve`, and `--restore` of the commands that classify."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Optional, Union

from ...cli.declare import option
from ...cli.options import Beginning as TrainOptions
from ...cli.options import Model

__all__ = ["ScoringOptions", "ServeOptions", "TrainOptions"]

if TYPE_CHECKING:
    from ...classifier.predictor import Classifier
    from ...scoring.reference import Scorer
    from .restorer import Restorer


class ScoringOptions(NamedTuple):
    """The choice to restore texts before they are classified, and the bundle that does."""

    restore: bool = option("correct spacing and spelling if the classifier is unsure, and classify the corrected text")
    restorer: Optional[Path] = option(
        "bundle that restores; implies --restore  [default: the packaged editor]", "--restore-bundle"
    )

    @property
    def bundle(self) -> Union[bool, Path]:
        """False, True for the packaged restorer, or a bundle."""
        return self.restorer or self.restore

    def over(self, classifier: "Classifier", model: Model) -> "Scorer":
        """Return the classifier of a model, of restored texts where texts are to be restored."""
        if not self.bundle:
            return classifier
        from .corrections import over

        return over(classifier, self.load(model))

    def load(self, model: Model) -> Union[Literal[False], "Restorer"]:
        """Return the restorer on the engine and device of a model, False where texts are not to be restored."""
        if not self.bundle:
            return False
        from ...bundle import load_bundle
        from .engines import engine_beside
        from .restorer import Restorer

        bundle = load_bundle(self.restorer, Restorer.layout)
        return Restorer.from_bundle(bundle, engine_beside(bundle, model.engine), model.device)


class ServeOptions(NamedTuple):
    """The bundle of `serve`."""

    restore_bundle: Optional[Path] = option("bundle that corrects spacing and spelling  [default: the packaged editor]")
