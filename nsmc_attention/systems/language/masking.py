"""Masked words: what is hidden from a network that is to guess it, Devlin et al. 2019 (arXiv:1810.04805), section 3.1."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from ...machine.aliases import Numbers
from ...text.encoding import ReviewEncoder

# The entry of a vocabulary that stands for a hidden token
MASK = "[MASK]"
# Of the tokens to be guessed, the shares that become the mask and another token; the others stay as they are
MASKED, REPLACED = 0.8, 0.1
# Ids below are the unknown token, the padding and the mask
FIRST_WORD = 3


@dataclass(frozen=True)
class Tokens:
    """The token ids of N reviews, one after the other, with the length of each."""

    ids: NDArray[numpy.int32]
    lengths: NDArray[numpy.int64]

    @classmethod
    def of(cls, word_lists: Iterable[Sequence[str]], encoder: ReviewEncoder) -> "Tokens":
        """Number the words of reviews."""
        reviews = [encoder.encode_words(words).ids for words in word_lists]
        ids = numpy.array([number for review in reviews for number in review], dtype="int32")
        return cls(ids, numpy.array([len(review) for review in reviews], dtype="int64"))

    def padded(self, values: Numbers, members: Numbers, filler: int) -> Numbers:
        """Return (N, T): the values (as many as ids) of some reviews side by side."""
        starts, lengths = (numpy.cumsum(self.lengths) - self.lengths)[members], self.lengths[members]
        places = numpy.arange(lengths.max())
        inside = places < lengths[:, None]
        rows = numpy.full(inside.shape, filler, dtype=values.dtype)
        rows[inside] = values[(starts[:, None] + places)[inside]]
        return rows


@dataclass(frozen=True)
class Masker:
    """Hides a share of the tokens of reviews: at least one word of each."""

    share: float
    mask: int
    padding: int
    vocabulary: int

    @classmethod
    def of(cls, share: float, encoder: ReviewEncoder) -> "Masker":
        """The Masker for the vocabulary of a language model, whose encoder this is."""
        return cls(share, encoder.token_to_idx[MASK], encoder.padding, len(encoder))

    def __call__(
        self, tokens: Tokens, members: Numbers, random: numpy.random.RandomState
    ) -> tuple[NDArray[numpy.int32], Numbers, Numbers]:
        """Return token_ids (N, T) with some hidden, which ones (N, T) bool, and the ids that were there (M,).

        The hidden ones are in the order of their rows.
        """
        ids = tokens.padded(tokens.ids, members, self.padding)
        inside = numpy.arange(ids.shape[1]) < tokens.lengths[members][:, None]
        draws = random.random_sample(ids.shape)
        draws[~inside] = 2
        hidden = inside & ((draws < self.share) | (draws == draws.min(axis=1, keepdims=True)))
        wanted = ids[hidden]
        ways = random.random_sample(len(wanted))
        others = random.randint(FIRST_WORD, self.vocabulary, len(wanted))
        shown = numpy.where(ways < MASKED, self.mask, numpy.where(ways < MASKED + REPLACED, others, wanted))
        ids[hidden] = shown
        return ids, hidden, wanted
