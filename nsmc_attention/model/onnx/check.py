"""A foreign bundle's ONNX graph as data: only what is known to be safe is passed on to ONNX Runtime.

A graph is a program for native code: it may read other files, ask for any amount of memory or end the process. One
passes, whoever wrote it, with fields and operators from the lists below, and tensors whose sizes, inferred for a few
batches before anything runs, are bounded.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, Union

import numpy
from google.protobuf.message import DecodeError, Message
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper
from onnx.checker import ValidationError, check_model
from onnx.shape_inference import InferenceError, infer_shapes

from ..._runtime.aliases import Record
from ...errors import BundleError
from ..graph_files import varint
from ..graphs import Axes, Interface, Sizes, dtype

Shapes = dict[str, tuple[int, ...]]
OPSETS, IR_VERSIONS = range(13, 22), range(7, 12)
# The fields that each message may have: no functions, subgraphs, external data or sparse tensors; and the operators whose
# output's size follows from their inputs' sizes and constants
FIELDS, OPERATORS = json.loads(Path(__file__).with_name("allowed.json").read_text(encoding="utf-8")).values()
NUMBERS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.INT32, TensorProto.INT64)
# Parsed, a file takes 100 times its size, but for its constants' numbers: bytes that there may be beside these (a
# network has 4,000), and the fields in the file that lead to them: graph, initializer, raw_data
OTHER_BYTES, CONSTANTS = 2**16, (7, 5, 9)
# Numbers for each review: in one tensor as many as a config may ask for (`config.MAX_SCORES`), fewer for a short
# review; and how many times as many in all tensors together
MOST_NUMBERS, NUMBERS_PER_PAIR, TENSORS = 2**27, 2**20, 16
# A constant of more numbers is no operator's argument: its type and shape are all that inference needs
ARGUMENTS = 32


def check_graph(
    content: bytes,
    interface: Interface,
    sizes: Sizes,
    where: Union[str, Path],
    remedy: str = "train again, or take another bundle",
) -> bytes:
    """Return a serialized graph as it was checked, without anything that the onnx package does not know.

    Ids index tables of as many rows as `sizes` says. Its batches are those that the graph must be able to compute; the
    largest bounds its memory. An axis of no known size is as long as the graph says. BundleError, in whose message the file
    is called `where` and which ends with the remedy, if it is no ONNX model or may not be run.
    """
    try:
        limit_fields(content)
        model = ModelProto.FromString(content)
        model.DiscardUnknownFields()
        check_fields(model)
        check_nodes(model)
        for item in model.graph.initializer:
            check_tensor(item)
        for batch in sizes.batches:
            check_sizes(model, sizes.rows, interface, {**sizes.fixed, **batch})
    except (ValueError, LookupError, DecodeError, ValidationError, InferenceError) as problem:
        raise BundleError(
            f"{where}: expected an ONNX graph that is safe to run, found {str(problem):.250}; {remedy}"
        ) from problem
    return bytes(model.SerializeToString())


def limit_fields(content: bytes) -> None:
    """Raise ValueError if parsing would take many times the memory of the file."""
    messages: list[tuple[int, int, tuple[int, ...]]] = [(0, len(content), CONSTANTS)]
    total = 0
    while messages:
        at, end, path = messages.pop()
        while at < end:
            tag, first = varint(content, at)
            value, first = varint(content, first)
            kind, leads = tag & 7, path[:1] == (tag >> 3,)
            last = first + value if kind == 2 else first
            # of these kinds are all fields of a model, a graph and a constant: integers, and those that have a length
            if kind not in (0, 2) or last > end:
                raise ValueError("a truncated file, or no ONNX model")
            if leads and path[1:]:
                messages.append((first, last, path[1:]))
            total += (first if leads else last) - at
            if total > OTHER_BYTES:
                raise ValueError(f"more than {OTHER_BYTES:,} bytes beside the numbers of its constants")
            at = last


def check_fields(message: Message) -> None:
    """Raise ValueError at a field that no graph needs, in the message or one inside it."""
    name = message.DESCRIPTOR.name
    for field, value in message.ListFields():
        if field.name not in FIELDS[name].split():
            raise ValueError(f"the field {field.name} in {name} {getattr(message, 'name', '')!r:.60}")
        if field.message_type:
            for part in [value] if hasattr(value, "ListFields") else value:
                check_fields(part)


def check_nodes(model: ModelProto) -> None:
    """Raise ValueError at another version or operator, and at a conversion to another type."""
    opsets = [(item.domain, item.version) for item in model.opset_import]
    if len(opsets) != 1 or opsets[0][0] or opsets[0][1] not in OPSETS or model.ir_version not in IR_VERSIONS:
        raise ValueError(f"IR version {model.ir_version} and operator sets {opsets}")
    for node in model.graph.node:
        if node.domain or node.op_type not in OPERATORS.split():
            raise ValueError(f"the operator {node.op_type!r:.60} of the domain {node.domain!r:.60}")
        if node.op_type == "Cast" and [item.i for item in node.attribute if item.i not in (*NUMBERS, TensorProto.BOOL)]:
            raise ValueError("a conversion to a type that is no number")


def check_tensor(item: TensorProto) -> None:
    """Raise ValueError unless a constant's bytes are as many as its shape says and its numbers are finite."""
    dtype = helper.tensor_dtype_to_np_dtype(item.data_type) if item.data_type in NUMBERS else None
    if dtype is None or min(item.dims, default=1) < 1 or prod(item.dims) * dtype.itemsize != len(item.raw_data):
        shape = f"type {item.data_type} and shape {list(item.dims)!r:.60}"
        raise ValueError(f"a constant {item.name!r:.60} of {shape} in {len(item.raw_data):,} bytes")
    if dtype.kind == "f" and not numpy.isfinite(numpy.frombuffer(item.raw_data, dtype)).all():
        raise ValueError(f"numbers in {item.name!r:.60} that are not finite")


