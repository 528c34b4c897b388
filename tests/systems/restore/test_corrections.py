"""Tables restored, and classified after they were restored: by the code that scores a table."""

import json

import numpy
import pandas
import pytest

from nsmc_attention import load_classifier, load_restorer, restore_column, score_column
from nsmc_attention.apps import evaluation as judgement
from nsmc_attention.apps.bulk import bulk
from nsmc_attention.corpora import labelled, nsmc
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.scoring.files import row_stream, score_lines, score_table
from nsmc_attention.systems.restore.corrections import SURE_LABEL, over
from nsmc_attention.systems.restore.restoration import BLANK
from nsmc_attention.systems.restore.restorer import TYPES
from nsmc_attention.tables.parts import as_text
from nsmc_attention.tables.table import open_table

TEXTS = ["배우들연기가 정말조앗는데", "", "=1+1 별로", "재밋다"]


@pytest.fixture(scope="module")
def restorer(tiny_editor):
    return load_restorer(tiny_editor)


@pytest.fixture(scope="module")
def both(restorer, bundle_folder):
    return over(load_classifier(bundle_folder), restorer)


@pytest.fixture
def table(tmp_path):
    pandas.DataFrame({"restored": range(4), "document": TEXTS, "n": list("abcd")}).to_csv(
        tmp_path / "in.csv", index=False
    )
    return tmp_path / "in.csv"


