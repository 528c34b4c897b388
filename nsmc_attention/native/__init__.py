"""Compiled code that is optional: where an extension is missing, or switched off, the rest of the package does the same.

`_text` (text.cpp) finds tokens, ids, n-grams and junctions; `dictionary` opens mecab-ko-dic for it. `_network`
(network.cpp, editor.cpp) computes the networks of a classifier and of an editor; `kernels` loads it,
`engines` of a system runs it. `_mxnet_operators` (mxnet_operators.cpp) is a library that MXNet
loads for training; `model.operators` asks it to.
"""

import os

SWITCH = "NSMC_ATTENTION_NATIVE"


def switched_on() -> bool:
    """Return whether compiled parts may be used: unless $NSMC_ATTENTION_NATIVE is 0."""
    return os.environ.get(SWITCH) != "0"
