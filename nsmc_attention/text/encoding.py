"""The only way from a review to token ids, for training and prediction: clean text, tokens, ids by vocab.json.

Needs no MXNet: `vocabulary` builds the vocabulary with GluonNLP, and a test holds both to the same ids.
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


# Characters; without a bound, the time for one long word grows with the cube of its length
LONGEST_PIECE = 64
# An entity of HTML, as crawled texts have them, also escaped twice; `html.unescape` would cut unknown names
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# Unicode's Default_Ignorable_Code_Point; what joins or modifies a picture stays behind one
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    r"|(?<![^\w\s])[\u200d\ufe0f]+"
)
# What `clean` leaves as it is, but for spaces at the ends or in a row
PLAIN = "[ -%'-~ㄱ-ㅣ가-힣\u2600-\u26ff]"


def clean(review: str) -> str:
    """Normalize a review to the text that is tokenized and that offsets refer to.

    NFC (NFKC would turn ㅋ into another letter), without lone surrogates, control characters and combining marks beyond
    30 in a row; runs of white space become one space, none at either end. Invisible characters are dropped.
    Entities of HTML (&amp;, &#51221;) become the characters that they stand for.
    """
    while "&" in review and (text := ENTITY.sub(meant, review)) != review:
        review = text
    if not review.isprintable():
        # white space among the control characters (tab, line ends) is folded below
        review = "".join(one for one in review if one.isspace() or unicodedata.category(one) not in ("Cc", "Cs"))
    if not review.isascii():
        review = composed(IGNORABLE.sub("", review))
    return " ".join(review.split())


def meant(entity: "re.Match[str]") -> str:
    return html.unescape(entity[0]) if "#" in entity[0] or entity[0][1:] in html5 else entity[0]


@dataclass
class Encoded:
    """A review as the network reads it: clean text (empty where only the tokens are known), tokens, an id for each."""

    # not frozen, which takes six times as long to make
    __slots__ = ("text", "tokens", "ids")
    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """(start, end) of each token in the text, aligned at each access."""
        return tuple(align(self.text, self.tokens))

    def take(self, positions: Sequence[int]) -> "Encoded":
        """Return the tokens at these positions with their ids; they have no text of their own."""
        return Encoded("", tuple(self.tokens[i] for i in positions), tuple(self.ids[i] for i in positions))

    def without(self, position: int) -> "Encoded":
        """Return all tokens but one."""
        tokens, ids = self.tokens, self.ids
        return Encoded("", tokens[:position] + tokens[position + 1 :], ids[:position] + ids[position + 1 :])


@dataclass(frozen=True)
class ReviewEncoder:
    """Turns reviews into token ids, at most `max_length` of them.

    `unknown` and `padding` are different ids. With `cut_rare` out-of-vocabulary words are split into the longest known
    pieces. `ngram_buckets` is the size of the hash table of character n-grams, 0 for none. With `symbols` ratings and
    emoji are tokens (`text.symbols`).
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
        """Read gluonnlp's `Vocab.to_json()`, str or UTF-8; BundleError if it is not one."""
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
        """Clean, tokenize and number reviews; a blank one has no token."""
        texts = [clean(review) for review in reviews]
        if decoder := installed_decoder() if self.tokenizer_name == "mecab" else None:
            pairs = decoder.encode([text[:LONGEST_TEXT] for text in texts], self.native_vocabulary)
            encoded = [Encoded(text, tokens, ids) for text, (tokens, ids) in zip(texts, pairs)]
        else:
            split = tokenizer(self.tokenizer_name)
            encoded = [self.encode_words(split(text), text) for text in texts]
        if not self.symbols:
            return encoded
        may_have = SIGNS.search
        return [
            self.with_symbols(review) if len(review.text) <= LONGEST_NUMBER or may_have(review.text) else review
            for review in encoded
        ]

    def table(self, ids: Collection[int]) -> NDArray[numpy.bool_]:
        """Return whether each id of the vocabulary is among some, (V,)."""
        return numpy.isin(numpy.arange(len(self)), [*ids])

    @cached_property
    def in_english(self) -> NDArray[numpy.bool_]:
        """Whether each id is that of an English verdict, (V,)."""
        return self.table(self.english)

    def with_symbols(self, review: Encoded) -> Encoded:
        """Return a review with its symbols; nearly all have none and stay as they are."""
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
        """The vocabulary and the rules of `units` in compiled form."""
        from ..native._text import Vocabulary

        return Vocabulary(self.token_to_idx, self.unknown, self.max_length, self.cut_rare)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "native_vocabulary"}

    def encode_words(self, words: Sequence[str], text: str = "") -> Encoded:
        """Number a review that is tokenized already, as by `tokenize_many`."""
        units, find, unknown = self.units(words)[: self.max_length], self.token_to_idx.get, self.unknown
        if self.symbols:
            parts = [unit.partition(MARK) for unit in units]
            ids = tuple([find(mark or unit, unknown) for unit, _, mark in parts])
            return Encoded(text, tuple([unit for unit, _, _ in parts]), ids)
        return Encoded(text, tuple(units), tuple([find(unit, unknown) for unit in units]))

    def units(self, words: Sequence[str]) -> Sequence[str]:
        """Return the vocabulary units: the words, or subwords of rare words."""
        if self.cut_rare:
            known = self.token_to_idx
            return [
                unit
                for word in words
                for unit in ((word,) if word in known or entry(word) in known else longest_pieces(word, known))
            ]
        return words

    def batch(self, reviews: Sequence[Encoded], width: Optional[int] = None) -> tuple[NDArray[numpy.int32], ...]:
        """Return token_ids (N, T), valid_length (N,) and, if there are n-grams, ngram_ids (N, T, NGRAMS) of N reviews.

        No review is empty. T is `width`, by default the length of the longest.
        """
        valid_length = numpy.array([len(review.ids) for review in reviews], dtype="int32")
        width = width or int(valid_length.max())
        token_ids = numpy.full((len(reviews), width), self.padding, dtype="int32")
        # boolean indexing fills row by row, in the order of the joined ids
        inside = numpy.arange(width) < valid_length[:, None]
        token_ids[inside] = numpy.fromiter(chain.from_iterable(review.ids for review in reviews), "int32")
        if not self.ngram_buckets:
            return token_ids, valid_length
        tokens = [
            review.tokens if self.english.isdisjoint(review.ids) else self.in_any_case(review) for review in reviews
        ]
        return token_ids, valid_length, ngram_ids(tokens, self.ngram_buckets, width)

    def in_any_case(self, review: Encoded) -> list[str]:
        # n-grams depend on the case
        return [token.title() if index in self.english else token for token, index in zip(review.tokens, review.ids)]


def longest_pieces(word: str, known: Container[str]) -> list[str]:
    """Split a word from the left into the longest known pieces, or characters.

    As WordPiece does (Wu et al. 2016, arXiv:1609.08144, section 4.1), but without its continuation marks.
    """
    pieces, start = [], 0
    while start < len(word):
        ends = range(min(len(word), start + LONGEST_PIECE), start, -1)
        end = next((end for end in ends if word[start:end] in known), start + 1)
        pieces.append(word[start:end])
        start = end
    return pieces


def tokenize_many(reviews: Iterable[str], tokenizer_name: str, symbols: int = 0) -> list[list[str]]:
    """Return the tokens of each review (cleaned first); with `symbols` their words."""
    split, texts = tokenizer(tokenizer_name), map(clean, reviews)
    return [with_symbols(text, split(text), symbols_of(text)) if symbols else split(text) for text in texts]
