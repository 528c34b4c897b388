"""The model card that a classifier's bundle carries, written from its manifest alone."""

from pathlib import Path

from ..bundle.card import fill_card, in_yaml
from ..bundle.format import Manifest
from .settings import Config

TEMPLATE = Path(__file__).with_name("card.md")


def model_card(manifest: Manifest) -> str:
    config, data = Config.from_dict(manifest["config"]), manifest["data"]
    rows = [
        f"| {part} | {100 * figures['accuracy']:.2f} % | {figures['f1']:.4f} | {figures['log_loss']:.4f} "
        f"| {figures['ece']:.4f} |"
        for part, figures in manifest["metrics"].items()
    ]
    return fill_card(
        TEMPLATE,
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
