"""Compiled parts of the package. Where one was not built, or is switched off, Python does the same."""

import os

SWITCH = "NSMC_ATTENTION_NATIVE"


def switched_on() -> bool:
    """Return whether compiled parts may be used: unless $NSMC_ATTENTION_NATIVE is 0."""
    return os.environ.get(SWITCH) != "0"
