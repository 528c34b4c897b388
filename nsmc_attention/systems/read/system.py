"""The system `read`: a reader's bundles, their model card, and the system as a `System`. Read without numpy."""

from typing import TYPE_CHECKING

from ...bundle import Bundle, Layout, Manifest, packaged
from ...registry import System, later
from .settings import READ_PRESETS, ReadConfig

if TYPE_CHECKING:
    from .decoding import Letters


def card_values(config: ReadConfig, manifest: Manifest) -> dict[str, object]:
    metrics = manifest["metrics"]["dev"]
    return {name: 100 * metrics[name] for name in ("character_error", "ctc_error")}


LAYOUT: "Layout[ReadConfig, Letters]" = Layout(
    ReadConfig, "vocab.json", later("systems.read.decoding", "Letters.read"), packaged("pretrained_reader"), card_values
)
(READER,) = LAYOUT.packaged
ReaderBundle = Bundle[ReadConfig, "Letters"]
SYSTEM = System(
    LAYOUT,
    READ_PRESETS,
    "read",
    load=later("systems.read.reader", "PictureReader.from_bundle"),
    train=later("systems.read.train", "train_reader"),
)
