"""Windows of a table's reviews as arrays, filled by compiled code; long reviews and those with symbols stand apart."""

from dataclasses import dataclass
from typing import Optional, Sequence, Union

import numpy
from numpy.typing import NDArray

from ..native.dictionary import installed_decoder
from ..text.encoding import Encoded, ReviewEncoder, clean
from ..text.ngrams import NGRAMS
from ..text.symbols import LONGEST_NUMBER
from ..text.tokenizers import LONGEST_TEXT


@dataclass
class Window:
    """Reviews in arrays: the ids (U,) and n-grams (U, NGRAMS) of all their tokens, behind a row of padding."""

    texts: list[str]
    lengths: NDArray[numpy.int32]
    ids: NDArray[numpy.int32]
    ngrams: NDArray[numpy.int32]

    def __post_init__(self) -> None:
        self.starts = 1 + numpy.cumsum(self.lengths) - self.lengths

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, place: int) -> Encoded:
        """Return a review without its tokens."""
        start = self.starts[place]
        return Encoded(self.texts[place], (), tuple(self.ids[start : start + self.lengths[place]].tolist()))

    def count(self, wanted: NDArray[numpy.bool_]) -> NDArray[numpy.int64]:
        """Return how many tokens of each review have an id that is wanted, (N,)."""
        sums = numpy.append(0, numpy.cumsum(wanted[self.ids]))
        return numpy.asarray(sums[self.starts + self.lengths] - sums[self.starts])

    def batch(self, members: NDArray[numpy.int64], width: Optional[int] = None) -> tuple[NDArray[numpy.int32], ...]:
        """Return `ReviewEncoder.batch` of some reviews."""
        lengths = self.lengths[members]
        columns = numpy.arange(width or lengths.max())
        places = numpy.where(columns < lengths[:, None], self.starts[members][:, None] + columns, 0)
        batch = self.ids[places], lengths
        return (*batch, self.ngrams.take(places, axis=0)) if len(self.ngrams) else batch


# What a network reads
Reviews = Union[Sequence[Encoded], Window]


def read_window(encoder: ReviewEncoder, reviews: list[str], longest: int) -> tuple[Reviews, dict[int, Encoded]]:
    """Encode reviews into a Window, but for those in some places: long ones, and those with symbols."""
    decoder = installed_decoder() if encoder.tokenizer_name == "mecab" else None
    if not decoder:
        return encoder.encode_many(reviews), {}
    texts, *arrays = decoder.window(reviews, encoder.native_vocabulary, clean, LONGEST_TEXT, encoder.ngram_buckets)
    lengths, ids, ngrams = (numpy.frombuffer(array, dtype="int32") for array in arrays)
    ids[0], window = encoder.padding, Window(texts, lengths, ids, ngrams.reshape(-1, NGRAMS))
    english, hinting = (window.count(encoder.table(each)) > 0 for each in (encoder.english, encoder.hinting))
    others = {
        place: encoder.encode(texts[place]) for place in numpy.flatnonzero(english | (lengths > longest)).tolist()
    }
    hinting |= numpy.array([len(text) <= LONGEST_NUMBER for text in texts], dtype=bool)
    for place in numpy.flatnonzero(hinting).tolist() if encoder.symbols else ():
        if place not in others and (marked := encoder.with_symbols(window[place])).tokens:
            others[place] = marked
    lengths[[*others]] = 0
    return window, others
