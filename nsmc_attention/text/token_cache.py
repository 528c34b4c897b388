"""Clean texts and their tokens for a whole corpus: in worker processes, and kept on disk for the next run.

A cache entry's name holds everything that decides its content (texts, tokenizer and its version, the rules
of `clean`), so an entry is never stale; it is written whole or not at all and can be deleted at any time. It begins
with the hash of what follows: whatever else stands under its name is passed over and written anew.
"""

import hashlib
from pathlib import Path
from typing import Optional

from .._io.atomic import write_text
from .._runtime.processes import cores, workers
from ..errors import NsmcError
from .encoding import clean
from .tokenizers import tokenizer, tokenizer_version

# Raise when `clean` or the layout of the file changes
LAYOUT = 2
CHUNK, WORTH_A_PROCESS = 2000, 20000
TOKEN, REVIEW = "\x1f", "\n"


def tokenize(reviews: list[str], tokenizer_name: str) -> list[list[str]]:
    """Answer the token list of each review (cleaned first), in this process."""
    split = tokenizer(tokenizer_name)
    return [split(clean(review)) for review in reviews]


def tokenize_many(reviews: list[str], tokenizer_name: str, processes: Optional[int] = None) -> list[list[str]]:
    """Answer the token list of each review, with as many processes as there are cores when it is worth it."""
    tokenizer(tokenizer_name)
    processes = processes or cores()
    if processes == 1 or len(reviews) < WORTH_A_PROCESS:
        return tokenize(reviews, tokenizer_name)
    pieces = [reviews[start : start + CHUNK] for start in range(0, len(reviews), CHUNK)]
    with workers(processes) as pool:
        done = pool.map(tokenize, pieces, [tokenizer_name] * len(pieces))
        return [tokens for piece in done for tokens in piece]


def cached_tokens(reviews: list[str], tokenizer_name: str, cache: Optional[Path]) -> list[list[str]]:
    """Answer `tokenize_many`, read from the folder `cache` where it was done before (None: no cache)."""
    if cache is None:
        return tokenize_many(reviews, tokenizer_name)
    path = cache / f"tokens-{key(reviews, tokenizer_name)}.txt"
    lines = read_lines(path)
    if len(lines) == len(reviews):
        return [line.split(TOKEN) if line else [] for line in lines]
    token_lists = tokenize_many(reviews, tokenizer_name)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        content = REVIEW.join(TOKEN.join(tokens) for tokens in token_lists)
        write_text(path, REVIEW.join((digest(content.encode()), content)))
    except OSError as problem:
        raise NsmcError(
            f"{path}: the prepared tokens cannot be written: {problem.strerror}; "
            "set NSMC_ATTENTION_CACHE to a folder with room"
        ) from problem
    return token_lists


def read_lines(path: Path) -> list[str]:
    """Answer an entry's lines, one a review; none where there is none, or a file that is not as it was written."""
    try:
        head, _, content = path.read_bytes().partition(REVIEW.encode())
    except OSError:
        return []
    return content.decode().split(REVIEW) if head == digest(content).encode() else []


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def key(reviews: list[str], tokenizer_name: str) -> str:
    content = hashlib.sha256(f"{LAYOUT} {tokenizer_name} {tokenizer_version(tokenizer_name)}\n".encode())
    for review in reviews:
        content.update(review.encode("utf-8", "surrogatepass") + b"\0")
    return content.hexdigest()[:32]
