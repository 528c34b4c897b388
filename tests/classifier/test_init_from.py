"""What a training begins with where another has been before it: `--init-from`."""

import json
import shlex
import shutil

import numpy
import pytest

from nsmc_attention import preset
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.engines import gluon_graph
from nsmc_attention.classifier.origins import continuing
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.classifier.train import train, train_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.corpora.data import Labelled, Texts
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.errors import BundleError, ConfigError
from nsmc_attention.network.parameters import snapshot
from nsmc_attention.systems.language.settings import LAYOUT as LANGUAGE_LAYOUT
from nsmc_attention.systems.restore.settings import LAYOUT as RESTORATION_LAYOUT
from nsmc_attention.systems.restore.settings import RESTORE_PRESETS
from nsmc_attention.systems.restore.train import train_restorer
from nsmc_attention.training.runs import Run
from nsmc_attention.training.task import first_bundle

# nothing is learnt, so that what a training ends with is what it began with
STILL = {"epochs": 1, "learning_rate": 0.0}


def test_a_restorer_begins_with_all_that_another_has_learnt(tiny_editor, tmp_path):
    first = load_bundle(tiny_editor, RESTORATION_LAYOUT)
    config = first.config.with_fields(**STILL, seed=1)
    second = train_restorer(Texts("sample"), config, Run(tmp_path / "run", quiet=True), tiny_editor)
    assert second.codec.known == first.codec.known
    one, other = (parameters_of(bundle)[1] for bundle in (first, second))
    assert all(numpy.allclose(one[name], other[name], atol=1e-6) for name in one)
    with pytest.raises(ConfigError, match="cannot resume with another init_from: the run has '.*', found None"):
        train_restorer(Texts("sample"), second.config, Run(tmp_path / "run", resume=True, quiet=True))
    refused(train_restorer, Texts, RESTORE_PRESETS["writer"], tiny_editor, tmp_path / "other", "--preset editor")


def test_a_classifier_begins_with_the_encoder_and_the_embeddings_of_a_language_model(tiny_language, tmp_path):
    first = load_bundle(tiny_language, LANGUAGE_LAYOUT)
    model = first.config.model
    sizes = {f"model.encoder.{name}": getattr(model.encoder, name) for name in ("units", "heads", "feed_forward")}
    small = {"embedding_size": 8, "ngram_buckets": 0, "erasure_reviews": 0, "attention_units": 4}
    small = preset("default").with_fields(encoder="transformer", **small, **STILL)
    bundle = train("sample", small.with_fields(**sizes), tmp_path / "run", quiet=True, init_from=tiny_language)
    arrays, (_, known) = snapshot(gluon_graph(bundle, "cpu").block), parameters_of(first)
    encoder = [name for name in known if name.startswith("encoder.")]
    assert len(encoder) > 20 and all(numpy.allclose(arrays[name], known[name], atol=1e-6) for name in encoder)
    row = known["embedding"][first.codec.token_to_idx["영화"]]
    found = arrays["embedding.weight"][bundle.codec.token_to_idx["영화"]]
    assert numpy.allclose(found, row, atol=abs(row).max() / 100)
    assert bundle.manifest["data"]["init_from"]["fingerprint"] == first.fingerprint
    for changes, flags in (
        ({"model.encoder.units": 4}, "--set model.encoder.units=8"),
        ({"model.encoder.layers": 3}, "--set model.encoder.layers=2"),
        ({"encoder": "gru"}, "--encoder transformer .*--set model.encoder.units=8.*"),
    ):
        wrong = small.with_fields(**changes) if "encoder" in changes else small.with_fields(**{**sizes, **changes})
        refused(train_classifier, Labelled, wrong, tiny_language, tmp_path / "other", flags)


def refused(task, source, config, first, out, flags):
    with pytest.raises(ConfigError, match=f"--init-from .*: expected the sizes of that bundle; give {flags}$"):
        task(source("sample"), config, Run(out, quiet=True), init_from=first)
    assert not out.exists()


