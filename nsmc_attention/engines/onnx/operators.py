"""MXNet operators in ONNX: OPERATORS = {operator: function of the graph and the node that writes its ONNX nodes}.

A function returns the name of its output, or a list of names for several. `ones_like` and the like become numbers, not
tensors, because ONNX broadcasts; so arrays that MXNet repeats along an axis are written once.
"""

from math import prod
from operator import add, le, mul, sub
from typing import TYPE_CHECKING, Any, Callable, Optional

from onnx import TensorProto

from ...network.graphs import LENGTHS, Node, Value
from ...network.parameters import stored

if TYPE_CHECKING:
    from .graph import Graph

INT64_MAX = 2**63 - 1
# Stands for a score of minus infinity
MASKED = -1e18
ARITHMETIC = ("Add", "Sub", "Mul", "Div")
ACTIVATIONS = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}
# ONNX orders a GRU's gates update, reset, new; MXNet and cuDNN reset, update, new
GATES = (1, 0, 2)
FLOATS = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32}


def leaf(graph: "Graph", node: Node) -> str:
    """Write an input or a parameter."""
    if node.name not in graph.inputs:
        return graph.weights(graph.names[node.name], graph.arrays[graph.names[node.name]])
    return graph.add("Cast", node.name, to=TensorProto.FLOAT) if node.name in LENGTHS else node.name


def elementwise(operator: str) -> Callable[..., str]:
    """Return the rule that writes one ONNX operator with the same inputs, which broadcast."""
    return lambda graph, node: graph.add(operator, *(graph.tensor(graph.value(value)) for value in node.inputs))


def same(graph: "Graph", node: Node) -> Any:
    return graph.value(node.inputs[0])


def with_number(operator: str, function: Callable[[float, float], float]) -> Callable[..., Any]:
    def write(graph: "Graph", node: Node) -> Any:
        x, number = same(graph, node), float(node.attributes["scalar"])
        return graph.add(operator, x, graph.tensor(number)) if isinstance(x, str) else function(x, number)

    return write


def compared(operator: str, write: Callable[..., Callable[..., Any]], *options: Any) -> Callable[..., str]:
    """Return the rule that writes a comparison as 1.0 and 0.0; ONNX returns a bool."""
    comparison = write(operator, *options)
    return lambda graph, node: graph.add("Cast", comparison(graph, node), to=TensorProto.FLOAT)


def matrix_product(graph: "Graph", node: Node) -> str:
    """Lower a matrix product over the last two axes; the preceding axes are equal."""
    graph.require(node.attributes.get("alpha", 1.0) == 1.0 and not node.attributes.get("transpose_a"), node)
    first, second = map(graph.value, node.inputs)
    if node.attributes.get("transpose_b"):
        axes = list(range(len(node.inputs[1].shape)))
        second = graph.add("Transpose", second, perm=[*axes[:-2], axes[-1], axes[-2]])
    return graph.add("MatMul", first, second)


def split(graph: "Graph", node: Node) -> list[str]:
    return graph.split(same(graph, node), node.attributes["num_outputs"], node.attributes.get("axis", 1))


def slice_axis(graph: "Graph", node: Node) -> str:
    begin, end, axis = (node.attributes[name] for name in ("begin", "end", "axis"))
    bounds = (graph.integers(bound) for bound in (begin, INT64_MAX if end is None else end, axis))
    return graph.add("Slice", same(graph, node), *bounds)


def slice_like(graph: "Graph", node: Node) -> str:
    """Lower Concat(0, x) cut to the size of x, which shifts x by one, to a Pad that drops the last element."""
    joined, like = node.inputs
    axis: int = joined.node.attributes["dim"]
    zero, *rest = joined.node.inputs
    graph.require(joined.node.operator == "Concat" and rest == [like] and graph.value(zero) == 0.0, node)
    begins, ends = ([side * (other == axis) for other in range(len(like.shape))] for side in (1, -1))
    return graph.add("Pad", graph.value(like), graph.integers(*begins, *ends))


def sequence_mask(graph: "Graph", node: Node) -> str:
    """Lower a mask (N, T, 1): 1 up to each review's length, then 0."""
    data, lengths = node.inputs
    graph.require(node.attributes["axis"] == 1 and len(data.shape) == 3 and graph.value(data) == 1.0, node)
    column = graph.add("Unsqueeze", positions(graph, data.shape[1]), graph.integers(1))
    ends = graph.add("Reshape", graph.value(lengths), graph.integers(-1, 1, 1))
    return graph.add("Cast", graph.add("Less", column, ends), to=TensorProto.FLOAT)


