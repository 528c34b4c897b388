"""The names of engines and the choice of one; a bundle's network on MXNet."""

from collections.abc import Collection
from typing import Any, Literal

from ..bundle import PARAMETERS, AnyBundle
from ..errors import BundleError, ConfigError, did_you_mean
from ..model.parameters import Arrays

EngineName = Literal["auto", "native", "native-bf16", "onnx", "gluon"]
DeviceName = Literal["auto", "cpu", "gpu"]
# The engines of compiled kernels and the numbers of classifiers; editors are run by native alone, in 8 bits
PRECISIONS = {"native": "float32", "native-bf16": "bf16"}


def parameters_of(bundle: AnyBundle) -> tuple[Any, Arrays]:
    """Return the network of a bundle of any task, not initialized, and {name: array} of its parameters."""
    from ..model.parameters import loaded
    from ..model.tracing import parameter_shapes

    network, arrays = bundle.config.network(*bundle.codec.sizes), loaded(bundle.parameters())
    if parameter_shapes(network) != {name: array.shape for name, array in arrays.items()}:
        raise BundleError(f"{bundle.folder}: its {PARAMETERS} does not fit the config of its manifest; train again")
    return network, arrays


def gluon_network(bundle: AnyBundle, device: str) -> tuple[Any, Any]:
    """Return the network of a bundle of any task with its parameters, not hybridized, and the mxnet context that it is on."""
    from .._runtime.mxnet_shim import choose_device
    from ..model.parameters import initialize_from

    context = choose_device(device)
    network, arrays = parameters_of(bundle)
    initialize_from(network, arrays, context)
    return network, context


def chosen_engine(name: str, device: str, has_graphs: bool = True, known: Collection[str] = ("onnx", "gluon")) -> str:
    """Return one of `known` for the name of an engine; "auto" is onnx where there are graphs, on a GPU gluon.

    ConfigError where there is no such engine, or it does not run on the device.
    """
    if name == "auto":
        return "onnx" if has_graphs and device != "gpu" else "gluon"
    if name in PRECISIONS and name not in known:
        kinds = "classifiers" if "native" in known else "classifiers and editors"
        *first, last = known
        raise ConfigError(f"the {name} engine runs {kinds}: expected --engine {', '.join(['auto', *first])} or {last}")
    if name not in known:
        raise ConfigError(f"unknown engine {name!r}{did_you_mean(name, [*known, 'auto'])}")
    if name != "gluon" and device not in ("auto", "cpu"):
        raise ConfigError(
            f"the {name} engine runs on the CPU: expected --device auto or cpu, found {device!r}; "
            "for a GPU use --engine gluon"
        )
    return name


def companion_engine(name: str) -> str:
    """Return the engine of a restorer or language model beside a classifier on the engine called name."""
    return "auto" if name in PRECISIONS else name
