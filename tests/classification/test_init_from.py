"""What a training begins with where another has been before it: `--init-from`."""

import numpy
import pytest

from nsmc_attention import preset
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.classification.engines import gluon_graph
from nsmc_attention.classification.task import LAYOUT
from nsmc_attention.classification.train import train, train_classifier
from nsmc_attention.errors import BundleError, ConfigError
from nsmc_attention.inference.engines import parameters_of
from nsmc_attention.language.task import LAYOUT as LANGUAGE_LAYOUT
from nsmc_attention.model.parameters import snapshot
from nsmc_attention.restoration.settings import RESTORE_PRESETS, RestoreConfig
from nsmc_attention.restoration.task import LAYOUT as RESTORATION_LAYOUT
from nsmc_attention.restoration.train import train_restorer
from nsmc_attention.reviews.data import Labelled, Texts
from nsmc_attention.training.runs import Run

# nothing is learnt, so that what a training ends with is what it began with
STILL = {"epochs": 1, "learning_rate": 0.0}


def test_a_restorer_begins_with_all_that_another_has_learnt(tiny_editor, tmp_path):
    first = load_bundle(tiny_editor, RESTORATION_LAYOUT)
    second = train_restorer(
        Texts("sample"), first.config.with_fields(**STILL, seed=1), Run(tmp_path / "run", quiet=True), tiny_editor
    )
    assert second.codec == first.codec
    one, other = (parameters_of(bundle)[1] for bundle in (first, second))
    assert all(numpy.allclose(one[name], other[name], atol=1e-6) for name in one)


def test_a_classifier_of_characters_begins_with_their_embeddings_and_the_first_layer(tiny_editor, tmp_path):
    first = load_bundle(tiny_editor, RESTORATION_LAYOUT)
    model = first.config.model
    sizes = {"embedding_size": model.embedding_size, "hidden_size": model.encoder.hidden_size}
    small = preset("default").with_fields(
        tokenizer="characters", ngram_buckets=0, erasure_reviews=0, attention_units=4, **STILL
    )
    bundle = train("sample", small.with_fields(**sizes), tmp_path / "run", quiet=True, init_from=tiny_editor)
    arrays, (_, known) = snapshot(gluon_graph(bundle, "cpu").block), parameters_of(first)
    for place in ("forward_gru", "backward_gru"):
        name = f"{place}._unfused.0.h2h_weight"
        assert numpy.allclose(arrays[f"encoder.{name}"], known[f"reader.layer0.{name}"], atol=1e-6)
    rows = known["reader.embedding.weight"][list(first.codec.rows_of("영"))].sum(axis=0)
    # a table is stored in one byte a number
    found = arrays["embedding.weight"][bundle.codec.token_to_idx["영"]]
    assert numpy.allclose(found, rows, atol=abs(rows).max() / 100)
    for changes, flags in (
        ({"hidden_size": 7}, f"--hidden-size {model.encoder.hidden_size}"),
        ({**sizes, "tokenizer": "mecab"}, "--tokenizer characters"),
    ):
        refused(
            train_classifier,
            Labelled,
            small.with_fields(**{**sizes, **changes}),
            tiny_editor,
            tmp_path / "other",
            flags,
        )
    refused(train_restorer, Texts, RESTORE_PRESETS["writer"], tiny_editor, tmp_path / "other", "--embedding-size 8 .*")


def test_a_classifier_begins_with_the_encoder_and_the_embeddings_of_a_language_model(tiny_language, tmp_path):
    first = load_bundle(tiny_language, LANGUAGE_LAYOUT)
    model = first.config.model
    sizes = {f"model.encoder.{name}": getattr(model.encoder, name) for name in ("units", "heads", "feed_forward")}
    small = preset("default").with_fields(
        encoder="transformer", embedding_size=8, ngram_buckets=0, erasure_reviews=0, attention_units=4, **STILL
    )
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


def test_a_classifier_begins_with_no_other_classifier(tmp_path):
    with pytest.raises(
        BundleError, match="expected a bundle of the task restore or language, found one that names no task"
    ):
        train("sample", preset("default"), tmp_path / "run", quiet=True, init_from=LAYOUT.packaged[0])
    with pytest.raises(BundleError, match="expected a bundle of the task restore, found one that names no task"):
        train_restorer(Texts("sample"), RestoreConfig(), Run(tmp_path / "other", quiet=True), LAYOUT.packaged[0])
