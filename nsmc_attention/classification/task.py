"""The task `classify`: its bundles, their model card, and the system as a `Task`. Read without numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from .._runtime.later import later
from ..bundle.card import fill_card, in_yaml
from ..bundle.format import Bundle, Layout, Manifest, packaged
from ..config import SHORT_NAMES
from ..errors import BundleError
from ..settings import KIND, paths
from ..task import Task
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
    flat = {**config["text"], **config["model"], **config["training"]}
    if flat["architecture"] == "post":
        kinds = PRESETS["post"]
    else:
        kinds = Config().with_fields(encoder=flat["encoder"], attention=flat["attention"])
    short = {path: name for name, candidates in SHORT_NAMES.items() for path in candidates}
    values = {path: flat[short[path]] for path, _ in paths(kinds) if not path.endswith(KIND)}
    return {**manifest, "schema": 4, "config": kinds.with_settings(values).to_dict()}


def model_card(manifest: Manifest) -> str:
    config, data = Config.from_dict(manifest["config"]), manifest["data"]
    rows = [
        f"| {part} | {100 * figures['accuracy']:.2f} % | {figures['f1']:.4f} | {figures['log_loss']:.4f} "
        f"| {figures['ece']:.4f} |"
        for part, figures in manifest["metrics"].items()
    ]
    return fill_card(
        Path(__file__).with_name("card.md"),
        config,
        manifest,
        datasets=in_yaml(data["train"]["name"]),
        tokenizer=manifest["tokenizer_version"] or config.text.tokenizer,
        pretraining=data.get("pretraining"),
        rows="\n".join(rows),
        fixed_length=config.fixed_length,
        attentive=config.model.attention.kind != "uniform",
        pieces=config.text.rare_words == "pieces",
        ngrams=config.text.ngram_buckets,
        last_bucket=config.text.ngram_buckets - 1,
        rows_of_queries=config.model.attention.rows == "queries",
        rows_of_hops=config.model.attention.rows == "hops",
    )


LAYOUT = Layout(
    Config,
    "vocab.json",
    read_codec,
    ("model.onnx",),
    packaged("pretrained"),
    model_card,
    named=False,
    migrated=migrated,
)
ClassifierBundle = Bundle[Config, "ReviewEncoder"]
CLASSIFY = Task(
    LAYOUT,
    PRESETS,
    "predict",
    load=later("classification.predictor", "Classifier.from_bundle"),
    train=later("classification.train", "train_classifier"),
)
