"""The state at the end of an epoch, and what is done when it is damaged."""

import pytest

from nsmc_attention.errors import BundleError
from nsmc_attention.training.checkpoint import Average, Checkpoint, Progress
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


def test_a_state_is_loaded_as_it_was_saved_and_the_last_one_counts(tmp_path, state):
    average = state[2].arrays["weight"]
    for step in (5, 10):
        average[:] = step
        Checkpoint(tmp_path).save(*state, Progress(step=step))
    average[:] = 0
    assert Checkpoint(tmp_path).load(*state) == Progress(step=10) and (average.asnumpy() == 10).all()
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_damaged_best_parameters_are_told_with_what_to_do(tmp_path, state, damage):
    checkpoint = Checkpoint(tmp_path)
    checkpoint.save_best(state[0])
    checkpoint.load_best(state[0])
    damage(tmp_path / "best.safetensors")
    with pytest.raises(BundleError, match="best.safetensors: .*delete checkpoint.safetensors and --resume"):
        checkpoint.load_best(state[0])


@pytest.mark.parametrize("content", [b"", bytes(100), b"{}"])
def test_a_file_that_no_training_writes_is_refused(tmp_path, state, content):
    (tmp_path / "checkpoint.safetensors").write_bytes(content)
    with pytest.raises(BundleError, match="checkpoint.safetensors: the checkpoint is damaged"):
        Checkpoint(tmp_path).load(*state)


def test_a_damaged_position_is_damage_of_the_file(tmp_path, state):
    (checkpoint := Checkpoint(tmp_path)).save(*state, Progress(step=5))
    path = tmp_path / "checkpoint.safetensors"
    for damaged in (b'"step"\xff 5', b'"stop": 5'):
        path.write_bytes(path.read_bytes().replace(b'"step": 5', damaged))
        with pytest.raises(BundleError, match="checkpoint.safetensors: the checkpoint is damaged"):
            checkpoint.load(*state)
        checkpoint.save(*state, Progress(step=5))
