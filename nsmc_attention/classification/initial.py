"""Given word vectors as the initial parameters of a classifier."""

from .._runtime.mxnet_types import Network
from ..model.parameters import set_parameters, snapshot
from ..text.vectors import WordVectors

EMBEDDING = "embedding.weight"
ARTICLE_EMBEDDING = "embed.weight"


def init_from_vectors(network: Network, vectors: WordVectors) -> None:
    """Give a classifier the vectors of words; the others keep their random numbers."""
    arrays = snapshot(network)
    name = EMBEDDING if EMBEDDING in arrays else ARTICLE_EMBEDDING
    embedding = arrays[name].copy()
    embedding[vectors.ids] = vectors.rows
    set_parameters(network, {name: embedding})
