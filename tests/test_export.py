"""The ONNX model is the same function as the Gluon network."""

import numpy
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.bundle.format import load_bundle, read_contents, write_bundle
from nsmc_attention.config import preset
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.export import exceeds, export_bundle, onnx_model
from nsmc_attention.inference.predictor import load_classifier
from nsmc_attention.reviews import nsmc

mxnet = import_mxnet()

from nsmc_attention.model.attention import CELLS  # noqa: E402
from nsmc_attention.model.networks.classifier import build_network  # noqa: E402
from nsmc_attention.model.parameters import gluon_file, read_gluon_file, round_tables, shapes, snapshot  # noqa: E402
from nsmc_attention.text.ngrams import NGRAMS  # noqa: E402


@pytest.mark.parametrize(
    "attention, architecture, encoder, buckets",
    [
        *((name, "masked", "gru", 40) for name in CELLS),
        ("additive", "masked", "gru", 0),
        ("uniform", "masked", "none", 40),
        ("additive", "post", "gru", 0),
    ],
)
def test_onnx_is_gluon_for_every_network(attention, architecture, encoder, buckets):
    import onnxruntime

    config = preset("post" if architecture == "post" else "default").with_fields(
        embedding_size=6, hidden_size=4, max_length=9
    )
    if architecture == "masked":
        config = config.with_fields(attention=attention, attention_units=5, encoder=encoder, ngram_buckets=buckets)
    mxnet.random.seed(1)
    network = build_network(50, config)
    network.initialize(mxnet.init.Normal(0.5))
    if buckets:
        network.ngram_table.weight.set_data(mxnet.nd.random.uniform(shape=(buckets, 2)))
    round_tables(network)
    random = numpy.random.RandomState(0)
    ids = random.randint(0, 50, (6, 9)).astype("int32")
    lengths = numpy.array([9, 1, 5, 9, 2, 3], dtype="int32")
    given = {"token_ids": ids, "valid_length": lengths}
    if buckets:
        given["ngram_ids"] = random.randint(0, buckets, (6, 9, NGRAMS)).astype("int32")
    logits, weights = network(
        *(
            mxnet.nd.array(array, dtype="float32" if name == "valid_length" else "int32")
            for name, array in given.items()
        )
    )
    session = onnxruntime.InferenceSession(
        onnx_model(config, snapshot(network)).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found = session.run(["probability", "weights"], {item.name: given[item.name] for item in session.get_inputs()})
    numpy.testing.assert_allclose(found[0], logits.softmax()[:, 1].asnumpy(), atol=1e-5)
    numpy.testing.assert_allclose(found[1], weights.asnumpy(), atol=1e-5)
    arrays = snapshot(network)
    assert shapes(config, 50) == {name: array.shape for name, array in arrays.items()}
    again = read_gluon_file(gluon_file(network), config, 50, "weights.params")
    assert again.keys() == arrays.keys() and all((again[name] == arrays[name]).all() for name in arrays)


@pytest.mark.parametrize("folder", ["run_folder", "post_run_folder"])
def test_both_engines_agree_on_raw_text(folder, request):
    bundle = request.getfixturevalue(folder) / "bundle"
    texts = nsmc.load("sample", "test").documents
    onnx, gluon = (load_classifier(bundle, engine).predict_many(texts) for engine in ("onnx", "gluon"))
    assert onnx == gluon


def test_a_training_records_how_close_both_engines_are(run_folder):
    found = load_bundle(run_folder / "bundle").manifest["parity"]
    assert found["reviews"] == 540
    assert 0 <= max(found["probability_difference"], found["weights_difference"]) <= 1e-5


@pytest.mark.parametrize("output", [None, "bundle/model.onnx", "bundle/../bundle/model.onnx"])
def test_export_puts_a_missing_model_into_the_bundle(output, run_folder, tmp_path):
    bundle = load_bundle(run_folder / "bundle")
    contents = read_contents(bundle)
    model = contents.pop("model.onnx")
    write_bundle(tmp_path / "bundle", bundle.manifest, contents)
    found = export_bundle(tmp_path / "bundle", output and tmp_path / output)
    assert found["reviews"] == 1000 and found["bytes"] == len(model)
    again = load_bundle(tmp_path / "bundle")
    assert again.file("model.onnx").read_bytes() == model
    assert again.manifest["parity"]["reviews"] == 1000


@pytest.mark.parametrize(
    "output, error, message",
    [
        ("{bundle}/other.onnx", ConfigError, "expected a place outside the bundle"),
        ("-", ConfigError, "expected a file, found stdout"),
        ("{bundle}", DataError, "is a folder"),
        ("{bundle}/../none/model.onnx", DataError, "no such folder"),
    ],
)
def test_where_no_model_can_be_written_is_told_before_any_work(
    output, error, message, run_folder, tmp_path, monkeypatch
):
    """The work itself would be an error: these are no parameters."""
    monkeypatch.chdir(tmp_path)
    bundle = load_bundle(run_folder / "bundle")
    write_bundle(tmp_path / "bundle", bundle.manifest, {**read_contents(bundle), "weights.params": b"none"})
    with pytest.raises(error, match=message):
        export_bundle(tmp_path / "bundle", output.format(bundle=tmp_path / "bundle"))
    assert load_bundle(tmp_path / "bundle") and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("wrong", [2e-5, numpy.nan, numpy.inf])
def test_what_is_no_number_proves_nothing(wrong):
    assert not exceeds({"probability_difference": 1e-6, "weights_difference": 1e-5})
    assert exceeds({"probability_difference": wrong, "weights_difference": 0.0})
    assert exceeds({"probability_difference": 0.0, "weights_difference": wrong})
