"""A network's parameters as arrays by structural name, and as a bundle stores them.

There, TABLES are int8 with a float16 scale a row, and the table of n-grams is float16, as are all matrices of a network
that says so (`matrices_as`). A trained network is rounded to that: all files of a bundle hold the same numbers.
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
    # the largest matrices of a writer, whose bundle would have more than 6 MB otherwise
    "step.cell.i2h_weight",
    "step.combine.weight",
    "step.output.weight",
)
# Two numbers a row, for which a scale would cost as much as it saves
NGRAM_TABLE = "ngram_table.weight"
SCALE = ".scale"
INT8_MAX = 127
# Log-odds of its n-grams that are added to a token's query and key
EVIDENCE = 2
CLASSES = 2


def snapshot(network: Network) -> Arrays:
    """Return {name: array} of the network's parameters."""
    return {name: parameter.data().asnumpy() for name, parameter in network._collect_params_with_prefix().items()}


def set_parameters(network: Network, arrays: Arrays) -> None:
    """Set an initialized network's parameters of these names."""
    nd, parameters = import_mxnet().nd, network._collect_params_with_prefix()
    for name, array in arrays.items():
        # as MXNet's: it copies no numpy array into the weights of a convolution, which oneDNN keeps in an order of its own
        parameters[name].set_data(nd.array(array) if isinstance(array, numpy.ndarray) else array)


def initialize_from(network: Network, arrays: Arrays, device: Device) -> None:
    """Initialize a network that was never called with arrays, all in single precision."""
    for name, parameter in network._collect_params_with_prefix().items():
        parameter.shape = arrays[name].shape
        parameter.initialize(ctx=device)
        parameter.set_data(arrays[name].astype("float32"))


def add_wide_part(arrays: Arrays, table: Numbers, width: int) -> Arrays:
    """Return the parameters of the same function of states of `width` units with a wide part, whose weights are 0."""
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
    """Return a table (rows, units) as int8 and the scale of each row (rows, 1), float16.

    Their product is the table to half a scale; quantizing a product again returns the same numbers.
    """
    scale = (abs(table).max(axis=1, keepdims=True) / INT8_MAX).astype("float16")
    # a scale that half precision rounds to 0 would divide by 0: such a row is 0
    steps = numpy.where(scale > 0, scale, 1).astype("float32")
    return numpy.rint(table / steps).clip(-INT8_MAX, INT8_MAX).astype("int8"), scale


def stored(name: str, array: Numbers, matrices_as: str = "float32") -> Arrays:
    """Return {name: array} as the files hold one parameter; a quantized table is the product of its two arrays."""
    if name in TABLES:
        return dict(zip((name, name + SCALE), quantize(array)))
    kind = "float16" if name == NGRAM_TABLE else matrices_as if array.ndim > 1 else "float32"
    return {name: array.astype(kind)}


def matrices_as(network: Network) -> str:
    """Return the type in which the files hold a network's matrices."""
    return getattr(network, "matrices_as", "float32")


def loaded(arrays: Arrays) -> Arrays:
    """Return {name: float32 array} of the parameters from all the arrays of `stored`."""
    floats = {name: array.astype("float32") for name, array in arrays.items()}
    return {
        name: array * floats[name + SCALE] if name + SCALE in floats else array
        for name, array in floats.items()
        if not name.endswith(SCALE)
    }


def all_stored(network: Network) -> Arrays:
    """Return {name: array} of all that the files hold of a network."""
    kind = matrices_as(network)
    return {key: part for name, array in snapshot(network).items() for key, part in stored(name, array, kind).items()}


def round_tables(network: Network) -> None:
    """Round the tables, and where they are stored in half precision the matrices, to what a bundle's files hold."""
    set_parameters(network, loaded(all_stored(network)))
