"""The editor's network by the compiled kernels of `nsmc_attention.native`, without MXNet and ONNX Runtime.

    model.safetensors -> arrays as `_network.load_editor` takes them -> NativeEditor

For editors of GRU layers, of any number and size; the rows of the embedding are multiplied by the first layer's weights
once, and the two heads leave the tags, their certainty and the spaces alone. States and what they are multiplied by are
rounded to 8 bits (editor.hpp), by every kernel alike.
"""

from functools import partial
from typing import Any, Optional

import numpy

from ..._runtime.aliases import Numbers
from ...errors import ConfigError
from ...model.parameters import Arrays, loaded
from ...native.kernels import (
    DIRECTIONS,
    GATES,
    LARGEST_TABLE,
    gates_of,
    import_network,
    in_blocks,
    kernel_name,
    other_kind,
)
from .system import RestorerBundle

# Texts that are read at once: the network's weights stay in the processor's cache, then the dictionary
TEXTS = 1024
# The layers of two classes: whether a character changes, and whether a space follows it
HEADS = "change", "space"
LAYER = "reader.layer{number}.{{direction}}_gru._unfused.0.{{part}}"


def misfit(bundle: RestorerBundle) -> Optional[str]:
    """Return what the kernels do not compute of a restorer's bundle: "expected ..., found ...", None where it fits."""
    # of the kinds that are compared here
    model: Any = bundle.config.model
    if problem := other_kind(model, "kind editor"):
        return problem
    table = bundle.codec.rows * 4 * in_blocks(model.encoder.hidden_size) * len(DIRECTIONS) * GATES
    if table > LARGEST_TABLE:
        return f"expected a table of rows times units of the GRU of at most {LARGEST_TABLE:,} bytes, found {table:,}"
    return None


class NativeEditor:
    """Runs an editor that `_network.load_editor` returned: source_ids (N, S, ROWS), source_length (N,) to three arrays.

    A text's results are the same to the bit whatever is beside it.
    """

    name, batch_size = "native", TEXTS

    def __init__(self, network: Any):
        self.run = partial(import_network().edit, network)

    def __call__(self, source_ids: Numbers, source_length: Numbers) -> list[Numbers]:
        """Return tags int32, certainty and spaces float32, (N, S) each; of padding KEEP, 1 and 0."""
        size = source_ids.shape[:2]
        tags, certainty, spaces = numpy.zeros(size, "int32"), numpy.ones(size, "float32"), numpy.zeros(size, "float32")
        self.run(source_ids, source_length, tags, certainty, spaces)
        return [tags, certainty, spaces]


def native_editor(bundle: RestorerBundle) -> NativeEditor:
    """Load the bundle's parameters into the kernel.

    ConfigError where the bundle does not fit; MissingPackage where the extension was not built.
    """
    network, kernel = import_network(), kernel_name("levels")
    if problem := misfit(bundle):
        raise ConfigError(f"the native engine does not compute {bundle.name}: {problem}; use --engine onnx or gluon")
    given = kernel_arrays(loaded(bundle.parameters()), bundle.config.model.encoder.layers)
    return NativeEditor(network.load_editor(kernel, *given))


def kernel_arrays(arrays: Arrays, layers: int) -> tuple[Any, ...]:
    """Return the arguments of `_network.load_editor` but the kernel, sizes rounded up to whole blocks with weights of 0.

    Of both rows of one of HEADS their difference alone matters.
    """
    given = []
    for number in range(layers):
        inputs, input_bias, recurrent, hidden_bias = gates_of(arrays, LAYER.format(number=number))
        inputs = of_states(inputs, hidden_bias.shape[1]) if number else inputs
        rounded = blocks(inputs, 2), blocks(input_bias, 2), blocks(blocks(recurrent, 2), 3), blocks(hidden_bias, 1)
        given.append(tuple(map(numpy.ascontiguousarray, rounded)))
    hidden, tag = recurrent.shape[-1], blocks(arrays["tag.weight"], 1)
    heads = numpy.concatenate([numpy.diff(arrays[f"{head}.weight"], axis=0) for head in HEADS])
    biases = numpy.concatenate([numpy.diff(arrays[f"{head}.bias"]) for head in HEADS])
    narrow = blocks(arrays["narrow.weight"], 0)
    return (
        arrays["reader.embedding.weight"],
        tuple(given),
        of_states(heads, hidden),
        biases,
        of_states(narrow, hidden),
        tag,
        arrays["tag.bias"],
    )


def blocks(array: Numbers, axis: int) -> Numbers:
    """Return an array with one axis rounded up to whole blocks by zeros."""
    more = [(0, 0)] * array.ndim
    more[axis] = (0, in_blocks(array.shape[axis]) - array.shape[axis])
    return numpy.pad(array, more)


def of_states(weights: Numbers, hidden: int) -> Numbers:
    """Return weights (..., 2 H) for states whose directions are rounded up to whole blocks."""
    whole = weights.shape[:-1]
    return blocks(weights.reshape(*whole, 2, hidden), len(whole) + 1).reshape(*whole, -1)
