"""Compiled code that is optional: where an extension is missing, the rest of the package works without it.

`_network` (network.cpp) computes the classifier's network; `inference.native` runs it.
"""
