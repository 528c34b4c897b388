"""What a training and a bundle of every task promise: resumed is uninterrupted, and all engines say the same."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy
import pytest

from nsmc_attention import load
from nsmc_attention.corpora import nsmc
from nsmc_attention.corpora.data import Labelled
from nsmc_attention.drawing.figure import font_file
from nsmc_attention.machine.gluon import mxnet
from nsmc_attention.registry import SYSTEMS
from nsmc_attention.systems.language.model import MASK
from nsmc_attention.systems.read.drawing import Style, draw, korean_faces
from nsmc_attention.training import loop
from nsmc_attention.training.runs import Run

TEXTS = [*nsmc.load("sample", "test").documents[:60], "", "정말 재미있는 영화였어요 " * 800, "😀 ㅋㅋㅋ\ud800"]
FACE = next(face for face in korean_faces(str(font_file().parent)) if face.path == font_file())
PICTURES = [draw(text, Style(FACE))[0] for text in ("정말 재미있는 영화", "ㅋㅋㅋ")]
SENTENCES = [f"정말 재미있는 {MASK}", MASK, f"{MASK} ㅋㅋㅋ 😀"]


def classified(classifier):
    return numpy.concatenate([[each.probability or 0, *each.token_weights] for each in classifier.predict_many(TEXTS)])


def restored(restorer):
    return [[found.text, found.alignment] for found in restorer.restore_many(TEXTS)]


def filled(model):
    found = [model(text, 50) for text in SENTENCES]
    return numpy.concatenate([numpy.ravel([each.probability for each in one.candidates]) for one in found])


def rated(rater):
    found = [rater(TEXTS), rater(TEXTS[:1]), rater(TEXTS * 30)]
    return numpy.array([[each.stars_low, each.stars, each.stars_high] for each in found])


def read(reader):
    return [line.text for picture in PICTURES for line in reader(picture).lines]


ANSWERS = {"classify": classified}
ANSWERS |= {"restore": restored, "language": filled, "film": rated, "read": read}
BUNDLES = ["bundle_folder", "post_run_folder", "tiny_structured", "tiny_transformer"]
BUNDLES += ["tiny_editor", "tiny_writer", "tiny_language", "tiny_film", "tiny_reader", None]


@pytest.mark.parametrize("fixture", BUNDLES, ids=str)
def test_all_engines_answer_alike(request, fixture):
    bundle = fixture and request.getfixturevalue(fixture)
    models = [load(bundle, engine) for engine in ("gluon", "onnx", "auto")]
    assert [model.engine.name for model in models[:2]] == ["gluon", "onnx"]
    task = models[0].bundle.layout.task
    native = find_spec("nsmc_attention.native._network") and fixture in ("bundle_folder", "tiny_editor", None)
    assert models[2].engine.name == ("native" if native else "onnx")
    if fixture == "tiny_editor":
        # in 8 bits: tests/systems/restore/test_native.py
        del models[2]
    expected, *others = map(ANSWERS[task], models)
    for found in others:
        assert numpy.allclose(found, expected, atol=3e-4) if isinstance(found, numpy.ndarray) else found == expected


def history(run):
    """Return the records of all stages of a training, without the times."""
    paths = sorted(run.rglob("history.jsonl"))
    records = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in record.items() if name != "seconds"} for record in records]


class OtherDevice(Run):
    """A run on MXNet's second CPU, which is another device to Gluon's parameters."""

    @property
    def context(self):
        return mxnet.cpu(1)


@pytest.mark.parametrize(
    "fixture, stop_after",
    [
        ("tiny_signed", 24),
        *(pytest.param("bundle_folder", steps, marks=pytest.mark.slow) for steps in (7, 16, 24, 34)),
        ("tiny_editor", 5),
        ("tiny_language", 3),
        ("tiny_film", 5),
        ("tiny_reader", 2),
        pytest.param("tiny_writer", 20, marks=pytest.mark.slow),
    ],
)
def test_a_resumed_training_ends_with_the_bytes_of_an_uninterrupted_one(
    request, films_table, sentences_table, fixture, stop_after, tmp_path, monkeypatch
):
    """Stopped within an epoch, which is then trained again from its beginning, and on another device."""
    whole, run = Path(request.getfixturevalue(fixture)), tmp_path / "run"
    config, step, done = load(whole).bundle.config, loop.train_step, []
    data = {"tiny_film": films_table, "tiny_writer": sentences_table}.get(fixture, "sample")
    # where MXNet's own dropout draws other numbers
    kind = Run if fixture == "tiny_film" else OtherDevice

    def stopping(*arguments):
        if len(done) == stop_after:
            raise KeyboardInterrupt
        done.append(1)
        return step(*arguments)

    monkeypatch.setattr(loop, "train_step", stopping)
    with pytest.raises(KeyboardInterrupt):
        SYSTEMS[config.task].train(Labelled(data), config, kind(run, quiet=True))
    monkeypatch.undo()
    SYSTEMS[config.task].train(Labelled(data), config, kind(run, resume=True, quiet=True))
    assert history(run) == history(whole.parent) != []
    for path in whole.iterdir():
        if path.name not in ("manifest.json", "README.md"):
            assert (run / "bundle" / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("fixture, table", [("tiny_writer", "sentences_table"), ("tiny_film", "films_table")])
def test_other_trainings_keep_their_arrays_on_their_device(request, fixture, table, tmp_path):
    config = load(request.getfixturevalue(fixture)).bundle.config.with_fields(epochs=1)
    run, data = OtherDevice(tmp_path / "run", quiet=True), Labelled(request.getfixturevalue(table))
    assert SYSTEMS[config.task].train(data, config, run).folder.is_dir()
