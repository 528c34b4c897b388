"""Files of any kind from a few values, and all rows of a table."""

import itertools
import json

import openpyxl
import pytest

from nsmc_attention.tables.table import open_table


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Return a function that writes a file in a folder of its own: bytes, text, a value of JSON, or the rows of sheets."""
    folder, counter = tmp_path_factory.mktemp("tables"), itertools.count()

    def write(name, content):
        path = folder / str(next(counter)) / name
        path.parent.mkdir()
        if path.suffix == ".xlsx" and not isinstance(content, bytes):
            book = openpyxl.Workbook()
            book.remove(book.active)
            for title, rows in content.items() if isinstance(content, dict) else [("Sheet", content)]:
                sheet = book.create_sheet(title)
                for row in rows:
                    sheet.append(row)
            book.save(path)
            return path
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content, ensure_ascii=False)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture(scope="session")
def rows_of():
    """Return a function that opens a table and returns its rows, {column: cell} each."""

    def read(path, **options):
        return [dict(zip(part, row)) for part in open_table(path, **options).parts for row in zip(*part.values())]

    return read


@pytest.fixture
def stdin(tmp_path, monkeypatch):
    """Return a function that makes bytes the standard input."""

    def make(content):
        (tmp_path / "in").write_bytes(content)
        monkeypatch.setattr("sys.stdin", open(tmp_path / "in", encoding="latin-1"))

    yield make
    monkeypatch.undo()
