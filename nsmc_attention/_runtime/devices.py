"""The device that a network runs on. Imports MXNet."""

from typing import Any

from ..errors import ConfigError, did_you_mean
from .mxnet_shim import import_mxnet

DEVICES = ("auto", "cpu", "gpu")


def choose_device(name: str) -> Any:
    """Return the MXNet context for "auto", "cpu" or "gpu"; auto is the GPU if MXNet sees one.

    ConfigError for another name, and for "gpu" if there is none: MXNet itself would abort the process.
    """
    if name not in DEVICES:
        raise ConfigError(f"unknown device {name!r}{did_you_mean(name, DEVICES)}")
    mxnet = import_mxnet()
    gpus = mxnet.context.num_gpus() if name in ("auto", "gpu") else 0
    if name == "gpu" and not gpus:
        raise ConfigError(
            "--device gpu: expected a GPU that MXNet sees, found none; install a CUDA build "
            "(pip install mxnet-cu112==1.9.1) or use --device cpu"
        )
    return mxnet.gpu() if gpus else mxnet.cpu()
