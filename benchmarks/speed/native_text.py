"""Processor time per review in microseconds of the compiled decoder, and of MeCab with Python, in turn in one process.

NSMC_ATTENTION_DATA=... python -m benchmarks.speed.native_text
"""

import os
import statistics
import time

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import nsmc
from nsmc_attention.native import SWITCH
from nsmc_attention.native.dictionary import installed_decoder
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.tokenizers import pip_mecab

PART, BATCH = 5000, 64


def contestants(encoder):
    """Return {work: (by MeCab and Python, compiled)}, functions of a list of reviews."""
    morphs, decoder = pip_mecab().morphs, installed_decoder()
    if decoder is None:
        raise SystemExit("no compiled decoder: python setup.py build_ext --inplace")

    def encode(reviews):
        return [encoder.encode_words(morphs(text), text) for text in map(clean, reviews)]

    def to_arrays(encoded):
        encoded = sorted(filter(len, encoded), key=len)
        for start in range(0, len(encoded), BATCH):
            encoder.batch(encoded[start : start + BATCH])

    return {
        "clean text to tokens": (lambda texts: [*map(morphs, texts)], lambda texts: [*map(decoder.tokens, texts)]),
        "review to tokens and ids": (encode, encoder.encode_many),
        "review to ids and n-grams in arrays": (
            lambda reviews: to_arrays(encode(reviews)),
            lambda reviews: to_arrays(encoder.encode_many(reviews)),
        ),
    }


def microseconds(work, reviews, native):
    os.environ[SWITCH] = "1" if native else "0"
    started = time.thread_time()
    work(reviews)
    return (time.thread_time() - started) / len(reviews) * 1e6


def main():
    reviews = [each for each in nsmc.load("nsmc", "test").documents if clean(each)]
    parts = [reviews[start : start + PART] for start in range(0, len(reviews), PART)]
    print("| µs a review: median of parts (least) | MeCab and Python | compiled | times as fast |\n|---|---|---|---|")
    for name, works in contestants(load_bundle(None, LAYOUT).codec).items():
        found: tuple[list[float], list[float]] = ([], [])
        for number, part in enumerate([parts[0], *parts]):
            given = [clean(review) for review in part] if name.startswith("clean") else part
            for native in (0, 1) if number % 2 else (1, 0):
                spent = microseconds(works[native], given, native)
                # the first part is read twice, to warm up
                found[native].extend([spent] if number else [])
        shown = " | ".join(f"{statistics.median(each):.1f} ({min(each):.1f})" for each in found)
        ratios = [slow / fast for slow, fast in zip(*found)]
        print(f"| {name} | {shown} | {statistics.median(ratios):.2f} |", flush=True)


if __name__ == "__main__":
    main()
