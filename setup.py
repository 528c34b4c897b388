"""The compiled parts; everything else is in setup.cfg. Where one cannot be built, Python does its work."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "nsmc_attention.native._text",
            ["nsmc_attention/native/text.cpp"],
            language="c++",
            extra_compile_args=["-std=c++17", "-O2"],
            optional=True,
        )
    ]
)
