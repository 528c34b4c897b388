"""Tokenizers by name, text -> list of tokens, and the offsets of the tokens."""

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
# Only the first characters of a text are tokenized: MeCab takes quadratic time, 17 s for 100,000 letters
LONGEST_TEXT = 10_000


@lru_cache(maxsize=1)
def python_mecab() -> Callable[[str], Any]:
    """Return text -> Lattice of python-mecab-ko, pinned for its private `_tagger`; ImportError if not installed."""
    from _mecab import MECAB_ALLOCATE_SENTENCE, Lattice
    from mecab import MeCab

    tagger = MeCab()._tagger

    def decode(text: str) -> Any:
        # a new lattice costs 1.5 of 60 us; a shared one grows by 8 KiB with each text of over 8,192 bytes
        lattice = Lattice()
        lattice.add_request_type(MECAB_ALLOCATE_SENTENCE)
        lattice.set_sentence(text)
        if not tagger.parse(lattice):
            raise TokenizerError(f"mecab: {tagger.what()}")
        return lattice

    return decode


def mecab_parser() -> Callable[[str], str]:
    """Return MeCab's `parse`, text -> lines of `surface<tab>features`, from python-mecab-ko or the compiled decoder.

    TokenizerError if neither is installed.
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
    """Return KoNLPy's Mecab on pip packages; KoNLPy itself needs the module `MeCab` of a system install.

    TokenizerError as in `mecab_parser`.
    """
    parse = mecab_parser()
    from konlpy.tag import Mecab

    class PipMecab(Mecab):
        """KoNLPy's Mecab, thread-safe."""

        def __init__(self) -> None:
            # KoNLPy calls self.tagger.parse
            self.tagger = self

        def parse(self, text: str) -> str:
            return parse(text)

        def morphs(self, phrase: str) -> list[str]:
            """Return the surfaces as KoNLPy's `morphs` does, without (surface, tag) pairs."""
            return [line.partition("\t")[0] for line in self.parse(phrase).split("\n")[:-2]]

    return PipMecab()


def mecab_morphs() -> Tokenizer:
    """Return the function that splits a text into the tokens of mecab-ko, compiled if available."""
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
    pairs = [item.split("/") for item in rest[-1].split("+")] if "+" in tag else [[surface, tag]]
    return [(pair[0], pair[1]) for pair in pairs]


def path_cost(text: str) -> int:
    """Return MeCab's cost of the cheapest path of a clean text; more likely texts have smaller costs."""
    if decoder := installed_decoder():
        return decoder.cost(text)
    # the node is valid only as long as its lattice
    lattice = python_mecab()(text)
    return int(lattice.eos_node().cost)


def mecab_tags(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, tag) of each morpheme of a clean text, in the tagset of mecab-ko-dic."""
    pairs = morphemes(text)
    spans = align(text, [surface for surface, _ in pairs])
    return [(start, end, features.partition(",")[0]) for (start, end), (_, features) in zip(spans, pairs)]


@lru_cache(maxsize=1)
def has_dictionary() -> bool:
    """Return whether a dictionary of morphemes is installed."""
    try:
        return bool(morphemes("이름"))
    except TokenizerError:
        return False


def konlpy_tagger(name: str) -> Tokenizer:
    """Return the `morphs` of a KoNLPy tagger that runs on Java; TokenizerError without a Java runtime."""
    import konlpy.tag
    from jpype import JVMNotFoundException

    try:
        return getattr(konlpy.tag, name)().morphs
    except JVMNotFoundException as problem:
        hint = "install one (Debian: apt install default-jre-headless) or use --tokenizer mecab"
        where = f"tokenizer {name.lower()!r} runs on Java"
        raise TokenizerError(f"{where}: expected a Java runtime, found none; {hint}") from problem


def characters(text: str) -> list[str]:
    """Split a text into its characters, without spaces."""
    return [character for character in text if character != " "]


BUILDERS: dict[str, Callable[[], Tokenizer]] = {
    "mecab": mecab_morphs,
    **{name.lower(): partial(konlpy_tagger, name) for name in ("Okt", "Komoran", "Hannanum", "Kkma")},
    "characters": lambda: characters,
    "whitespace": lambda: str.split,
}
# Version of python-mecab-ko whose tokens the compiled decoder reproduces
DECODED = "1.3.7"
# Packages that a tokenizer's tokens depend on, {package: its module}; konlpy for the other tokenizers
PACKAGES: dict[str, dict[str, str]] = {
    "mecab": {"python-mecab-ko": "mecab", "python-mecab-ko-dic": "mecab_ko_dic"},
    "characters": {},
    "whitespace": {},
}


@lru_cache(maxsize=None)
def tokenizer(name: str) -> Tokenizer:
    """Return a tokenizer by name, clean text -> list of non-empty str; it is built once a process.

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

    The compiled decoder counts as python-mecab-ko DECODED, which does not have wheels for all machines.
    """
    packages = PACKAGES.get(name, {"konlpy": "konlpy"})
    if name == "mecab" and not find_spec("mecab"):
        if not installed_decoder():
            pip_mecab()
        dictionary = installed_version("python-mecab-ko-dic", "mecab_ko_dic")
        return f"python-mecab-ko {DECODED}, python-mecab-ko-dic {dictionary}"
    return ", ".join(f"{package} {installed_version(package, module)}" for package, module in packages.items())


def installed_version(package: str, module: str) -> str:
    """Return the version of a package, from the name of the .dist-info folder beside its module.

    If there is not exactly one folder, importlib.metadata returns it, which takes 17 ms: it imports the email parser.
    """
    spec = find_spec(module)
    site_packages = Path(spec.origin).parents[1] if spec and spec.origin else Path()
    folders = list(site_packages.glob(f"{package.replace('-', '_')}-*.dist-info"))
    if spec and len(folders) == 1:
        return folders[0].stem.partition("-")[2]
    from importlib.metadata import version

    return version(package)


def align(text: str, tokens: Sequence[str]) -> list[Span]:
    """Return the (start, end) of each token in the text, in order.

    Tokens that are not substrings (Komoran and Kkma split 했다 into 하 았 다) are matched by letters (NFD jamo); a token
    that shares no letter with the text gets an empty span.
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
    """Match the letters (jamo) of all tokens with those of the text, longest runs first (difflib)."""
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
