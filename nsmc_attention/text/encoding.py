"""From a review to token ids, the same for training and prediction: clean text, tokens, ids by vocab.json.

Needs no MXNet: `preprocessing` builds the vocabulary with GluonNLP, and a test compares the ids of both.
"""

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from html.entities import html5
from itertools import chain
from typing import TYPE_CHECKING, Collection, Container, Iterable, Optional, Sequence, Union

import numpy
from numpy.typing import NDArray

from ..errors import BundleError
from ..machine.files import read_json
from ..native.dictionary import installed_decoder
from .hangul import composed
from .ngrams import ngram_ids
from .symbols import ENGLISH, LONGEST_NUMBER, MARK, SIGNS, entry, with_symbols
from .symbols import symbols as symbols_of
from .tokenizers import LONGEST_TEXT, WordSettings, align, tokenizer

if TYPE_CHECKING:
    from ..native._text import Vocabulary


# Characters of a subword; without a bound, the time for one long word grows with the cube of its length
LONGEST_PIECE = 64
# An HTML entity in a crawled text, possibly escaped twice; `html.unescape` would cut unknown names
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# Unicode's Default_Ignorable_Code_Point, except joiners and variation selectors after an emoji
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    r"|(?<![^\w\s])[\u200d\ufe0f]+"
)
# Characters that `clean` keeps; only spaces at the ends or in a row are dropped
PLAIN = "[ -%'-~ㄱ-ㅣ가-힣\u2600-\u26ff]"


def clean(review: str) -> str:
    """Normalize a review to the text that is tokenized and that offsets refer to.

    The text is in NFC (NFKC would turn ㅋ into another letter). Lone surrogates, control characters, invisible
    characters and combining marks beyond 30 in a row are dropped. Runs of white space become one space, none at either
    end. HTML entities (&amp;, &#51221;) become the characters that they stand for.
    """
    while "&" in review and (text := ENTITY.sub(unescaped, review)) != review:
        review = text
    if not review.isprintable():
        # white space among the control characters (tab, line ends) is folded below
        review = "".join(char for char in review if char.isspace() or unicodedata.category(char) not in ("Cc", "Cs"))
    if not review.isascii():
        review = composed(IGNORABLE.sub("", review))
    return " ".join(review.split())


def unescaped(entity: "re.Match[str]") -> str:
    return html.unescape(entity[0]) if "#" in entity[0] or entity[0][1:] in html5 else entity[0]


@dataclass
class Encoded:
    """A network's input for one review: clean text (empty if only the tokens are known), tokens, and their ids."""

    # not frozen: that takes six times as long to create
    __slots__ = ("text", "tokens", "ids")
    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """(start, end) of each token in the text, computed at each access."""
        return tuple(align(self.text, self.tokens))

    def take(self, positions: Sequence[int]) -> "Encoded":
        """Return the tokens at these positions with their ids, without a text."""
        return Encoded("", tuple(self.tokens[i] for i in positions), tuple(self.ids[i] for i in positions))

    def without(self, position: int) -> "Encoded":
        """Return all tokens but the one at this position, without a text."""
        tokens, ids = self.tokens, self.ids
        return Encoded("", tokens[:position] + tokens[position + 1 :], ids[:position] + ids[position + 1 :])


