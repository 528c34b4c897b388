"""The optional compiled extensions, and the requirements of prediction alone; everything else is in setup.cfg.

Where an extension cannot be built (no compiler, or one that is neither GCC nor Clang), the installation goes on without
it. An extra adds requirements and cannot leave one out: with NSMC_ATTENTION_MINIMAL=1 in the environment the package
requires only what prediction does, and all requirements of setup.cfg are those of its extra `train`.
"""

import sys

if not (3, 9) <= sys.version_info < (3, 15):
    # before pip looks for packages, some of which it might compile for 20 minutes first
    sys.exit("error: nsmc_attention needs Python 3.9 to 3.14, this is Python %d.%d" % sys.version_info[:2])

import os
import re
from configparser import RawConfigParser
from glob import glob

from setuptools import Extension, setup

PREDICTION = re.compile("(numpy|click|python-mecab-ko-dic|safetensors) ")
NATIVE = "nsmc_attention/native/"
FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-fvisibility=hidden", "-g0"]


def extension(name: str, sources: "list[str]", headers: "list[str]", *flags: str) -> Extension:
    return Extension(
        f"nsmc_attention.native.{name}",
        [NATIVE + each for each in sources],
        depends=[NATIVE + each for each in headers],
        language="c++",
        extra_compile_args=[*FLAGS, *flags],
        optional=True,
    )


def minimal() -> "dict[str, object]":
    """Return the requirements of prediction alone, and the extras."""
    settings = RawConfigParser()
    settings.read("setup.cfg", encoding="utf-8")
    required = settings["options"]["install_requires"].strip().splitlines()
    extras = {name: text.strip().splitlines() for name, text in settings["options.extras_require"].items()}
    return {
        "install_requires": list(filter(PREDICTION.match, required)),
        "extras_require": {**extras, "train": required},
    }


kernels = sorted(path[len(NATIVE) :] for path in glob(NATIVE + "kernel_*.cpp"))
setup(
    **(minimal() if os.environ.get("NSMC_ATTENTION_MINIMAL", "0") != "0" else {}),
    ext_modules=[
        extension("_text", ["text.cpp"], [], "-O2"),
        extension(
            "_network",
            ["network.cpp", "editor.cpp", *kernels],
            [
                "network.hpp",
                "prelude.hpp",
                "packing.hpp",
                "kernel.hpp",
                "classifier.hpp",
                "editor.hpp",
                "products.hpp",
                "vectors.hpp",
            ],
            "-O3",
        ),
        # no Python module: MXNet loads it
        extension(
            "_mxnet_operators",
            ["mxnet_operators.cpp"],
            ["mxnet_kernels.hpp", "gru.hpp", "dense.hpp"]
            + ["products.hpp", "vectors.hpp", "mxnet_library.hpp", "prelude.hpp", "network.hpp"],
            "-O3",
            "-pthread",
        ),
    ],
)