def positions(graph: "Graph", size: int) -> str:
    """Return 0, 1, 2, … up to a traced size."""
    end = graph.add("Cast", graph.size(size), to=TensorProto.FLOAT)
    return graph.add("Range", graph.tensor(0.0), end, graph.tensor(1.0))


def arange_like(graph: "Graph", node: Node) -> str:
    graph.require(node.attributes.get("axis") is not None, node)
    return positions(graph, node.inputs[0].shape[node.attributes["axis"]])


def where(graph: "Graph", node: Node) -> str:
    condition, *choices = map(graph.value, node.inputs)
    return graph.add("Where", graph.add("Cast", condition, to=TensorProto.BOOL), *map(graph.tensor, choices))


def embedding(graph: "Graph", node: Node) -> str:
    """Lower a lookup in the stored table: rows of int8 times their scale, or rows of float16."""
    ids, (name, array) = graph.value(node.inputs[0]), graph.parameter(node.inputs[1])
    if node.inputs[0].node.operator in ("_contrib_arange_like", "broadcast_add"):
        # positions are floats
        ids = graph.add("Cast", ids, to=TensorProto.INT64)
    tables = [graph.constant(*item) for item in stored(name, array, graph.matrices_as).items()]
    rows = [graph.add("Cast", graph.add("Gather", table, ids), to=TensorProto.FLOAT) for table in tables]
    return rows[0] if len(rows) == 1 else graph.add("Mul", *rows)


def dense(graph: "Graph", node: Node) -> str:
    source, weight, *bias = node.inputs
    if node.attributes.get("flatten", True):
        rows = graph.value(source) if len(source.shape) == 2 else graph.add("Flatten", graph.value(source))
        return graph.add("Gemm", rows, *map(graph.value, (weight, *bias)), transB=1)
    rows, (name, array) = graph.value(source), graph.parameter(weight)  # in the order of packaged graphs
    product = graph.add("MatMul", rows, graph.add("Transpose", graph.weights(name, array), perm=[1, 0]))
    return graph.add("Add", product, graph.value(bias[0])) if bias else product


def batch_dot(graph: "Graph", node: Node) -> str:
    left, right = node.inputs
    turn_left, turn_right = (node.attributes.get(f"transpose_{side}", False) for side in "ab")
    rows, inner = left.shape[:0:-1] if turn_left else left.shape[1:]
    first = transposed(graph, left) if turn_left else graph.value(left)
    heads = follow(right, "Reshape", "transpose", "Reshape")
    if rows == 1 and not turn_right and heads and heads.node.operator == "batch_dot":
        # (1, T) x ((T, T) x (T, D)) from the left: a mean does not need the contexts of all heads
        weights, values = map(graph.value, heads.node.inputs)
        by_head = graph.add("MatMul", graph.add("Unsqueeze", first, graph.integers(1)), weights)
        pooled = graph.add("Transpose", graph.add("MatMul", by_head, values), perm=[0, 2, 1, 3])
        return graph.add("Reshape", pooled, graph.integers(0, 0, right.shape[2]))
    second = transposed(graph, right) if turn_right else graph.value(right)
    if first == 1.0 and inner == 1:
        # a column of 1 repeats rows
        return second
    # an outer product is an elementwise product that broadcasts
    return graph.add("Mul" if inner == 1 else "MatMul", first, second)


def transposed(graph: "Graph", value: Value) -> str:
    """Swap the last two axes; heads folded into the batch have a separate axis."""
    name = graph.value(value)
    return graph.add("Transpose", name, perm=[0, 1, 3, 2] if value.node in graph.folded else [0, 2, 1])


def reshape(graph: "Graph", node: Node) -> Any:
    layer, shape = directions(node), node.attributes["shape"]
    if layer:
        return recurrent(graph, *layer)
    source = graph.value(node.inputs[0])
    if not isinstance(source, str):
        return source
    if shape == (-3, 0):
        # join the first two axes
        return graph.add("Flatten", source, axis=2)
    if not node.attributes.get("reverse", False) and min(shape) >= -1:
        return graph.add("Reshape", source, graph.integers(*shape))
    # heads are folded into the batch or unfolded; in ONNX they always have a separate axis
    fold = shape in ((-1, 0, 0), (-1, 0)) and len(node.inputs[0].shape) == len(shape) + 1
    graph.require(fold or node.inputs[0].node in graph.folded and len(shape) == 4, node)
    graph.folded |= {node} if fold else set()
    return source


