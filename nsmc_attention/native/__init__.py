"""Compiled code that is optional: where it is missing, the rest of the package works without it.

`_mxnet_operators` (mxnet_operators.cpp) is a library that MXNet loads; `model.operators` asks it to.
"""
