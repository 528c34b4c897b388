"""Columns of a table by their names and cells: which one has the texts. Imports no pandas, which is slow.

names, some rows -> TextColumn (a name, and a note where its name alone does not say so)
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Optional

from ..errors import ColumnError, list_names, nearest

# The cells of each column of a table, or of some rows
Columns = Mapping[str, Sequence[object]]


def names_of(role: str) -> frozenset[str]:
    """Return the names of columns of a role in names.json, as `normalized` leaves them."""
    names = json.loads(Path(__file__).with_name("names.json").read_text(encoding="utf-8"))
    return frozenset(" ".join(names[role]).split())


# Names by which a column is found, in lower case
TEXT_COLUMNS = ("document", "text", "review", "comment", "content", "리뷰", "내용", "댓글", "후기")
STAR_COLUMNS = ("stars", "rating", "score", "별점", "평점", "점수")
LABEL_COLUMNS = ("label", "sentiment", "라벨", "레이블", "감성")
# Names that are taken too, and said
LESSER_COLUMNS = names_of("lesser_texts")
NAMED = frozenset(TEXT_COLUMNS) | LESSER_COLUMNS
# Names of columns beside the texts, by which a header is known
OTHER_COLUMNS = names_of("others")
KNOWN = NAMED | OTHER_COLUMNS
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(?:e[+-]?[0-9]+)?%?", re.IGNORECASE)
DATE = re.compile(
    r"\d{2,4}\s*[-./년]\s*\d{1,2}\s*[-./월]\s*\d{1,2}\s*[일.]?(?:[\sT,]*(?:오전|오후|AM|PM)?\s*\d{1,2}:\d{2}[\d:.+Z]*(?:\s*(?:오전|오후|AM|PM))?)?|"
    r"\d{1,2}:\d{2}(?::\d{2})?",
    re.IGNORECASE,
)
LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
# Letters and digits without a space, of which three are digits; or hexadecimal with dashes
CODE = re.compile(r"(?=(?:\D*\d){3})[A-Za-z0-9_:#=@./+-]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}")
SYLLABLE = re.compile("[가-힣]")
SENTENCE_END = re.compile(r"(?:[다요죠네까음함임됨지]|[ㅋㅎㅠㅜ]|[.!?~…])[\s.!?~…ㅋㅎㅠㅜ^]*$")
# Rows by which a column is judged, and characters of a cell
JUDGED, LONGEST = 500, 4096
TEXT_HINT = "; name the one of the texts by text_column (--text-column NAME or NUMBER)"


def normalized(name: str) -> str:
    """Return a name in lower case, without spaces, underscores, dashes, brackets and byte-order marks."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFC", name)).lower()


def known_in(name: str, names: Collection[str]) -> bool:
    """Return whether a name, with or without what is in brackets, is one of `names`."""
    return normalized(name) in names or normalized(re.sub(r"[(\[<（].*?[)\]>）]", "", name)) in names


def is_value(cell: str) -> bool:
    """Return whether a cell is a number, date, address or code: never a review, and no column's name."""
    return len(cell) <= LONGEST and any(kind.fullmatch(cell) for kind in (NUMBER, DATE, LINK, CODE))


def is_sentence(cell: str) -> bool:
    """Return whether a cell reads like a sentence: Hangul of several words and an end, or many words."""
    cell = cell[-LONGEST:]
    words, syllables = len(cell.split()), len(SYLLABLE.findall(cell))
    if syllables < 4:
        return words > 3 and not is_value(cell)
    return words > 3 or words > 1 and (syllables > 11 or bool(SENTENCE_END.search(cell)))


def filled_texts(cells: Iterable[object]) -> Iterator[str]:
    """Yield the cells that are neither blank nor missing (None, NaN), as text without spaces around it."""
    return filter(None, (str(cell).strip() for cell in cells if cell is not None and cell == cell))


@dataclass(frozen=True)
class Profile:
    """The cells of a column that are not blank: shares of values and sentences, mean syllables, words, distinct cells."""

    count: int
    values: float
    sentences: float
    syllables: float
    words: float
    distinct: float

    @classmethod
    def of(cls, cells: Iterable[object]) -> "Profile":
        if not (texts := [text[:LONGEST] for text in filled_texts(cells)]):
            return cls(0, 0, 0, 0, 0, 0)
        return cls(
            len(texts),
            fmean(is_value(text) for text in texts),
            fmean(is_sentence(text) for text in texts),
            fmean(len(SYLLABLE.findall(text)) for text in texts),
            fmean(len(text.split()) for text in texts),
            len(set(texts)) / len(texts),
        )

    @property
    def may_be_text(self) -> bool:
        """Whether nothing speaks against texts: not mostly numbers, dates, addresses, codes, nor a few categories."""
        few = self.count > 9 and self.distinct < 0.2 and self.words < 1.5
        return self.values <= 0.5 and not few

    @property
    def has_sentences(self) -> bool:
        """Whether most cells can be nothing but texts."""
        repeated = self.count > 9 and self.distinct < 0.3
        return self.may_be_text and self.sentences >= 0.4 and not repeated


class Profiles(dict[str, Profile]):
    """The Profile of each column of some rows, made when it is asked for."""

    def __init__(self, columns: Columns):
        super().__init__()
        self.columns = columns

    def __missing__(self, name: str) -> Profile:
        self[name] = Profile.of(self.columns[name][:JUDGED])
        return self[name]


