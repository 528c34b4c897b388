"""The settings of a film network and of its training, and the presets. Read without MXNet."""

from typing import TYPE_CHECKING, ClassVar

from ...bundle import Bundle, Layout, Manifest, packaged
from ...machine.aliases import Network
from ...network.attention import Additive, Attention, Uniform
from ...network.graphs import Graphs, Interface
from ...registry import later
from ...schema import LoopConfig, Settings, TaskConfig, kinds, section, setting

if TYPE_CHECKING:
    from .pooling import Scale

# Kinds of attention over the reviews of a film
POOLINGS: dict[str, type[Attention]] = {kind.kind: kind for kind in (Additive, Uniform)}


class PoolingConfig(Settings):
    """A network that predicts a film's mean stars from its set of reviews, in any order."""

    kind = "pooling"
    units: int = setting(64, "units of a review's value (D)", low=1, high=4096)
    attention: Attention = kinds(POOLINGS, Additive(), "how reviews are weighed; uniform: all alike")
    output_units: int = setting(64, "units of the hidden layer after the pooling", low=1, high=4096)
    dropout: float = setting(0.2, "dropout after the pooling", low=0.0, high=0.95)

    def describe(self) -> str:
        """Return the network in words, for model cards."""
        return "Attention over reviews" if self.attention.kind != "uniform" else "The average of reviews"


class FilmTrainingConfig(LoopConfig):
    """Settings of the training of `film`; a batch consists of films."""

    batch_size: int = setting(64, "films in a batch", low=1)
    dev_fraction: float = setting(
        0.1, "share of the films that choose the epoch and widen the intervals", low=0.01, high=0.4
    )
    test_fraction: float = setting(0.1, "share of the films in the test part", low=0.01, high=0.4)
    epochs: int = setting(150, "epochs, each with other reviews of the films", low=1)
    learning_rate: float = setting(2e-3, "maximum step size of Adam", low=0.0)
    patience: int = setting(30, "epochs without a better dev loss before stopping", low=1)
    given: int = setting(
        64, "maximum number of given reviews per film; the target is the mean rating of the others", low=1, high=1024
    )


class FilmConfig(TaskConfig):
    """A whole training of `film` in one value."""

    task: ClassVar[str] = "film"
    model: PoolingConfig = kinds({"pooling": PoolingConfig}, PoolingConfig(), "the network")
    training: FilmTrainingConfig = section(FilmTrainingConfig(), "how the network is trained")

    @property
    def graphs(self) -> Graphs:
        """The ONNX graphs: F features of a review, D units of its value, P units of the pooled vector."""
        return {
            "reviews.onnx": Interface({"vectors": ("N", "F")}, {"scores": ("N",), "values": ("N", "D")}),
            "film.onnx": Interface({"pooled": ("N", "P"), "counts": ("N", 1)}, {"quantiles": ("N", 3)}),
        }

    def network(self, inputs: int) -> Network:
        """Build the network, its parameters not yet initialized, for reviews with `inputs` features."""
        from .network import FilmNetwork

        return FilmNetwork(inputs, self.model)


FILM_PRESETS = {"pooling": FilmConfig()}


def card_values(config: FilmConfig, manifest: Manifest) -> dict[str, object]:
    rows = [
        f"| {count} | {figures['absolute_error']:.3f} | {100 * figures['inside']:.1f} % | {figures['width']:.2f} |"
        for count, figures in manifest["metrics"]["test"].items()
    ]
    return {"rows": "\n".join(rows)}


LAYOUT: "Layout[FilmConfig, Scale]" = Layout(
    FilmConfig,
    "scale.json",
    later("systems.film.pooling:Scale.from_json"),
    packaged("pretrained_film"),
    card_values,
    FILM_PRESETS,
)
FilmBundle = Bundle[FilmConfig, "Scale"]