@dataclass(frozen=True)
class ReviewEncoder:
    """Turns reviews into token ids, at most `max_length` of them.

    `unknown` and `padding` are different ids. `cut_rare` splits out-of-vocabulary words into the longest known subwords.
    `ngram_buckets` is the size of the hash table of character n-grams, 0 for none. `symbols` makes ratings and emoji
    tokens (`text.symbols`).
    """

    tokenizer_name: str
    token_to_idx: dict[str, int]
    unknown: int
    padding: int
    max_length: int
    cut_rare: bool = False
    ngram_buckets: int = 0
    symbols: int = 0

    @classmethod
    def from_json(
        cls, vocabulary: Union[str, bytes], text_config: WordSettings, where: object = "vocab.json"
    ) -> "ReviewEncoder":
        """Read gluonnlp's `Vocab.to_json()`, str or UTF-8 bytes; BundleError if it is malformed."""
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
            expected = f"the ids 0 to {len(ids) - 1}, each once, and padding that is not the unknown token"
            raise BundleError(f"{where}: expected {expected}")
        split_rare, length = text_config.rare_words == "pieces", text_config.max_length
        sizes = length, split_rare, text_config.ngram_buckets, text_config.symbols
        return cls(text_config.tokenizer, token_to_idx, unknown, padding, *sizes)

    def __len__(self) -> int:
        return len(self.token_to_idx)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The arguments of a config's `network`."""
        return (len(self),)

    def encode(self, review: str) -> Encoded:
        return self.encode_many([review])[0]

    def encode_many(self, reviews: Sequence[str]) -> list[Encoded]:
        """Clean, tokenize and number reviews; a blank review has no tokens."""
        texts = [clean(review) for review in reviews]
        if decoder := installed_decoder() if self.tokenizer_name == "mecab" else None:
            pairs = decoder.encode([text[:LONGEST_TEXT] for text in texts], self.native_vocabulary)
            encoded = [Encoded(text, tokens, ids) for text, (tokens, ids) in zip(texts, pairs)]
        else:
            split = tokenizer(self.tokenizer_name)
            encoded = [self.encode_words(split(text), text) for text in texts]
        if not self.symbols:
            return encoded
        has_sign = SIGNS.search
        return [
            self.with_symbols(review) if len(review.text) <= LONGEST_NUMBER or has_sign(review.text) else review
            for review in encoded
        ]

    def id_mask(self, ids: Collection[int]) -> NDArray[numpy.bool_]:
        """Return a mask of the vocabulary, (V,), True for these ids."""
        return numpy.isin(numpy.arange(len(self)), [*ids])

    @cached_property
    def in_english(self) -> NDArray[numpy.bool_]:
        """Mask of the English verdicts in the vocabulary, (V,)."""
        return self.id_mask(self.english)

    def with_symbols(self, review: Encoded) -> Encoded:
        """Encode the symbols of a review; nearly all reviews have none and stay as they are."""
        text = review.text[:LONGEST_TEXT]
        if not (marked := symbols_of(text)):
            return review
        words = with_symbols(text, tokenizer(self.tokenizer_name)(text), marked)
        return self.encode_words(words, review.text)

    @cached_property
    def english(self) -> frozenset[int]:
        """The ids of English verdicts."""
        return frozenset(self.token_to_idx[word] for word in ENGLISH if self.symbols and word in self.token_to_idx)

    @cached_property
    def native_vocabulary(self) -> "Vocabulary":
        """The vocabulary and the rules of `units` for compiled code."""
        from ..native._text import Vocabulary

        return Vocabulary(self.token_to_idx, self.unknown, self.max_length, self.cut_rare)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "native_vocabulary"}

    def encode_words(self, words: Sequence[str], text: str = "") -> Encoded:
        """Number the words of a review, as `tokenize_many` returns them."""
        units, find, unknown = self.units(words)[: self.max_length], self.token_to_idx.get, self.unknown
        if self.symbols:
            pairs = [unit.partition(MARK) for unit in units]
            ids = tuple([find(entry or surface, unknown) for surface, _, entry in pairs])
            return Encoded(text, tuple([surface for surface, _, _ in pairs]), ids)
        return Encoded(text, tuple(units), tuple([find(unit, unknown) for unit in units]))

    def units(self, words: Sequence[str]) -> Sequence[str]:
        """Return the words, with rare words split into subwords if `cut_rare`."""
        if self.cut_rare:
            ids = self.token_to_idx
            return [
                unit
                for word in words
                for unit in ((word,) if word in ids or entry(word) in ids else longest_pieces(word, ids))
            ]
        return words

    def batch(self, reviews: Sequence[Encoded], width: Optional[int] = None) -> tuple[NDArray[numpy.int32], ...]:
        """Return token_ids (N, T), valid_length (N,) and, with n-grams, ngram_ids (N, T, NGRAMS), int32, of N reviews.

        No review may be empty. T is `width`, by default the length of the longest review.
        """
        valid_length = numpy.array([len(review.ids) for review in reviews], dtype="int32")
        width = width or int(valid_length.max())
        token_ids = numpy.full((len(reviews), width), self.padding, dtype="int32")
        # boolean indexing fills row by row, in the order of the concatenated ids
        inside = numpy.arange(width) < valid_length[:, None]
        token_ids[inside] = numpy.fromiter(chain.from_iterable(review.ids for review in reviews), "int32")
        if not self.ngram_buckets:
            return token_ids, valid_length
        tokens = [
            review.tokens if self.english.isdisjoint(review.ids) else self.in_any_case(review) for review in reviews
        ]
        return token_ids, valid_length, ngram_ids(tokens, self.ngram_buckets, width)

    def in_any_case(self, review: Encoded) -> list[str]:
        # n-grams depend on the case: all spellings of a verdict get the same
        return [token.title() if index in self.english else token for token, index in zip(review.tokens, review.ids)]


def longest_pieces(word: str, known: Container[str]) -> list[str]:
    """Split a word from the left into the longest known pieces, or characters.

    WordPiece (Wu et al. 2016, arXiv:1609.08144, section 4.1) without its continuation marks.
    """
    pieces, start = [], 0
    while start < len(word):
        ends = range(min(len(word), start + LONGEST_PIECE), start, -1)
        end = next((end for end in ends if word[start:end] in known), start + 1)
        pieces.append(word[start:end])
        start = end
    return pieces


def tokenize_many(reviews: Iterable[str], tokenizer_name: str, symbols: int = 0) -> list[list[str]]:
    """Clean reviews and return their tokens; with `symbols` the words of `text.symbols.with_symbols`."""
    split, texts = tokenizer(tokenizer_name), map(clean, reviews)
    return [with_symbols(text, split(text), symbols_of(text)) if symbols else split(text) for text in texts]
