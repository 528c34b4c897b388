"""The last states of a training, and what is done when one of them is damaged."""
import random
import warnings

import numpy
import pytest

from nsmc_attention.errors import BundleError
from nsmc_attention.training.checkpoint import Checkpoints, read_arrays, write_arrays


@pytest.fixture
def checkpoints(tmp_path):
    """Three states, each of which knows its step."""
    for step in (5, 10, 15):
        write_arrays(tmp_path / f"checkpoint-{step:08d}.npz", {"step": numpy.array(step), "weights": numpy.ones(50)})
    return Checkpoints(tmp_path, 3)


def damages(content):
    draw = random.Random(0)
    yield b""
    for place in (1, len(content) // 2, len(content) - 1, *(draw.randrange(len(content)) for _ in range(20))):
        yield content[:place]
        yield content[:place] + bytes([content[place] ^ (1 << draw.randrange(8))]) + content[place + 1:]
    yield content + b"\0"
    yield bytes(len(content))


def test_every_damage_of_the_newest_is_noticed_and_the_one_before_is_used(checkpoints):
    newest = checkpoints.paths()[-1]
    for content in damages(newest.read_bytes()):
        newest.write_bytes(content)
        with pytest.warns(UserWarning, match="checkpoint-00000015.npz: the checkpoint is damaged.* before it"):
            assert checkpoints.read_newest()["step"] == 10


def test_without_the_newest_the_one_before_is_used(checkpoints):
    checkpoints.paths()[-1].unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert checkpoints.read_newest()["step"] == 10


def test_when_all_are_damaged_nothing_is_begun_anew_unasked(checkpoints):
    for path in checkpoints.paths():
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(UserWarning), pytest.raises(BundleError, match="all 3 checkpoints are damaged; put one back"):
        checkpoints.read_newest()


def test_without_any_there_is_no_state(tmp_path):
    assert Checkpoints(tmp_path, 3).read_newest() == {}


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_damaged_best_parameters_are_told_with_what_to_do(tmp_path, damage):
    path = tmp_path / "best.npz"
    write_arrays(path, {"weights": numpy.ones(3)})
    assert read_arrays(path)["weights"].tolist() == [1, 1, 1]
    damage(path)
    with pytest.raises(BundleError, match="best.npz: the checkpoint .*delete the checkpoints beside it and --resume"):
        Checkpoints(tmp_path, 3).read_best()
