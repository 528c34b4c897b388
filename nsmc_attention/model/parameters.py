"""A network's parameters as plain arrays by structural name, and back; and as Gluon's parameter file.

Tables are most of a model's size. In files embeddings are whole numbers of 8 bits with a scale a row, and the
table of n-grams is in half precision, which costs no accuracy (benchmarks/onnx_forms.py); a trained network is
rounded to what they hold, so that every file of a bundle holds the same numbers.

A parameter file may come from anyone: it is read here, in Python, and not by `mx.nd.load`, native code that
believes every count and length in it. What has not the names, types and shapes of the Config's network is refused.
"""

import io
import math
import struct
import tempfile
from pathlib import Path

import numpy

from ..errors import BundleError

TABLES = ("embedding.weight", "embed.weight")
# Two numbers a row, for which a scale would cost as much as it saves
NGRAM_TABLE = "ngram_table.weight"
HALVES = (NGRAM_TABLE,)
# Log-odds of its n-grams that a token's query and key are told
EVIDENCE = 2
SCALE = ".scale"
LARGEST = 127
# MXNet 1.9.1, src/ndarray/ndarray.cc: what a file and each array in it begin with, and the types by number
FILE_MAGIC, ARRAY_MAGIC = 0x112, 0xF993FAC9
TYPES = {0: "<f4", 2: "<f2", 5: "<i1"}
CLASSES = 2
# Arrays that a file may have beyond those of its network, so that a file of another one is told by their names
SPARE = 30


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


def add_wide_part(arrays, table):
    """Answer the parameters of a network without wide part as those of one with it, which says the same."""
    nothing = numpy.zeros((len(arrays["output.weight"]), 1), dtype="float32")
    width = arrays["output.weight"].shape[1]
    return {
        **arrays,
        "output.weight": numpy.concatenate([arrays["output.weight"], nothing], axis=1),
        NGRAM_TABLE: table,
        "evidence.weight": numpy.zeros((width, EVIDENCE), dtype="float32"),
    }


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


def stored(name, array):
    """Return {name: array} of what files hold of a parameter; the product of the two of an embedding's is the table."""
    if name in TABLES:
        return dict(zip((name, name + SCALE), in_bytes(array)))
    return {name: array.astype("float16" if name in HALVES else "float32")}


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


def read_gluon_file(content, config, vocabulary, where):
    """Answer the parameters, {name: float32 array}, in the content of a Gluon parameter file.

    Parameters
    ----------
    content : bytes
    config : Config
    vocabulary : int
        Rows of the embedding.
    where : path
        For the message.

    Raises
    ------
    BundleError
        It is no such file, or not of this Config's network, or holds what is no number.
    """
    expected = stored_forms(config, vocabulary)
    try:
        stored = parse(io.BytesIO(content), most=len(expected) + SPARE)
    except (ValueError, struct.error) as problem:
        raise BundleError(f"{where}: expected a Gluon parameter file, found something else: {problem}") from problem
    found = {name: form(array) for name, array in stored.items()}
    for name in {**expected, **found}:
        if expected.get(name) != found.get(name):
            raise BundleError(
                f"{where}: does not fit the bundle's config: expected {name[:60]} "
                f"{expected.get(name, 'not at all')}, found {found.get(name, 'none')}"
            )
    for name, array in stored.items():
        if array.dtype.kind == "f" and not numpy.isfinite(array).all():
            raise BundleError(f"{where}: expected numbers in {name}, found some that are none; train again")
    return {
        name: from_bytes(array, stored[name + SCALE]) if name + SCALE in stored else array.astype("float32")
        for name, array in stored.items()
        if not name.endswith(SCALE)
    }


def parse(stream, most):
    """Answer {name: array} of a parameter file; ValueError or struct.error where it is none, or has more than `most`.

    What an array costs here is many times the bytes that a small one has in the file.
    """
    if unpack(stream, "<QQ") != (FILE_MAGIC, 0):
        raise ValueError("another beginning")
    arrays = [parse_array(stream) for _ in range(counted(stream, most))]
    names = [taken(stream, *unpack(stream, "<Q")).decode() for _ in range(counted(stream, most))]
    if len(set(names)) != len(arrays) or len(names) != len(arrays) or stream.read(1):
        raise ValueError(f"{len(names)} names for {len(arrays)} arrays, or something behind them")
    return dict(zip(names, arrays))


