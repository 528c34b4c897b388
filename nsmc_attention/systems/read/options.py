"""A reader's options of `train` and `serve`."""

from pathlib import Path
from typing import NamedTuple, Optional

from ...cli.declare import option
from ...cli.options import Beginning as TrainOptions

__all__ = ["ServeOptions", "TrainOptions"]


class ServeOptions(NamedTuple):
    """The bundle of `serve`."""

    read_bundle: Optional[Path] = option("bundle that reads screenshots  [default: the packaged reader]")
