"""Files from strangers: refused with one line, or read; nothing run, nothing else touched, memory bounded.

The campaign in full, 2,500 mutated files, minutes:

    python -m pytest tests/test_strangers_files.py -m slow
"""

import ast
import hashlib
import io
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import nsmc_attention
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.classification.system import LAYOUT
from nsmc_attention.errors import BundleError, DataError
from nsmc_attention.model.graph_files import with_numbers
from nsmc_attention.model.parameters import NGRAM_TABLE, parsed, read_gluon_file
from nsmc_attention.registry import load
from nsmc_attention.tables import tables

FUZZ = Path(__file__).parent / "fuzz"
PACKAGE = Path(nsmc_attention.__file__).parent


@pytest.mark.parametrize("count, first", [(210, 0), pytest.param(2500, 10_000, marks=pytest.mark.slow)])
def test_mutated_files_are_refused_or_read(count, first):
    command = [sys.executable, "-W", "ignore", FUZZ / "files.py", str(count), str(first)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout)
    print(counts)
    assert counts["refused"] + counts["answered"] == counts["tried"] == count and counts["refused"] > count / 2


@pytest.fixture
def bundle(bundle_folder, tmp_path):
    return shutil.copytree(bundle_folder, tmp_path / "bundle")


def put(folder, name, content):
    """Change a file of a bundle as a stranger does: the manifest fits."""
    (folder / name).write_bytes(content)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["files"][name] = hashlib.sha256(content).hexdigest()
    manifest.get("whole", {}).pop(name, None)
    path.write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize("name", ["weights.params", "model.onnx", "vocab.json", "README.md", "manifest.json"])
def test_a_link_in_a_bundle_is_refused_even_to_the_right_content(bundle, tmp_path, name):
    (bundle / name).rename(tmp_path / "elsewhere")
    (bundle / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match=f"{name}: expected a regular file, found a link"):
        load_bundle(bundle, LAYOUT)


def whole_graph(path):
    """Return the whole ModelProto of a bundle's graph."""
    import onnx

    arrays = parsed((path.parent / "weights.params").read_bytes())
    return onnx.load_from_string(with_numbers(path.read_bytes(), arrays))


def changed_graph(bundle, change):
    model = whole_graph(bundle / "model.onnx")
    change(model)
    put(bundle, "model.onnx", model.SerializeToString())


def another_state_size(model):
    gru = next(node for node in model.graph.node if node.op_type == "GRU")
    next(item for item in gru.attribute if item.name == "hidden_size").i += 1


def another_probability(model):
    """A probability that is not between 0 and 1: of the first logit."""
    node = next(node for node in model.graph.node if node.op_type == "Softmax" and node.attribute[0].i == 1)
    node.op_type = "Sub"
    node.input.append(node.input[0])
    del node.attribute[:]
    logits = next(item for item in model.graph.node if node.input[0] in item.output)
    node.input[1] = logits.input[2]


@pytest.mark.parametrize(
    "change, message",
    [
        (another_state_size, "cannot be run|cannot load it|safe to run"),
        (another_probability, "expected probability of shape .* from 0 to 1"),
    ],
)
def test_a_graph_that_fails_or_predicts_no_probability_is_one_line(bundle, change, message):
    changed_graph(bundle, change)
    with pytest.raises(BundleError, match=message):
        classifier = load_classifier(bundle, "onnx")
        classifier.predict_many(["정말 재미있는 영화였어요", "지루하고 돈이 아까워요"] * 20)


def test_a_graph_by_another_writer_is_run(bundle):
    """With other names and one more node it is the same function: nobody's writer is compared with ours."""
    from onnx import helper

    def rewritten(model):
        model.producer_name = "another"
        model.graph.node.append(helper.make_node("Relu", ["weights"], ["unused"]))

    expected = load_classifier(bundle).predict("정말 재미있는 영화였어요")
    changed_graph(bundle, rewritten)
    assert load_classifier(bundle).predict("정말 재미있는 영화였어요") == expected


def places(content):
    """Answer {name: (first byte, dtype, shape)} of the arrays in a parameter file."""
    stream, found = io.BytesIO(content), []
    stream.seek(16)
    for _ in range(*struct.unpack("<Q", stream.read(8))):
        _, _, dimensions = struct.unpack("<IiI", stream.read(12))
        *shape, _, _, kind = struct.unpack(f"<{dimensions}qiii", stream.read(8 * dimensions + 12))
        dtype = numpy.dtype({0: "f4", 2: "f2", 5: "i1"}[kind])
        found.append((stream.tell(), dtype, shape))
        stream.seek(int(numpy.prod(shape)) * dtype.itemsize, 1)
    stream.seek(8, 1)
    names = [stream.read(*struct.unpack("<Q", stream.read(8))).decode() for _ in found]
    return dict(zip(names, found))


