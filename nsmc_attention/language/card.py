"""The model card that a language model's bundle carries, written from its manifest alone."""

from pathlib import Path

from ..bundle.card import fill_card
from ..bundle.format import Manifest
from .settings import LanguageConfig

TEMPLATE = Path(__file__).with_name("card.md")


def language_card(manifest: Manifest) -> str:
    config, metrics = LanguageConfig.from_dict(manifest["config"]), manifest["metrics"]["dev"]
    return fill_card(
        TEMPLATE,
        config,
        manifest,
        accuracy=100 * metrics["accuracy"],
        among_five=100 * metrics["among_five"],
        perplexity=metrics["perplexity"],
        heads="heads" in config.graphs["model.onnx"].outputs,
    )
