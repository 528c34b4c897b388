"""The optional compiled extensions; everything else is in setup.cfg.

Where one cannot be built (no compiler, or one that is neither GCC nor Clang), the installation goes on without it.
"""

from setuptools import Extension, setup

NATIVE = "nsmc_attention/native/"

setup(
    ext_modules=[
        # no Python module: MXNet loads it
        Extension(
            "nsmc_attention.native._mxnet_operators",
            [NATIVE + "mxnet_operators.cpp"],
            depends=[NATIVE + "mxnet_kernels.hpp", NATIVE + "mxnet_library.hpp"],
            language="c++",
            extra_compile_args=["-std=c++17", "-O3", "-Wall", "-Wextra", "-fvisibility=hidden"],
            optional=True,
        )
    ]
)
