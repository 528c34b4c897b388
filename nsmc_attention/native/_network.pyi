"""The networks of a classifier and of an editor on the processor's vectors; see network.cpp and editor.cpp.

ValueError where sizes or ids do not fit.
"""

from typing import Any, Optional

from numpy import float16, float32, int8, int32
from numpy.typing import NDArray

VERSION: int

def kernels() -> tuple[str, ...]:
    """Return the kernels that this processor runs, the fastest last, then perhaps "bf16"."""

def load(
    kernel: str,
    embedding: NDArray[int8],
    embedding_scale: NDArray[float32],
    input_weights: NDArray[float32],
    input_bias: NDArray[float32],
    recurrent: NDArray[float32],
    hidden_bias: NDArray[float32],
    projection: NDArray[float32],
    projection_bias: NDArray[float32],
    evidence: NDArray[float32],
    score: NDArray[float32],
    output: NDArray[float32],
    output_bias: float,
    wide: float,
    ngrams: Optional[NDArray[float16]],
    values: Optional[NDArray[float32]],
    value_bias: Optional[NDArray[float32]],
    sign: Optional[NDArray[float32]],
    sign_bias: float,
) -> Any:
    """Return a network for `run`, which copies all arrays but the embedding and the n-grams' (buckets, 2).

    embedding (V, E), whose rows are multiplied by embedding_scale (V,); of both directions and the gates r, z, n,
    input_weights (2, 3, H, E), their bias (2, 3, H), to which r and z add that of recurrent (2, 3, H, H), and the
    hidden_bias (2, H) of n; of query and key, projection (2, A, 2, H), projection_bias (2, A), and evidence (2, 2, A),
    what the log-odds of a token and of the one before add to both; score (A,); of positive less negative, output (2 H,),
    its bias, and its weight of the log-odds. Where values are near the token, output is (U,), values (U, window, E) and
    value_bias (U,), None where a value is their sum and not its tanh; sign (2, H) and its bias, by whose tanh with a token's
    states what it adds is multiplied, None where it is not.
    """

def run(
    network: Any,
    token_ids: NDArray[int32],
    ngram_ids: Optional[NDArray[int32]],
    starts: NDArray[int32],
    valid_length: NDArray[int32],
    probability: NDArray[float32],
    weights: Optional[NDArray[float32]],
    contexts: Optional[NDArray[float32]],
    contributions: Optional[NDArray[float32]],
    /,
) -> None:
    """Fill the last four, None of which but the first is needed, for N reviews among the tokens (U,) and n-grams (U, 8).

    A review is as many of these as its length from its start on. Filled are probability (N,), weights (N, T, T), and contexts
    (N, 2 H + 1), H rounded up to a multiple of 16: what the last layer reads of each review, the pooled states of both
    directions and the n-grams' log-odds or 0. Where values are near the token, contexts are (N, U + 2 H), U rounded up, the
    pooled values and states, and contributions (N, T) are what each token adds; nothing is written to their padding.
    """

Layer = tuple[NDArray[float32], NDArray[float32], NDArray[float32], NDArray[float32]]

def load_editor(
    kernel: str,
    embedding: NDArray[float32],
    layers: tuple[Layer, ...],
    heads: NDArray[float32],
    head_bias: NDArray[float32],
    narrow: NDArray[float32],
    tag: NDArray[float32],
    tag_bias: NDArray[float32],
    /,
) -> Any:
    """Return an editor for `edit`, which copies all arrays.

    embedding (R, E); of each layer input weights (2, 3, H, D), their bias (2, 3, H), recurrent (2, 3, H, H) and its bias of n
    (2, H) as `load` takes them, D being E in the first and else 2 H; heads (2, 2 H), of a change less of none and of a space
    less of none, and their bias (2,); narrow (U, 2 H), tag (V - 1, U), of all tags but KEEP, and its bias (V - 1,). H and U are multiples of 16.
    """

def edit(
    editor: Any,
    source_ids: NDArray[int32],
    source_length: NDArray[int32],
    tags: NDArray[int32],
    certainty: NDArray[float32],
    spaces: NDArray[float32],
    /,
) -> None:
    """Fill tags, certainty and spaces (N, S) of the characters source_ids (N, S, 5) of N texts; nothing of their padding."""
