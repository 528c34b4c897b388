"""Texts from strangers: whatever Unicode holds goes through every entry, and comes out as text.

In full, every code point there is, an hour; then some thousand texts of hypothesis:

    python -m pytest tests/test_strangers_text.py -m slow
    python -m pytest tests/test_strangers_text.py -m hypothesis --hypothesis-profile=long
"""

import csv
import io
import json
import math
import sys
import unicodedata
import xml.etree.ElementTree
from html.parser import HTMLParser

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.apps.report.build import report
from nsmc_attention.classifier.attribution import Attribution
from nsmc_attention.drawing.figure import save_figure
from nsmc_attention.scoring.columns import as_csv
from nsmc_attention.scoring.files import score_table
from nsmc_attention.tables.columns import is_number
from nsmc_attention.tables.writers import as_cell, csv_cells
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.tokenizers import LONGEST_TEXT, tokenizer
from nsmc_attention.views.heatmap import draw_heatmap, draw_words
from nsmc_attention.views.page import page

FORMULAS = ["=cmd|'/C calc'!A0", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1"]
FORMULAS += [" =1+1", "＝1+1"]
QUOTED = ['=HYPERLINK("http://x","y")', "'=1", "''=1", "\ufeff=1", "\u200b\xad =1", "\u2060\t", "\\", '"', "'"]
QUOTED += ['",=1,"']
MARKUP = ["</script><script>alert(1)</script>", "<script>", "<!--", "-->", "<!--<script>", "]]>", "&lt;script&gt;"]
TEMPLATES = ["<img src=x onerror=alert(1)>", "$\\frac{1}{2}$", "$", "@@BODY@@", "WORDS_JS", "{0}", "%s"]
LETTERS = ["\u2028", "\u2029", "a\u2028b", "\ud800", "\udfff\ud800", "\0", "\x1b[2J", "\x85", "\ufeff영화"]
LETTERS += ["\u202e영화\u202c", "\u1112\u1161\u11ab", "e\u0301", "\U0010ffff", "\ufffe", "\uffff", "\u0301" * 50]
WORDS = ["영화", "👨‍👩‍👧‍👦", "ﷺ" * 20, "ㅋ" * 300]
HOSTILE = [*FORMULAS, *QUOTED, *MARKUP, *TEMPLATES, *LETTERS, *WORDS]
CHARACTERS = st.characters(exclude_categories=())
PIECES = st.lists(st.sampled_from(HOSTILE) | st.text(CHARACTERS, max_size=4), max_size=4)
ANYTHING = st.text(CHARACTERS, max_size=20) | st.sampled_from(HOSTILE) | PIECES.map("".join)


def check_text(encoder, text):
    """What `clean` and `encode` promise of any str; answers what is encoded."""
    cleaned = clean(text)
    assert cleaned == clean(cleaned) == " ".join(cleaned.split()) == unicodedata.normalize("NFC", cleaned)
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in cleaned)
    encoded = encoder.encode(text)
    offsets = encoded.offsets
    assert encoded.text == cleaned and len(offsets) == len(encoded.tokens) <= encoder.max_length
    assert [cleaned[start:end] for start, end in offsets] == list(encoded.tokens)
    assert all(encoded.tokens) and offsets == tuple(sorted(offsets))
    for name in ("characters", "whitespace"):
        assert "".join(tokenizer(name)(cleaned)) == cleaned[:LONGEST_TEXT].replace(" ", "")
    return encoded


def check_predictions(packaged, texts):
    predictions = packaged.predict_many(texts)
    for text, each in zip(texts, predictions):
        assert each.text == clean(text)
        if each.tokens:
            assert math.isfinite(each.probability) and 0 <= each.probability <= 1
            assert each.weights.min() >= 0 and abs(each.weights.sum(axis=1) - 1).max() < 1e-4
        else:
            assert each.probability is None and each.error
    return predictions


