"""The system `classify`: its bundles, their model card, and the system as a `System`. Read without numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..bundle import Bundle, Layout, Manifest, in_yaml, packaged, read_encoder
from ..errors import BundleError
from ..registry import System, later
from .settings import LABELS, PRESETS, Config

if TYPE_CHECKING:
    from ..text.encoding import ReviewEncoder


def read_codec(content: bytes, path: Path, manifest: Manifest, config: Config) -> "ReviewEncoder":
    """Return the encoder; BundleError where the labels are others, or the vocabulary does not fit."""
    if manifest.get("labels") != list(LABELS):
        labels = str(manifest.get("labels"))[:60]
        raise BundleError(f"{path.with_name('manifest.json')}: expected the labels {list(LABELS)}, found {labels}")
    return read_encoder(content, path, manifest, config)


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


LAYOUT = Layout(Config, "vocab.json", read_codec, packaged("pretrained"), card_values)
ClassifierBundle = Bundle[Config, "ReviewEncoder"]
SYSTEM = System(
    LAYOUT,
    PRESETS,
    "predict",
    load=later("classifier.predictor", "Classifier.from_bundle"),
    train=later("classifier.train", "train_classifier"),
    options=("valid", "init_from", "teacher", "sentences", "label_column", "stars_column", "positive"),
    continuing=later("classifier.origins", "continuing"),
)
