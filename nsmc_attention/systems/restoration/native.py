"""The editor's network by the compiled kernels of `nsmc_attention.native`, without MXNet and ONNX Runtime.

    weights.params -> arrays as `_network.load_editor` takes them -> NativeEditor

For editors of GRU layers, of any number and size; the rows of the embedding are multiplied by the first layer's weights
once, and the two heads leave the tags, their certainty and the spaces alone. States and what they are multiplied by are
rounded to 8 bits (editor.hpp), by every kernel alike.
"""

from functools import partial
from typing import Any, Optional

import numpy

from ..._runtime.aliases import Numbers
from ...errors import BundleError, ConfigError
from ...inference.sessions import REMEDY
from ...model.parameters import Arrays, forms_of, loaded, read_stored
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
from .settings import RestoreConfig
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
    if problem := other_kind(model, "kind editor", "encoder.kind gru"):
        return problem
    table = bundle.codec.rows * 4 * in_blocks(model.encoder.hidden_size) * len(DIRECTIONS) * GATES
    if table > LARGEST_TABLE:
        return f"expected a table of rows times units of the GRU of at most {LARGEST_TABLE:,} bytes, found {table:,}"
    return None


class NativeEditor:
    """Runs an editor that `_network.load_editor` returned: source_ids (N, S, ROWS), source_length (N,) to three arrays.

    A text's results are the same to the bit whatever is beside it. `where` is the bundle's file in messages.
    """

    name = "native"

    def __init__(self, network: Any, where: object = "weights.params"):
        self.where, self.batch_size = where, TEXTS
        self.run = partial(import_network().edit, network)

    def __call__(self, source_ids: Numbers, source_length: Numbers) -> list[Numbers]:
        """Return tags int32, certainty and spaces float32, (N, S) each; of padding KEEP, 1 and 0."""
        size = source_ids.shape[:2]
        tags, certainty, spaces = numpy.zeros(size, "int32"), numpy.ones(size, "float32"), numpy.zeros(size, "float32")
        self.run(source_ids, source_length, tags, certainty, spaces)
        # logits that overflow are no numbers, which no comparison holds for
        if not (certainty.min() > 0 and spaces.min() >= 0):
            raise no_numbers(self.where)
        return [tags, certainty, spaces]


def no_numbers(where: object) -> BundleError:
    return BundleError(f"{where}: expected parameters that are numbers and not too large, found others; {REMEDY}")


def native_editor(bundle: RestorerBundle) -> NativeEditor:
    """Load the bundle's weights.params into the kernel.

    ConfigError where the bundle does not fit; BundleError where parameters are no numbers; MissingPackage where the
    extension was not built.
    """
    network, kernel = import_network(), kernel_name("levels")
    if problem := misfit(bundle):
        raise ConfigError(f"the native engine does not compute {bundle.name}: {problem}; use --engine onnx or gluon")
    forms = forms_of(parameter_shapes(bundle.codec.rows, len(bundle.codec), bundle.config), "float16")
    arrays = loaded(read_stored(bundle.read("weights.params"), forms, bundle.file("weights.params")))
    # of float16, whose sums float32 holds
    if not all(numpy.isfinite(array).all() for array in arrays.values()):
        raise no_numbers(bundle.file("weights.params"))
    given = kernel_arrays(arrays, bundle.config.model.encoder.layers)
    return NativeEditor(network.load_editor(kernel, *given), bundle.file("weights.params"))


def parameter_shapes(rows: int, vocab_size: int, config: RestoreConfig) -> dict[str, tuple[int, ...]]:
    """Return {name: shape} of the network's parameters; a test holds them to those of the HybridBlock."""
    model: Any = config.model
    hidden, units, read = model.encoder.hidden_size, model.output_units, model.embedding_size
    shapes: dict[str, tuple[int, ...]] = {"reader.embedding.weight": (rows, read)}
    for number in range(model.encoder.layers):
        for direction in DIRECTIONS:
            name = partial(LAYER.format(number=number).format, direction=direction)
            shapes[name(part="i2h_weight")], shapes[name(part="i2h_bias")] = (GATES * hidden, read), (GATES * hidden,)
            shapes[name(part="h2h_weight")], shapes[name(part="h2h_bias")] = (GATES * hidden, hidden), (GATES * hidden,)
        read = model.width
    shapes["narrow.weight"] = (units, read)
    shapes["tag.weight"], shapes["tag.bias"] = (vocab_size - 1, units), (vocab_size - 1,)
    for head in HEADS:
        shapes[f"{head}.weight"], shapes[f"{head}.bias"] = (2, read), (2,)
    return shapes


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
