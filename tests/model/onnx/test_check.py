"""A foreign graph is run if it is safe, whoever wrote it, and refused in one line if it may not be."""

import random
from pathlib import Path

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from nsmc_attention.classification.graphs import REVIEWS
from nsmc_attention.errors import BundleError
from nsmc_attention.inference.sessions import OnnxGraph
from nsmc_attention.model.graphs import AXES, Interface, Sizes
from nsmc_attention.model.onnx.check import OPERATORS, check_graph

RELEASE_1 = numpy.load(Path(__file__).parent / "release1.npz")
ROWS = {"token_ids": 12, "ngram_ids": 16}
WHERE = Path("bundle/model.onnx")
GIVEN = {
    "token_ids": numpy.arange(18, dtype="int32").reshape(2, 9) % 12,
    "valid_length": numpy.array([9, 4], "int32"),
    "ngram_ids": numpy.arange(144, dtype="int32").reshape(2, 9, 8) % 16,
}


def checked(model, rows=None, batches=((1, 1), (3, 7), (32, 256)), axes=AXES):
    content = model if isinstance(model, bytes) else model.SerializeToString()
    rows = ROWS if rows is None else rows
    sizes = Sizes(rows, {}, [{"N": reviews, **dict.fromkeys(("T", *AXES), length)} for reviews, length in batches])
    return check_graph(content, interface(axes, rows), sizes, WHERE, "use --engine gluon")


def interface(axes=AXES, rows=ROWS):
    inputs = {
        name: REVIEWS[name] for name in ("token_ids", "valid_length", "ngram_ids") if name in ("valid_length", *rows)
    }
    return Interface(inputs, {"probability": ("N",), "weights": ("N", *axes)})


def sound(name="additive-gru-16"):
    return onnx.load_from_string(RELEASE_1[name].tobytes())


@pytest.mark.parametrize("name", [name for name in RELEASE_1.files if "." not in name])
def test_graphs_of_release_1_pass_and_predict_the_same(name):
    import onnxruntime

    rows = ROWS if name.endswith("-16") else {"token_ids": 12}
    batches = [(1, 9), (32, 9)] if name.startswith("article") else [(1, 1), (3, 7), (32, 256)]
    content = checked(RELEASE_1[name].tobytes(), rows, batches)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    given = {item.name: GIVEN[item.name] for item in session.get_inputs()}
    for output, found in zip(("probability", "weights"), session.run(["probability", "weights"], given)):
        numpy.testing.assert_allclose(found, RELEASE_1[f"{name}.{output}"], atol=1e-6)


def test_weights_may_have_other_axes_of_a_fixed_size_before_the_keys():
    """Three hops, each the mean of the queries' weights; in place of queries they are refused."""
    model = sound()
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = ["pairs" if name == "weights" else name for name in names]
    mean = helper.make_node("ReduceMean", ["pairs"], ["mean"], axes=[1], keepdims=1)
    model.graph.node.extend([mean, helper.make_node("Concat", ["mean"] * 3, ["weights"], axis=1)])
    del model.graph.output[1].type.tensor_type.shape.dim[1:]
    for size in ({"dim_value": 3}, {"dim_param": "keys"}):
        model.graph.output[1].type.tensor_type.shape.dim.add(**size)
    weights = OnnxGraph(checked(model, axes=("hops", "keys")), interface(("hops", "keys")), {})(*GIVEN.values())[1]
    assert weights.shape == (2, 3, 9)
    assert weights.sum(axis=2) == pytest.approx(numpy.array([[1] * 3, [4 / 9] * 3]), abs=1e-5)
    with pytest.raises(BundleError, match="weights of type"):
        checked(model)


def added(model, operator, inputs, domain="", **attributes):
    model.graph.node.append(helper.make_node(operator, inputs, ["unused"], domain=domain, **attributes))


def constant(model, name, array):
    model.graph.initializer.append(numpy_helper.from_array(numpy.asarray(array), name))
    return name


def control_flow(model):
    branch = helper.make_graph(
        [helper.make_node("Identity", ["weights"], ["x"])],
        "branch",
        [],
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
    )
    added(model, "If", [constant(model, "condition", True)], then_branch=branch, else_branch=branch)


def function(model):
    made = helper.make_function("", "Add", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], model.opset_import)
    model.functions.append(made)


