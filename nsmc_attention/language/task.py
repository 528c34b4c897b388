"""The task `language`: its bundles, their model card, and the system as a `Task`. Read without numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from .._runtime.later import later
from ..bundle.card import fill_card
from ..bundle.format import Bundle, Layout, Manifest, packaged
from ..task import Task
from .settings import LANGUAGE_PRESETS, LanguageConfig

if TYPE_CHECKING:
    from ..text.encoding import ReviewEncoder


def migrated(manifest: Manifest) -> Manifest:
    """Return a manifest that names the kind `replaced`, of which there is no training any more, as the one it contains."""
    config = manifest["config"]
    if config["model"]["kind"] != "replaced":
        return manifest
    model = {name: value for name, value in config["model"].items() if name != "detection"}
    return {**manifest, "config": {**config, "model": {**model, "kind": "masked"}}}


def language_card(manifest: Manifest) -> str:
    config, metrics = LanguageConfig.from_dict(manifest["config"]), manifest["metrics"]["dev"]
    return fill_card(
        Path(__file__).with_name("card.md"),
        config,
        manifest,
        accuracy=100 * metrics["accuracy"],
        among_five=100 * metrics["among_five"],
        perplexity=metrics["perplexity"],
        heads="heads" in config.graphs["model.onnx"].outputs,
    )


LAYOUT: "Layout[LanguageConfig, ReviewEncoder]" = Layout(
    LanguageConfig,
    "vocab.json",
    later("bundle.vocabulary", "read_encoder"),
    ("model.onnx",),
    packaged("pretrained_language"),
    language_card,
    migrated=migrated,
)
LanguageBundle = Bundle[LanguageConfig, "ReviewEncoder"]
LANGUAGE = Task(
    LAYOUT,
    LANGUAGE_PRESETS,
    "fill",
    load=later("language.model", "LanguageModel.from_bundle"),
    train=later("language.train", "train_language"),
)
