"""A network's function as an ONNX graph, written from its Config and its parameters alone.

Written with `onnx.helper`: MXNet's own exporter refuses a bidirectional GRU. The same Config and parameters give
the same bytes, by which `inference.engines` tells a graph of ours from any other. Needs no MXNet.
"""

from dataclasses import dataclass, field

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from ...text.ngrams import NGRAMS, SMALLEST
from ..parameters import NGRAM_TABLE, in_bytes

OPSET, IR_VERSION = 17, 9
# ONNX orders a GRU's gates update, reset, new; MXNet and cuDNN reset, update, new
GATES = (1, 0, 2)


@dataclass
class Graph:
    """Collects nodes and constants; each call adds a node and answers the name of its output."""

    nodes: list = field(default_factory=list)
    constants: list = field(default_factory=list)

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(numpy.ascontiguousarray(array), name))
        return name

    def integers(self, *values):
        name = "int_" + "_".join(str(value).replace("-", "m") for value in values)
        if all(known.name != name for known in self.constants):
            self.constant(name, numpy.array(values, dtype="int64"))
        return name

    def add(self, operator, *inputs, output=None, outputs=None, **attributes):
        names = outputs or [output or f"{operator.lower()}_{len(self.nodes)}"]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[0]

    def split(self, source, axis):
        """Answer the names of the two halves of `source`."""
        names = [f"half_{len(self.nodes)}_{number}" for number in range(2)]
        self.add("Split", source, outputs=names, axis=axis)
        return names


def onnx_model(config, arrays):
    """Write the network of a Config with its parameters as an ONNX model; its tables as `model.parameters` stores them.

    Parameters
    ----------
    config : Config
    arrays : dict of structural parameter name to array, as `model.parameters.snapshot` gives

    Returns
    -------
    onnx.ModelProto
        Inputs token_ids (N, T) int32, valid_length (N,) int32 and, where the network reads n-grams, ngram_ids
        (N, T, NGRAMS) int32;
        outputs probability (N,) of positive and weights (N, T, T), float32.
    """
    graph = Graph()
    build = post_graph if config.model.kind == "article" else masked_graph
    logits = build(graph, config.model, arrays)
    both = graph.add("Softmax", logits, axis=1)
    positive = graph.add("Slice", both, graph.integers(1), graph.integers(2), graph.integers(1))
    graph.add("Squeeze", positive, graph.integers(1), output="probability")
    inputs = [
        helper.make_tensor_value_info("token_ids", TensorProto.INT32, ["N", "T"]),
        helper.make_tensor_value_info("valid_length", TensorProto.INT32, ["N"]),
    ]
    if config.text.ngram_buckets:
        inputs.append(helper.make_tensor_value_info("ngram_ids", TensorProto.INT32, ["N", "T", NGRAMS]))
    outputs = [
        helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["N"]),
        helper.make_tensor_value_info("weights", TensorProto.FLOAT, ["N", "T", "T"]),
    ]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "nsmc_attention", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="nsmc_attention",
    )
    onnx.checker.check_model(model)
    return model


def masked_graph(graph, model, arrays):
    """SelfAttentionClassifier, line by line."""
    names = ("forward_gru", "backward_gru") if model.encoder.kind == "gru" else ()
    directions = [gru_arrays(arrays, f"encoder.{name}._unfused.0.") for name in names]
    states = encode(graph, arrays["embedding.weight"], directions, "valid_length")
    seen, by_review = states, None
    if NGRAM_TABLE in arrays:
        by_token, by_review = ngram_log_odds(graph, arrays[NGRAM_TABLE])
    if "evidence.weight" in arrays:
        told = dense(graph, "evidence", arrays, with_neighbour(graph, by_token), bias=False)
        seen = graph.add("Add", states, told)
    mask = token_mask(graph)  # (N, T, 1)
    across = graph.add("Transpose", mask, perm=[0, 2, 1])  # (N, 1, T)
    pairs = graph.add("Mul", mask, across)  # (N, T, T)
    length = graph.add("Unsqueeze", graph.add("Cast", "valid_length", to=TensorProto.FLOAT), graph.integers(1, 2))
    mean = graph.add("Div", across, length)  # (N, 1, T)
    if model.attention.kind == "multihead":
        pooled = multihead(graph, model, arrays, seen, states, pairs, mean)
    else:
        masked_softmax(graph, SCORES[model.attention.kind](graph, arrays, seen, model.width), pairs, output="weights")
        pooled = graph.add("MatMul", graph.add("MatMul", mean, "weights"), states)  # (N, 1, 2H)
    features = pooled if by_review is None else graph.add("Concat", pooled, by_review, axis=2)
    return graph.add(
        "Gemm",
        graph.add("Squeeze", features, graph.integers(1)),
        graph.constant("output_weight", arrays["output.weight"]),
        graph.constant("output_bias", arrays["output.bias"]),
        transB=1,
    )