def counted(stream, most):
    """Read how many of something follow."""
    (count,) = unpack(stream, "<Q")
    if count > most:
        raise ValueError(f"{count} arrays or names are said to follow, expected {most} at most")
    return count


def parse_array(stream):
    magic, storage, dimensions = unpack(stream, "<IiI")
    if magic != ARRAY_MAGIC or storage != 0 or not 1 <= dimensions <= 2:
        raise ValueError("an array that is not dense, or not of one or two dimensions")
    shape = unpack(stream, f"<{dimensions}q")
    kind = unpack(stream, "<iii")[-1]
    if min(shape) < 1 or kind not in TYPES:
        raise ValueError(f"an array of shape {shape} and type {kind}")
    dtype = numpy.dtype(TYPES[kind])
    return numpy.frombuffer(taken(stream, math.prod(shape) * dtype.itemsize), dtype).reshape(shape)


def unpack(stream, layout):
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))


def taken(stream, size):
    """Read so many bytes; ValueError where there are fewer, before anything of that size is made."""
    left = stream.getbuffer().nbytes - stream.tell()
    if size > left:
        raise ValueError(f"{size} bytes are said to follow, {left} do")
    return stream.read(size)


def form(array):
    return array.dtype.name, array.shape


def stored_forms(config, vocabulary):
    """Answer {name: (type, shape)} of what `gluon_file` writes for the network of a Config."""
    forms = {}
    for name, shape in shapes(config, vocabulary).items():
        kind = "int8" if name in TABLES else "float16" if name in HALVES else "float32"
        forms[name] = (kind, shape)
        if name in TABLES:
            forms[name + SCALE] = ("float16", (shape[0], 1))
    return forms


def shapes(config, vocabulary):
    """Answer {name: shape} of the parameters of a Config's network; a test holds it to `model.classifier`."""
    model, buckets = config.model, config.text.ngram_buckets
    size, width = model.embedding_size, model.width
    if model.kind == "article":
        return {
            "embed.weight": (vocabulary, size),
            **gru_shapes(model, "bigru._unfused.0.l_cell."),
            **gru_shapes(model, "bigru._unfused.0.r_cell."),
            **attention_shapes(model.attention.kind, width, model.attention.numbers_per_pair),
            **dense_shapes("dense", CLASSES, width * config.text.max_length),
        }
    found = {"embedding.weight": (vocabulary, size)}
    if model.encoder.kind == "gru":
        for direction in ("forward", "backward"):
            found.update(gru_shapes(model, f"encoder.{direction}_gru._unfused.0."))
    found.update(attention_shapes(model.attention.kind, width, model.attention.numbers_per_pair))
    found.update(dense_shapes("output", CLASSES, width + bool(buckets)))
    if buckets:
        found[NGRAM_TABLE] = (buckets, 2)
        if model.attention.kind != "uniform":
            found["evidence.weight"] = (width, EVIDENCE)
    return found


def gru_shapes(model, prefix):
    hidden = model.width // 2
    gates, size = 3 * hidden, model.embedding_size
    return {
        f"{prefix}i2h_weight": (gates, size),
        f"{prefix}h2h_weight": (gates, hidden),
        f"{prefix}i2h_bias": (gates,),
        f"{prefix}h2h_bias": (gates,),
    }


def attention_shapes(name, width, units):
    if name == "additive":
        return {
            **dense_shapes("attention._query_mid_layer", units, width),
            "attention._key_mid_layer.weight": (units, width),
            "attention._attention_score.weight": (1, units),
        }
    if name == "multihead":
        return {
            key: shape
            for part in ("query", "key", "value")
            for key, shape in dense_shapes(f"attention.proj_{part}", width, width).items()
        }
    return {"attention._proj_query.weight": (width, width)} if name == "general" else {}


def dense_shapes(name, outputs, inputs):
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