def check_tables(packaged, texts, folder):
    """Texts as cells: csv and tsv neutralised, verbatim and jsonl as they were."""
    # without what is refused in csv; of JSON, two halves of a character are one
    texts = [json.loads(json.dumps(text.replace("\0", ""))) for text in texts]
    source = folder / "in.jsonl"
    rows = [{"document": text, "film": text} for text in texts]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for suffix, delimiter in (("csv", ","), ("tsv", "\t")):
        for verbatim in (False, True):
            output = folder / f"out.{suffix}"
            score_table(packaged, source, output, processes=1, verbatim=verbatim)
            found = list(csv.DictReader(io.StringIO(output.read_bytes().decode(), newline=""), delimiter=delimiter))
            cells = [row["film"] for row in found]
            expected = [text.encode("utf-8", "replace").decode() for text in texts]
            assert [row["document"] for row in found] == cells
            assert cells == [text if verbatim else as_cell(text) for text in expected]
            assert verbatim or not any(map(computed, cells))
    score_table(packaged, source, folder / "out.jsonl")
    with open(folder / "out.jsonl", encoding="utf-8") as file:
        assert [json.loads(line)["film"].encode("utf-8", "replace").decode() for line in file] == expected


def computed(cell):
    """As Excel, LibreOffice and Google Sheets tell formulas, by the first character that is seen."""
    unseen = "\ufeff\xad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    seen = cell.lstrip(unseen + " \t\r\n\0\v\f\x1c\x1d\x1e\x1f\x85\u3000\xa0")
    first = cell.lstrip(unseen)[:1]
    return not is_number(cell) and (seen[:1] in tuple("=+-@＝＋－＠") or first in ("\t", "\r", "\n"))


class Scripts(HTMLParser):
    """What a browser would take for scripts, and the attributes that would run something."""

    def __init__(self, content):
        super().__init__(convert_charrefs=True)
        self.scripts, self.inside, self.handlers, self.tags = [], False, [], set()
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.inside = tag == "script"
        self.handlers += [name for name, _ in attributes if name.startswith("on")]
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "script"

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


def check_page(content):
    """Two scripts, data and code; the texts are in the data alone, which no browser can leave."""
    content = content.encode("utf-8", "replace").decode()
    found = Scripts(content)
    data, code = found.scripts
    assert not found.handlers and not {"iframe", "object", "embed", "base", "form"} & found.tags
    assert "<" not in data and "\u2028" not in data and "alert(1)" not in code
    assert content.lower().count("<script") == content.lower().count("</script") == 2 and "<!--" not in content[20:]
    return json.loads(data)


def attribution(each):
    return Attribution(each, each.token_weights.astype("float64"), "attention", "pretrained")


def check_all(packaged, texts, folder):
    for text in texts:
        check_text(packaged.bundle.codec, text)
    predictions = [each for each in check_predictions(packaged, texts) if each.tokens]
    check_tables(packaged, texts, folder)
    if predictions:
        data = check_page(page([[attribution(each)] for each in predictions], texts[0]))
        assert [panel["text"] for (panel,) in data["reviews"]] == [each.text for each in predictions]
    return predictions


def check_drawings(predictions, folder):
    """Shaded words of each review, the heatmap of each eighth; an SVG is XML that is read back."""
    for each in predictions[::8]:
        save_figure(draw_heatmap(each.weights, each.tokens, each.text), folder / "matrix.png")
    if predictions:
        save_figure(draw_words([attribution(each) for each in predictions]), folder / "words.svg")
        xml.etree.ElementTree.parse(folder / "words.svg")


@given(texts=st.lists(ANYTHING, min_size=1, max_size=12))
def test_any_text_goes_through_every_entry(packaged, tmp_path_factory, texts):
    check_all(packaged, texts, tmp_path_factory.getbasetemp())


def test_hostile_texts_go_through_every_entry_and_every_drawing(packaged, tmp_path):
    predictions = check_all(packaged, HOSTILE, tmp_path)
    assert len(predictions) > 30
    check_drawings(predictions, tmp_path)