def test_a_classifier_begins_with_all_of_another_but_its_ngrams(bundle_folder, tiny, tmp_path):
    first = load_bundle(bundle_folder, LAYOUT)
    again = continuing(preset("default").with_fields(ngram_buckets=0, erasure_reviews=0), bundle_folder)
    bundle = train("sample", again.with_fields(**STILL), tmp_path / "run", quiet=True, init_from=bundle_folder)
    assert bundle.read("vocab.json") == first.read("vocab.json")
    arrays, known = snapshot(gluon_graph(bundle, "cpu").block), parameters_of(first)[1]
    assert arrays.keys() == known.keys() - {"ngram_table.weight", "evidence.weight"}
    known["output.weight"] = known["output.weight"][:, :-1]
    # calibrated anew
    scale = arrays["output.weight"] / known["output.weight"]
    assert numpy.allclose(scale, scale[0, 0], rtol=1e-4)
    same = arrays.keys() - {"output.weight", "output.bias"}
    assert all(numpy.allclose(arrays[name], known[name], atol=1e-6) for name in same)
    assert bundle.manifest["data"]["init_from"] == {"name": first.name, "fingerprint": first.fingerprint}
    for changes, flags in (
        ({"hidden_size": 7}, f"--hidden-size {tiny.model.encoder.hidden_size}"),
        ({"tokenizer": "characters"}, f"--tokenizer {tiny.text.tokenizer}"),
        ({"min_count": 3}, f"--min-count {tiny.text.min_count}"),
    ):
        refused(train_classifier, Labelled, again.with_fields(**changes), bundle_folder, tmp_path / "other", flags)
    refused(train_classifier, Labelled, preset("post"), bundle_folder, tmp_path / "other", "--preset default")
    assert continuing(preset("post"), bundle_folder) == preset("post")


def test_the_packaged_classifier_is_trained_on_and_resumed_as_if_it_had_not_ended(command, tmp_path, monkeypatch):
    run, rows = tmp_path / "run", nsmc.load("sample", "train").frame[:60]
    rows.to_csv(tmp_path / "few.csv", index=False)
    words = ["train", "--data", tmp_path / "few.csv", "--init-from", "pretrained", "--out", run]
    words += ["--epochs", "1", "--ngram-buckets", "500", "--erasure-reviews", "0", "--dev-fraction", "0.2"]
    done = command(*words)
    assert done.returncode == 0, done.stderr
    bundle, packaged = load_bundle(run, LAYOUT), load_bundle(None, LAYOUT)
    assert bundle.codec.token_to_idx == packaged.codec.token_to_idx and bundle.config.text.rare_words == "pieces"
    assert bundle.manifest["data"]["init_from"] == {"name": "pretrained", "fingerprint": packaged.fingerprint}
    assert json.loads((run / "settings.json").read_text(encoding="utf-8"))["init_from"] == packaged.fingerprint
    again = shlex.split(bundle.manifest["command"])
    assert again[-2:] == ["--init-from", "pretrained"] and " --init-from pretrained; writing in" in done.stderr
    # what it says is the same training
    monkeypatch.chdir(tmp_path)
    assert command(*again[1:], "--out", tmp_path / "again").returncode == 0
    whole = (run / "bundle" / "model.safetensors").read_bytes()
    assert (tmp_path / "again" / "bundle" / "model.safetensors").read_bytes() == whole
    shutil.rmtree(run / "bundle")
    done = command(*words, "--resume")
    assert done.returncode == 0 and (run / "bundle" / "model.safetensors").read_bytes() == whole, done.stderr
    done = command(*(word for word in words if word not in ("--init-from", "pretrained")), "--resume")
    assert done.returncode == 2 and "cannot resume with another init_from" in done.stderr


def test_a_packaged_bundle_is_known_by_its_name():
    assert first_bundle("pretrained", LANGUAGE_LAYOUT).name == "pretrained_language"
    assert first_bundle("pretrained_language", LAYOUT, LANGUAGE_LAYOUT).layout is LANGUAGE_LAYOUT
    with pytest.raises(BundleError, match="pretraind: no such bundle folder"):
        first_bundle("pretraind", LAYOUT)
