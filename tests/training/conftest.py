"""What the tests of several trainings need."""

from contextlib import contextmanager

import pytest


@contextmanager
def stopped_at(batches, epoch, number):
    """Interrupt a training, within a `with` block, before this batch of a class's batches is trained on."""
    whole = batches.epoch

    def stop(self, seed, current):
        for place, batch in enumerate(whole(self, seed, current)):
            if (current, place) == (epoch, number):
                raise KeyboardInterrupt
            yield batch

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(batches, "epoch", stop)
        yield


@pytest.fixture
def interrupted():
    return stopped_at
