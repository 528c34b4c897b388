"""Manifests of earlier versions, brought to today's schema."""

from typing import Any

from ..config import SHORT_NAMES
from ..settings import KIND, paths
from .settings import Config, preset

# Settings that were added while schema 3 was written, with what was done before
ADDED = {"misspelt_fraction": 0.0}


def migrated(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest in today's schema; that of schema 3 (release 0.1) has settings by today's short names.

    KeyError, TypeError, AttributeError or ConfigError where it lacks a setting that it was trained with, or has
    something else in its place.
    """
    if manifest["schema"] != 3:
        return manifest
    config = manifest["config"]
    flat = {**ADDED, **config["text"], **config["model"], **config["training"]}
    if flat["architecture"] == "post":
        kinds = preset("post")
    else:
        kinds = Config().with_fields(encoder=flat["encoder"], attention=flat["attention"])
    names = {path: name for name, places in SHORT_NAMES.items() for path in places}
    values = {path: flat[names[path]] for path, _ in paths(kinds) if not path.endswith(KIND)}
    return {**manifest, "schema": 4, "config": kinds.with_settings(values).to_dict()}
