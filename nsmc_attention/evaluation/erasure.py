"""How much the answer changes when a word is erased: the measure that attention is taught by and judged by."""

from typing import Any, Callable, Iterable, Sequence

import numpy
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

# Reviews whose erasures are scored together
PIECE = 256


def leave_one_out(
    score: Callable[[Sequence[Sequence[str]]], NDArray[Any]],
    token_lists: Sequence[Sequence[str]],
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[NDArray[Any]]:
    """Erase each token in turn.

    Li, Monroe & Jurafsky 2016 (arXiv:1612.08220), section 3, the change of the log-odds.

    Parameters
    ----------
    score : callable
        list of lists of str -> (N,) probability of positive, as `inference.predictor.TokenScorer`.
    token_lists : list of lists of str, none empty
    progress : callable
        Wraps what is gone through, as tqdm does.

    Returns
    -------
    list of (T,) float64
        Log-odds of the whole review less those without the token: above 0 where it speaks for positive. Of a
        token that stands alone, the log-odds themselves.
    """
    whole = log_odds(score(token_lists))
    found: list[NDArray[Any]] = []
    for number in progress(range(0, len(token_lists), PIECE)):
        piece = token_lists[number : number + PIECE]
        without = [without_token(tokens, place) for tokens in piece for place in range(len(tokens))]
        lengths = [len(tokens) for tokens in piece]
        change = numpy.repeat(whole[number : number + PIECE], lengths) - numpy.nan_to_num(log_odds(score(without)))
        found.extend(numpy.split(change, numpy.cumsum(lengths)[:-1]))
    return found


def without_token(tokens: Sequence[str], place: int) -> list[str]:
    return [*tokens[:place], *tokens[place + 1 :]]


def log_odds(probability: ArrayLike) -> NDArray[Any]:
    found: NDArray[Any] = logit(numpy.clip(probability, 1e-7, 1 - 1e-7))
    return found


def shares(changes: NDArray[Any]) -> NDArray[Any]:
    """Answer changes without their signs, divided by their sum; equal shares where nothing matters."""
    importance = numpy.abs(changes)
    total = importance.sum()
    return importance / total if total > 0 else numpy.full(len(importance), 1 / len(importance))