def external_data(model):
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../../etc/passwd")


def short_initializer(model):
    tensor = model.graph.initializer[0]
    tensor.raw_data = tensor.raw_data[:-1]


def text_initializer(model):
    tensor = model.graph.initializer.add(name="text", data_type=TensorProto.STRING, dims=[1])
    tensor.raw_data = b"x"


def smaller_table(model):
    table = next(item for item in model.graph.initializer if item.name == "embedding")
    table.dims[0] -= 1
    table.raw_data = table.raw_data[: -table.dims[1]]


def endless_range(model):
    numbers = [constant(model, f"number{each}", numpy.int64(each)) for each in (0, 10**15, 1)]
    added(model, "Range", numbers)


def growth_of_a_thousandfold_each(model):
    last = "weights"
    for number in range(8):
        name = f"grown{number}"
        model.graph.node.append(helper.make_node("Concat", [last] * 8, [name], axis=0))
        last = name


def outer_products(model):
    flat = constant(model, "row", numpy.ones((1, 500), "float32"))
    column = constant(model, "column", numpy.ones((500, 1), "float32"))
    for number in range(4):
        model.graph.node.append(helper.make_node("MatMul", [column, flat], [f"square{number}"]))
        shape = constant(model, f"shape{number}", [-1, 1])
        model.graph.node.append(helper.make_node("Reshape", [f"square{number}", shape], [f"column{number}"]))
        column = f"column{number}"


def too_many_nodes(model):
    for number in range(3000):
        model.graph.node.append(helper.make_node("Relu", ["weights"], [f"more{number}"]))


def changed(statement):
    """A change of a model that one statement makes."""

    def change(model):
        exec(f"model.{statement}", {"model": model})

    return change


BAD = [
    (lambda model: added(model, "Gelu", ["weights"], domain="com.microsoft"), "the operator 'Gelu' of the domain 'com"),
    (
        lambda model: added(model, "Expand", ["weights", constant(model, "size", [10**6, 1, 1, 1])]),
        "the operator 'Expand'",
    ),
    (control_flow, "the field g in AttributeProto"),
    (
        lambda model: model.graph.node[0].attribute.append(helper.make_attribute("body", model.graph)),
        "more than 65,536 bytes|the field g in AttributeProto",
    ),
    (function, "the field functions in ModelProto"),
    (external_data, "the field (external_data|data_location) in TensorProto"),
    (changed("graph.initializer[0].dims[0] = 2**40"), "of type . and shape .1099511627776"),
    (changed("graph.initializer[0].dims[:] = [-1, -36]"), "and shape .-1, -36"),
    (short_initializer, "a constant '.*' of type"),
    (changed("graph.sparse_initializer.add().dims.append(2**40)"), "the field sparse_initializer in GraphProto"),
    (text_initializer, "a constant 'text' of type 8"),
    (
        lambda model: constant(model, "nan", numpy.array([1, numpy.nan], "float32")),
        "numbers in 'nan' that are not finite",
    ),
    (changed("opset_import[0].version = 99"), "IR version 9 and operator sets"),
    (changed("opset_import.add(domain='com.microsoft', version=1)"), "IR version 9 and operator sets"),
    (changed("ir_version = 99"), "IR version 99"),
    (changed("graph.input[0].name = 'pixels'"), "inputs or outputs .*pixels"),
    (changed("graph.output[1].name = 'boxes'"), "inputs or outputs .*boxes"),
    (changed("graph.input[0].type.tensor_type.elem_type = 1"), "token_ids of type 1"),
    (changed("graph.output.pop()"), "inputs or outputs"),
    (smaller_table, "a table 'embedding' of 11 rows for 12 token_ids"),
    (endless_range, "Range"),
    (growth_of_a_thousandfold_each, "Concat .* for "),
    (outer_products, "for . reviews"),
    (lambda model: added(model, "Pad", ["weights", constant(model, "pads", [0, 0, 0, 2**40, 0, 0])]), "Pad"),
    (
        lambda model: added(
            model, "Div", [constant(model, "one_", numpy.int64(1)), constant(model, "zero_", numpy.int64(0))]
        ),
        "a division of whole numbers",
    ),
    (lambda model: added(model, "Cast", ["weights"], to=TensorProto.STRING), "a conversion to a type that is no"),
    (too_many_nodes, "more than 65,536 bytes beside the numbers of its constants"),
    (lambda model: added(model, "Transpose", ["weights"], perm=[0] * 10**6), "more than 65,536 bytes"),
    (lambda model: model.graph.node.append(model.graph.node[0]), "."),
]


