"""Search for the column of texts, by the names and cells of a table. Imports no pandas, which is slow.

names, some rows -> name of the column, and a note if its name is not a usual one
"""

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Optional

from ..errors import ColumnError, list_names, nearest

# {column: cells} of a table, or of some rows
Columns = Mapping[str, Sequence[object]]


def names_of(role: str) -> frozenset[str]:
    """Return the names in names.json of columns with a role, `normalized`."""
    names = json.loads(Path(__file__).with_name("names.json").read_text(encoding="utf-8"))
    return frozenset(" ".join(names[role]).split())


# Usual names of columns, in lower case
TEXT_COLUMNS = ("document", "text", "review", "comment", "content", "리뷰", "내용", "댓글", "후기")
STAR_COLUMNS = ("stars", "rating", "score", "별점", "평점", "점수")
LABEL_COLUMNS = ("label", "sentiment", "라벨", "레이블", "감성")
# Less usual names of texts, whose use is reported
LESSER_COLUMNS = names_of("lesser_texts")
NAMED = frozenset(TEXT_COLUMNS) | LESSER_COLUMNS
# Names of other columns, by which a header is recognized
OTHER_COLUMNS = names_of("others")
KNOWN = NAMED | OTHER_COLUMNS
# The header of every table of reviews has one of these
ROLES = NAMED | {*LABEL_COLUMNS, *STAR_COLUMNS}
# Ends of names of texts, as in 상세리뷰, and words in the names of replies to them
ENDS = tuple(name for name in NAMED if len(name) > 1)
REPLIES = ("답글", "답변", "답댓글", "사장", "판매자", "점주", "관리자", "reply", "response", "answer", "owner")
DATE_LETTERS = frozenset("0123456789-./:,()+년월일시분초오전후요화수목금토 TZampAMP")
LINKS = ("http://", "https://", "www.")
# Letters of a name, of a value, and of a text that are examined
NAME_LETTERS, VALUE_LETTERS, TEXT_LETTERS = 100, 400, 2000
# Rows of a column that are examined
EXAMINED_ROWS = 500
TEXT_HINT = "; name the one of the texts by text_column (--text-column NAME or NUMBER)"


