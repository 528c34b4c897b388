"""The last states of a training, and what is done when one of them is damaged."""

import random
import struct
import warnings

import numpy
import pytest
from safetensors.numpy import save

from nsmc_attention.errors import BundleError
from nsmc_attention.training.checkpoint import Average, Checkpoints, Progress, read_arrays
from nsmc_attention.training.loop import make_trainer


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


@pytest.mark.parametrize("content", [b"", bytes(100), save({"a": numpy.zeros(4, "float32")}), struct.pack("<Q", 2**62)])
def test_a_file_that_no_training_writes_is_refused(tmp_path, content):
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(BundleError, match="a.safetensors: the checkpoint is damaged"):
        read_arrays(tmp_path / "a.safetensors")
