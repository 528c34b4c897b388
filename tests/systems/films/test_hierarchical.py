"""Hierarchical attention whose words are trained along, from the films' stars alone."""

import json

import numpy
import pytest

from nsmc_attention import load_film
from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.classification.system import LAYOUT as CLASSIFIER
from nsmc_attention.classification.train import train
from nsmc_attention.errors import BundleError, ConfigError
from nsmc_attention.inference.engines import gluon_network
from nsmc_attention.reviews.data import Texts
from nsmc_attention.systems.films.network import HierarchicalNetwork
from nsmc_attention.systems.films.objective import FilmBatches, FilmObjective, FilmVectors, Words, new_network
from nsmc_attention.systems.films.settings import FILM_PRESETS
from nsmc_attention.systems.films.train import train_films
from nsmc_attention.systems.films.vectors import ReviewReader
from nsmc_attention.training.runs import Run

mxnet = import_mxnet()

TEXTS = ["정말 재미있다", "돈이 아깝다", "최고의 영화", "지루하다", "배우들 연기가 좋다", "최악의 연출"] * 8
SMALL = FILM_PRESETS["hierarchical"].with_settings(
    {
        "model.units": 6,
        "model.output_units": 6,
        "training.batch_size": 16,
        "training.given": 8,
        "training.epochs": 4,
        "training.average": 0,
        "training.learning_rate": 0.02,
        "training.checkpoint_steps": 2,
        "training.keep_checkpoints": 20,
    }
)


@pytest.fixture(scope="module")
def one_hop(tiny, tmp_path_factory):
    config = tiny.with_fields(attention="structured", attention_hops=1, attention_units=4, epochs=1, erasure_reviews=0)
    return train("sample", config, tmp_path_factory.mktemp("hop") / "one", quiet=True)


@pytest.fixture(scope="module")
def networks(one_hop):
    """A film network, one with its words, and six films of eight reviews each for either."""
    members = [numpy.arange(film, 48, 6) for film in range(6)]
    films = FilmVectors(ReviewReader(one_hop, threads=1)(TEXTS), numpy.arange(48, dtype="float32") % 6, members)
    words = Words(gluon_network(one_hop, "cpu")[0], one_hop.codec, TEXTS)
    alone = new_network(SMALL, films, mxnet.cpu())
    both = HierarchicalNetwork(words.classifier, alone)
    cases = [films.draw(count, film, numpy.random.RandomState(0)) for film, count in enumerate([1, 2, 3, 5, 7, 4])]
    return [
        (network, FilmBatches(films, 6, 8, given).batch(cases)) for network, given in ((alone, None), (both, words))
    ]


def test_words_and_vectors_give_the_same_quantiles(networks):
    objective = FilmObjective(None, mxnet.cpu(), 0)
    alone, both = (objective.quantiles(network, batch).asnumpy() for network, batch in networks)
    numpy.testing.assert_allclose(both, alone, atol=1e-4)


def test_the_gradients_reach_the_words_that_were_given_and_no_table_of_ngrams(networks, one_hop):
    objective, (_, (network, batch)) = FilmObjective(None, mxnet.cpu(), 0), networks
    # without dropout, which leaves whole words out
    with mxnet.autograd.record(train_mode=False):
        loss = objective.loss(network, batch)
    loss.backward()
    for name, parameter in network._collect_params_with_prefix().items():
        if parameter.grad_req != "null":
            assert abs(parameter.grad().asnumpy()).sum() > 0, name
    rows = abs(network.words.classifier.embedding.weight.grad().asnumpy()).sum(axis=1)
    given = numpy.concatenate([ids.ravel() for ids in batch.inputs[2 :: len(network.words.inputs)]])
    assert set(numpy.flatnonzero(rows)) == set(given) - {one_hop.codec.padding}


def test_a_training_ends_with_both_bundles_and_is_resumed_to_the_same(one_hop, films_table, tmp_path):
    out = tmp_path / "run"
    bundle = train_films(Texts(films_table), SMALL, Run(out, quiet=True), one_hop.folder)
    losses = [json.loads(line)["dev_loss"] for line in (out / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(losses) == 4 and losses[-1] < 0.9 * losses[0]
    words = load_bundle(out / "classifier", CLASSIFIER)
    assert bundle.codec.classifier == words.fingerprint != one_hop.fingerprint
    assert (
        "trained along with a film network, on the stars of 96 films of films.csv" in words.read("README.md").decode()
    )
    found = [load_film(out, engine, classifier=out / "classifier")(TEXTS[:5]) for engine in ("onnx", "gluon")]
    assert found[0].stars == pytest.approx(found[1].stars, abs=1e-4)
    praised, blamed = (load_film(out, classifier=out / "classifier")([text] * 8) for text in TEXTS[:2])
    assert praised.stars > blamed.stars
    with pytest.raises(BundleError, match="expected the classifier classifier/bundle .*, found one/bundle"):
        load_film(out, classifier=one_hop.folder)
    for checkpoint in sorted(out.glob("checkpoint-*"))[4:]:
        checkpoint.unlink()
    again = train_films(Texts(films_table), SMALL, Run(out, resume=True, quiet=True), one_hop.folder)
    assert again.fingerprint == bundle.fingerprint


def test_another_attention_of_the_words_is_refused(films_table, tmp_path):
    with pytest.raises(
        ConfigError, match="expected a classifier of --attention structured --attention-hops 1, found add"
    ):
        train_films(Texts(films_table), SMALL, Run(tmp_path / "run", quiet=True))
    assert not (tmp_path / "run").exists()
