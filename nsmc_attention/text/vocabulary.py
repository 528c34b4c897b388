"""The vocabulary, built by GluonNLP from the tokens of the training part; `encoding` reads it without GluonNLP."""

from collections import Counter
from itertools import chain
from typing import Any, Iterable, Sequence

from .._runtime.gluon import gluonnlp
from .settings import WordSettings
from .symbols import ENTRIES, entry

PADDING = "<pad>"
# Entries that are no words: unknown and padding
SPECIAL = 2


def build_vocab(token_lists: Iterable[Sequence[str]], text_config: WordSettings, reserved: Sequence[str] = ()) -> Any:
    """Return the gluonnlp.Vocab of the most frequent tokens, at most text_config.vocab_size entries.

    Ids: 0 `<unk>`, 1 `<pad>`, the reserved entries, then by falling count, ties by code point. Where rare words are split into pieces, the
    characters of the words left out are kept too, if as frequent as text_config.min_count.
    """
    counts = Counter(chain.from_iterable(token_lists))
    if text_config.symbols:
        reserved = [*reserved, *ENTRIES]
        counts = Counter({word: count for word, count in counts.items() if entry(word) == word})
    size, min_count = text_config.vocab_size - SPECIAL - len(reserved), text_config.min_count
    if text_config.rare_words == "pieces":
        counts = with_characters(counts, size, min_count)
    return gluonnlp.Vocab(
        counts,
        max_size=size,
        min_freq=min_count,
        padding_token=PADDING,
        bos_token=None,
        eos_token=None,
        reserved_tokens=list(reserved) or None,
    )


def with_characters(counts: Counter[str], size: int, min_count: int) -> Counter[str]:
    """Return a Counter of at most `size` entries: frequent words, and the characters that the others consist of."""
    words = [word for word in by_frequency(counts) if counts[word] >= min_count][:size]
    characters = frequent_characters(counts, words, min_count)
    # the fewer words are kept, the more characters the others need
    while words and len(words) + len(characters) > size:
        words = words[: max(0, size - len(characters))]
        characters = frequent_characters(counts, words, min_count)
    letters = by_frequency(characters)[: size - len(words)]
    return Counter({**{word: counts[word] for word in words}, **{letter: characters[letter] for letter in letters}})


def by_frequency(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word], word))


def frequent_characters(counts: Counter[str], words: Sequence[str], min_count: int) -> Counter[str]:
    """Count the characters of all words but `words`, which are entries already if they are one character long."""
    kept, characters = set(words), Counter[str]()
    for word in counts.keys() - kept:
        for character in word:
            characters[character] += counts[word]
    return Counter({one: count for one, count in characters.items() if count >= min_count and one not in kept})
