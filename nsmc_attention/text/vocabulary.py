"""The vocabulary, built by GluonNLP from the tokens of the training part.

Counter -> Vocab -> ClipSequence / PadSequence. What is built here is written as vocab.json, from which
`encoding` gives the same ids without GluonNLP.
"""

from collections import Counter
from itertools import chain

from .._runtime.mxnet_shim import import_mxnet

import_mxnet()

import gluonnlp  # noqa: E402

PADDING = "<pad>"
# Entries of a vocabulary that are no words: unknown and padding
SPECIAL = 2


def build_vocab(token_lists, text_config):
    """Count the tokens of the training part and keep the most frequent.

    Ids: 0 `<unk>`, 1 `<pad>`, then by falling count, ties by code point: the same list, always the same file.
    Where rare words are to be cut into pieces, every character that a word left out is made of is kept as well,
    if as frequent as text_config.min_count asks.

    Returns
    -------
    gluonnlp.Vocab
        At most text_config.vocab_size entries; its padding_token is `<pad>`.
    """
    counts = Counter(chain.from_iterable(token_lists))
    room = text_config.vocab_size - SPECIAL
    if text_config.rare_words == "pieces":
        counts = with_characters(counts, room, text_config.min_count)
    return gluonnlp.Vocab(
        counts, max_size=room, min_freq=text_config.min_count, padding_token=PADDING, bos_token=None, eos_token=None
    )


def with_characters(counts, room, min_count):
    """Answer a Counter of at most `room` entries: frequent words, and the characters that all others consist of."""
    words = [word for word in by_frequency(counts) if counts[word] >= min_count]
    words = words[:room]
    characters = frequent_characters(counts, words, min_count)
    # the fewer words are kept, the more characters the others need
    while words and len(words) + len(characters) > room:
        words = words[: max(0, room - len(characters))]
        characters = frequent_characters(counts, words, min_count)
    kept = Counter({word: counts[word] for word in words})
    kept.update({each: characters[each] for each in by_frequency(characters)[: room - len(kept)]})
    return kept


def by_frequency(counts):
    return sorted(counts, key=lambda each: (-counts[each], each))


def frequent_characters(counts, words, min_count):
    """Count the characters of all words but these, which are entries already if they are one character long."""
    kept = set(words)
    characters: Counter[str] = Counter()
    for word, count in counts.items():
        if word not in kept:
            for character in word:
                characters[character] += count
    return Counter({each: count for each, count in characters.items() if count >= min_count and each not in kept})


def sequence_transform(vocab, length, pad=False):
    """Answer tokens -> ids of GluonNLP: Vocab, then ClipSequence or, with pad, PadSequence(clip) to `length`."""
    fit = (
        gluonnlp.data.PadSequence(length, pad_val=vocab[PADDING], clip=True)
        if pad
        else gluonnlp.data.ClipSequence(length)
    )
    return lambda tokens: fit(vocab[list(tokens)]) if tokens or pad else []