def transpose(graph: "Graph", node: Node) -> str:
    axes = node.attributes.get("axes") or tuple(range(len(node.shapes[0])))[::-1]
    if node.operator == "SwapAxis":
        axes = (1, 0, *range(2, len(node.shapes[0])))
    states = node.inputs[0].node
    while states.operator == "Dropout":
        states = states.inputs[0].node
    layer = directions(states) if axes == (1, 0, 2) else None
    return recurrent(graph, *layer, batch_major=True) if layer else graph.add("Transpose", same(graph, node), perm=axes)


def recurrent(
    graph: "Graph", source: Value, cells: list[Node], lengths: Optional[Value], batch_major: bool = False
) -> str:
    """Write one ONNX GRU for all directions: source (T, N, E) -> states (T, N, 2H), or (N, T, 2H)."""
    hidden = cells[0].attributes["state_size"]
    parameters: list[list[Value]] = [[], [], []]  # W, R and B of all directions
    for cell in cells:
        graph.require(cell.attributes["mode"] == "gru" and cell.attributes["num_layers"] == 1, cell)
        # a pair of weights (input, state) for each direction, then as many pairs of biases
        values = cell.inputs[1].node.inputs
        half = len(values) // 2
        for kind, cell_values in zip(parameters, (values[:half:2], values[1:half:2], values[half:])):
            kind += cell_values
    count = len(parameters[0])
    weights = [in_gate_order(graph, kind, count) for kind in parameters]
    # an ONNX GRU takes int32 lengths, the graph's input itself
    inputs = [graph.value(source), *weights, lengths.node.name if lengths else ""]
    direction = "forward" if count == 1 else "bidirectional"
    outputs = [f"gru_{len(graph.nodes)}", ""]
    sizes = {"direction": direction, "hidden_size": hidden, "linear_before_reset": 1}
    by_step = graph.add("GRU", *inputs, outputs=outputs, **sizes)  # (T, directions, N, H)
    by_step = graph.add("Transpose", by_step, perm=[2, 0, 1, 3] if batch_major else [0, 2, 1, 3])
    return graph.add("Reshape", by_step, graph.integers(0, 0, count * hidden))