def ngram_log_odds(graph, table):
    """ngram_ids (N, T, NGRAMS) -> (N, T, 1) and (N, 1, 1), as `model.classifier.ngram_log_odds`."""
    rows = graph.add("Gather", graph.constant("ngram_table", table.astype("float16")), "ngram_ids")
    sums = graph.add("ReduceSum", graph.add("Cast", rows, to=TensorProto.FLOAT), graph.integers(2), keepdims=0)
    weight, square = graph.split(sums, axis=2)  # (N, T, 1) each
    square = graph.add("ReduceSum", square, graph.integers(1))
    inside = graph.add("Max", square, graph.constant("smallest", numpy.float32(SMALLEST)))
    by_token = graph.add("Div", weight, graph.add("Sqrt", inside))
    return by_token, graph.add("ReduceSum", by_token, graph.integers(1))


def with_neighbour(graph, by_token):
    """(N, T, 1) -> (N, T, EVIDENCE), as `model.classifier.with_neighbour`."""
    shifted = graph.add("Pad", by_token, graph.integers(0, 1, 0, 0, 0, 0))
    before = graph.add("Slice", shifted, graph.integers(0), graph.integers(-1), graph.integers(1))
    return graph.add("Concat", by_token, before, axis=2)


def post_graph(graph, model, arrays):
    """PostClassifier: no mask anywhere, the contexts of all positions flattened. Reads exactly seq_len tokens."""
    directions = [gru_arrays(arrays, f"bigru._unfused.0.{side}_cell.") for side in "lr"]
    states = encode(graph, arrays["embed.weight"], directions, "")
    scores = additive(graph, arrays, states, model.width)
    graph.add("Softmax", scores, axis=-1, output="weights")
    contexts = graph.add("MatMul", "weights", states)
    return graph.add(
        "Gemm",
        graph.add("Flatten", contexts),
        graph.constant("output_weight", arrays["dense.weight"]),
        graph.constant("output_bias", arrays["dense.bias"]),
        transB=1,
    )


def gru_arrays(arrays, prefix):
    """Answer one direction's (W, R, B) with the gates in ONNX's order."""

    def ordered(name):
        return numpy.concatenate([numpy.split(arrays[prefix + name], 3)[gate] for gate in GATES])

    bias = numpy.concatenate([ordered("i2h_bias"), ordered("h2h_bias")])
    return ordered("i2h_weight"), ordered("h2h_weight"), bias


def encode(graph, embedding, directions, valid_length):
    """Embedding and GRU: token_ids (N, T) -> states (N, T, 2H). An empty name of lengths reads the padding too."""
    across = graph.add("Transpose", "token_ids", perm=[1, 0])
    embedded = rows_of(graph, "embedding", embedding, across)  # (T, N, E)
    if not directions:
        return graph.add("Transpose", embedded, perm=[1, 0, 2], output="states")
    weight, recurrent, bias = (
        graph.constant(name, numpy.stack(part)) for name, part in zip(("gru_w", "gru_r", "gru_b"), zip(*directions))
    )
    hidden = directions[0][1].shape[1]
    states = graph.add(
        "GRU",
        embedded,
        weight,
        recurrent,
        bias,
        valid_length,
        outputs=["gru_states", ""],
        direction="bidirectional",
        hidden_size=hidden,
        linear_before_reset=1,
    )
    by_review = graph.add("Transpose", states, perm=[2, 0, 1, 3])  # (T, 2, N, H) -> (N, T, 2, H)
    return graph.add("Reshape", by_review, graph.integers(0, 0, 2 * hidden), output="states")


