"""Manifests of earlier versions, brought to today's schema."""

from typing import Any

# training settings of schema 3 that are now in a section of their own: {section: {name now: name then}}
SECTIONS = {
    "stars": {"epochs": "pretrain_epochs", "learning_rate": "pretrain_learning_rate"},
    "labels": {"epochs": "epochs", "learning_rate": "learning_rate", "patience": "patience"},
    "erasure": {"reviews": "erasure_reviews", "epochs": "erasure_epochs", "learning_rate": "erasure_learning_rate"},
}
# settings that were added while schema 3 was written, with what was done before
ADDED = {"misspelt_fraction": 0.0}
# settings of schema 3 that each kind of attention has: {name now: name then}
ATTENTION = {
    "additive": {"dropout": "attention_dropout", "units": "attention_units"},
    "multihead": {"dropout": "attention_dropout", "heads": "attention_heads"},
    "uniform": {},
}


def migrated(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest of schema 3 (release 0.1) as one of schema 4, whose settings are nested by kind.

    Raises
    ------
    KeyError, TypeError, AttributeError
        It lacks a setting that it was trained with, or has something else in its place.
    """
    config = manifest["config"]
    changed = {"text": config["text"], "model": model(config["model"]), "training": training(config["training"])}
    return {**manifest, "schema": 4, "config": changed}


def model(flat: dict[str, Any]) -> dict[str, Any]:
    if flat["architecture"] == "post":
        return {"kind": "article", "embedding_size": flat["embedding_size"], "hidden_size": flat["hidden_size"]}
    encoder = {"kind": flat["encoder"], **({"hidden_size": flat["hidden_size"]} if flat["encoder"] == "gru" else {})}
    names = ATTENTION.get(flat["attention"], {"dropout": "attention_dropout"})
    attention = {"kind": flat["attention"], **{now: flat[then] for now, then in names.items()}}
    same = {name: flat[name] for name in ("embedding_size", "dropout", "word_dropout")}
    return {"kind": "classifier", "encoder": encoder, "attention": attention, **same}


def training(flat: dict[str, Any]) -> dict[str, Any]:
    sections = {name: {now: flat[then] for now, then in names.items()} for name, names in SECTIONS.items()}
    moved = {then for names in SECTIONS.values() for then in names.values()}
    return {**ADDED, **sections, **{name: value for name, value in flat.items() if name not in moved}}
