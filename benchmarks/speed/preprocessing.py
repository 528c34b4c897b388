"""KoNLPy compared with the compiled tokenizer, and GluonNLP's batches made once or in each epoch, with equal ids.

NSMC_ATTENTION_DATA=... python -m benchmarks.speed.preprocessing
"""

import statistics
import time

import numpy

from nsmc_attention.classifier.batches import Batches
from nsmc_attention.corpora import nsmc
from nsmc_attention.text.encoding import ReviewEncoder, clean
from nsmc_attention.text.preprocessing import bucket_sampler, build_vocab
from nsmc_attention.text.tokenizers import TextConfig, pip_mecab

REVIEWS, TIMES, BATCH, SETTINGS = 3000, 5, 32, TextConfig(ngram_buckets=0)


def milliseconds(work):
    """Return the median processor time."""
    times = []
    for _ in range(TIMES):
        started = time.process_time()
        work()
        times.append(1000 * (time.process_time() - started))
    return statistics.median(times)


def main():
    from gluonnlp.data import ClipSequence, batchify

    frame, mecab = nsmc.load("nsmc", "train").frame[:REVIEWS], pip_mecab()
    texts = [clean(text) for text in frame["document"]]
    vocab, clip = build_vocab(map(mecab.morphs, texts), SETTINGS), ClipSequence(SETTINGS.max_length)
    encoder = ReviewEncoder.from_json(vocab.to_json(), SETTINGS)
    reviews, labels = encoder.encode_many(texts), frame["label"].to_numpy()
    batches = Batches(reviews, labels, encoder, BATCH)
    members = list(bucket_sampler(batches.padded_length, BATCH, shuffle=False))
    pad = batchify.Pad(pad_val=encoder.padding, ret_length=True, dtype="int32")
    made = batchify.Tuple(pad, batchify.Stack("float32"))

    def by_gluonnlp():
        return [made([(numpy.array(reviews[i].ids), labels[i]) for i in own]) for own in members]

    rows = {
        "text to ids, KoNLPy's Mecab, Vocab and ClipSequence": lambda: [clip(vocab[mecab.morphs(t)]) for t in texts],
        "text to ids, the package": lambda: encoder.encode_many(texts),
        "batches of an epoch, each made anew by batchify": by_gluonnlp,
        "batches of an epoch, rows of what was padded once": lambda: list(map(batches.take, members)),
        "padding once, PadSequence and batchify.Stack": lambda: Batches(reviews, labels, encoder, BATCH),
    }
    print(f"| {REVIEWS:,} reviews of the NSMC train file | ms, median of {TIMES} |\n|---|---|")
    for name, work in rows.items():
        print(f"| {name} | {milliseconds(work):.1f} |", flush=True)


if __name__ == "__main__":
    main()
