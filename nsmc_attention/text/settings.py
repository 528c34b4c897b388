"""The settings of this folder: from a review to token ids."""

from collections.abc import Mapping
from typing import ClassVar, Union

from ..schema import Settings, setting


class TextConfig(Settings):
    """The settings from a review to token ids."""

    introduced: ClassVar[Mapping[str, object]] = {"symbols": 0}
    tokenizer: str = setting("mecab", "tokenizer, by name")
    vocab_size: int = setting(16000, "largest vocabulary, special tokens included", low=3)
    min_count: int = setting(2, "tokens rarer than this in the training part are unknown", low=1)
    rare_words: str = setting(
        "unknown", "words outside the vocabulary: unknown, or cut into known pieces", choices=("unknown", "pieces")
    )
    symbols: int = setting(0, "1: ratings (★★☆☆☆, 2/5, 4점) and emoji have their own tokens", low=0, high=1)
    ngram_buckets: int = setting(2**20, "buckets of hashed character n-grams; 0: no n-grams", low=0, high=2**26)
    max_length: int = setting(256, "longest review in tokens; the rest is not read", low=1, high=1024)


class WordsConfig(Settings):
    """The settings from a review to a language model's tokens: a word is known if its characters are."""

    ngram_buckets: ClassVar[int] = 0
    symbols: ClassVar[int] = 0
    tokenizer: str = setting("mecab", "tokenizer, by name")
    vocab_size: int = setting(16000, "largest vocabulary, special tokens included", low=5)
    min_count: int = setting(2, "tokens rarer than this in the reviews are unknown", low=1)
    rare_words: str = setting(
        "pieces", "words outside the vocabulary: unknown, or cut into known pieces", choices=("unknown", "pieces")
    )
    max_length: int = setting(256, "longest review in tokens; the rest is not read", low=2, high=1024)


WordSettings = Union[TextConfig, WordsConfig]
