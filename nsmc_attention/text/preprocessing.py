"""Preprocessing for training, with GluonNLP's vocabulary and transforms.

    words -> count_tokens -> Vocab                                  once, from the training part
    words -> ClipSequence -> Vocab[...] -> PadSequence -> Stack     reviews as arrays (N, T)
    lengths -> FixedBucketSampler                                   positions of the reviews in each batch

Prediction computes the same ids without GluonNLP, in compiled code (`encoding`).
"""

import json
from collections import Counter
from itertools import chain
from typing import Any, Callable, Iterable, Sequence

import numpy
from numpy.typing import NDArray

from ..machine.gluon import gluonnlp
from .encoding import Encoded, ReviewEncoder
from .symbols import ENTRIES, entry, surface
from .tokenizers import WordSettings

PADDING = "<pad>"
# Number of entries that are not words: unknown and padding
SPECIAL = 2


def build_vocab(token_lists: Iterable[Sequence[str]], text_config: WordSettings, reserved: Sequence[str] = ()) -> Any:
    """Return the gluonnlp.Vocab of the most frequent tokens, at most text_config.vocab_size entries.

    Ids: 0 `<unk>`, 1 `<pad>`, the reserved entries, then by falling count, ties by code point. If rare words are split
    into pieces, characters of the other words are entries too, if they occur text_config.min_count times.
    """
    counts = gluonnlp.data.count_tokens(chain.from_iterable(token_lists))
    if text_config.symbols:
        reserved = [*reserved, *ENTRIES]
        counts = Counter({word: count for word, count in counts.items() if entry(word) == word})
    size, min_count = text_config.vocab_size - SPECIAL - len(reserved), text_config.min_count
    if text_config.rare_words == "pieces":
        counts = with_characters(counts, size, min_count)
    special = {
        "padding_token": PADDING,
        "bos_token": None,
        "eos_token": None,
        "reserved_tokens": list(reserved) or None,
    }
    return gluonnlp.Vocab(counts, max_size=size, min_freq=min_count, **special)


def vocabulary_file(vocab: Any) -> bytes:
    """Return `Vocab.to_json()` without its spaces and escapes, which nearly double it."""
    return json.dumps(json.loads(vocab.to_json()), ensure_ascii=False, separators=(",", ":")).encode()


def with_characters(counts: Counter[str], size: int, min_count: int) -> Counter[str]:
    """Return a Counter of at most `size` entries: frequent words, and the characters of the other words."""
    words = [word for word in by_frequency(counts) if counts[word] >= min_count][:size]
    characters = frequent_characters(counts, words, min_count)
    # fewer words leave more characters to the others
    while words and len(words) + len(characters) > size:
        words = words[: max(0, size - len(characters))]
        characters = frequent_characters(counts, words, min_count)
    added = by_frequency(characters)[: size - len(words)]
    return Counter({**{word: counts[word] for word in words}, **{char: characters[char] for char in added}})


def by_frequency(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word], word))


def frequent_characters(counts: Counter[str], words: Sequence[str], min_count: int) -> Counter[str]:
    """Count the characters of all words but `words`; words of one character are entries already."""
    entries, characters = set(words), Counter[str]()
    for word in counts.keys() - entries:
        for character in word:
            characters[character] += counts[word]
    return Counter({char: n for char, n in characters.items() if n >= min_count and char not in entries})


def numbering(encoder: ReviewEncoder) -> Callable[[Sequence[str]], Encoded]:
    """Return GluonNLP's form of `encoder.encode_words`, from a review's words to its tokens and ids."""
    tokens = sorted(encoder.token_to_idx, key=encoder.token_to_idx.__getitem__)
    special = {"unknown_token": tokens[encoder.unknown], "padding_token": tokens[encoder.padding]}
    counts, clip = gluonnlp.data.count_tokens(tokens), gluonnlp.data.ClipSequence(encoder.max_length)
    vocab = gluonnlp.Vocab(counts, **special, bos_token=None, eos_token=None, token_to_idx=encoder.token_to_idx)

    def number(words: Sequence[str]) -> Encoded:
        units = clip(encoder.units(words))
        if not encoder.symbols:
            return Encoded("", tuple(units), tuple(vocab[units]))
        return Encoded("", tuple(map(surface, units)), tuple(vocab[list(map(entry, units))]))

    return number


def stacked(rows: Iterable[Iterable[float]], width: int, padding: float, dtype: str) -> NDArray[Any]:
    """Pad rows of at most `width` numbers at the end, and stack them, (N, width)."""
    pad, stack = gluonnlp.data.PadSequence(width, pad_val=padding), gluonnlp.data.batchify.Stack(dtype)
    return numpy.asarray(stack([pad(list(row)) for row in rows]).asnumpy())


def bucket_sampler(lengths: NDArray[numpy.int64], batch_size: int, shuffle: bool) -> Iterable[list[int]]:
    """Return an epoch's batches, positions of reviews of equal length; NumPy's global generator shuffles them."""
    # the sampler shuffles its own lists: each epoch needs a new one
    options = {"num_buckets": None, "ratio": 0, "bucket_keys": numpy.unique(lengths).tolist(), "shuffle": shuffle}
    return gluonnlp.data.FixedBucketSampler(lengths, batch_size, **options)
