"""The vocabulary of a bundle, and whether it is the one that the network was trained with."""

from collections.abc import Sized
from pathlib import Path
from typing import Protocol

from ..errors import BundleError
from ..text.encoding import ReviewEncoder
from ..text.settings import WordSettings
from ..text.tokenizers import tokenizer_version
from .format import Manifest


class WordConfig(Protocol):
    """The settings of a training on words."""

    @property
    def text(self) -> WordSettings: ...


def read_encoder(content: bytes, path: Path, manifest: Manifest, config: WordConfig) -> ReviewEncoder:
    """Return what turns texts into the ids of words; BundleError if it is not what the network was trained with."""
    made_with, installed = manifest.get("tokenizer_version"), tokenizer_version(config.text.tokenizer)
    if made_with != installed:
        raise BundleError(
            f"{path.parent}: its vocabulary was made with {made_with}, found {installed}; other versions give "
            "other tokens: install the ones named first, or train again"
        )
    encoder = ReviewEncoder.from_json(content, config.text, where=path)
    check_count(encoder, path, manifest)
    return encoder


def check_count(vocabulary: Sized, path: Path, manifest: Manifest) -> None:
    """Raise BundleError unless a vocabulary has as many entries as the manifest says."""
    if len(vocabulary) != manifest.get("vocabulary"):
        raise BundleError(f"{path}: expected a vocabulary of {manifest.get('vocabulary')}, found {len(vocabulary)}")
