"""Each MXNet operator in ONNX: {operator: function of the graph and the traced node that writes its ONNX nodes}.

A function returns the name of its output, or a list of names where there are several. `ones_like` and its kind are
numbers, not tensors: ONNX broadcasts. For the same reason what MXNet repeats along an axis is written once.
"""

from operator import add, mul
from typing import Any, Optional

import numpy
from onnx import TensorProto

from ..tracing import Node, Value

# ONNX orders a GRU's gates update, reset, new; MXNet and cuDNN reset, update, new
GATES = (1, 0, 2)
LAST = 2**63 - 1

# One operator each, of tensors that broadcast
ELEMENTWISE = {
    **{f"{kind}_{name.lower()}": name for kind in ("elemwise", "broadcast") for name in ("Add", "Sub", "Mul", "Div")},
    "_maximum": "Max",
    "broadcast_maximum": "Max",
    "sqrt": "Sqrt",
}
ACTIVATIONS = {"tanh": "Tanh", "relu": "Relu", "sigmoid": "Sigmoid"}
SCALARS = {"_mul_scalar": ("Mul", mul), "_plus_scalar": ("Add", add)}
# What may be done with heads that are folded into the batch: nothing that counts axes from the first
FOLDED = {
    *ELEMENTWISE,
    *SCALARS,
    "batch_dot",
    "softmax",
    "where",
    "ones_like",
    "_contrib_div_sqrt_dim",
    "_copy",
    "Dropout",
}


def same(graph: Any, node: Node) -> Any:
    return graph.value(node.inputs[0])


def filled(number: float) -> Any:
    return lambda graph, node: number


def activation(graph: Any, node: Node) -> str:
    return graph.add(ACTIVATIONS[node.attributes["act_type"]], same(graph, node))


def scalar(graph: Any, node: Node) -> Any:
    operator, function = SCALARS[node.operator]
    given, number = same(graph, node), float(node.attributes["scalar"])
    return graph.add(operator, given, graph.tensor(number)) if isinstance(given, str) else function(given, number)


def divided_by_root(graph: Any, node: Node) -> str:
    return graph.add("Mul", same(graph, node), graph.tensor(node.inputs[0].shape[-1] ** -0.5))


def cast(graph: Any, node: Node) -> Any:
    given = same(graph, node)
    kind = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32}[node.attributes["dtype"]]
    return graph.add("Cast", given, to=kind) if isinstance(given, str) else given


def expand_dims(graph: Any, node: Node) -> Any:
    given = same(graph, node)
    return graph.add("Unsqueeze", given, graph.integers(node.attributes["axis"])) if isinstance(given, str) else given


def reduced(operator: str) -> Any:
    def reduce(graph: Any, node: Node) -> str:
        axis, keep = node.attributes["axis"], int(node.attributes.get("keepdims", False))
        if operator == "ReduceSum":  # of opset 17, it alone takes its axes as an input
            return graph.add(operator, same(graph, node), graph.integers(axis), keepdims=keep)
        return graph.add(operator, same(graph, node), axes=[axis], keepdims=keep)

    return reduce


def concat(graph: Any, node: Node) -> str:
    return graph.add("Concat", *map(graph.value, node.inputs), axis=node.attributes["dim"])


def split(graph: Any, node: Node) -> list[str]:
    given = same(graph, node)
    names = [f"split_{len(graph.nodes)}_{number}" for number in range(node.attributes["num_outputs"])]
    graph.add("Split", given, outputs=names, axis=node.attributes["axis"])
    return names


def slice_axis(graph: Any, node: Node) -> Any:
    begin, end, axis = (node.attributes[name] for name in ("begin", "end", "axis"))
    ends = graph.integers(LAST if end == "None" or end is None else end)
    return graph.add("Slice", same(graph, node), graph.integers(begin), ends, graph.integers(axis))


def slice_like(graph: Any, node: Node) -> str:
    """Concat(0, x) cut to x's size is x shifted by one: a Pad that drops the last."""
    source, like = node.inputs
    nothing, shifted = source.node.inputs if source.node.operator == "Concat" else (None, None)
    axis = source.node.attributes.get("dim")
    if shifted != like or nothing.shape[axis] != 1 or graph.value(nothing) != 0.0:
        raise NotImplementedError(f"slice_like ({node.name}) of anything but zeros before what it is like")
    begins, ends = ([side * (each == axis) for each in range(len(like.shape))] for side in (1, -1))
    return graph.add("Pad", graph.value(like), graph.integers(*begins, *ends))


def sequence_mask(graph: Any, node: Node) -> str:
    """1 up to each review's length, else 0, times what is masked."""
    data, lengths = node.inputs
    axis, rank = node.attributes.get("axis", 0), len(data.shape)
    size = graph.add("Cast", graph.size(data.shape[axis]), to=TensorProto.FLOAT)
    positions = graph.add("Range", graph.tensor(0.0), size, graph.tensor(1.0))
    if axis < rank - 1:
        positions = graph.add("Unsqueeze", positions, graph.integers(*range(1, rank - axis)))
    shape = [-1 if each == 1 - axis else 1 for each in range(rank)]
    ends = graph.add("Reshape", graph.value(lengths), graph.integers(*shape))
    mask = graph.add("Cast", graph.add("Less", positions, ends), to=TensorProto.FLOAT)
    given = graph.value(data)
    return mask if given == 1.0 else graph.add("Mul", graph.tensor(given), mask)