@pytest.mark.slow
def test_every_code_point_goes_through_every_entry_and_some_are_drawn(packaged, tmp_path):
    """139,264 texts of eight each; each 32nd is drawn."""
    points = [chr(number) for number in range(sys.maxunicode + 1)]
    texts = [f"영{''.join(points[start : start + 8])}화 {points[start]}" for start in range(0, len(points), 8)]
    for start in range(0, len(texts), 2048):
        predictions = check_all(packaged, texts[start : start + 2048], tmp_path)
        check_drawings(predictions[::32], tmp_path)


@pytest.mark.parametrize("text", [letter * 300_000 for letter in "a가ㅋ!\u0301"], ids=lambda text: ascii(text[0]))
def test_of_a_long_text_the_beginning_is_read(packaged, text):
    found = packaged.predict(text)
    assert 0 <= found.probability <= 1
    assert "".join(tokenizer("mecab")(text)) == text[:LONGEST_TEXT]


def test_a_column_is_marked_as_its_cells_are():
    """Whatever character is first, and alone, before a formula or before a letter."""
    points = list(map(chr, range(0x10000)))
    for rest in ("", "=1", "a"):
        column = [first + rest for first in points]
        for verbatim in (False, True):
            lines = "\n".join(csv_cells(column, verbatim))
            read = [cell for row in csv.reader(io.StringIO(lines, newline="")) for cell in row or [""]]
            assert read == (column if verbatim else list(map(as_cell, column)))
    assert csv_cells(["", -1, None, 0.5, True, 1], False) == ["", "-1", "", "0.5", "True", "1"]


@pytest.mark.parametrize("suffix, delimiter", [("csv", ","), ("tsv", "\t")])
def test_a_cell_stays_one_wherever_it_may_be_split(packaged, tmp_path, suffix, delimiter):
    cells = ["좋다;=1+1", "좋다\t=1+1", "좋다,=1+1", "좋다\r=1+1", "좋다 =1+1", 'a"b']
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"document": cell, "b;c": 1}) + "\n" for cell in cells))
    score_table(packaged, tmp_path / "in.jsonl", tmp_path / f"out.{suffix}")
    written = (tmp_path / f"out.{suffix}").read_bytes().decode()
    assert [f'\n"{cell}"' in written for cell in cells] == [True] * 4 + [False] * 2 and delimiter + '"b;c"' in written
    rows = list(csv.DictReader(io.StringIO(written, newline=""), delimiter=delimiter))
    assert [row["document"] for row in rows] == cells and [row["b;c"] for row in rows] == ["1"] * 6


def test_tables_of_a_report_quote_what_may_be_split():
    frame = pandas.DataFrame({"a;b": ["좋다;=1+1", "좋다\t=1", "\ufeff=1", "좋다"], "n": [1, 0.5, None, 2]})
    text = as_csv(frame.set_index("a;b"))
    assert text == '\ufeff"a;b",n\r\n"좋다;=1+1",1\r\n"좋다\t=1",0.5\r\n\'\ufeff=1,\r\n좋다,2\r\n'
    assert as_csv(pandas.DataFrame({"n": [1 / 3]})) == "\ufeffn\r\n0.333333\r\n"


def test_a_report_shows_hostile_films_and_texts_as_text(packaged, tmp_path):
    pairs = [(film, f"정말 재미있는 영화 {text}") for film in HOSTILE for text in (*MARKUP, TEMPLATES[0])]
    rows = [{"document": text, "film": film, "date": "2019.04.01"} for film, text in pairs]
    source = tmp_path / "=cmd'<script>alert(1)<!--.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = report(packaged, source, tmp_path / "report.html", "film", "date", tables_to=tmp_path / "tables")
    content = (tmp_path / "report.html").read_text(encoding="utf-8")
    check_page(content)
    assert len(found["groups"]) > 30 and "<img src=x" not in content and "=cmd&#x27;&lt;script&gt;" in content
    for path in (tmp_path / "tables").iterdir():
        for column, cells in pandas.read_csv(path, dtype=str, keep_default_na=False).items():
            assert not any(map(computed, [column, *cells])), (path.name, column)
