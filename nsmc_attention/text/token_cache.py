"""Tokens of a whole corpus: computed by worker processes and cached on disk.

A cache entry's name hashes all that its content depends on (texts, tokenizer and its version, the rules of `clean`),
so no entry is stale and any may be deleted. It begins with the hash of what follows; a damaged one is written again.
"""

from hashlib import sha256
from pathlib import Path
from typing import Optional

from ..errors import NsmcError
from ..machine.files import write_text
from ..machine.processes import can_start_workers, cores
from ..machine.workers import Workers
from .encoding import clean
from .symbols import symbols as symbols_of
from .symbols import with_symbols
from .tokenizers import tokenizer, tokenizer_version

# Raise when `clean` or the layout of the file changes
LAYOUT = 3
CHUNK, WORTH_A_PROCESS = 2000, 20000
TOKEN, REVIEW = "\x1f", "\n"


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


def cached_tokens(reviews: list[str], tokenizer_name: str, cache: Path, symbols: int = 0) -> list[list[str]]:
    """Return `tokenize_many`, cached in the folder `cache`."""
    rules = f"{LAYOUT} {tokenizer_name} {tokenizer_version(tokenizer_name)}{' symbols' if symbols else ''}"
    depends_on = sha256(f"{rules}\n".encode())
    for review in reviews:
        depends_on.update(review.encode("utf-8", "surrogatepass") + b"\0")
    path = cache / f"tokens-{depends_on.hexdigest()[:32]}.txt"
    if path.exists():
        head, _, content = path.read_bytes().partition(REVIEW.encode())
        if head == sha256(content).hexdigest().encode():
            return [line.split(TOKEN) if line else [] for line in content.decode().split(REVIEW)]
    token_lists = tokenize_many(reviews, tokenizer_name, symbols=symbols)
    text = REVIEW.join(TOKEN.join(tokens) for tokens in token_lists)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        write_text(path, sha256(text.encode()).hexdigest() + REVIEW + text)
    except OSError as problem:
        raise NsmcError(
            f"{path}: the tokens cannot be written: {problem.strerror}; set NSMC_ATTENTION_CACHE to a folder with room"
        ) from problem
    return token_lists
