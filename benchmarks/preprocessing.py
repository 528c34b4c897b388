"""How fast reviews become token ids: clean, tokenize with Mecab, number. One process, and tokenizing in two.

NSMC_ATTENTION_DATA=... python benchmarks/preprocessing.py
"""

import statistics
import time
from collections import deque
from itertools import chain

from nsmc_attention._runtime.processes import workers
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.classification.task import LAYOUT
from nsmc_attention.reviews import nsmc
from nsmc_attention.text.token_cache import CHUNK, tokenize, tokenize_many

ONE_PROCESS, TIMES, BATCH = 60000, 5, 64


def rates(work, count):
    work()
    for _ in range(TIMES):
        started = time.perf_counter()
        work()
        yield count / (time.perf_counter() - started)


def tokenize_with(pool, reviews):
    pieces = [reviews[start : start + CHUNK] for start in range(0, len(reviews), CHUNK)]
    return list(chain.from_iterable(pool.map(tokenize, pieces, ["mecab"] * len(pieces))))


def to_arrays(encoder, reviews):
    """Encode and number, as prediction does it: in batches of about one length."""
    encoded = sorted(filter(len, map(encoder.encode, reviews)), key=len)
    for start in range(0, len(encoded), BATCH):
        encoder.batch(encoded[start : start + BATCH])


def show(name, work, count):
    found = sorted(rates(work, count))
    print(f"| {name} | {count:,} | {found[0]:,.0f} | {statistics.median(found):,.0f} | {found[-1]:,.0f} |", flush=True)


def main():
    reviews = nsmc.load("nsmc", "train").documents
    some, encoder = reviews[:ONE_PROCESS], load_bundle(None, LAYOUT).codec
    print(f"| Mecab, {TIMES} times | reviews of the NSMC train file | min | median | max (reviews/s) |")
    print("|---|---|---|---|---|")
    show("review to tokens, one process", lambda: deque(map(encoder.encode, some), maxlen=0), len(some))
    show("review to ids and n-grams, one process", lambda: to_arrays(encoder, some), len(some))
    show(
        "review to tokens, two processes, their start included",
        lambda: tokenize_many(reviews, "mecab", 2),
        len(reviews),
    )
    with workers(2) as pool:
        show("review to tokens, two processes, once started", lambda: tokenize_with(pool, reviews), len(reviews))


if __name__ == "__main__":
    main()
