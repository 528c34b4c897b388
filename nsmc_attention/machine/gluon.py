"""MXNet, Gluon and GluonNLP, imported for networks and trainings; MissingPackage without MXNet."""

from .mxnet_shim import import_mxnet

mxnet = import_mxnet()

import gluonnlp  # noqa: E402
from mxnet.gluon import Block, HybridBlock, nn, rnn  # noqa: E402

__all__ = ["Block", "HybridBlock", "gluonnlp", "mxnet", "nn", "rnn"]
