"""The parameters that a training begins with: random numbers, or those of a bundle (`--init-from`)."""

from collections.abc import Callable, Mapping
from typing import Optional

from .._runtime.mxnet_shim import import_mxnet
from .._runtime.mxnet_types import Device, Network
from ..errors import ConfigError
from ..model.parameters import Arrays, set_parameters, snapshot

Beginning = Callable[[Network], None]


def initialize(
    network: Network, seed: int, device: Device, first_call: Callable[[], object], begin: Optional[Beginning] = None
) -> None:
    """Draw a network's parameters, all of which exist after `first_call`; `begin` then changes them."""
    mxnet = import_mxnet()
    mxnet.random.seed(seed)
    network.initialize(mxnet.init.Xavier(), ctx=device)
    first_call()
    if begin:
        begin(network)


def init_from_same(network: Network, arrays: Arrays) -> None:
    """Give a network all parameters of another of the same settings and vocabulary; ConfigError where they differ."""
    hint = "give the model settings of that bundle, which its manifest.json has"
    check_shapes(snapshot(network), {name: array.shape for name, array in arrays.items()}, "", hint)
    set_parameters(network, arrays)


def check_shapes(own: Arrays, expected: Mapping[str, tuple[int, ...]], prefix: Optional[str], hint: str) -> None:
    """Raise ConfigError unless parameters have the expected shapes, and none else begins with the prefix."""
    others = [name for name in own if prefix is not None and name.startswith(prefix)]
    for name in {**expected, **dict.fromkeys(others)}:
        shape = own[name].shape if name in own else None
        if shape != expected.get(name):
            raise ConfigError(f"--init-from: expected {name} of {expected.get(name)}, found {shape}; {hint}")