@dataclass(frozen=True)
class TextColumn:
    """The name of the column of the texts, and what is to be said of it."""

    name: str
    note: str = ""


def require_column(columns: Collection[str], column: str, where: object, hint: str = TEXT_HINT) -> None:
    """Raise DataError, with the columns that there are and the hint, where the column is not among them."""
    if column not in columns:
        line = f"{where}: expected a column {column!r}, found {list_names(columns)}{nearest(column, columns)}{hint}"
        raise ColumnError(line, columns)


def find_column(
    columns: Collection[str],
    column: Optional[str],
    where: object,
    known: Sequence[str] = TEXT_COLUMNS,
    hint: str = TEXT_HINT,
) -> str:
    """Return a column by its name, or by a number from 1 where none has that name; None is the only known name.

    DataError, with all columns, where there is none.
    """
    if column is not None:
        if column not in columns and column.isdecimal() and 0 < int(column) <= len(columns):
            return list(columns)[int(column) - 1]
        require_column(columns, column, where, hint)
        return column
    matches = [name for name in columns if name.strip().lower() in known]
    if len(matches) != 1:
        raise no_column(columns, matches, where, known, hint)
    return matches[0]


def no_column(
    columns: Collection[str],
    alike: Collection[str],
    where: object,
    known: Sequence[str] = TEXT_COLUMNS,
    hint: str = TEXT_HINT,
) -> ColumnError:
    """Return the error of several columns that are alike, or of none that is known."""
    expected = f"expected one column called {', '.join(known)}"
    return ColumnError(f"{where}: {expected}; found {list_names(alike or columns)}{hint}", columns)


def choose_text(columns: Columns, column: object, where: object) -> TextColumn:
    """Return the column of the texts: `column`, or where it is None the one that is found by name and by its cells.

    A known name is taken where its cells may be texts, and another column where only that one has sentences. ColumnError
    where two columns are as good as each other, or none has texts.
    """
    if column is not None:
        return TextColumn(find_column(columns, str(column), where))
    profiles = Profiles(columns)
    plain = [name for name in columns if normalized(name) in TEXT_COLUMNS]
    named = [name for name in columns if name not in plain and known_in(name, NAMED)]
    for names in (plain, plain + named):
        textual = [name for name in names if not profiles[name].count or profiles[name].may_be_text]
        if len(textual) > 1:
            textual = plainly(textual, profiles) or textual
        if len(textual) > 1:
            raise no_column(columns, textual, where)
        if textual:
            return said(textual[0], len(plain + named) > 1)
    return by_content(profiles, plain + named, where)


def by_content(profiles: Profiles, refused: Sequence[str], where: object) -> TextColumn:
    """Return the only column of texts, judged by the cells alone; `refused` have a known name, but no texts."""
    columns = profiles.columns
    others = [name for name in columns if name not in refused and profiles[name].count]
    sentences = [name for name in others if profiles[name].has_sentences]
    textual = plainly(sentences, profiles) or sentences or only_texts(profiles, others, len(columns) == 1)
    if len(textual) > 1 or not (textual or refused):
        raise no_column(columns, textual, where)
    # of a refused one, `refuse_values` says what is in it
    return said((textual or refused)[0], True)


def only_texts(profiles: Mapping[str, Profile], names: Sequence[str], alone: bool) -> list[str]:
    """Return the only column that has texts beside numbers and the like, as a list; short ones only if it is alone."""
    texts = [name for name in names if profiles[name].may_be_text and not known_in(name, OTHER_COLUMNS)]
    least = 1 if alone else 4
    wordy = [name for name in texts if profiles[name].syllables >= least or profiles[name].words >= 2]
    return wordy if len(texts) == 1 else []


def plainly(names: Sequence[str], profiles: Mapping[str, Profile]) -> list[str]:
    """Return the one column whose texts are plainly the longest sentences, as a list; nothing where two are alike."""
    ranked = sorted(names, key=lambda name: (profiles[name].has_sentences, profiles[name].syllables), reverse=True)
    if len(ranked) < 2:
        return ranked
    first, second = (profiles[name] for name in ranked[:2])
    longer = first.syllables >= 2.5 * second.syllables and first.syllables >= 6
    return ranked[:1] if first.has_sentences and (not second.has_sentences or longer) else []


def said(column: str, several: bool) -> TextColumn:
    """Return a TextColumn, with a note unless the name is a plain one and the only one."""
    if column.strip().lower() in TEXT_COLUMNS and not several:
        return TextColumn(column)
    return TextColumn(column, f"texts are read from column {column!r}")


def refuse_values(columns: Columns, column: str, where: object) -> None:
    """Raise DataError where a column has nothing but numbers, dates, addresses or codes; a single one may be a review."""
    texts = list(filled_texts(columns[column]))
    if len(texts) > 1 and all(map(is_value, texts)):
        others = [name for name in columns if name != column]
        kind = "numbers" if all(map(NUMBER.fullmatch, texts)) else "dates, links or codes"
        found = f"found {kind} in column {column!r} ({texts[0][:20]}); the others are {list_names(others)}"
        raise ColumnError(f"{where}: expected reviews, {found}{TEXT_HINT}", columns)
