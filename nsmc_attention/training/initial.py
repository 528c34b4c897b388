"""The parameters that a training begins with: random numbers, or those of a bundle (`--init-from`)."""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Optional, Union

from ..bundle import AnyBundle, Layout, load_any
from ..errors import ConfigError
from ..machine.aliases import Device, Network
from ..machine.mxnet_shim import import_mxnet
from ..schema import TaskConfig, paths
from .description import flags, nearest_preset

Beginning = Callable[[Network], None]
# The word for the packaged bundle of a task
PACKAGED = "pretrained"


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


def first_bundle(init_from: Union[str, Path, None], *layouts: Layout[Any, Any]) -> Optional[AnyBundle]:
    """Return the bundle of one of these tasks that a training begins with; None for None.

    `init_from` is a path, or the name of a bundle that came with the package: `pretrained` is the first task's.
    BundleError as of `load_bundle`.
    """
    if init_from is None:
        return None
    names = {path.name: path for layout in layouts for path in layout.packaged}
    return load_any({PACKAGED: layouts[0].packaged[0], **names}.get(str(init_from), Path(init_from)), layouts)


def sizes_of(config: Any) -> dict[str, Any]:
    """Return {path: value} of the settings by which a network has other parameters, or makes other use of them."""
    model = {name: value for name, value in paths(config) if name.startswith("model.") and not name.endswith("dropout")}
    placed = any(name.endswith("positions") and value != "relative" for name, value in model.items())
    return {**model, **({"text.max_length": config.text.max_length} if placed else {})}


def check_sizes(
    config: TaskConfig,
    first: AnyBundle,
    presets: Mapping[str, TaskConfig],
    wanted: Callable[[Any], Mapping[str, object]] = sizes_of,
) -> None:
    """Raise ConfigError, with the flags to give, unless a config has the wanted settings of the bundle it begins with."""
    other = config.with_settings(wanted(first.config))
    if other.model.kind != config.model.kind:
        words = ["--preset", nearest_preset(other, presets)[0]]
    else:
        words = flags(other, config)
    if words:
        raise ConfigError(f"--init-from {first.folder}: expected the sizes of that bundle; give {shlex.join(words)}")
