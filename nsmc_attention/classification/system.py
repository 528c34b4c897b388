"""The system `classify`: its bundles, their model card, and the system as a `System`. Read without numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from .._runtime.later import later
from ..bundle.card import in_yaml
from ..bundle.format import Bundle, Layout, Manifest, packaged
from ..errors import BundleError
from ..schema import KIND, paths
from ..system import System
from ..text.settings import TextConfig
from ..training.config import SHORT_NAMES
from .settings import LABELS, PRESETS, Config

if TYPE_CHECKING:
    from ..text.encoding import ReviewEncoder


def read_codec(content: bytes, path: Path, manifest: Manifest, config: Config) -> "ReviewEncoder":
    """Return the encoder; BundleError where the labels are others, or the vocabulary does not fit."""
    from ..bundle.vocabulary import read_encoder

    if manifest.get("labels") != list(LABELS):
        labels = str(manifest.get("labels"))[:60]
        raise BundleError(f"{path.with_name('manifest.json')}: expected the labels {list(LABELS)}, found {labels}")
    return read_encoder(content, path, manifest, config)


def migrated(manifest: Manifest) -> Manifest:
    """Return a manifest in today's schema; that of schema 3 (release 0.1) has settings by today's short names.

    KeyError, TypeError, AttributeError or ConfigError where it lacks a setting that it was trained with, or has
    something else in its place.
    """
    if manifest["schema"] != 3:
        return manifest
    config = manifest["config"]
    flat = {**TextConfig.introduced, **config["text"], **config["model"], **config["training"]}
    if flat["architecture"] == "post":
        kinds = PRESETS["post"]
    else:
        kinds = Config().with_fields(encoder=flat["encoder"], attention=flat["attention"])
    short = {path: name for name, candidates in SHORT_NAMES.items() for path in candidates}
    values = {path: flat[short[path]] for path, _ in paths(kinds) if not path.endswith(KIND)}
    return {**manifest, "schema": 4, "config": kinds.with_settings(values).to_dict()}


def card_values(config: Config, manifest: Manifest) -> dict[str, object]:
    data, attention, ngrams = manifest["data"], config.model.attention, config.text.ngram_buckets
    rows = [
        f"| {part} | {100 * figures['accuracy']:.2f} % | {figures['f1']:.4f} | {figures['log_loss']:.4f} "
        f"| {figures['ece']:.4f} |"
        for part, figures in manifest["metrics"].items()
    ]
    return {
        "begun": "adapted" not in manifest,
        "continued": "init_from" in data and "adapted" not in manifest,
        "datasets": in_yaml(data["train"]["name"]),
        "tokenizer": manifest["tokenizer_version"] or config.text.tokenizer,
        "rows": "\n".join(rows),
        "fixed_length": config.fixed_length,
        "attentive": attention.kind != "uniform",
        "pieces": config.text.rare_words == "pieces",
        "symbols": config.text.symbols,
        "ngrams": ngrams,
        "last_bucket": ngrams - 1,
        f"rows_of_{attention.rows}": True,
        "contributions": "contributions" in config.model.outputs,
    }


LAYOUT = Layout(
    Config,
    "vocab.json",
    read_codec,
    ("model.onnx",),
    packaged("pretrained"),
    card_values,
    named=False,
    migrated=migrated,
)
ClassifierBundle = Bundle[Config, "ReviewEncoder"]
SYSTEM = System(
    LAYOUT,
    PRESETS,
    "predict",
    load=later("classification.predictor", "Classifier.from_bundle"),
    train=later("classification.train", "train_classifier"),
    labels=("label_column", "stars_column", "positive"),
    continuing=later("classification.origins", "continuing"),
)
