"""The ONNX model is the same function as the Gluon network."""

import numpy
import pytest

from nsmc_attention.bundle import load_bundle, read_contents, write_bundle
from nsmc_attention.classifier.engines import load_engine
from nsmc_attention.classifier.export import disagreement, export_bundle, parity, parity_texts
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.engines.graphs import OnnxGraph
from nsmc_attention.engines.onnx.graph import lower
from nsmc_attention.errors import BundleError
from nsmc_attention.network.parameters import loaded, set_parameters, snapshot


def test_a_training_records_how_close_both_engines_are(run_folder):
    found = load_bundle(run_folder / "bundle", LAYOUT).manifest["parity"]
    assert found["reviews"] == 540
    assert 0 <= max(found["probability_difference"], found["weights_difference"]) <= 1e-5


@pytest.mark.parametrize("output", [None, "bundle/model.onnx", "bundle/../bundle/model.onnx"])
def test_export_puts_a_missing_model_into_the_bundle(output, run_folder, tmp_path):
    bundle = load_bundle(run_folder / "bundle", LAYOUT)
    contents = read_contents(bundle)
    model = contents.pop("model.onnx")
    write_bundle(tmp_path / "bundle", bundle.manifest, contents)
    found = export_bundle(tmp_path / "bundle", output and tmp_path / output)
    assert found["reviews"] == 1000 and found["bytes"] == len(model)
    again = load_bundle(tmp_path / "bundle", LAYOUT)
    assert again.read("model.onnx") == model and again.manifest["parity"]["reviews"] == 1000


def test_an_exported_model_is_whole(run_folder, tmp_path):
    bundle = load_bundle(run_folder / "bundle", LAYOUT)
    figures = export_bundle(bundle.folder, tmp_path / "model.onnx")
    content, batch = (tmp_path / "model.onnx").read_bytes(), bundle.codec.batch([bundle.codec.encode("정말 좋다")])
    assert figures["bytes"] == len(content) > len(bundle.read("model.onnx"))
    own = load_engine(bundle, "onnx", threads=1).graph
    exported = OnnxGraph(content, own.interface)
    assert all((one == other).all() for one, other in zip(own(*batch), exported(*batch)))


def test_gluon_reads_exported_parameters(run_folder, tmp_path):
    bundle = load_bundle(run_folder / "bundle", LAYOUT)
    export_bundle(bundle.folder, tmp_path / "first.params", "params")
    network = bundle.config.network(len(bundle.codec))
    network.load_parameters(str(tmp_path / "first.params"))
    assert all((array == loaded(bundle.parameters())[name]).all() for name, array in snapshot(network).items())


def test_another_function_is_a_disagreement(run_folder):
    bundle = load_bundle(run_folder / "bundle", LAYOUT)
    gluon = load_engine(bundle, "gluon", "cpu")
    arrays = snapshot(gluon.graph.block)
    bias = arrays["output.bias"] + numpy.array([0, 0.01], "float32")
    set_parameters(gluon.graph.block, {**arrays, "output.bias": bias})
    content = lower(gluon.graph.block, bundle.config.graphs)["model.onnx"]
    set_parameters(gluon.graph.block, arrays)
    found = parity(gluon, content, bundle.codec, bundle.config, parity_texts()[:100])
    assert "probability_difference" in disagreement(found)


@pytest.mark.parametrize("wrong", [2e-4, numpy.nan, numpy.inf])
def test_differences_that_are_large_or_no_numbers_are_disagreements(wrong):
    # rounding, of large scores of the attention too
    assert not disagreement({"probability_difference": 9e-5, "weights_difference": 9e-5})
    assert disagreement({"probability_difference": wrong, "weights_difference": 0.0})
    assert disagreement({"probability_difference": 0.0, "weights_difference": wrong})


def test_a_model_that_differs_is_not_written(run_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("nsmc_attention.classifier.export.LARGEST_DIFFERENCE", -1.0)
    bundle = load_bundle(run_folder / "bundle", LAYOUT)
    write_bundle(tmp_path / "bundle", bundle.manifest, read_contents(bundle))
    with pytest.raises(BundleError, match="expected the ONNX model to be Gluon's network"):
        export_bundle(tmp_path / "bundle", tmp_path / "model.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]