def check_sizes(model: ModelProto, rows: Mapping[str, int], interface: Interface, sizes: Mapping[str, int]) -> None:
    """Infer the types and shapes of all tensors for one batch; an error at what does not fit or is too large."""
    graph, reviews, length = model.graph, sizes["N"], max(sizes.get("T", 1), sizes.get("S", 1))
    inputs = batch_shapes(graph.input, interface.inputs, sizes)
    outputs = batch_shapes(graph.output, interface.outputs, sizes)
    types = inferred(model, inputs, outputs)
    limit = reviews * min(MOST_NUMBERS, NUMBERS_PER_PAIR * length**2)
    total = 0
    ids = {name: name for name in rows}
    tables = {item.name: item.dims[0] for item in graph.initializer if item.dims}
    stored = {item.name for item in graph.initializer}
    for node in graph.node:
        if node.op_type == "Cast" and node.input[0] in stored:
            # once for each constant: no more than some times the size of the file
            stored.remove(node.input[0])
            continue
        for name in filter(None, node.output):
            shape = [size.dim_value if size.HasField("dim_value") else -1 for size in types[name].shape.dim]
            total += prod(shape)
            if min(shape, default=1) < 0 or prod(shape) > limit or total > TENSORS * limit:
                raise ValueError(f"{node.op_type} ({name:.60}) of {shape} for {reviews} reviews of {length} tokens")
        if node.op_type == "Div" and types[node.output[0]].elem_type != TensorProto.FLOAT:
            raise ValueError("a division of whole numbers, which by 0 ends the process")
        if node.op_type == "Transpose" and node.input[0] in ids:
            ids[node.output[0]] = ids[node.input[0]]
        if node.op_type == "Gather" and node.input[1] in ids and node.input[0] in tables:
            kind, size = ids[node.input[1]], tables[node.input[0]]
            if size != rows[kind] or any(item.i for item in node.attribute):
                raise ValueError(f"a table {node.input[0]!r:.60} of {size:,} rows for {rows[kind]:,} {kind}")