def with_values(content, name, values):
    """Put values in place of the first of an array."""
    at, dtype, _ = places(content)[name]
    given = numpy.array(values, dtype).tobytes()
    return content[:at] + given + content[at + len(given) :]


@pytest.mark.parametrize("name", ["output.weight", NGRAM_TABLE, "embedding.weight.scale"])
def test_weights_that_are_not_finite_are_refused(bundle, name):
    put(bundle, "weights.params", with_values((bundle / "weights.params").read_bytes(), name, numpy.inf))
    with pytest.raises(BundleError, match=f"weights.params: expected finite numbers in {name}"):
        load_classifier(bundle, "gluon")


def another_kind(folder):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["config"]["model"] = {"kind": "evil"}
    path.write_text(json.dumps(manifest), encoding="utf-8")


def foreign_operators(folder):
    for path in folder.glob("*.onnx"):
        model = whole_graph(path)
        model.graph.node.add(op_type="Evil", domain="evil", output=["evil"])
        put(folder, path.name, model.SerializeToString())


def weights_that_are_none(folder):
    content = (folder / "weights.params").read_bytes()
    name = next(name for name, (_, dtype, _) in places(content).items() if dtype.kind == "f")
    put(folder, "weights.params", with_values(content, name, numpy.nan))


@pytest.mark.parametrize("kind", ["", "_editor", "_writer", "_language", "_film"])
@pytest.mark.parametrize(
    "change, engine, message",
    [
        (another_kind, "auto", "manifest.json: "),
        (foreign_operators, "onnx", "expected an ONNX graph that is safe to run"),
        (weights_that_are_none, "gluon", "weights.params: expected finite numbers in "),
    ],
)
def test_what_a_stranger_changed_in_a_bundle_of_any_kind_is_refused(tmp_path, kind, change, engine, message):
    folder = shutil.copytree(PACKAGE / f"pretrained{kind}", tmp_path / "bundle", ignore=shutil.ignore_patterns("__*"))
    change(folder)
    with pytest.raises(BundleError, match=message):
        load(folder, engine)


def test_weights_that_overflow_are_reported_by_the_prediction(bundle):
    content = (bundle / "weights.params").read_bytes()
    for name in ("output.weight", "output.bias"):
        content = with_values(content, name, numpy.full(places(content)[name][2], 3e38))
    put(bundle, "weights.params", content)
    with pytest.raises(BundleError, match="expected a probability from the network, found none that is finite"):
        load_classifier(bundle, "gluon").predict("영화")


@pytest.mark.parametrize("at, number", [(16, 2**63), (16, 0), (36, 2**31), (40, 2**40), (44, 2**62), (0, 1), (24, 0)])
def test_sizes_that_a_parameter_file_has_not_are_refused_before_memory_is_taken(bundle, at, number):
    content = (bundle / "weights.params").read_bytes()
    content = content[:at] + struct.pack("<Q", number) + content[at + 8 :]
    verified = load_bundle(bundle, LAYOUT)
    with pytest.raises(BundleError, match="expected a Gluon parameter file, found something else"):
        read_gluon_file(content, verified.config.network(len(verified.codec)), "x")


def test_a_message_is_one_line_that_steers_no_terminal(tmp_path):
    (tmp_path / "a.csv").write_text('"a\x1b[2J\nb",c\n1,2\n', encoding="utf-8")
    with pytest.raises(DataError) as problem:
        list(tables.open_table(tmp_path / "a.csv").parts)
    assert str(problem.value).isprintable() and "a [2J b" in str(problem.value)


MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}
CALLS = {"eval", "exec", "numpy.load", "nd.load", "mxnet.nd.load", "torch.load", "joblib.load"}
METHODS = {"read_pickle", "load_parameters", "load_states", "save_states", "extractall", "extract"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_that_runs_what_it_reads_is_called(path):
    """No pickle, also not through numpy, pandas or MXNet; nor MXNet's native reader of files."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            assert not MODULES & {getattr(node, "module", None), *(name.name for name in node.names)}
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in CALLS and called.rpartition(".")[2] not in METHODS, called
