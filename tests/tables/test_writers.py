"""What is written is the same when it is read again, and nothing that a spreadsheet computes."""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nsmc_attention.tables.rows import parts_of
from nsmc_attention.tables.source import find_source
from nsmc_attention.tables.writers import WRITERS, ScoredRows, as_cell, csv_cells, is_formula

letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
printed = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
UNSEEN = "\u3164 \u200b \u2060 \ufeff \xad \u115f \u2800 \u034f \ufe0f \u202e \u180e \x7f \x85 ' \x1f".split(" ")


def unmarked(cell):
    return cell[1:] if isinstance(cell, str) and cell[:1] == "'" and is_formula(cell[1:]) else cell


def written_as(style, names, rows, results, verbatim=False):
    """Return the content of a file with the columns and an output column, in two pieces."""
    file = io.BytesIO() if style in ("parquet", "xlsx") else io.StringIO(newline="")
    with WRITERS[style](file, names, {"score": "double"}, verbatim) as write:
        for piece in (slice(1), slice(1, None)):
            columns = dict(zip(names, map(list, zip(*rows[piece]))))
            if columns:
                write(ScoredRows(columns, [row[0] for row in rows[piece]], results[piece]))
    return file.getvalue() if isinstance(file, io.BytesIO) else file.getvalue().encode()


@pytest.mark.parametrize("style", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
@given(data=st.data())
@example(data=None)
def test_what_is_written_is_read_back(written, style, data):
    cell = st.text(printed if style in ("tsv", "xlsx") else letters, max_size=6)
    names, rows = ["review", "=memo"], [["=1+1", "a_b"], [" \u3164=1 ", "'=1"], ["'", '"'], ["-5", "-5점"]]
    if data:
        rows = data.draw(st.lists(st.lists(cell, min_size=2, max_size=2), min_size=1, max_size=5))
    results = [{"score": 0.5} if style == "jsonl" else (0.5,) for _ in rows]
    content = written_as(style, names, rows, results)
    parts = list(parts_of(find_source(written(f"a.{style}", content))))
    names_read, marked = [*parts[0]], style in ("csv", "tsv")
    assert [unmarked(name) if marked else name for name in names_read] == [*names, "score"]
    read = [[row[0] or "", row[1] or ""] for part in parts for row in zip(*part.values())]
    assert [list(map(unmarked, row)) if marked else row for row in read] == rows
    if marked:
        verbatim = parts_of(find_source(written(f"b.{style}", written_as(style, names, rows, results, True))))
        assert [list(row[:2]) for part in verbatim for row in zip(*part.values())] == rows


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_a_formula_behind_letters_that_nobody_sees_is_marked(unseen):
    for sign in "=+-@＝＋－＠":
        for before in (unseen, unseen * 3, f" {unseen}\u200b", f"{unseen}'"):
            cell = as_cell(f"{before}{sign}SUM(A1)")
            assert cell == f"'{before}{sign}SUM(A1)" and unmarked(cell) == cell[1:]
    for text in (f"{unseen}가", f"가{unseen}=1", "-1.5", "+3%", "-1,234.50", "-1e-05", "", None, -1, 0.5, True):
        assert as_cell(text) == text and csv_cells([text, "=1", "가"], False)[1:] == ["'=1", "가"]
