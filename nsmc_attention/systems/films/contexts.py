"""A classifier's graph that also returns what its last layer reads: each review as a vector, for networks above it."""

from onnx import ModelProto, TensorProto, helper

from ...classification.graphs import CONTEXTS
from ...errors import BundleError

# What stands between the last layer and the probability of positive, backwards
BEHIND = ("Squeeze", "Slice", "Softmax")


def with_contexts(content: bytes, where: object) -> bytes:
    """Return a serialized classifier with the further output `contexts` (N, F) float32.

    BundleError, in whose message the file is called `where`, if it does not end with a dense layer.
    """
    model = ModelProto.FromString(content)
    writers = {output: node for node in model.graph.node for output in node.output}
    node = writers.get("probability")
    for operator in BEHIND:
        if node and node.op_type == operator:
            node = writers.get(node.input[0])
    if not node or node.op_type != "Gemm":
        found = node.op_type if node else "nothing"
        raise BundleError(
            f"{where}: expected a dense layer before the probability, found {found}; write the graph again with "
            "`nsmc-attention export`"
        )
    model.graph.node.append(helper.make_node("Identity", [node.input[0]], [CONTEXTS]))
    model.graph.output.append(helper.make_tensor_value_info(CONTEXTS, TensorProto.FLOAT, ["N", None]))
    return bytes(model.SerializeToString())
