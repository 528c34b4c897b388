"""The import of MXNet, made to work with today's numpy and to use the available cores.

MXNet 1.9.1, which is retired, reads names at import that numpy 1.24 (apache/mxnet#21165), numpy 2 and Python 3.12
(distutils) removed: they are restored while MXNet is imported. Three variables decide the speed on a CPU, unless the user
has set them (figures in benchmarks/speed/README.md):

OMP_NUM_THREADS    MXNet would use half the cores, because it expects two hardware threads a core.
GOMP_SPINCOUNT     Iterations in which a thread waits actively for the others before it sleeps. With libgomp's default
                   of 300,000 it takes time from other threads if another process is busy.
MXNET_ENGINE_TYPE  NaiveEngine runs everything in one thread. With two threads that have used OpenMP, libgomp counts more
                   threads than cores and lets them sleep at every operator (a third slower after the first checkpoint).
"""

import math
import os
import sys
import warnings
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Iterator

from ..errors import INSTALL_TRAINING, ConfigError, MissingPackage, did_you_mean
from .processes import cores

DEVICES = ("auto", "cpu", "gpu")
# From Python 3.13 on pip skips MXNet (setup.cfg)
INSTALL_BESIDE = " && pip install --no-deps 'mxnet==1.9.1' 'gluonnlp==0.10.0' graphviz"
INSTALL = INSTALL_TRAINING + (INSTALL_BESIDE if sys.version_info >= (3, 13) else "")
# Names removed from numpy: values that MXNet reads, and functions that it looks up but never calls
REMOVED_VALUES = {"float_": float, "PZERO": 0.0, "NZERO": -0.0, "NaN": math.nan, "NAN": math.nan, "NINF": -math.inf}
REMOVED_VALUES.update(dict.fromkeys(("Inf", "Infinity", "infty", "PINF"), math.inf))
REMOVED_FUNCTIONS = (
    "product alltrue sometrue in1d mirr msort npv pmt ppmt pv rate trapz round_ ipmt irr nper fv cumproduct".split()
)


def import_mxnet() -> Any:
    """Import and return the module mxnet; MissingPackage if it cannot be imported."""
    # not at the top: engines without MXNet import this file too
    from importlib.metadata import PackageNotFoundError, version

    os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    try:
        # a GPU needs the other engine
        version("mxnet-cu112")
    except PackageNotFoundError:
        os.environ.setdefault("MXNET_ENGINE_TYPE", "NaiveEngine")
    try:
        with removed_names(), stderr_closed():
            import mxnet

            # the first operation (on Python 3.9 the import) starts the engine, which prints its name unless it is the default
            mxnet.nd.waitall()
    except (ImportError, OSError) as problem:  # OSError: a library of CUDA is missing
        raise MissingPackage(
            f"training and the gluon engine need MXNet 1.9.1, which did not import ({problem}): {INSTALL} "
            "(x86-64 Linux and macOS); prediction, attention and erasure need none of it"
        ) from problem
    return mxnet


@contextmanager
def removed_names() -> Iterator[None]:
    """Restore the names that MXNet imports within a `with` block; `numpy.bool`, which it reads later too, stays."""
    import numpy

    # imported first: their modules must not see the restored names
    import numpy.ma
    import numpy.random
    import scipy.stats  # noqa: F401
    from packaging.version import Version

    modules = {name: ModuleType(name) for name in ("distutils", "distutils.version")}
    vars(modules["distutils.version"]).update(LooseVersion=Version, StrictVersion=Version)
    if sys.version_info < (3, 12) or "distutils" in sys.modules:
        modules = {}
    sys.modules.update(modules)
    with warnings.catch_warnings():
        # a numpy that still has a name may warn about it
        warnings.simplefilter("ignore")
        absent = [name for name in (*REMOVED_VALUES, *REMOVED_FUNCTIONS) if not hasattr(numpy, name)]
        for name in absent:
            setattr(numpy, name, REMOVED_VALUES.get(name, numpy.prod))
        vars(numpy).setdefault("bool", numpy.bool_)
        try:
            yield
        finally:
            for name in absent:
                delattr(numpy, name)
            for name in modules:
                del sys.modules[name]


@contextmanager
def stderr_closed() -> Iterator[None]:
    """Discard what native code prints to stderr within a `with` block."""
    stderr, devnull = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(devnull)


def choose_device(name: str) -> Any:
    """Return the MXNet context for "auto", "cpu" or "gpu"; auto is the GPU if MXNet sees one.

    ConfigError for another name, and for "gpu" without a GPU, for which MXNet itself would abort the process.
    """
    if name not in DEVICES:
        raise ConfigError(f"unknown device {name!r}{did_you_mean(name, DEVICES)}")
    mxnet = import_mxnet()
    gpus = mxnet.context.num_gpus() if name != "cpu" else 0
    if name == "gpu" and not gpus:
        hint = "install MXNet's CUDA build (pip install --force-reinstall --no-deps mxnet-cu112==1.9.1) or use --device cpu"
        raise ConfigError(f"--device gpu: expected a GPU that MXNet sees, found none; {hint}")
    return mxnet.gpu() if gpus else mxnet.cpu()
