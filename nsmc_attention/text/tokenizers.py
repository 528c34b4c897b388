"""Tokenizers by name, and where each token stands in the text.

A tokenizer is a callable, text -> list of tokens; KoNLPy's taggers bring most of them. `align` finds the
tokens again in the text, so that no tokenizer needs to know of offsets. Stands between reviews and encoding.
"""

import difflib
import unicodedata
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Callable, Optional, Sequence

from ..errors import TokenizerError, did_you_mean

Tokenizer = Callable[[str], list[str]]
# Characters of a text that are read: MeCab's time grows with the square of its length, 17 s for 100,000 letters
LONGEST = 10_000


def pip_mecab() -> Any:
    """KoNLPy's Mecab on the pip packages python-mecab-ko and python-mecab-ko-dic: no system install.

    KoNLPy wants the module `MeCab` of a system install; its class is kept, only the tagger below it is
    built from python-mecab-ko, whose private `_tagger` is why the version is pinned.
    """
    from _mecab import MECAB_ALLOCATE_SENTENCE, Lattice
    from konlpy.tag import Mecab
    from mecab import MeCab

    class LatticeTagger:
        """Parses one text into MeCab's lines of `surface<tab>features`; safe to call from several threads."""

        def __init__(self) -> None:
            self.tagger = MeCab()._tagger

        def parse(self, text: str) -> str:
            # a new one costs 1.5 us of 60; one that is kept takes 8 KiB more for each text of over 8,192 bytes
            lattice = Lattice()
            lattice.add_request_type(MECAB_ALLOCATE_SENTENCE)
            lattice.set_sentence(text)
            if not self.tagger.parse(lattice):
                raise TokenizerError(f"mecab: {self.tagger.what()}")
            return lattice.to_string()

    class PipMecab(Mecab):
        def __init__(self) -> None:
            self.tagger = LatticeTagger()

        def morphs(self, phrase: str) -> list[str]:
            """Answer what KoNLPy's own `morphs` does, without making (surface, tag) pairs first."""
            return [line.partition("\t")[0] for line in self.tagger.parse(phrase).split("\n")[:-2]]

    return PipMecab()


def mecab() -> Tokenizer:
    """The morphemes that `pip_mecab` finds."""
    return pip_mecab().morphs


@lru_cache(maxsize=1)
def mecab_tagger() -> Callable[[str], list[tuple[str, str]]]:
    return pip_mecab().pos


def mecab_tags(text: str) -> list[tuple[int, int, str]]:
    """Answer (start, end, tag) of each morpheme of a clean text, by the tagset of mecab-ko-dic; XR is a root."""
    found = mecab_tagger()(text[:LONGEST]) if text else []
    return [(start, end, tag) for (start, end), (_, tag) in zip(align(text, [token for token, _ in found]), found)]


def konlpy_tagger(name: str) -> Callable[[], Tokenizer]:
    """Answer the builder of a KoNLPy tagger that runs on Java."""

    def build() -> Tokenizer:
        import konlpy.tag
        from jpype import JVMNotFoundException

        try:
            return getattr(konlpy.tag, name)().morphs
        except JVMNotFoundException as problem:
            raise TokenizerError(
                f"tokenizer {name.lower()!r} runs on Java: expected a Java runtime, found none; install one "
                "(Debian: apt install default-jre-headless) or use --tokenizer mecab"
            ) from problem

    return build


def characters() -> Tokenizer:
    """Every character but white space is a token."""
    return lambda text: [character for character in text if character != " "]


def whitespace() -> Tokenizer:
    """Every word between white space (eojeol) is a token."""
    return str.split


BUILDERS = {
    "mecab": mecab,
    "okt": konlpy_tagger("Okt"),
    "komoran": konlpy_tagger("Komoran"),
    "hannanum": konlpy_tagger("Hannanum"),
    "kkma": konlpy_tagger("Kkma"),
    "characters": characters,
    "whitespace": whitespace,
}
PACKAGES: dict[str, tuple[str, ...]] = {
    "mecab": ("python-mecab-ko", "python-mecab-ko-dic"),
    "characters": (),
    "whitespace": (),
}


@lru_cache(maxsize=None)
def tokenizer(name: str) -> Tokenizer:
    """Answer the tokenizer called name: text -> list of non-empty str, of its first LONGEST characters.

    The text is clean (see `encoding.clean`). Built once a process.

    Raises
    ------
    TokenizerError
        The name is unknown, or the tokenizer needs Java and there is none.
    """
    if name not in BUILDERS:
        raise TokenizerError(f"unknown tokenizer {name!r}{did_you_mean(name, BUILDERS)}")
    split = BUILDERS[name]()

    def tokenize(text: str) -> list[str]:
        # MeCab answers an empty text with nothing, KoNLPy's Java taggers with an error
        return [token for token in split(text[:LONGEST]) if token] if text else []

    return tokenize


def tokenizer_version(name: str) -> str:
    """Answer the packages that decide the tokens, as "name version, ..."; other versions, other tokens."""
    return ", ".join(f"{package} {version(package)}" for package in PACKAGES.get(name, ("konlpy",)))


def align(text: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Find each token in the text.

    Most tokenizers give pieces of the text in order. Some rewrite (Komoran and Kkma split 했다 into 하 았 다);
    these are matched by their letters (NFD jamo), and a token that has none in the text gets an empty span.

    Returns
    -------
    list of (start, end), one a token, start <= end, in order; text[start:end] is the token where it stands
    in the text as it is.
    """
    spans: list[tuple[int, int]] = []
    position = 0
    for token in tokens:
        start = text.find(token, position)
        if start < 0 or text[position:start].strip():
            return align_letters(text, tokens)
        position = start + len(token)
        spans.append((start, position))
    return spans


def align_letters(text: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Match the jamo of all tokens with those of the text, longest runs first (difflib)."""
    text_letters, text_index = letters([text])
    token_letters, token_index = letters(tokens)
    found: list[Optional[tuple[int, int]]] = [None] * len(tokens)
    position_of = [character for _, character in text_index]
    matcher = difflib.SequenceMatcher(None, text_letters, token_letters, autojunk=False)
    for a, b, size in matcher.get_matching_blocks():
        for step in range(size):
            token, at = token_index[b + step][0], position_of[a + step]
            start, end = found[token] or (at, at)
            found[token] = (min(start, at), max(at + 1, end))
    spans, last = [], 0
    for span in found:
        spans.append(span or (last, last))
        last = max(last, spans[-1][0])
    return spans


def letters(pieces: Sequence[str]) -> tuple[list[str], list[tuple[int, int]]]:
    """Spell pieces in NFD; answer the letters and for each its (piece, character) index."""
    found, index = [], []
    for piece, text in enumerate(pieces):
        for place, character in enumerate(text):
            for letter in unicodedata.normalize("NFD", character):
                if not letter.isspace():
                    found.append(letter)
                    index.append((piece, place))
    return found, index
