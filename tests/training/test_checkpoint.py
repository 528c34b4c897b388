"""The last states of a training, and what is done when one of them is damaged."""

import io
import itertools
import json
import os
import random
import struct
import warnings
from dataclasses import asdict

import numpy
import pytest
from safetensors.numpy import save

from nsmc_attention.errors import BundleError
from nsmc_attention.training.checkpoint import Checkpoints, Progress, read_arrays, write_arrays
from nsmc_attention.training.loop import Average, make_trainer


@pytest.fixture
def state():
    """A network of one layer, with its trainer and average."""
    from mxnet import autograd, nd
    from mxnet.gluon import nn

    network = nn.Dense(2, in_units=3)
    network.initialize()
    trainer, average = make_trainer(network, 0.01), Average(network, 0.5)
    with autograd.record():
        loss = network(nd.ones((1, 3))).sum()
    loss.backward()
    trainer.step(1)
    return network, trainer, average


@pytest.fixture
def checkpoints(tmp_path, state):
    """Three states, each of which knows its step."""
    found = Checkpoints(tmp_path, 3)
    for step in (5, 10, 15):
        found.save(*state, Progress(step=step))
    return found


def damages(content):
    draw = random.Random(0)
    yield b""
    for place in (1, len(content) // 2, len(content) - 1, *(draw.randrange(len(content)) for _ in range(20))):
        yield content[:place]
        yield content[:place] + bytes([content[place] ^ (1 << draw.randrange(8))]) + content[place + 1 :]
    yield content + b"\0"
    yield bytes(len(content))


def test_every_damage_of_the_newest_is_noticed_and_the_one_before_is_used(checkpoints, state):
    newest = checkpoints.paths()[-1]
    for content in damages(newest.read_bytes()):
        newest.write_bytes(content)
        with pytest.warns(UserWarning, match="checkpoint-00000015.safetensors: the checkpoint is damaged.* before it"):
            assert checkpoints.load_newest(*state).step == 10


def test_without_the_newest_the_one_before_is_used(checkpoints, state):
    checkpoints.paths()[-1].unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert checkpoints.load_newest(*state).step == 10


def test_when_all_are_damaged_nothing_is_begun_anew_unasked(checkpoints, state):
    for path in checkpoints.paths():
        path.write_bytes(path.read_bytes()[:-1])
    reason = "00000005.safetensors: the checkpoint is damaged .*; none of 3 checkpoints is undamaged"
    with pytest.warns(UserWarning) as warned, pytest.raises(BundleError, match=reason):
        checkpoints.load_newest(*state)
    assert len(warned) == 2, "the oldest has none before it"


def test_without_any_the_training_begins(tmp_path, state):
    assert Checkpoints(tmp_path, 3).load_newest(*state) == Progress()


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_damaged_best_parameters_are_told_with_what_to_do(tmp_path, state, damage):
    checkpoints = Checkpoints(tmp_path, 3)
    checkpoints.save_best(state[0])
    checkpoints.load_best(state[0])
    damage(tmp_path / "best.safetensors")
    with pytest.raises(BundleError, match="best.safetensors: .*delete the checkpoints beside it and --resume"):
        checkpoints.load_best(state[0])


def as_bytes(values):
    return numpy.frombuffer(json.dumps(values).encode(), dtype="uint8")


def progress(**changes):
    """The progress of a state, with changes, as an array."""
    return as_bytes({**asdict(Progress(step=15)), **changes})


def epoch(number, **changes):
    """A record of the history, with changes."""
    return {"epoch": number, "train_loss": 0.5, "dev_log_loss": 0.5, **changes}


PROGRESS = "expected the progress of a training, found"


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda state: state.pop("progress"), PROGRESS),
        (lambda state: state.update(progress=as_bytes([])), PROGRESS),
        (lambda state: state.pop("adam/mean.0"), "expected adam/mean.0 .*, found none; it is of another training"),
        (lambda state: state.pop(name_of(state, "network/")), "expected network/.*, found none; it is of another"),
        (
            lambda state: state.update({name_of(state, "average/"): numpy.full((2, 3), numpy.nan, "float32")}),
            "expected finite numbers in average/",
        ),
        *(
            (lambda state, changes=changes: state.update(progress=progress(**changes)), PROGRESS)
            for changes in [
                *({name: value} for name in ("epoch", "batch", "step") for value in (-1, 2**31, "15")),
                *({"epoch": 1, "history": [epoch(1)], "best_epoch": best} for best in (-2, 1, 10**50)),
                *({"epoch": 1, "history": history} for history in ([], [epoch(2)], [epoch(1), epoch(2)], [[]])),
                *({"epoch": 1, "history": [epoch(1, dev_accuracy=value)]} for value in (10**400, "1", None)),
                *({name: value} for name in ("loss_sum", "best") for value in (10**400, 1e308)),
                {"epoch": 2**31 - 1},
                {"before": {"a": [1]}},
                {"before": dict.fromkeys(map(str, range(101)), 1.0)},
            ]
        ),
    ],
    ids=itertools.count(),
)
def test_a_sound_file_of_something_else_is_passed_over(checkpoints, state, change, message):
    """Its checksum is right: who wrote it could count one too."""
    newest = checkpoints.paths()[-1]
    arrays = read_arrays(newest)
    change(arrays)
    write_arrays(newest, arrays)
    with pytest.warns(UserWarning, match=message):
        assert checkpoints.load_newest(*state).step == 10


def name_of(arrays, part):
    """Answer the name of the (2, 3) weights in a part of a state."""
    return next(name for name, array in arrays.items() if name.startswith(part) and array.shape == (2, 3))


def strange_files():
    """Files that no training writes: among them a pickle, and tensors of other sizes than are there."""
    pickled = io.BytesIO()
    numpy.savez(pickled, a=numpy.zeros(4, "float32"))
    sound = save({"a": numpy.zeros(4, "float32")})
    yield from (b"", b"\xff" * 8, b"\x08" + bytes(7) + b'{"a":[]}', bytes(100), pickled.getvalue())
    yield from (sound.replace(b"[4]", shape) for shape in (b"[9]", b"[-4]", b"[99999999999]"))
    yield struct.pack("<Q", 2**62) + sound[8:]


@pytest.mark.parametrize("content", strange_files(), ids=itertools.count())
def test_a_file_that_no_training_writes_is_refused(tmp_path, content):
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(BundleError, match="a.safetensors: the checkpoint is damaged"):
        read_arrays(tmp_path / "a.safetensors")


def test_a_file_larger_than_any_state_of_the_network_is_passed_over_unread(checkpoints, state):
    checkpoints.save_best(state[0])
    newest = checkpoints.paths()[-1]
    for path in (newest, newest.with_name("best.safetensors")):
        os.truncate(path, 2**33)
    with pytest.warns(
        UserWarning, match="00000015.safetensors: expected at most 67,108,[0-9]+ bytes, found 8,589,934,592"
    ):
        assert checkpoints.load_newest(*state).step == 10
    with pytest.raises(BundleError, match="best.safetensors: expected at most 67,108,[0-9]+ bytes"):
        checkpoints.load_best(state[0])
