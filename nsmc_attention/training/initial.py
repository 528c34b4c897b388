"""What a training begins with instead of random numbers: the parameters of a bundle. Imports MXNet.

Of what `restore` has learnt a classifier of characters takes the reading: the embedding of each character, which is the
sum of its rows, and the first layer. Of a language model a classifier takes the encoder and the embeddings.
"""

from typing import Any

from .._runtime.mxnet_shim import import_mxnet
from ..errors import ConfigError
from ..model.parameters import Arrays, snapshot

import_mxnet()


def begin_same(network: Any, arrays: Arrays) -> None:
    """Give a network all parameters of another of the same settings and vocabulary; ConfigError where they differ.

    What training alone uses (`detect`) is not among them.
    """
    own = {name: each for name, each in snapshot(network).items() if not name.startswith("detect.")}
    for name in {**own, **arrays}:
        one, other = (each[name].shape if name in each else None for each in (own, arrays))
        if one != other:
            raise ConfigError(
                f"--init-from: expected {name} of {one}, found {other}; give the model settings of that bundle, which its "
                "manifest.json has"
            )
    parameters = network._collect_params_with_prefix()
    for name, array in arrays.items():
        parameters[name].set_data(array)
