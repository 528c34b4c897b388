"""The classifier trained along with a film network: by the films' loss alone, and resumable."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.config import FilmConfig
from nsmc_attention.errors import BundleError
from nsmc_attention.films import train_films, write_classifier
from nsmc_attention.inference.engines import parameters_of
from nsmc_attention.inference.film import load_film
from nsmc_attention.inference.vectors import ReviewReader
from nsmc_attention.model.networks.film import HierarchicalNetwork
from nsmc_attention.model.parameters import NGRAM_TABLE, snapshot
from nsmc_attention.training.film import FilmBatches, FilmObjective, Films, FilmTraining
from nsmc_attention.training.fine_tuning import FineTuning, WordBatches

mxnet = import_mxnet()

WORDS = ("정말", "재미있다", "최고", "지루하다", "최악", "배우", "영화", "아깝다")
RANDOM = numpy.random.RandomState(0)
SIZES = RANDOM.randint(5, 20, 40)
FILM = numpy.repeat(numpy.arange(40), SIZES)
DOCUMENTS = [" ".join([WORDS[film % 4], *RANDOM.choice(WORDS[4:], RANDOM.randint(0, 9))]) for film in FILM.tolist()]
STARS = (1 + FILM % 4 + RANDOM.normal(0, 0.3, len(FILM))).astype("float32")
MEMBERS = [numpy.flatnonzero(film == FILM) for film in range(40)]
SMALL = FilmConfig().with_settings(
    {
        "model.units": 6,
        "model.output_units": 6,
        "training.batch_size": 16,
        "training.given": 8,
        "training.epochs": 1,
        "training.checkpoint_steps": 2,
        "training.fine_tuning.epochs": 3,
        "training.fine_tuning.learning_rate": 0.01,
        "training.fine_tuning.batch_size": 8,
    }
)


@pytest.fixture(scope="module")
def bundle(bundle_folder):
    return load_bundle(bundle_folder)


@pytest.fixture(scope="module")
def films(bundle):
    return Films(ReviewReader(bundle, threads=1)(DOCUMENTS), STARS, MEMBERS)


class Stage:
    """The last stage in a folder, and the networks that it begins with, which the seed alone decides."""

    def __init__(self, bundle, films, out, config=SMALL):
        self.training = FilmTraining(config, out, mxnet.cpu(), lambda *drawn: None, quiet=True)
        self.tuning = FineTuning(self.training, DOCUMENTS, bundle.config, bundle.encoder)
        self.film, self.films, self.arrays = self.training.new_network(films), films, parameters_of(bundle)[1]
        self.classifier = self.tuning.new_classifier(self.arrays)
        out.mkdir(exist_ok=True)

    def run(self):
        self.classifier, progress = self.tuning.run(self.arrays, self.film, self.films, self.films)
        return progress

    @property
    def parameters(self):
        return snapshot(HierarchicalNetwork(self.classifier, self.film))


def same(one, other):
    return one.keys() == other.keys() and all((one[name] == other[name]).all() for name in one)


def assert_vectors_stand_for_words(stage, films):
    network, cases = HierarchicalNetwork(stage.classifier, stage.film), films.cases(4, numpy.random.RandomState(0))
    objective = FilmObjective(stage.tuning.batches(films), mxnet.cpu(), 0)
    found = objective.quantiles(network, objective.dev_batches.batch(cases)).asnumpy()
    expected = objective.quantiles(stage.film, FilmBatches(films, 16, 8).batch(cases)).asnumpy()
    numpy.testing.assert_allclose(found, expected, atol=2e-3)
    return expected


def test_words_and_vectors_give_the_same_quantiles(bundle, films, tmp_path):
    assert_vectors_stand_for_words(Stage(bundle, films, tmp_path), films)


def test_a_fine_tuned_classifier_reads_from_its_bundle_as_it_was_trained(bundle, films, tmp_path):
    stage = Stage(bundle, films, tmp_path / "run")
    before = assert_vectors_stand_for_words(stage, films)
    stage.run()
    manifest = {"package_version": "1", "command": "train", "data": {"train": {"name": "a.csv", "films": 40}}}
    written = write_classifier(tmp_path / "classifier", stage.classifier, bundle, manifest)
    again = replace(films, vectors=ReviewReader(written, threads=1)(DOCUMENTS))
    assert abs(assert_vectors_stand_for_words(stage, again) - before).max() > 0.1


def test_the_gradients_reach_every_word(bundle, films, tmp_path):
    stage = Stage(bundle, films, tmp_path)
    network = HierarchicalNetwork(stage.classifier, stage.film)
    objective = FilmObjective(stage.tuning.batches(films), mxnet.cpu(), 0)
    batch = next(objective.dev_batches.epoch(0, 0))
    with mxnet.autograd.record():
        loss = objective.loss(network, batch)
    loss.backward()
    for name, parameter in network._collect_params_with_prefix().items():
        if parameter.grad_req != "null":
            assert abs(parameter.grad().asnumpy()).sum() > 0, name
    rows = abs(stage.classifier.embedding.weight.grad().asnumpy()).sum(axis=1)
    given = [ids[place] for ids, lengths in pieces(batch) for place in range(len(ids)) if lengths[place]]
    assert set(numpy.flatnonzero(rows)) == {word for ids in given for word in ids} - {bundle.encoder.padding}


def pieces(batch):
    return zip(batch.inputs[2::3], batch.inputs[3::3])


def test_an_epoch_has_every_film_once_and_the_reviews_that_were_drawn(bundle, films):
    batches = WordBatches(films, 8, 8, DOCUMENTS, bundle.encoder)
    (one, again), plain = ([list(batches.epoch(0, 1)) for _ in range(2)], FilmBatches(films, 8, 8))
    assert len(one) == len(batches) and all((a.inputs[2] == b.inputs[2]).all() for a, b in zip(one, again))
    expected = [star for batch in plain.epoch(0, 1) for star in batch.stars]
    assert sorted(star for batch in one for star in batch.stars) == sorted(expected)
    for batch in one:
        lengths = numpy.concatenate([length for _, length in pieces(batch)])
        assert len(lengths) == batch.inputs[1].sum() and (numpy.diff(lengths) >= 0).all()
        places = batch.inputs[0][batch.inputs[1] == 1]
        assert sorted(places) == list(range(len(lengths)))


def test_without_steps_all_parameters_stay_as_they_were_to_the_bit(bundle, films, tmp_path):
    still = SMALL.with_settings({"training.fine_tuning.learning_rate": 0.0, "training.fine_tuning.epochs": 1})
    stage = Stage(bundle, films, tmp_path, still)
    before = stage.parameters
    stage.run()
    assert same(stage.parameters, before)


def test_fine_tuning_lowers_the_loss_and_is_resumed_to_the_same_parameters(bundle, films, interrupted, tmp_path):
    whole = Stage(bundle, films, tmp_path / "whole")
    before, progress = whole.parameters, whole.run()
    assert progress.history[-1]["dev_loss"] < progress.before["dev_loss"]
    changed = {name for name, array in whole.parameters.items() if (array != before[name]).any()}
    assert {"words.classifier.embedding.weight", "film.film.output.weight"} < changed
    assert f"words.classifier.{NGRAM_TABLE}" not in changed
    halves = tmp_path / "halves"
    with interrupted(WordBatches, 1, 3):
        Stage(bundle, films, halves).run()
    again = Stage(bundle, films, halves)
    again.run()
    assert same(again.parameters, whole.parameters)


@pytest.fixture(scope="module")
def run(bundle, films_table, tmp_path_factory):
    out, epochs = tmp_path_factory.mktemp("fine_tuned") / "run", {"training.fine_tuning.epochs": 1}
    train_films(films_table, SMALL.with_settings(epochs), out, quiet=True, classifier=bundle.folder)
    return out


def test_its_bundles_predict_together_and_alone_are_refused(run, bundle, films_table):
    trained, texts = load_bundle(run / "classifier"), ["정말 재미있다", "돈이 아깝다", "최고의 영화"]
    one, other = (load_film(run, engine, classifier=run / "classifier") for engine in ("onnx", "gluon"))
    assert one.scale.classifier == trained.fingerprint != bundle.fingerprint
    found, expected = one(texts), other(texts)
    assert (found.stars_low, found.stars) == pytest.approx((expected.stars_low, expected.stars), abs=1e-4)
    for wrong in (None, bundle.folder):
        with pytest.raises(BundleError, match=r"expected the classifier run/classifier \(.*name it by --classifier"):
            load_film(run, classifier=wrong)
    card = trained.read("README.md").decode()
    assert "on the stars of 96\nfilms of films.csv" in card
    again = train_films(films_table, one.bundle.config, run, resume=True, quiet=True, classifier=bundle.folder)
    assert again.fingerprint == one.bundle.fingerprint
