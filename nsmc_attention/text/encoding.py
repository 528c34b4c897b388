"""The only way from a review to token ids, used by training and prediction alike.

review -> clean text -> tokens -> ids by the bundle's vocab.json. Plain Python on purpose: prediction
needs no MXNet. `ngrams` adds what the review looks like; `gluon_data` beside it builds the vocabulary, and a
test holds both to the same ids.
"""

import unicodedata
from dataclasses import dataclass
from typing import Container, NamedTuple, Optional, Sequence, Union

import numpy
from numpy.typing import NDArray

from .._io.bounded import read_json
from ..errors import BundleError
from .marks import composed
from .ngrams import ngram_ids
from .settings import TextConfig
from .tokenizers import align, tokenizer

# Characters; without a bound, the time for one long word grows with the cube of its length
LONGEST_PIECE = 64
FILLERS = "\u115f\u1160\u3164\uffa0"


def clean(review: str) -> str:
    """Fold a review into the text that is tokenized and that offsets point into.

    NFC (never NFKC, which turns ㅋ into another letter); lone surrogates and control characters dropped
    (MeCab stops silently at NUL), and combining marks beyond 30 in a row; white space of any kind becomes one space;
    none at either end. A text with nothing to see (zero-width characters, Hangul fillers) is empty.
    """
    if not review.isprintable():
        # Cc control, Cs lone surrogate; white space among them (tab, line ends) is folded below
        review = "".join(
            character
            for character in review
            if character.isspace() or unicodedata.category(character) not in ("Cc", "Cs")
        )
    if not review.isascii():
        review = composed(review)
    text = " ".join(review.split())
    return text if text.isascii() or any(map(visible, text)) else ""


def visible(character: str) -> bool:
    return character not in FILLERS and unicodedata.category(character) not in ("Cf", "Zs")


class Encoded(NamedTuple):
    """A review on its way into the network; offsets are (start, end) in text, one a token."""

    text: str
    tokens: tuple[str, ...]

    def offsets(self) -> tuple[tuple[int, int], ...]:
        return tuple(align(self.text, self.tokens))


@dataclass(frozen=True)
class Encoder:
    """Turns reviews into token ids; equal vocabularies and settings give equal ids, byte for byte.

    Attributes
    ----------
    tokenizer_name : str
    token_to_idx : dict of str to int
    unknown, padding : int
        Ids of what the vocabulary lacks, and of padding. They differ: padding is masked, unknown is read.
    max_length : int
        Tokens beyond are not read.
    cut_rare : bool
        Cut a word that the vocabulary lacks into the longest pieces that it has.
    ngram_buckets : int
        Numbers that character n-grams are hashed to; 0 for none.
    """

    tokenizer_name: str
    token_to_idx: dict[str, int]
    unknown: int
    padding: int
    max_length: int
    cut_rare: bool = False
    ngram_buckets: int = 0

    @classmethod
    def from_json(
        cls, vocabulary: Union[str, bytes], text_config: TextConfig, where: object = "vocab.json"
    ) -> "Encoder":
        """Read gluonnlp's `Vocab.to_json()`, str or UTF-8; BundleError where it is not one."""
        values = read_json(vocabulary, where, BundleError, "a vocabulary as gluonnlp writes it")
        try:
            token_to_idx = values["token_to_idx"]
            unknown = token_to_idx[values["unknown_token"]]
            padding = token_to_idx[values["identifiers_to_tokens"]["padding_token"]]
            ids = list(token_to_idx.values())
            numbered = set(ids) == set(range(len(ids))) and set(map(type, ids)) == {int} and unknown != padding
        except (KeyError, TypeError, AttributeError) as problem:
            raise BundleError(f"{where}: expected a vocabulary as gluonnlp writes it, found none") from problem
        if not numbered:
            raise BundleError(
                f"{where}: expected the ids 0 to {len(ids) - 1}, each once, and padding that is not the unknown token"
            )
        return cls(
            text_config.tokenizer,
            token_to_idx,
            unknown,
            padding,
            text_config.max_length,
            text_config.rare_words == "pieces",
            text_config.ngram_buckets,
        )

    def __len__(self) -> int:
        return len(self.token_to_idx)

    def tokenize(self, text: str) -> list[str]:
        """Answer the tokens of a clean text, at most max_length."""
        return self.units(tokenizer(self.tokenizer_name)(text))

    def units(self, words: list[str]) -> list[str]:
        """Answer what of a tokenizer's words gets an id each, at most max_length: the words, or pieces of rare ones."""
        if self.cut_rare:
            words = [
                unit
                for word in words
                for unit in ((word,) if word in self.token_to_idx else pieces(word, self.token_to_idx))
            ]
        return words[: self.max_length]

    def ids(self, tokens: Sequence[str]) -> list[int]:
        """Answer one id a token, at most max_length."""
        find, unknown = self.token_to_idx.get, self.unknown
        return [find(token, unknown) for token in tokens[: self.max_length]]

    def encode(self, review: str) -> Encoded:
        """Clean and tokenize one review; no token where the review is blank."""
        text = clean(review)
        return Encoded(text, tuple(self.tokenize(text)))

    def batch(
        self, token_lists: Sequence[Sequence[str]], width: Optional[int] = None
    ) -> tuple[NDArray[numpy.int32], ...]:
        """Number and pad the tokens of N reviews: the arrays that a network reads.

        Parameters
        ----------
        token_lists : list of lists of str, none empty
        width : int or None
            Padded length; None is that of the longest.

        Returns
        -------
        tuple
            token_ids (N, T) int32, valid_length (N,) int32 and, where there are n-grams, ngram_ids
            (N, T, NGRAMS) int32 (see `ngrams`).
        """
        id_lists = [self.ids(tokens) for tokens in token_lists]
        valid_length = numpy.array([len(ids) for ids in id_lists], dtype="int32")
        width = width or int(valid_length.max())
        token_ids = numpy.full((len(id_lists), width), self.padding, dtype="int32")
        # boolean indexing fills row by row in order, which is the order of the joined lists
        inside = numpy.arange(width) < valid_length[:, None]
        token_ids[inside] = numpy.concatenate([numpy.asarray(ids, dtype="int32") for ids in id_lists])
        arrays = (token_ids, valid_length)
        return (*arrays, ngram_ids(token_lists, self.ngram_buckets, width)) if self.ngram_buckets else arrays


def pieces(word: str, known: Container[str]) -> list[str]:
    """Cut a word from the left into the longest pieces that are known; a character that is not stands alone.

    The cutting of WordPiece (Wu et al. 2016, arXiv:1609.08144, section 4.1) without its continuation marks.
    """
    found, start = [], 0
    while start < len(word):
        ends = range(min(len(word), start + LONGEST_PIECE), start, -1)
        end = next((end for end in ends if word[start:end] in known), start + 1)
        found.append(word[start:end])
        start = end
    return found