def normalized(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", name[:NAME_LETTERS]))).lower()


def forms_of(name: str) -> tuple[str, str]:
    """Return a name `normalized`, with and without its part in brackets."""
    return normalized(name), normalized(name[:NAME_LETTERS].translate(OPENING).partition("(")[0])


OPENING = str.maketrans("[<（", "(((")


def known_in(name: str, names: Collection[str]) -> bool:
    """Return whether a name, with or without its part in brackets, is one of `names`."""
    return any(form in names for form in forms_of(name))


def ends_known(name: str) -> bool:
    """Return whether a name ends with a known name of texts, as 상세리뷰."""
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
    """Return whether a cell is a number, date, address or code: neither a review nor a column's name."""
    if len(cell) > VALUE_LETTERS or is_number(cell):
        return len(cell) <= VALUE_LETTERS
    letters, digits = set(cell), sum(map(str.isdecimal, cell))
    if letters <= DATE_LETTERS and digits > 2:
        return True
    one_word = not any(map(str.isspace, cell))
    return one_word and (cell.lower().startswith(LINKS) or cell.isascii() and digits > 2)


def syllables_in(cell: str) -> int:
    return sum("가" <= letter <= "힣" for letter in cell)


def is_sentence(cell: str) -> bool:
    """Return whether a cell reads like a sentence: several Hangul words with a sentence's end, or many words."""
    cell = cell[-TEXT_LETTERS:].strip()
    words, syllables = len(cell.split()), syllables_in(cell)
    if syllables < 4:
        return words > 3 and not is_value(cell)
    end = cell.rstrip(" .!?~…ㅋㅎㅠㅜ^")
    return words > 3 or words > 1 and (syllables > 11 or end != cell or end[-1] in "다요죠네까음함임됨지")


def is_printed(cell: object) -> bool:
    """Return whether a cell is an object or a list, or printed like one: {"id": 1}, ['좋다', '별로']."""
    if not isinstance(cell, str):
        return isinstance(cell, (dict, list, tuple))
    begins = ("['", '["', "[{", "{'", '{"', "('")
    return cell in ("[]", "{}") or cell.startswith(begins) and cell.endswith(("]", "}", ")"))


def filled_texts(cells: Iterable[object]) -> Iterator[str]:
    """Yield the cells that are neither blank nor missing (None, NaN), as stripped text."""
    return filter(None, (str(cell).strip() for cell in cells if cell is not None and cell == cell))


class Profile:
    """Statistics of the cells of a column that are not blank: whether they may be texts, mean syllables and words."""

    def __init__(self, cells: Sequence[object]):
        texts = [text[:TEXT_LETTERS] for text in filled_texts(cells[:EXAMINED_ROWS])]
        self.count = len(texts)
        count, distinct = self.count or 1, len(set(texts)) / (self.count or 1)
        self.printed = 2 * sum(map(is_printed, cells[:EXAMINED_ROWS])) > self.count
        self.syllables = sum(map(syllables_in, texts)) / count
        self.words = sum(len(text.split()) for text in texts) / count
        is_category = self.count > 9 and distinct < 0.2 and self.words < 1.5
        # neither a few categories, nor mostly numbers, dates, addresses, codes or objects
        self.may_be_text = not is_category and not self.printed and 2 * sum(map(is_value, texts)) <= self.count
        # at least 40 % of the cells are sentences
        is_repetitive = self.count > 9 and distinct < 0.3
        self.has_sentences = self.may_be_text and not is_repetitive and sum(map(is_sentence, texts)) >= 0.4 * count


def require_column(columns: Collection[str], column: str, where: object, hint: str = TEXT_HINT) -> None:
    """Raise ColumnError, which lists the columns, if the column is not among them."""
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
    """Return a column by its name, or by a number from 1 if no column has that name; None finds the only known name.

    ColumnError, which lists the columns, if there is none.
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
    """Return the error for several candidates (`alike`), or for no known column."""
    expected = f"expected one column called {', '.join(known)}"
    return ColumnError(f"{where}: {expected}; found {list_names(alike or columns)}{hint}", columns)


def choose_text(columns: Columns, column: object, where: object) -> tuple[str, str]:
    """Return the column of the texts, `column` or, if it is None, the best one, and a note on the choice.

    Names decide first (usual ones, other known ones, names that end with a known one), among columns whose cells may be
    texts, then the cells alone. ColumnError if two columns are equally good, or none has texts.
    """
    if column is not None:
        return find_column(columns, str(column), where), ""
    profiles = {name: Profile(cells) for name, cells in columns.items()}
    replies = [name for name in columns if any(word in normalized(name) for word in REPLIES)]
    usual = [name for name in columns if normalized(name) in TEXT_COLUMNS]
    named = usual + [name for name in columns if name not in usual and known_in(name, NAMED)]
    filled = [name for name in columns if profiles[name].count] or columns
    compounds = [name for name in filled if ends_known(name) and name not in replies]
    for names in (usual, named, compounds):
        candidates = [name for name in names if not profiles[name].count or profiles[name].may_be_text]
        candidates = best_texts([name for name in candidates if name not in replies] or candidates, profiles)
        if len(candidates) > 1:
            raise no_column(columns, candidates, where)
        if candidates:
            is_obvious = candidates[0].strip().lower() in TEXT_COLUMNS and len(named) < 2
            return candidates[0], "" if is_obvious else f"texts are read from column {candidates[0]!r}"
    # `refuse_values` reports the content of a rejected column
    rejected = named or [name for name in columns if profiles[name].printed]
    candidates = by_cells({name: profiles[name] for name in columns if name not in replies + rejected})
    if len(candidates) > 1 or not candidates + rejected:
        raise no_column(columns, candidates, where)
    return (candidates + rejected)[0], f"texts are read from column {(candidates + rejected)[0]!r}"


def by_cells(profiles: Mapping[str, Profile]) -> list[str]:
    """Return the columns of sentences, or the only column of texts beside numbers and the like."""
    if sentences := [name for name in profiles if profiles[name].has_sentences]:
        return best_texts(sentences, profiles)
    texts = [name for name in profiles if profiles[name].may_be_text and not known_in(name, OTHER_COLUMNS)]
    # short texts count only in a table of one column
    fewest = 1 if len(profiles) == 1 else 4
    wordy = [name for name in texts if profiles[name].syllables >= fewest or profiles[name].words >= 2]
    return wordy if len(texts) == 1 and profiles[texts[0]].count else []


def best_texts(names: Sequence[str], profiles: Mapping[str, Profile]) -> list[str]:
    """Return [name] of the column with clearly the longest sentences, or the only one with cells; else all names."""
    ranked = sorted(names, key=lambda name: (profiles[name].has_sentences, profiles[name].syllables), reverse=True)
    if len(ranked) > 1:
        first, second = (profiles[name] for name in ranked[:2])
        longer = first.syllables >= 2.5 * second.syllables and first.syllables >= 6
        if first.has_sentences and (not second.has_sentences or longer) or first.count > second.count == 0:
            return ranked[:1]
    return list(names)


def refuse_values(columns: Columns, column: str, where: object) -> None:
    """Raise ColumnError for a column of objects or lists, or only of numbers, dates, addresses or codes.

    A single value may be a review.
    """
    cells = [cell for cell in columns[column][:EXAMINED_ROWS] if cell is not None and cell != ""]
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
    content = f"{kind} in column {column!r} ({first[:20]}){advice}"
    raise ColumnError(f"{where}: expected reviews, found {content}{TEXT_HINT}", columns)
