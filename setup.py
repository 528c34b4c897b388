"""The optional compiled extensions; everything else is in setup.cfg.

Where one cannot be built (no compiler, or one that is neither GCC nor Clang), the installation goes on without it.
"""

from glob import glob

from setuptools import Extension, setup

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


kernels = sorted(path[len(NATIVE) :] for path in glob(NATIVE + "kernel_*.cpp"))
setup(
    ext_modules=[
        extension("_text", ["text.cpp"], [], "-O2"),
        extension(
            "_network", ["network.cpp", *kernels], ["network.hpp", "kernel.hpp", "products.hpp", "vectors.hpp"], "-O3"
        ),
        # no Python module: MXNet loads it
        extension(
            "_mxnet_operators",
            ["mxnet_operators.cpp"],
            ["mxnet_kernels.hpp", "gru.hpp", "dense.hpp", "products.hpp", "vectors.hpp", "mxnet_library.hpp"],
            "-O3",
            "-pthread",
        ),
    ]
)
