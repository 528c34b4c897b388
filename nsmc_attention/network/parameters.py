"""A network's parameters as arrays by structural name, and their form in a bundle.

A bundle stores TABLES as int8 with a float16 scale a row, and the table of n-grams as float16, as all matrices of a network
with `matrices_as`. A trained network is rounded to these values: all files of a bundle hold the same numbers.
"""

import numpy
from numpy.typing import NDArray

from ..machine.aliases import Device, Network, Numbers
from ..machine.mxnet_shim import import_mxnet

Arrays = dict[str, Numbers]

TABLES = (
    "embedding",
    "embedding.weight",
    "embed.weight",
    "reader.embedding.weight",
    "source.reader.embedding.weight",
    "step.embedding.weight",
    # the largest matrices of a writer, whose bundle would exceed 6 MB otherwise
    "step.cell.i2h_weight",
    "step.combine.weight",
    "step.output.weight",
)
# Has two numbers a row: a scale would cost as much as it saves
NGRAM_TABLE = "ngram_table.weight"
SCALE = ".scale"
INT8_MAX = 127
# Log-odds of n-grams, the token's and the previous token's, that are added to its query and key
EVIDENCE = 2
CLASSES = 2


def snapshot(network: Network) -> Arrays:
    """Return {name: array} of the network's parameters."""
    return {name: parameter.data().asnumpy() for name, parameter in network._collect_params_with_prefix().items()}


def set_parameters(network: Network, arrays: Arrays) -> None:
    """Set an initialized network's parameters of these names."""
    nd, parameters = import_mxnet().nd, network._collect_params_with_prefix()
    for name, array in arrays.items():
        # as MXNet arrays: set_data copies no numpy array into a convolution's weights, which oneDNN keeps in its own order
        parameters[name].set_data(nd.array(array) if isinstance(array, numpy.ndarray) else array)


def initialize_from(network: Network, arrays: Arrays, device: Device) -> None:
    """Initialize a network that was never called from arrays, in single precision."""
    for name, parameter in network._collect_params_with_prefix().items():
        parameter.shape = arrays[name].shape
        parameter.initialize(ctx=device)
        parameter.set_data(arrays[name].astype("float32"))


def add_wide_part(arrays: Arrays, table: Numbers, width: int) -> Arrays:
    """Add a wide part with weights of 0, which leaves the function unchanged; states have `width` units."""
    weight = arrays["output.weight"]
    return {
        **arrays,
        "output.weight": numpy.pad(weight, ((0, 0), (0, 1))),
        NGRAM_TABLE: table,
        "evidence.weight": numpy.zeros((width, EVIDENCE), dtype="float32"),
    }


def wide_scale(arrays: Arrays) -> float:
    """Return the last layer's weight of the wide part's log-odds, 0 without a wide part."""
    return float(arrays["output.weight"][1, -1] - arrays["output.weight"][0, -1]) if NGRAM_TABLE in arrays else 0.0


def without_wide(arrays: Arrays) -> Arrays:
    """Return the parameters with the wide part's output weight set to 0."""
    weight = arrays["output.weight"].copy()
    if NGRAM_TABLE in arrays:
        weight[:, -1] = 0
    return {**arrays, "output.weight": weight}


def quantize(table: Numbers) -> tuple[NDArray[numpy.int8], NDArray[numpy.float16]]:
    """Quantize a table (rows, units) to int8, with a float16 scale a row, (rows, 1).

    Their product is within half a scale of the table; quantizing the product returns the same numbers.
    """
    scale = (abs(table).max(axis=1, keepdims=True) / INT8_MAX).astype("float16")
    # half precision rounds a tiny scale to 0: such a row becomes 0
    steps = numpy.where(scale > 0, scale, 1).astype("float32")
    return numpy.rint(table / steps).clip(-INT8_MAX, INT8_MAX).astype("int8"), scale


def stored(name: str, array: Numbers, matrices_as: str = "float32") -> Arrays:
    """Return {name: array} of one parameter as files store it; a quantized table is the product of two arrays."""
    if name in TABLES:
        return dict(zip((name, name + SCALE), quantize(array)))
    kind = "float16" if name == NGRAM_TABLE else matrices_as if array.ndim > 1 else "float32"
    return {name: array.astype(kind)}


def matrices_as(network: Network) -> str:
    """Return the dtype in which files store a network's matrices."""
    return getattr(network, "matrices_as", "float32")


def loaded(arrays: Arrays) -> Arrays:
    """Return {name: float32 array} of the parameters from the arrays of `stored`."""
    floats = {name: array.astype("float32") for name, array in arrays.items()}
    return {
        name: array * floats[name + SCALE] if name + SCALE in floats else array
        for name, array in floats.items()
        if not name.endswith(SCALE)
    }


def all_stored(network: Network) -> Arrays:
    """Return {name: array} of all parameters of a network as files store them."""
    kind = matrices_as(network)
    return {key: a for name, array in snapshot(network).items() for key, a in stored(name, array, kind).items()}


def round_tables(network: Network) -> None:
    """Round the tables, and matrices stored in half precision, to the values in a bundle's files."""
    set_parameters(network, loaded(all_stored(network)))
