"""A network's parameters as arrays by structural name, and as Gluon's parameter file.

In files, TABLES are int8 with a float16 scale a row, and the table of n-grams is float16, as are all matrices of a
network that says so (`matrices_as`). A trained network is rounded to that: all files of a bundle hold the same numbers.
A file is read here and not by `mx.nd.load`, native code that believes every count and length in it.
"""

import io
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy
from numpy.typing import NDArray

from .._runtime.aliases import Numbers
from .._runtime.mxnet_shim import import_mxnet
from .._runtime.mxnet_types import Device, Network
from ..errors import BundleError
from .tracing import parameter_shapes

Arrays = dict[str, Numbers]
# Types and shapes by name, of the arrays of a file
Forms = dict[str, tuple[str, tuple[int, ...]]]

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
# MXNet 1.9.1, src/ndarray/ndarray.cc: the first bytes of a file and of each array in it, and the types by number
FILE_MAGIC, ARRAY_MAGIC = 0x112, 0xF993FAC9
TYPES = {0: "<f4", 2: "<f2", 5: "<i1"}
# Arrays that a file may have beyond those of the network, so that the message can name what does not fit
SPARE = 30
# Arrays of a file whose network is not known
MOST = 4096


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
    return {name: array.astype(type_of(name, array.ndim, matrices_as))}


def type_of(name: str, dimensions: int, matrices_as: str) -> str:
    """Return the type in which the files hold a parameter that is no table."""
    return "float16" if name == NGRAM_TABLE else matrices_as if dimensions > 1 else "float32"


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


def gluon_file(network: Network) -> bytes:
    """Return the bytes of a Gluon parameter file; see `round_tables`."""
    import tempfile

    from mxnet import nd

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.params"
        nd.save(str(path), {name: nd.array(array, dtype=array.dtype) for name, array in all_stored(network).items()})
        return path.read_bytes()


def forms_of(shapes: Mapping[str, tuple[int, ...]], matrices_as: str = "float32") -> Forms:
    """Return {name: (type, shape)} of what a file holds of parameters of these shapes."""
    forms: Forms = {}
    for name, shape in shapes.items():
        forms[name] = ("int8" if name in TABLES else type_of(name, len(shape), matrices_as), shape)
        if name in TABLES:
            forms[name + SCALE] = ("float16", (shape[0], 1))
    return forms


def read_gluon_file(content: bytes, network: Network, where: object) -> Arrays:
    """Return {name: float32 array} of a network's parameters, initialized or not, from a Gluon parameter file.

    Errors are those of `read_stored`.
    """
    return loaded(read_stored(content, forms_of(parameter_shapes(network), matrices_as(network)), where))


def parsed(content: bytes) -> Arrays:
    """Return {name: array} of a Gluon parameter file, as they are stored; ValueError if it is none."""
    try:
        return parse(io.BytesIO(content), MOST)
    except (OverflowError, struct.error) as problem:
        raise ValueError(str(problem)) from problem


def read_stored(content: bytes, expected: Forms, where: object) -> Arrays:
    """Return {name: array} of a Gluon parameter file that holds arrays of the expected types and shapes.

    BundleError, in whose message the file is called `where`, if it is no such file, it is another network's, or some
    of its numbers are not finite.
    """
    try:
        arrays = parse(io.BytesIO(content), most=len(expected) + SPARE)
    except (ValueError, OverflowError, struct.error) as problem:
        raise BundleError(f"{where}: expected a Gluon parameter file, found something else: {problem}") from problem
    forms = {name: (array.dtype.name, array.shape) for name, array in arrays.items()}
    for name in {**expected, **forms}:
        if expected.get(name) != forms.get(name):
            raise BundleError(
                f"{where}: does not fit the bundle's config: expected {name[:60]} "
                f"{expected.get(name, 'not at all')}, found {forms.get(name, 'none')}"
            )
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not all_finite(array):
            raise BundleError(f"{where}: expected finite numbers in {name}, found others; train again")
    return arrays


# Parameters of bundles from before the gate was called one
RENAMED = {"sign.weight": "gate.weight", "sign.bias": "gate.bias"}


def all_finite(array: Numbers) -> bool:
    if array.dtype != "float16":
        return bool(numpy.isfinite(array).all())
    # 27 times as fast: the bits of infinity are 0x7c00 and a sign, and those of what is not a number are larger
    return bool(array.view("int16").max() < 0x7C00 and array.view("uint16").max() < 0xFC00)


def parse(stream: BinaryIO, most: int) -> Arrays:
    """Return {name: array} of a parameter file; ValueError, OverflowError or struct.error if it is none.

    It may have `most` arrays: each takes many times more memory here than a small one has bytes in the file.
    """
    if unpack(stream, "<QQ") != (FILE_MAGIC, 0):
        raise ValueError("another beginning")
    (count,) = unpack(stream, "<Q")
    if count > most:
        raise ValueError(f"it announces {count} arrays, expected at most {most}")
    arrays = [parse_array(stream) for _ in range(count)]
    if unpack(stream, "<Q") != (count,):
        raise ValueError(f"another number of names than of its {count} arrays")
    names = [stream.read(*unpack(stream, "<Q")).decode() for _ in range(count)]
    names = [RENAMED.get(name, name) for name in names]
    if len(set(names)) != count or stream.read(1):
        raise ValueError("a name twice, or something after the names")
    return dict(zip(names, arrays))


def parse_array(stream: BinaryIO) -> Numbers:
    magic, storage, dimensions = unpack(stream, "<IiI")
    if magic != ARRAY_MAGIC or storage != 0 or not 1 <= dimensions <= 4:
        raise ValueError("an array that is not dense, or not of one to four dimensions")
    *shape, _, _, kind = unpack(stream, f"<{dimensions}qiii")
    if min(shape) < 1 or kind not in TYPES:
        raise ValueError(f"an array of shape {shape} and type {kind}")
    dtype = numpy.dtype(TYPES[kind])
    # no more than there is is read, and fewer numbers do not fit the shape
    return numpy.frombuffer(stream.read(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)


def unpack(stream: BinaryIO, layout: str) -> tuple[Any, ...]:
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))
