"""A network's parameters as plain arrays by structural name, and back; and as Gluon's parameter file.

Tables are most of a model's size. In files embeddings are whole numbers of 8 bits with a scale a row, and the
table of n-grams is in half precision, which costs no accuracy (benchmarks/onnx_forms.py); a trained network is
rounded to what they hold, so that every file of a bundle holds the same numbers.
"""
import tempfile
from pathlib import Path

import numpy

TABLES = ("embedding.weight", "embed.weight")
# Two numbers a row, for which a scale would cost as much as it saves
NGRAM_TABLE = "ngram_table.weight"
HALVES = (NGRAM_TABLE,)
# Log-odds of its n-grams that a token's query and key are told
EVIDENCE = 2
SCALE = ".scale"
LARGEST = 127


def snapshot(network):
    """Answer {name: array} of the network's parameters."""
    return {name: parameter.data().asnumpy() for name, parameter in network._collect_params_with_prefix().items()}


def restore(network, arrays):
    """Put arrays from `snapshot` back into the network."""
    for name, parameter in network._collect_params_with_prefix().items():
        parameter.set_data(arrays[name])


def fill(network, arrays, device):
    """Put arrays into a network that was never called, all in single precision."""
    for name, parameter in network._collect_params_with_prefix().items():
        parameter.shape = arrays[name].shape
        parameter.initialize(ctx=device)
        parameter.set_data(arrays[name].astype("float32"))


def widened(arrays, table):
    """Answer the parameters of a network without wide part as those of one with it, which says the same."""
    nothing = numpy.zeros((len(arrays["output.weight"]), 1), dtype="float32")
    width = arrays["output.weight"].shape[1]
    return {**arrays, "output.weight": numpy.concatenate([arrays["output.weight"], nothing], axis=1),
            NGRAM_TABLE: table, "evidence.weight": numpy.zeros((width, EVIDENCE), dtype="float32")}


def wide_scale(arrays):
    """Answer what the wide part's log-odds are multiplied by in the network of these parameters."""
    return float(arrays["output.weight"][1, -1] - arrays["output.weight"][0, -1]) if NGRAM_TABLE in arrays else 0.0


def without_wide(arrays):
    """Answer the parameters of a network whose last layer does not hear its wide part."""
    weight = arrays["output.weight"].copy()
    if NGRAM_TABLE in arrays:
        weight[:, -1] = 0
    return {**arrays, "output.weight": weight}


def in_bytes(table):
    """Answer a table (rows, units) as whole numbers, int8, and the scale of each row (rows, 1), float16.

    Their product is the table, to half a scale; of a product made here, it is the table itself.
    """
    scale = (abs(table).max(axis=1, keepdims=True) / LARGEST).astype("float16")
    # what half precision calls 0 would divide by 0: such a row is 0
    steps = numpy.where(scale > 0, scale, 1).astype("float32")
    return numpy.rint(table / steps).clip(-LARGEST, LARGEST).astype("int8"), scale


def from_bytes(whole, scale):
    return whole.astype("float32") * scale.astype("float32")


def round_tables(network):
    """Round the tables to what the files of a bundle hold."""
    for name, parameter in network._collect_params_with_prefix().items():
        if name in TABLES:
            parameter.set_data(from_bytes(*in_bytes(parameter.data().asnumpy())))
        elif name in HALVES:
            parameter.set_data(parameter.data().astype("float16").astype("float32"))


def gluon_file(network):
    """Answer the bytes of a Gluon parameter file; see `round_tables`."""
    from mxnet import nd

    arrays = {}
    for name, array in snapshot(network).items():
        if name in TABLES:
            whole, scale = in_bytes(array)
            arrays[name] = nd.array(whole, dtype="int8")
            arrays[name + SCALE] = nd.array(scale, dtype="float16")
        else:
            arrays[name] = nd.array(array, dtype="float16" if name in HALVES else "float32")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.params"
        nd.save(str(path), arrays)
        return path.read_bytes()


def load_gluon_file(network, path, device):
    """Load a file of `gluon_file` into a network, all parameters in single precision."""
    from mxnet import nd

    stored = {name: array.asnumpy() for name, array in nd.load(str(path)).items()}
    fill(network, {name: from_bytes(array, stored[name + SCALE]) if name + SCALE in stored else array
                   for name, array in stored.items()}, device)