@pytest.mark.parametrize("style", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_a_restored_table_has_its_own_columns_first_and_every_row(restorer, table, tmp_path, style):
    found = score_table(restorer, table, tmp_path / f"out.{style}")
    (part,) = open_table(tmp_path / f"out.{style}", "document").parts
    assert (found.tally.rows, found.tally.errors) == (4, 1)
    own = ["restored", "document", "n"]
    assert list(part)[:3] == own and part["n"] == list("abcd")
    expected = [each.text for each in restorer.restore_many(TEXTS)]
    if style == "jsonl":
        assert list(part)[3:] == ["source", "text", "score", "changes", "alignment", "error"]
        assert part["text"] == expected and part["error"] == [None, BLANK, None, None]
    else:
        assert list(part)[3:] == ["predicted_restored", "predicted_restore_error"], "one is taken"
        # the first character of what a spreadsheet would compute
        shown = [as_text(cell).lstrip("'") for cell in part["predicted_restored"]]
        assert shown == [text.lstrip("'") for text in expected]
        assert [as_text(cell) for cell in part["predicted_restore_error"]] == ["", BLANK, "", ""]


def test_workers_give_the_rows_of_this_process(both):
    windows = [TEXTS[:2], TEXTS[2:]]
    assert [rows for _, rows in row_stream(both, windows, 2)] == [*map(both.rows, windows)]


def test_a_restored_cell_that_a_spreadsheet_would_compute_is_marked(tmp_path):
    class Formula:
        """Restores every text to a formula."""

        types, judge = TYPES, None

        def rows(self, texts):
            return [("=1+1", None) for _ in texts]

    score_lines(Formula(), ["더하기"], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1] == "더하기,'=1+1,"


def test_lines_come_back_one_a_line(restorer, tmp_path):
    score_lines(restorer, [*TEXTS, "두\n줄"], tmp_path / "out.txt")
    expected = [each.text.replace("\n", " ") for each in restorer.restore_many([*TEXTS, "두\n줄"])]
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").split("\n") == [*expected, ""]


def prediction_of(both, text):
    """Return the Prediction of a text as it is, or restored where that is in doubt."""
    prediction = both.classifier.predict(text)
    sure = prediction.error is None and prediction.score >= SURE_LABEL
    return prediction if sure else both.classifier.predict(both.restorer(text).text)


def test_what_is_in_doubt_is_restored_and_classified_again(both):
    documents = labelled.load_reviews("sample", "test").documents
    found = [probability for *_, probability, _ in both.rows(documents)]
    asked = both.classifier.probabilities(documents)
    assert found == pytest.approx([prediction_of(both, text).probability for text in documents], abs=1e-6)
    assert (abs(asked - 0.5) < SURE_LABEL - 0.5).any() and (abs(asked - 0.5) > SURE_LABEL - 0.5).any()


@pytest.mark.parametrize("wrong", ["정말 좋다", ["정말 좋다", 3]])
def test_one_text_and_what_is_no_text_are_refused(both, wrong):
    for ask in (both.rows, lambda texts: list(both.objects(texts))):
        with pytest.raises(DataError, match="expected a (list of reviews|review as str), found"):
            ask(wrong)


def test_the_text_that_is_shown_is_what_is_classified(both, tmp_path):
    """In every style: beside its own text each row has the one that the score is of."""
    pandas.DataFrame({"document": TEXTS}).to_csv(tmp_path / "in.csv", index=False)
    for style in ("csv", "jsonl"):
        score_table(both, tmp_path / "in.csv", tmp_path / f"out.{style}")
    rows = pandas.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert list(rows.columns) == ["document", *both.types]
    assert list(both.types) == ["restored", "restore_error", "label", "score", "probability", "error"]
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    for text, row, line in zip(TEXTS, rows.to_dict("records"), lines):
        expected = prediction_of(both, text)
        assert (row["label"] or None, line["label"]) == (expected.label, expected.label)
        assert (line["source"], line["restored"], line["text"]) == (text, expected.text, expected.text)
        assert [line["text"][start:end] for start, end in line["offsets"]] == line["tokens"]
        assert "restore_error" in line or text
        assert not text or float(row["probability"]) == pytest.approx(line["probability"], abs=1e-5)


def test_columns_of_pandas_keep_their_index_and_say_what_the_table_says(both):
    column = pandas.Series([*TEXTS, None, float("nan"), 3], index=list("tuvwxyz"))
    restored, scored = restore_column(column, both.restorer), score_column(column, both.classifier, both.restorer)
    assert list(restored.index) == list(scored.index) == list("tuvwxyz")
    assert list(restored.columns) == list(TYPES)
    assert list(scored.columns) == list(both.types)
    assert restored["restore_error"].tolist() == [None, BLANK, None, None, BLANK, BLANK, None]
    assert scored["restore_error"].tolist() == restored["restore_error"].tolist()
    expected = score_column(scored["restored"], both.classifier)
    pandas.testing.assert_frame_equal(scored[list(expected.columns)], expected, atol=1e-5)
    assert restore_column(column[:0], both.restorer).shape == (0, 2)
    with pytest.raises(DataError, match="expected a column as a pandas Series"):
        restore_column(tuple(TEXTS), both.restorer)


def test_evaluate_says_that_reviews_were_restored(both):
    reviews = nsmc.load("sample", "test")
    found = judgement.evaluate(both.classifier, reviews, both.restorer)
    assert found["restorer"] == both.restorer.bundle.name and found["n"] == len(reviews)
    assert "restorer" not in judgement.evaluate(both.classifier, reviews)
    assert numpy.isfinite(found["accuracy"])


@pytest.mark.slow
def test_bulk_restores_and_goes_on_with_the_same_restorer_only(both, tiny_editor, bundle_folder, table, tmp_path):
    options = {"bundle": bundle_folder, "workers": 1, "rows": 2, "style": "csv"}
    assert bulk([table], tmp_path / "out", restore=tiny_editor, **options)["scored"] == 2
    first, second = sorted((tmp_path / "out").glob("*.csv"))
    content = second.read_bytes()
    second.unlink()
    assert bulk([table], tmp_path / "out", restore=tiny_editor, **options)["scored"] == 1
    assert second.read_bytes() == content
    score_table(both, table, tmp_path / "one.csv")
    parts = first.read_text(encoding="utf-8") + content.decode().split("\n", 1)[1]
    assert parts == (tmp_path / "one.csv").read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match="was begun with other restorer"):
        bulk([table], tmp_path / "out", **options)
