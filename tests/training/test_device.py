"""Each training runs where its run says: here on MXNet's second CPU, which is another device to Gluon's parameters."""

import sys

import pytest

from nsmc_attention.corpora.data import Labelled
from nsmc_attention.errors import MissingPackage
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.registry import SYSTEMS
from nsmc_attention.training.runs import Run

from ..conftest import TINY, TINY_SIGNED, TINY_SYSTEMS, tiny_config

mxnet = import_mxnet()
OTHER = mxnet.cpu(1)
DATA = {"tiny_writer": "sentences_table", "tiny_film": "films_table"}


class OtherDevice(Run):
    @property
    def context(self):
        return OTHER


@pytest.mark.parametrize("name", ["tiny", "tiny_signed", *TINY_SYSTEMS])
def test_a_training_keeps_its_arrays_on_its_device(name, tmp_path, request):
    configs = {"tiny": TINY, "tiny_signed": TINY_SIGNED}
    config = configs.get(name) or tiny_config(name).with_fields(epochs=1)
    data = request.getfixturevalue(DATA[name]) if name in DATA else "sample"
    bundle = SYSTEMS[config.task].train(Labelled(data), config, OtherDevice(tmp_path / "run", quiet=True))
    assert bundle.folder.is_dir()


def test_a_missing_library_of_cuda_is_one_line(monkeypatch, tmp_path):
    (tmp_path / "mxnet.py").write_text("raise OSError('libcudnn.so.8: cannot open shared object file')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mxnet")
    with pytest.raises(MissingPackage, match="did not import .libcudnn.so.8: cannot open shared object file"):
        import_mxnet()
