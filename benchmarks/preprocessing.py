"""How fast reviews become token ids: clean, tokenize with Mecab, number. One process, and tokenizing in two.

    NSMC_ATTENTION_DATA=... python benchmarks/preprocessing.py
"""
import statistics
import time
from collections import deque

from nsmc_attention.bundle import load_bundle
from nsmc_attention.preprocessing.prepared import tokenize_many
from nsmc_attention.reviews import nsmc

REVIEWS, TIMES = 60000, 5


def rates(work, count):
    work()
    for _ in range(TIMES):
        started = time.perf_counter()
        work()
        yield count / (time.perf_counter() - started)


def main():
    reviews = nsmc.load("nsmc", "train").documents[:REVIEWS]
    encoder = load_bundle().encoder
    print(f"| {REVIEWS:,} reviews of the NSMC train file, {TIMES} times | min | median | max (reviews/s) |")
    print("|---|---|---|---|")
    for name, work in [
        ("review to ids (Mecab), one process", lambda: deque(map(encoder.encode, reviews), maxlen=0)),
        ("review to tokens (Mecab), two processes, their start included", lambda: tokenize_many(reviews, "mecab", 2)),
    ]:
        found = sorted(rates(work, len(reviews)))
        print(f"| {name} | {found[0]:,.0f} | {statistics.median(found):,.0f} | {found[-1]:,.0f} |")


if __name__ == "__main__":
    main()
