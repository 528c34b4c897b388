"""The one place where MXNet is first imported: made to work with numpy >= 1.24 and to use the cores there are.

MXNet 1.9.1 takes half the cores unless OMP_NUM_THREADS says otherwise (it expects two hardware threads a core),
which halves training speed where cores are cores; so the number is set, unless the user has.

It also reads `numpy.bool` at import, which numpy 1.24 removed (apache/mxnet#21165; MXNet is retired, so
no release will mend it). The name is put back before the import, so worker processes get it the same way.
"""
import os
import warnings

from .errors import MissingPackage


def import_mxnet():
    """Import and answer the module mxnet; MissingPackage where there is no wheel for this platform."""
    import numpy

    os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    with warnings.catch_warnings():
        # numpy < 1.24 has the name and warns of it
        warnings.simplefilter("ignore")
        if not hasattr(numpy, "bool"):
            numpy.bool = numpy.bool_
        try:
            import mxnet
        except ImportError as problem:
            raise MissingPackage(
                f"training and the gluon engine need MXNet 1.9.1, which did not import ({problem}); "
                "pip install 'mxnet==1.9.1' 'gluonnlp==0.10.0' (x86-64 Linux and macOS), "
                "or predict with --engine onnx") from problem
    return mxnet


def cores():
    """Answer how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
