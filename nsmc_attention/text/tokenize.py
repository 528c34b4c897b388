"""Tokens of many reviews, computed by worker processes."""

from typing import Optional

from ..machine.processes import can_start_workers, cores
from ..machine.workers import Workers
from .encoding import clean
from .symbols import symbols as symbols_of
from .symbols import with_symbols
from .tokenizers import tokenizer

CHUNK, WORTH_A_PROCESS = 2000, 20000


def tokenize(reviews: list[str], tokenizer_name: str, symbols: int = 0) -> list[list[str]]:
    """Return the tokens of each review (cleaned first), computed in this process; with `symbols` their words."""
    split, texts = tokenizer(tokenizer_name), map(clean, reviews)
    return [with_symbols(text, split(text), symbols_of(text)) if symbols else split(text) for text in texts]


def tokenize_many(
    reviews: list[str], tokenizer_name: str, processes: Optional[int] = None, symbols: int = 0
) -> list[list[str]]:
    """Return the tokens of each review; WORTH_A_PROCESS reviews or more are shared by one process a core."""
    tokenizer(tokenizer_name)
    processes = processes or cores()
    if processes == 1 or len(reviews) < WORTH_A_PROCESS or not can_start_workers():
        return tokenize(reviews, tokenizer_name, symbols)
    chunks = [reviews[start : start + CHUNK] for start in range(0, len(reviews), CHUNK)]
    names, kinds = [tokenizer_name] * len(chunks), [symbols] * len(chunks)
    with Workers(processes) as pool:
        return [tokens for chunk in pool.map(tokenize, chunks, names, kinds) for tokens in chunk]