def where(graph: Any, node: Node) -> str:
    condition, *choices = map(graph.value, node.inputs)
    return graph.add("Where", graph.add("Cast", condition, to=TensorProto.BOOL), *map(graph.tensor, choices))


def softmax(graph: Any, node: Node) -> str:
    axis = node.attributes.get("axis", -1)
    if len(node.inputs) != 1 or axis != -1:
        raise NotImplementedError(f"softmax ({node.name}) over another axis than the last, or with lengths")
    return graph.add("Softmax", same(graph, node), axis=axis)


def embedding(graph: Any, node: Node) -> str:
    """The rows, as numbers of 8 bits times a scale a row, or in half precision: what the table is stored as."""
    ids, table = node.inputs
    number = graph.value(ids)
    rows = [graph.add("Cast", graph.add("Gather", name, number), to=TensorProto.FLOAT) for name in graph.table(table)]
    return rows[0] if len(rows) == 1 else graph.add("Mul", *rows)


def dense(graph: Any, node: Node) -> str:
    (source, weight, *bias), flat = node.inputs, node.attributes.get("flatten", True)
    if flat:
        rows = graph.add("Flatten", graph.value(source))
        return graph.add("Gemm", rows, *map(graph.value, (weight, *bias)), transB=1)
    product = graph.add("MatMul", graph.value(source), graph.constant(f"{graph.name(weight)}.T", graph.array(weight).T))
    return graph.add("Add", product, graph.value(bias[0])) if bias else product


def batch_dot(graph: Any, node: Node) -> str:
    left, right = node.inputs
    across, down = (node.attributes.get(f"transpose_{side}", False) for side in "ab")
    rows, inner = left.shape[:0:-1] if across else left.shape[1:]
    first = transposed(graph, left) if across else graph.value(left)
    heads = follow(right, "Reshape", "transpose", "Reshape")
    if rows == 1 and not down and heads and heads.node.operator == "batch_dot":
        # (1, T) x ((T, T) x (T, D)) from the left: the contexts of all heads are never built for their mean alone
        weights, values = map(graph.value, heads.node.inputs)
        by_head = graph.add("MatMul", graph.add("Unsqueeze", first, graph.integers(1)), weights)
        pooled = graph.add("Transpose", graph.add("MatMul", by_head, values), perm=[0, 2, 1, 3])
        return graph.add("Reshape", pooled, graph.integers(0, 0, right.shape[2]))
    # an outer product is a product of tensors that broadcast
    return graph.add("Mul" if inner == 1 else "MatMul", first, transposed(graph, right) if down else graph.value(right))


def transposed(graph: Any, value: Value) -> str:
    """Swap the last two axes; heads that are folded into the batch have an axis of their own."""
    name = graph.value(value)
    return graph.add("Transpose", name, perm=[0, 1, 3, 2] if value.node in graph.folded else [0, 2, 1])


def dot(graph: Any, node: Node) -> str:
    """A product with copied unit matrices, by which MXNet repeats (N, T, A) T times: (N, T, 1, A) broadcasts."""
    unit = follow(node.inputs[1], "broadcast_like", "expand_dims")
    if not unit or unit.node.operator != "_eye":
        raise NotImplementedError(f"dot ({node.name}) with anything but copies of the unit matrix")
    return graph.add("Unsqueeze", graph.value(node.inputs[0]), graph.integers(2))


def reshape_like(graph: Any, node: Node) -> str:
    """A product of a column of 1 with (N, 1, T * A), by which MXNet repeats (N, T, A) T times: (N, 1, T, A)."""
    if follow(node.inputs[0], "batch_dot", "ones_like"):
        flat = node.inputs[0].node.inputs[1].node
        if flat.attributes.get("shape") == (0, 1, -1):
            return graph.add("Unsqueeze", graph.value(flat.inputs[0]), graph.integers(1))
    raise NotImplementedError(f"reshape_like ({node.name}) of anything but repeated rows")


def reshape(graph: Any, node: Node) -> str:
    source, shape = node.inputs[0], node.attributes["shape"]
    found = directions(node)
    if found:
        return gru(graph, *found)
    given = graph.value(source)
    if not node.attributes.get("reverse", False) and min(shape) >= -1:
        return graph.add("Reshape", given, graph.integers(*shape))
    # heads that are folded into the batch, or unfolded: in ONNX they are on an axis of their own throughout
    if shape == (-1, 0, 0) and len(source.shape) == 4:
        graph.folded.add(node)
    elif source.node not in graph.folded or len(shape) != 4:
        raise NotImplementedError(f"Reshape ({node.name}) to {shape}")
    return given


