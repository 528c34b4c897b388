"""The optional compiled extensions; everything else is in setup.cfg.

Where one cannot be built (no compiler, or one that is neither GCC nor Clang), the installation goes on without it.
"""

from glob import glob

from setuptools import Extension, setup

NATIVE = "nsmc_attention/native/"

setup(
    ext_modules=[
        Extension(
            "nsmc_attention.native._network",
            [NATIVE + "network.cpp", *sorted(glob(NATIVE + "kernel_*.cpp"))],
            depends=[NATIVE + "network.hpp", NATIVE + "kernel.hpp"],
            language="c++",
            extra_compile_args=["-std=c++17", "-O3", "-Wall", "-Wextra", "-fvisibility=hidden", "-g0"],
            optional=True,
        )
    ]
)