def inferred(model: ModelProto, inputs: Shapes, outputs: Shapes) -> Record:
    """Return {name: type} of all tensors for inputs and outputs of these shapes."""
    graph = model.graph
    given, results = value_infos(inputs), value_infos(outputs)
    large = {item.name: item for item in graph.initializer if prod(item.dims) > ARGUMENTS}
    given += [helper.make_tensor_value_info(name, item.data_type, item.dims) for name, item in large.items()]
    constants = [item for item in graph.initializer if item.name not in large]
    sizes = list(range_sizes(graph, constants, inputs))
    small = helper.make_graph(graph.node, graph.name, given, results, constants, value_info=sizes)
    sized = helper.make_model(small, opset_imports=model.opset_import, ir_version=model.ir_version)
    check_model(sized)
    sized = infer_shapes(sized, check_type=True, strict_mode=True)
    return {item.name: item.type.tensor_type for item in [*sized.graph.value_info, *results]}


def batch_shapes(items: Iterable[ValueInfoProto], interface: Mapping[str, Axes], sizes: Mapping[str, int]) -> Shapes:
    """Return the shapes of inputs or outputs for one batch; ValueError if the graph declares others."""
    names = [item.name for item in items]
    if sorted(names) != sorted(interface):
        raise ValueError(f"inputs or outputs {str(names):.100} in place of {list(interface)}")
    shapes = {}
    for item in items:
        tensor, axes = item.type.tensor_type, interface[item.name]
        declared = [size.dim_value if size.HasField("dim_value") else None for size in tensor.shape.dim]
        # as long as the graph says, if neither the batch nor the settings say it
        given = [axis if isinstance(axis, int) else sizes.get(axis) for axis in axes]
        shape = tuple(size or other or 0 for size, other in zip(given, [*declared, *[None] * len(axes)]))
        fits = len(declared) == len(axes) and all(one in (None, size) for one, size in zip(declared, shape))
        if tensor.elem_type != tensor_type(item.name) or not fits or min(shape) < 1:
            raise ValueError(f"{item.name} of type {tensor.elem_type} and shape {declared} in place of {list(shape)}")
        shapes[item.name] = shape
    return shapes


def value_infos(shapes: Mapping[str, Axes]) -> list[Any]:
    """Return inputs or outputs of these shapes."""
    return [helper.make_tensor_value_info(name, tensor_type(name), shape) for name, shape in shapes.items()]


def tensor_type(name: str) -> int:
    """Return the type of an input or output."""
    return helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype(name)))


def range_sizes(graph: GraphProto, constants: list[TensorProto], inputs: Shapes) -> Iterator[ValueInfoProto]:
    """Yield the shape of each Range, which inference does not know: from 0, by 1, to a size of an input."""
    known: Record = {item.name: numpy_helper.to_array(item) for item in constants}
    for node in graph.node:
        values: list[Any] = [known.get(name) for name in (*node.input, "", "")]
        attributes = {item.name: item.i for item in node.attribute}
        if node.op_type == "Shape" and node.input[0] in inputs:
            sizes = inputs[node.input[0]]
            known[node.output[0]] = numpy.array(sizes[attributes.get("start", 0) : attributes.get("end", len(sizes))])
        elif node.op_type in ("Cast", "Squeeze") and values[0] is not None:
            known[node.output[0]] = values[0]
        elif node.op_type == "Gather" and values[0] is not None and getattr(values[1], "dtype", None) == "int64":
            known[node.output[0]] = values[0].take(values[1])
        elif node.op_type == "Range":
            if any(value is None or value.size != 1 for value in values[:3]) or values[0] != 0 or values[2] != 1:
                raise ValueError("a Range of anything but the positions 0, 1, 2, … of an input")
            kind = helper.np_dtype_to_tensor_dtype(values[0].dtype)
            yield helper.make_tensor_value_info(node.output[0], kind, [int(values[1].item())])