def transpose(graph: Any, node: Node) -> str:
    axes = node.attributes.get("axes") or tuple(range(len(node.shapes[0])))[::-1]
    if node.operator == "SwapAxis":
        axes = (1, 0, *range(2, len(node.shapes[0])))
    found = directions(node.inputs[0].node) if axes == (1, 0, 2) else None
    return gru(graph, *found, batch_major=True) if found else graph.add("Transpose", same(graph, node), perm=axes)


def gru(graph: Any, source: Value, cells: list[Node], lengths: Optional[Value], batch_major: bool = False) -> str:
    """Write one ONNX GRU for all directions: source (T, N, E) -> states (T, N, 2H), or (N, T, 2H)."""
    if any(cell.attributes["mode"] != "gru" or cell.attributes["num_layers"] != 1 for cell in cells):
        raise NotImplementedError(f"RNN ({cells[0].name}) that is no GRU of one layer")
    parts: list[list[Any]] = [[], [], []]
    for cell in cells:
        # weights of input and state for each direction, then the biases
        arrays = [
            numpy.concatenate([numpy.split(graph.array(each), 3)[gate] for gate in GATES])
            for each in cell.inputs[1].node.inputs
        ]
        half = len(arrays) // 2
        for at in range(0, half, 2):
            for part, array in zip(parts, (*arrays[at : at + 2], numpy.concatenate(arrays[half + at : half + at + 2]))):
                part.append(array)
    first = graph.name(cells[0].inputs[1].node.inputs[0])
    names = [graph.constant(f"{first}.{part}", numpy.stack(arrays)) for part, arrays in zip("WRB", parts)]
    embedded = graph.value(source)
    count, hidden = len(parts[0]), cells[0].attributes["state_size"]
    states = graph.add(
        "GRU",
        *(embedded, *names, graph.lengths(lengths) if lengths else ""),
        outputs=[f"gru_{len(graph.nodes)}", ""],
        direction="bidirectional" if count == 2 else "forward",
        hidden_size=hidden,
        linear_before_reset=1,
    )  # (T, 2, N, H)
    across = graph.add("Transpose", states, perm=[2, 0, 1, 3] if batch_major else [0, 2, 1, 3])
    return graph.add("Reshape", across, graph.integers(0, 0, count * hidden))


def directions(node: Node) -> Optional[tuple[Value, list[Node], Optional[Value]]]:
    """Return (source, RNN nodes, lengths) where a node's output is the states (T, N, H) or (T, N, 2H) of a GRU.

    Of an RNN, in one direction or both; or of two, side by side, of which one reads the source reversed within each
    review's length and its states are reversed back: a bidirectional ONNX GRU with lengths does just that.
    """
    if node.operator == "RNN":
        return node.inputs[0], [node], None
    if node.operator != "Reshape" or not follow(Value(node), "Reshape", "stack"):
        return None
    forward, back = node.inputs[0].node.inputs
    outer = reversal(back)
    inner = reversal(outer[0].node.inputs[0]) if outer and outer[0].node.operator == "RNN" else None
    if not inner or forward.node.operator != "RNN" or inner != (forward.node.inputs[0], outer[1]):
        raise NotImplementedError(f"stack ({node.inputs[0].node.name}) of anything but the directions of a GRU")
    return forward.node.inputs[0], [forward.node, outer[0].node], outer[1]


def reversal(value: Value) -> Optional[tuple[Value, Value]]:
    """Return (source, lengths) where a value (T, N, E) is a source with each sequence reversed within its length."""
    source = follow(value, "reshape_like", "take", "Reshape")
    rows = follow(value.node.inputs[0].node.inputs[1], "Reshape") if source else None
    return (source, rows.node.inputs[1]) if rows and rows.node.operator == "SequenceReverse" else None


def follow(value: Value, *operators: str) -> Optional[Value]:
    """Return what is reached over the first inputs of these operators, None where there are others."""
    for operator in operators:
        if value.node.operator != operator:
            return None
        value = value.node.inputs[0]
    return value


OPERATORS = {
    **dict.fromkeys(("Dropout", "_copy", "BlockGrad", "broadcast_axis", "broadcast_like"), same),
    **dict.fromkeys(SCALARS, scalar),
    "Activation": activation,
    "Cast": cast,
    "Concat": concat,
    "Embedding": embedding,
    "FullyConnected": dense,
    "RNN": lambda graph, node: gru(graph, *directions(node)),
    "Reshape": reshape,
    "SequenceMask": sequence_mask,
    "SliceChannel": split,
    "SwapAxis": transpose,
    "_contrib_div_sqrt_dim": divided_by_root,
    "batch_dot": batch_dot,
    "dot": dot,
    "expand_dims": expand_dims,
    "mean": reduced("ReduceMean"),
    "ones_like": filled(1.0),
    "reshape_like": reshape_like,
    "slice_axis": slice_axis,
    "slice_like": slice_like,
    "softmax": softmax,
    "sum": reduced("ReduceSum"),
    "transpose": transpose,
    "where": where,
    "zeros_like": filled(0.0),
}
