"""Columns of a table by their names and cells: which one has the texts. Imports no pandas, which is slow.

names, some rows -> TextColumn (a name, and a note where its name alone does not say so)
"""

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
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
# Of these one is in the header of every table of reviews
ROLES = NAMED | {*LABEL_COLUMNS, *STAR_COLUMNS}
# Ends of names of texts, as in 상세리뷰, and parts of the names of replies to them
ENDS = tuple(name for name in NAMED if len(name) > 1)
REPLIES = ("답글", "답변", "답댓글", "사장", "판매자", "점주", "관리자", "reply", "response", "answer", "owner")
DATE_LETTERS = frozenset("0123456789-./:,()+년월일시분초오전후요화수목금토 TZampAMP")
LINKS = ("http://", "https://", "www.")
# Letters of a name, of a value, and of a text that are looked at
NAME, VALUE, JUDGED_LETTERS = 100, 400, 2000
# Rows by which a column is judged
JUDGED = 500
TEXT_HINT = "; name the one of the texts by text_column (--text-column NAME or NUMBER)"


def normalized(name: str) -> str:
    """Return a name in lower case, its letters and digits alone."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", name[:NAME]))).lower()


def forms_of(name: str) -> tuple[str, str]:
    """Return a name `normalized`, with and without what stands in brackets."""
    return normalized(name), normalized(name[:NAME].translate(OPENING).partition("(")[0])


OPENING = str.maketrans("[<（", "(((")


def known_in(name: str, names: Collection[str]) -> bool:
    """Return whether a name, with or without what is in brackets, is one of `names`."""
    return any(form in names for form in forms_of(name))


def ends_known(name: str) -> bool:
    """Return whether a name ends with a known one of texts, as 상세리뷰."""
    return any(form.endswith(ENDS) for form in forms_of(name))


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, as 3, -1.5, 1,200 or 85%."""
    digits = cell.strip().rstrip("%").replace(",", "")
    try:
        float(digits)
    except ValueError:
        return False
    return digits.isascii() and "_" not in digits and any(map(str.isdigit, digits))


def is_value(cell: str) -> bool:
    """Return whether a cell is a number, date, address or code: never a review, and no column's name."""
    if len(cell) > VALUE or is_number(cell):
        return len(cell) <= VALUE
    letters, digits = set(cell), sum(map(str.isdecimal, cell))
    if letters <= DATE_LETTERS and digits > 2:
        return True
    one_word = not any(map(str.isspace, cell))
    return one_word and (cell.lower().startswith(LINKS) or cell.isascii() and digits > 2)


def syllables_in(cell: str) -> int:
    return sum("가" <= letter <= "힣" for letter in cell)


def is_sentence(cell: str) -> bool:
    """Return whether a cell reads like a sentence: Hangul of several words and an end, or many words."""
    cell = cell[-JUDGED_LETTERS:].strip()
    words, syllables = len(cell.split()), syllables_in(cell)
    if syllables < 4:
        return words > 3 and not is_value(cell)
    end = cell.rstrip(" .!?~…ㅋㅎㅠㅜ^")
    return words > 3 or words > 1 and (syllables > 11 or end != cell or end[-1] in "다요죠네까음함임됨지")


def is_printed(cell: object) -> bool:
    """Return whether a cell is an object or a list, or the print of one: {"id": 1}, ['좋다', '별로']."""
    if not isinstance(cell, str):
        return isinstance(cell, (dict, list, tuple))
    begins = ("['", '["', "[{", "{'", '{"', "('")
    return cell in ("[]", "{}") or cell.startswith(begins) and cell.endswith(("]", "}", ")"))


def filled_texts(cells: Iterable[object]) -> Iterator[str]:
    """Yield the cells that are neither blank nor missing (None, NaN), as text without spaces around it."""
    return filter(None, (str(cell).strip() for cell in cells if cell is not None and cell == cell))


class Profile:
    """The cells of a column that are not blank: which texts they may be, and their mean syllables and words."""

    def __init__(self, cells: Sequence[object]):
        texts = [text[:JUDGED_LETTERS] for text in filled_texts(cells[:JUDGED])]
        self.count = len(texts)
        count, distinct = self.count or 1, len(set(texts)) / (self.count or 1)
        self.printed = 2 * sum(map(is_printed, cells[:JUDGED])) > self.count
        self.syllables = sum(map(syllables_in, texts)) / count
        self.words = sum(len(text.split()) for text in texts) / count
        few = self.count > 9 and distinct < 0.2 and self.words < 1.5
        # nothing speaks against texts: not mostly numbers, dates, addresses, codes, objects, nor a few categories
        self.may_be_text = not few and not self.printed and 2 * sum(map(is_value, texts)) <= self.count
        # most cells can be nothing but texts
        repeated = self.count > 9 and distinct < 0.3
        self.has_sentences = self.may_be_text and not repeated and sum(map(is_sentence, texts)) >= 0.4 * count


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