def rows_of(graph, name, table, numbers):
    """The rows of a table of embeddings, which is stored as `model.parameters` stores it."""
    whole, scale = in_bytes(table)
    rows = graph.add("Cast", graph.add("Gather", graph.constant(name, whole), numbers), to=TensorProto.FLOAT)
    steps = graph.add(
        "Cast", graph.add("Gather", graph.constant(f"{name}_scale", scale), numbers), to=TensorProto.FLOAT
    )
    return graph.add("Mul", rows, steps)


def token_mask(graph):
    size = graph.add("Gather", graph.add("Shape", "token_ids"), graph.constant("one", numpy.array(1, "int64")))
    positions = graph.add("Range", graph.constant("zero", numpy.array(0, "int64")), size, "one")
    lengths = graph.add("Unsqueeze", graph.add("Cast", "valid_length", to=TensorProto.INT64), graph.integers(1))
    mask = graph.add("Cast", graph.add("Less", positions, lengths), to=TensorProto.FLOAT)
    return graph.add("Unsqueeze", mask, graph.integers(2))


def masked_softmax(graph, scores, mask, output=None):
    visible = graph.add("Cast", mask, to=TensorProto.BOOL)
    hidden = graph.constant(f"hidden_{len(graph.nodes)}", numpy.float32(-1e18))
    softmax = graph.add("Softmax", graph.add("Where", visible, scores, hidden), axis=-1)
    return graph.add("Mul", softmax, mask, output=output)


def dense(graph, name, arrays, source, bias=True):
    """source (N, T, in) -> (N, T, out) by the Dense layer called name."""
    product = graph.add("MatMul", source, graph.constant(f"{name}.w", arrays[f"{name}.weight"].T))
    return graph.add("Add", product, graph.constant(f"{name}.b", arrays[f"{name}.bias"])) if bias else product


def additive(graph, arrays, states, width):
    query = dense(graph, "attention._query_mid_layer", arrays, states)  # (N, T, A)
    key = dense(graph, "attention._key_mid_layer", arrays, states, bias=False)
    pairs = graph.add(
        "Add", graph.add("Unsqueeze", query, graph.integers(2)), graph.add("Unsqueeze", key, graph.integers(1))
    )  # (N, T, T, A)
    scores = dense(graph, "attention._attention_score", arrays, graph.add("Tanh", pairs), bias=False)
    return graph.add("Squeeze", scores, graph.integers(3))  # (N, T, T)


def dot(graph, arrays, states, width, scale=1.0, query=None):
    across = graph.add("Transpose", states, perm=[0, 2, 1])
    scores = graph.add("MatMul", query or states, across)
    return graph.add("Mul", scores, graph.constant("scale", numpy.float32(scale))) if scale != 1.0 else scores


def scaled(graph, arrays, states, width):
    return dot(graph, arrays, states, width, scale=width**-0.5)


def general(graph, arrays, states, width):
    return dot(graph, arrays, states, width, query=dense(graph, "attention._proj_query", arrays, states, bias=False))


def uniform(graph, arrays, states, width):
    return graph.add(
        "MatMul",
        graph.add("Mul", states, graph.constant("nothing", numpy.float32(0))),
        graph.add("Transpose", states, perm=[0, 2, 1]),
    )


SCORES = {"additive": additive, "dot": dot, "scaled": scaled, "general": general, "uniform": uniform}


def multihead(graph, model, arrays, seen, states, pairs, mean):
    """Adds the output "weights", the mean over the heads, and answers the pooled contexts (N, 1, 2H)."""
    heads, size = model.attention.heads, model.width // model.attention.heads

    def project(name, source):
        projected = dense(graph, f"attention.proj_{name}", arrays, source)
        split = graph.add("Reshape", projected, graph.integers(0, 0, heads, size))
        return graph.add("Transpose", split, perm=[0, 2, 1, 3])  # (N, K, T, 2H / K)

    query, key, value = project("query", seen), project("key", seen), project("value", states)
    scores = graph.add(
        "Mul",
        graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2])),
        graph.constant("scale", numpy.float32(size**-0.5)),
    )
    weights = masked_softmax(graph, scores, graph.add("Unsqueeze", pairs, graph.integers(1)))
    graph.add("ReduceMean", weights, axes=[1], keepdims=0, output="weights")
    looked_at = graph.add("MatMul", graph.add("Unsqueeze", mean, graph.integers(1)), weights)
    pooled = graph.add("Transpose", graph.add("MatMul", looked_at, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", pooled, graph.integers(0, 1, model.width))