@pytest.mark.parametrize("change, found", BAD, ids=[found for _, found in BAD])
def test_a_graph_that_may_not_be_run_is_refused_in_one_line(change, found):
    model = sound()
    change(model)
    with pytest.raises(BundleError, match=f"expected an ONNX graph that is safe to run, found .*{found}") as raised:
        checked(model)
    assert str(raised.value).isprintable() and "use --engine gluon" in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"\0", b"x" * 100, b"\x3a\xff\xff\xff\xff\x0f", b"\x0b" * 50])
def test_no_model_at_all_is_refused(content):
    with pytest.raises(BundleError, match="safe to run"):
        checked(content)


def test_a_file_that_would_take_many_times_its_size_in_memory_is_refused_unparsed():
    nodes = b"\x0a\x00" * 10**6
    size = len(nodes)
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21])
    with pytest.raises(BundleError, match="more than 65,536 bytes beside the numbers of its constants"):
        checked(b"\x3a" + length + nodes)


def test_what_the_onnx_package_does_not_know_is_left_out():
    content = sound().SerializeToString()
    # field 1000, 4 bytes long
    assert checked(content + b"\xc2\x3e\x04abcd") == checked(content) == sound().SerializeToString()


def test_a_tensor_larger_than_any_config_asks_for_is_refused_for_a_long_review_only():
    """(N, T, T, T): 2**24 numbers for 256 tokens, and 2**30 for 1024."""
    model = sound()
    axes = [constant(model, f"axis{axis}", [axis]) for axis in (1, 2, 3)]
    for axis in axes:
        model.graph.node.append(helper.make_node("Unsqueeze", ["weights", axis], [f"wide_{axis}"]))
    model.graph.node.append(helper.make_node("Add", [f"wide_{axes[0]}", f"wide_{axes[2]}"], ["cube"]))
    assert checked(model)
    with pytest.raises(BundleError, match=r"Add \(cube\)"):
        checked(model, batches=[(1, 1), (32, 1024)])


def rewired(model, draw):
    """Change a graph as its format allows: operators, inputs, attributes and the numbers of constants."""
    nodes, constants = list(model.graph.node), list(model.graph.initializer)
    names = [*(item.name for item in constants), *(name for node in nodes for name in node.output if name), *GIVEN]
    for _ in range(draw.choice([1, 1, 2, 4])):
        node, tensor, change = draw.choice(nodes), draw.choice(constants), draw.randrange(5)
        if change == 0:
            node.op_type = draw.choice(OPERATORS.split())
        elif change == 1:
            node.input[draw.randrange(len(node.input))] = draw.choice(names)
        elif change == 2 and node.attribute:
            attribute = draw.choice(node.attribute)
            attribute.i = draw.choice([0, 1, -1, 2, 7, 2**31, 2**62])
            attribute.ints[:] = [draw.choice([0, 1, 2, 3, -1, 2**40]) for _ in attribute.ints]
        elif change == 3:
            array = numpy_helper.to_array(tensor).copy().reshape(-1)
            array[draw.randrange(array.size)] = draw.choice([0, 1, -1, 2, 100])
            tensor.raw_data = array.tobytes()
        else:
            model.graph.node.insert(draw.randrange(len(nodes)), draw.choice(nodes))
            draw.choice(model.graph.node).output[0] = f"new{draw.randrange(9)}"


@pytest.mark.parametrize("name", ["additive-gru-16", "multihead-gru-16"])
def test_a_rewired_graph_is_refused_or_runs_in_little_memory(name):
    import resource

    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    passed, before = 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in range(150):
        model = sound(name)
        rewired(model, random.Random(seed))
        try:
            content = checked(model)
        except BundleError as problem:
            assert str(problem).isprintable()
            continue
        passed += 1
        try:
            session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
            session.run(None, GIVEN)
        except Exception as problem:  # ONNX Runtime's own judgement, which OnnxGraph turns into a BundleError
            assert "onnxruntime" in type(problem).__module__, problem
    assert 0 < passed < 150
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
