"""Windows of a table's reviews as arrays, filled by compiled code; long and English reviews are encoded one by one."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Optional, Sequence, Union

import numpy
from numpy.typing import NDArray

from ..native.dictionary import installed_decoder
from ..text.encoding import PLAIN, Encoded, ReviewEncoder, clean
from ..text.ngrams import NGRAMS
from ..text.symbols import LONGEST_NUMBER, READERS, symbols
from ..text.tokenizers import LONGEST_TEXT

Ids = NDArray[numpy.int32]
# Each damaged text and each notice of a site has at least one of these characters (`abstention.replaced`)
SUSPECT, IS_SUSPECT, UNCLEAN = "[?\ufffd글물뷰후평메용견멘dD]", 0x40, 0x80


@dataclass
class Window:
    """N reviews in arrays: (N,) `classes_of_characters` of the texts, counts and starts of the tokens; ids (U,) and n-grams
    (U, NGRAMS) of all tokens, after a row of padding."""

    texts: list[str]
    classes: NDArray[numpy.uint8]
    lengths: NDArray[numpy.int32]
    starts: NDArray[numpy.int32]
    ids: NDArray[numpy.int32]
    ngrams: NDArray[numpy.int32]

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, place: int) -> Encoded:
        """Return a review without its tokens."""
        start = self.starts[place]
        return Encoded(self.texts[place], (), tuple(self.ids[start : start + self.lengths[place]].tolist()))

    def count(self, mask: NDArray[numpy.bool_]) -> NDArray[numpy.int64]:
        """Count the tokens of each review whose ids are True in the mask (V,); return (N,)."""
        sums = numpy.append(0, numpy.cumsum(mask[self.ids]))
        return numpy.asarray(sums[self.starts + self.lengths] - sums[self.starts])

    def tokens(self, members: NDArray[numpy.int64]) -> tuple[Ids, Optional[Ids], Ids, Ids]:
        """Return the ids and n-grams (or None) of all tokens, and the starts and counts of the members' tokens."""
        return self.ids, self.ngrams if len(self.ngrams) else None, self.starts[members], self.lengths[members]


# Input of a network
Reviews = Union[Sequence[Encoded], Window]


@lru_cache(maxsize=1)
def classes_of_characters() -> bytes:
    """Return a byte for each character of the first plane, the last for all others. Its bits: a READER of symbols looks for
    the character, the character IS_SUSPECT, and UNCLEAN if `clean` may change it."""
    plane, table = "".join(map(chr, range(2**16))), numpy.full(2**16, UNCLEAN, dtype="uint8")
    for bit, pattern in enumerate([*(sign for sign, _, _ in READERS), SUSPECT, PLAIN]):
        for match in re.finditer(f"(?:{pattern})+", plane):
            table[slice(*match.span())] ^= 1 << bit
    table[-1] = 0xFF
    return table.tobytes()


def read_window(encoder: ReviewEncoder, reviews: list[str], longest: int) -> tuple[Reviews, dict[int, Encoded]]:
    """Encode reviews as a Window; return beside it, by position, the long ones and those with an English verdict."""
    decoder = installed_decoder() if encoder.tokenizer_name == "mecab" else None
    if not decoder:
        return encoder.encode_many(reviews), {}
    rules = symbols if encoder.symbols else None, classes_of_characters(), LONGEST_TEXT, LONGEST_NUMBER
    texts, kinds, *arrays = decoder.window(reviews, encoder.native_vocabulary, clean, *rules, encoder.ngram_buckets)
    lengths, ids, ngrams = (numpy.frombuffer(array, dtype="int32") for array in arrays)
    ids[0], classes = encoder.padding, numpy.frombuffer(kinds, dtype="uint8")
    starts = 1 + lengths.cumsum(dtype="int32") - lengths
    window = Window(texts, classes, lengths, starts, ids, ngrams.reshape(-1, NGRAMS))
    others = numpy.flatnonzero((lengths > longest) | (window.count(encoder.in_english) > 0)).tolist()
    lengths[others] = 0
    return window, dict(zip(others, encoder.encode_many([texts[i] for i in others])))
