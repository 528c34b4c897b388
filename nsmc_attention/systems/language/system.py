"""The system `language`: its bundles, their model card, and the system as a `System`. Read without numpy."""

from typing import TYPE_CHECKING

from ...bundle import Bundle, Layout, Manifest, packaged, read_encoder
from ...registry import System, later
from .settings import LANGUAGE_PRESETS, LanguageConfig

if TYPE_CHECKING:
    from ...text.encoding import ReviewEncoder


def card_values(config: LanguageConfig, manifest: Manifest) -> dict[str, object]:
    metrics = manifest["metrics"]["dev"]
    shares = {name: 100 * metrics[name] for name in ("accuracy", "among_five")}
    return {**shares, "perplexity": metrics["perplexity"], "heads": "heads" in config.graphs["model.onnx"].outputs}


LAYOUT: "Layout[LanguageConfig, ReviewEncoder]" = Layout(
    LanguageConfig, "vocab.json", read_encoder, packaged("pretrained_language"), card_values
)
LanguageBundle = Bundle[LanguageConfig, "ReviewEncoder"]
SYSTEM = System(
    LAYOUT,
    LANGUAGE_PRESETS,
    "fill",
    load=later("systems.language.model", "LanguageModel.from_bundle"),
    train=later("systems.language.train", "train_language"),
)