def in_gate_order(graph: "Graph", values: list[Value], count: int) -> str:
    """Return parameters of `count` directions with the gates in ONNX's order, (directions, gates * H, ...)."""
    parameters = [graph.parameter(value) for value in values]
    shape = parameters[0][1].shape
    joined = graph.add("Concat", *(graph.weights(name, array) for name, array in parameters), axis=0)
    gates = graph.add("Reshape", joined, graph.integers(-1, len(GATES), prod(shape) // len(GATES)))
    ordered = graph.add("Gather", gates, graph.integers(*GATES), axis=1)
    return graph.add("Reshape", ordered, graph.integers(count, -1, *shape[1:]))


def directions(node: Node) -> Optional[tuple[Value, list[Node], Optional[Value]]]:
    """Return (source, RNN nodes, lengths) if a node's output is the states (T, N, H) or (T, N, 2H) of a GRU.

    The GRU is one RNN, or two of which the second reads the source reversed within each review's length, and has its states
    reversed back; a bidirectional ONNX GRU with lengths does the same.
    """
    if node.operator == "RNN":
        return node.inputs[0], [node], None
    if node.operator != "Reshape" or node.inputs[0].node.operator != "stack":
        return None
    forward, back = node.inputs[0].node.inputs
    backward = follow(back, "SequenceReverse")
    if not backward or not follow(backward, "RNN", "SequenceReverse"):
        return None
    return forward.node.inputs[0], [forward.node, backward.node], back.node.inputs[1]


def follow(value: Value, *operators: str) -> Optional[Value]:
    """Return the value reached through the first inputs of these operators in turn; None for other operators."""
    for operator in operators:
        if value.node.operator != operator:
            return None
        value = value.node.inputs[0]
    return value


def projected(graph: "Graph", value: Value, heads: int) -> list[str]:
    """Return query, key and value of a projection (T, N, 3 D), which holds them side by side for each head.

    Query and value are (N, K, T, D / K), the key is transposed, (N, K, D / K, T).
    """
    if value.node not in graph.projected:
        size = value.shape[2] // heads // 3
        by_head = graph.add("Reshape", graph.value(value), graph.integers(0, 0, heads, 3, size))
        flat = [graph.add("Squeeze", name, graph.integers(3)) for name in graph.split(by_head, 3, 3)]
        turns = ([1, 2, 0, 3], [1, 2, 3, 0], [1, 2, 0, 3])
        graph.projected[value.node] = [graph.add("Transpose", name, perm=turn) for name, turn in zip(flat, turns)]
    return graph.projected[value.node]


def self_attention_scores(graph: "Graph", node: Node) -> str:
    """Lower the scaled dot products of all heads, (N, K, T, T), with a separate axis of heads."""
    projection, heads = node.inputs[0], node.attributes["heads"]
    query, key, _ = projected(graph, projection, heads)
    scale = (projection.shape[2] // heads // 3) ** -0.5
    graph.folded.add(node)
    return graph.add("MatMul", graph.add("Mul", query, graph.tensor(scale)), key)


def self_attention_contexts(graph: "Graph", node: Node) -> str:
    """Lower the product of weights (N, K, T, T) and values, with the heads concatenated, (T, N, D)."""
    projection, weights = node.inputs
    heads = node.attributes["heads"]
    contexts = graph.add("MatMul", graph.value(weights), projected(graph, projection, heads)[2])
    by_position = graph.add("Transpose", contexts, perm=[2, 0, 1, 3])
    return graph.add("Reshape", by_position, graph.integers(0, 0, projection.shape[2] // 3))


def convolution(graph: "Graph", node: Node) -> str:
    """Lower a convolution over two axes, without dilation or groups."""
    attributes = node.attributes
    graph.require(attributes.get("num_group", 1) == 1 and set(attributes.get("dilate", (1,))) == {1}, node)
    edges = attributes.get("pad", (0, 0))
    sizes = {
        "kernel_shape": attributes["kernel"],
        "strides": attributes.get("stride", (1, 1)),
        "pads": [*edges, *edges],
    }
    return graph.add("Conv", *map(graph.value, node.inputs), **sizes)


def batch_norm(graph: "Graph", node: Node) -> str:
    """Lower a batch norm by the means and variances of training."""
    graph.require(not node.attributes.get("fix_gamma", True) and node.attributes.get("axis", 1) == 1, node)
    return graph.add("BatchNormalization", *map(graph.value, node.inputs), epsilon=float(node.attributes["eps"]))


def softmax(graph: "Graph", node: Node) -> str:
    """Lower a softmax; with lengths, the scores of a row beyond its length are MASKED first."""
    scores = same(graph, node)
    if node.attributes.get("use_length"):
        ends = graph.add("Cast", graph.value(node.inputs[1]), to=TensorProto.FLOAT)  # (N, 1, T or 1)
        graph.require(all(value.node in graph.folded for value in node.inputs), node)
        places = positions(graph, node.inputs[0].shape[-1])
        inside = graph.add("Less", places, graph.add("Unsqueeze", ends, graph.integers(3)))
        scores = graph.add("Where", inside, scores, graph.tensor(MASKED))
    return graph.add("Softmax", scores, axis=node.attributes.get("axis", -1))


def layer_norm(graph: "Graph", node: Node) -> str:
    values = map(graph.value, node.inputs)
    return graph.add("LayerNormalization", *values, axis=-1, epsilon=float(node.attributes.get("eps", 1e-5)))


def gelu(graph: "Graph", node: Node) -> str:
    """Lower GELU, x (1 + erf(x / sqrt(2))) / 2."""
    graph.require(node.attributes["act_type"] == "gelu", node)
    x = same(graph, node)
    erf = graph.add("Erf", graph.add("Mul", x, graph.tensor(0.5**0.5)))
    return graph.add("Mul", graph.add("Mul", x, graph.add("Add", erf, graph.tensor(1.0))), graph.tensor(0.5))


def stack(graph: "Graph", node: Node) -> str:
    axis = node.attributes.get("axis", 0)
    parts = [graph.add("Unsqueeze", graph.value(value), graph.integers(axis)) for value in node.inputs]
    return graph.add("Concat", *parts, axis=axis)


def reduced(graph: "Graph", node: Node) -> str:
    axis, keeps = node.attributes["axis"], int(node.attributes.get("keepdims", False))
    if node.operator == "sum":
        return graph.add("ReduceSum", same(graph, node), graph.integers(axis), keepdims=keeps)
    # in opset 17, only ReduceSum takes its axes as an input
    return graph.add(f"Reduce{node.operator.title()}", same(graph, node), axes=[axis], keepdims=keeps)


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    **{f"{kind}_{name.lower()}": elementwise(name) for kind in ("elemwise", "broadcast") for name in ARITHMETIC},
    **dict.fromkeys(("Dropout", "_copy"), same),
    "_lesser_equal_scalar": compared("LessOrEqual", with_number, le),
    "broadcast_lesser": compared("Less", elementwise),
    "_maximum_scalar": with_number("Max", max),
    "_minus_scalar": with_number("Sub", sub),
    "_mul_scalar": with_number("Mul", mul),
    "_plus_scalar": with_number("Add", add),
    "exp": elementwise("Exp"),
    "ones_like": lambda graph, node: 1.0,
    "sqrt": elementwise("Sqrt"),
    "where": where,
    "zeros_like": lambda graph, node: 0.0,
}
# Operators on folded heads that end the folding: MXNet's result has no heads, or a separate axis of heads too
UNFOLDING = ("Reshape", "_contrib_interleaved_matmul_selfatt_valatt")
# Operators that are possible on folded heads, because they do not count axes from the first
FOLDED = (*ELEMENTWISE, "_contrib_div_sqrt_dim", "batch_dot", "softmax")
OPERATORS: dict[str, Callable[..., Any]] = {
    **ELEMENTWISE,
    "broadcast_axis": same,
    **dict.fromkeys(("max", "mean", "sum"), reduced),
    **dict.fromkeys(("transpose", "SwapAxis"), transpose),
    "Activation": lambda graph, node: graph.add(ACTIVATIONS[node.attributes["act_type"]], same(graph, node)),
    "BatchNorm": batch_norm,
    "clip": lambda graph, node: graph.add(
        "Clip", same(graph, node), *(graph.tensor(node.attributes[name]) for name in ("a_min", "a_max"))
    ),
    "Cast": lambda graph, node: graph.add("Cast", same(graph, node), to=FLOATS[node.attributes["dtype"]]),
    "Convolution": convolution,
    "Concat": lambda graph, node: graph.add("Concat", *map(graph.value, node.inputs), axis=node.attributes["dim"]),
    "Embedding": embedding,
    "FullyConnected": dense,
    "LayerNorm": layer_norm,
    "LeakyReLU": gelu,
    "RNN": lambda graph, node: recurrent(graph, node.inputs[0], [node], None),
    "Reshape": reshape,
    "SequenceMask": sequence_mask,
    "SliceChannel": split,
    "_contrib_arange_like": arange_like,
    "_contrib_div_sqrt_dim": lambda graph, node: graph.add(
        "Mul", same(graph, node), graph.tensor(node.inputs[0].shape[-1] ** -0.5)
    ),
    "_contrib_interleaved_matmul_selfatt_qk": self_attention_scores,
    "_contrib_interleaved_matmul_selfatt_valatt": self_attention_contexts,
    "_linalg_gemm2": matrix_product,
    # returns integers, but MXNet's are floats: networks cast them
    "argmax": lambda graph, node: graph.add("ArgMax", same(graph, node), axis=node.attributes["axis"], keepdims=0),
    "batch_dot": batch_dot,
    "expand_dims": lambda graph, node: graph.add(
        "Unsqueeze", same(graph, node), graph.integers(node.attributes["axis"])
    ),
    "log_softmax": lambda graph, node: graph.add("LogSoftmax", same(graph, node), axis=node.attributes["axis"]),
    "null": leaf,
    "slice_axis": slice_axis,
    "slice_like": slice_like,
    # rows of a matrix
    "take": lambda graph, node: graph.add("Gather", *map(graph.value, node.inputs)),
    "squeeze": lambda graph, node: graph.add("Squeeze", same(graph, node), graph.integers(node.attributes["axis"])),
    "softmax": softmax,
    "stack": stack,
}