def choose_text(columns: Columns, column: object, where: object) -> tuple[str, str]:
    """Return the column of the texts, and a note on it: `column`, or where it is None the one that is found.

    The best kind of name decides (a usual one, another known one, one that ends with a known one) among the columns whose
    cells may be texts, else the cells alone. ColumnError where two columns are as good as each other, or none has texts.
    """
    if column is not None:
        return find_column(columns, str(column), where), ""
    profiles = {name: Profile(cells) for name, cells in columns.items()}
    reply = [name for name in columns if any(word in normalized(name) for word in REPLIES)]
    plain = [name for name in columns if normalized(name) in TEXT_COLUMNS]
    named = plain + [name for name in columns if name not in plain and known_in(name, NAMED)]
    empty = not any(profile.count for profile in profiles.values())
    ended = [name for name in columns if ends_known(name) and name not in reply and (profiles[name].count or empty)]
    for names in (plain, named, ended):
        textual = [name for name in names if not profiles[name].count or profiles[name].may_be_text]
        textual = plainest([name for name in textual if name not in reply] or textual, profiles)
        if len(textual) > 1:
            raise no_column(columns, textual, where)
        if textual:
            silent = textual[0].strip().lower() in TEXT_COLUMNS and len(named) < 2
            return textual[0], "" if silent else f"texts are read from column {textual[0]!r}"
    # of a refused one, `refuse_values` says what is in it
    refused = named or [name for name in columns if profiles[name].printed]
    textual = by_cells({name: profiles[name] for name in columns if name not in reply + refused})
    if len(textual) > 1 or not textual + refused:
        raise no_column(columns, textual, where)
    return (textual + refused)[0], f"texts are read from column {(textual + refused)[0]!r}"


def by_cells(profiles: Mapping[str, Profile]) -> list[str]:
    """Return the columns of sentences, or the only one that has texts beside numbers and the like."""
    if sentences := [name for name in profiles if profiles[name].has_sentences]:
        return plainest(sentences, profiles)
    texts = [name for name in profiles if profiles[name].may_be_text and not known_in(name, OTHER_COLUMNS)]
    # short ones only of a table of one column
    least = 1 if len(profiles) == 1 else 4
    wordy = [name for name in texts if profiles[name].syllables >= least or profiles[name].words >= 2]
    return wordy if len(texts) == 1 and profiles[texts[0]].count else []


def plainest(names: Sequence[str], profiles: Mapping[str, Profile]) -> list[str]:
    """Return the column whose texts are plainly the longest sentences, or that alone has any, as a list, else all."""
    ranked = sorted(names, key=lambda name: (profiles[name].has_sentences, profiles[name].syllables), reverse=True)
    if len(ranked) > 1:
        first, second = (profiles[name] for name in ranked[:2])
        longer = first.syllables >= 2.5 * second.syllables and first.syllables >= 6
        if first.has_sentences and (not second.has_sentences or longer) or first.count > second.count == 0:
            return ranked[:1]
    return list(names)


def refuse_values(columns: Columns, column: str, where: object) -> None:
    """Raise DataError for a column of objects or lists, or of nothing but numbers, dates, addresses or codes.

    A single value may be a review.
    """
    cells = [cell for cell in columns[column][:JUDGED] if cell is not None and cell != ""]
    printed = [cell for cell in cells if is_printed(cell)]
    texts = list(filled_texts(cells))
    if printed and (2 * len(printed) >= len(cells) or any(not isinstance(cell, str) for cell in printed)):
        kind, first = "objects or lists", str(printed[0])
    elif len(texts) > 1 and all(map(is_value, texts)):
        kind, first = ("numbers" if all(map(is_number, texts)) else "dates, links or codes"), texts[0]
    else:
        return
    others = list_names([name for name in columns if name != column])
    advice = f"; the others are {others}" if others else ""
    found = f"found {kind} in column {column!r} ({first[:20]}){advice}"
    raise ColumnError(f"{where}: expected reviews, {found}{TEXT_HINT}", columns)
