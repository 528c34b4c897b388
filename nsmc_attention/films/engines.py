"""What runs a film network: its reviews one by one, and the film.

engine.reviews(vectors (M, F)) -> scores (M,), values (M, D)
engine.film(pooled (N, P), counts (N, 1)) -> quantiles (N, 3)
"""

from functools import partial
from typing import Any, Optional, Union

import numpy
from numpy.typing import NDArray

from ..classification import native
from ..classification.engines import OnnxEngine, onnx_engine
from ..classification.layout import ClassifierBundle
from ..errors import BundleError
from ..inference.sessions import PIECE, chosen_engine, gluon_network, import_check, run, session_of
from .interface import FILM
from .layout import FilmBundle

Array = NDArray[Any]


class OnnxFilm:
    """Runs the reviews.onnx and film.onnx of a bundle whose network's values have `units` numbers."""

    name = "onnx"

    def __init__(self, contents: dict[str, bytes], units: int):
        self.sessions, self.units = {name: session_of(content) for name, content in contents.items()}, units

    def reviews(self, vectors: Array) -> tuple[Array, Array]:
        scores, values = run(self.sessions["reviews.onnx"], {"vectors": vectors})
        self.check(scores, (len(vectors),))
        self.check(values, (len(vectors), self.units))
        return scores, values

    def film(self, pooled: Array, counts: Array) -> Array:
        (quantiles,) = run(self.sessions["film.onnx"], {"pooled": pooled, "counts": counts})
        self.check(quantiles, (len(pooled), 3))
        return quantiles

    def check(self, found: Array, shape: tuple[int, ...]) -> None:
        if found.shape != shape or not numpy.isfinite(found).all():
            raise BundleError(
                "expected finite scores, values and quantiles from the bundle's ONNX models, found something else: its "
                "parameters are too large, or they are others; train again, or take another bundle"
            )


class GluonFilm:
    """Runs a film network on MXNet."""

    name = "gluon"

    def __init__(self, network: Any, device: Any):
        from .._runtime.mxnet_shim import import_mxnet

        self.nd, self.network, self.device = import_mxnet().nd, network, device

    def reviews(self, vectors: Array) -> tuple[Array, Array]:
        scores, values = self.network.reviews(self.nd.array(vectors, ctx=self.device))
        return scores.asnumpy(), values.asnumpy()

    def film(self, pooled: Array, counts: Array) -> Array:
        given = (self.nd.array(each, ctx=self.device) for each in (pooled, counts))
        return numpy.asarray(self.network.film(*given).asnumpy())


def load_film_engine(
    bundle: FilmBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> Union[OnnxFilm, GluonFilm]:
    """Load the engine called name for a film network's bundle; "auto" is onnx, on a GPU gluon."""
    if chosen_engine(name, device) == "gluon":
        network, context = gluon_network(bundle, device)
        network.hybridize()
        return GluonFilm(network, context)
    contents = {name: bundle.read(name) for name in FILM}
    if not bundle.packaged:
        check, units = import_check().check_graph, bundle.config.model.units
        sizes, batches = {"F": bundle.codec.inputs, "D": units, "P": 2 * units}, [{"N": 1}, {"N": PIECE}]
        contents = {
            name: check(contents[name], {}, interface, sizes, batches, bundle.folder / name)
            for name, interface in FILM.items()
        }
    return OnnxFilm(contents, bundle.config.model.units)


def reading_engine(bundle: ClassifierBundle, threads: Optional[int] = None) -> Union[native.NativeEngine, OnnxEngine]:
    """Load a classifier's engine that has `contexts`: native where it was built and the bundle fits it, else onnx.

    That is model.onnx with what its last layer reads as an output; MissingPackage without the package onnx.
    """
    if native.runs(bundle):
        return native.native_engine(bundle, threads)
    import_check()
    from .contexts import with_contexts

    return onnx_engine(bundle, threads, partial(with_contexts, where=bundle.file("model.onnx")))
