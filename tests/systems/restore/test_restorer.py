"""Texts through a Restorer: whatever they hold, each comes back as a text, in its place, with an alignment."""

import unicodedata
from functools import cache

import numpy
import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from nsmc_attention import load_restorer
from nsmc_attention.bundle import load_bundle
from nsmc_attention.engines.graphs import PRECISIONS
from nsmc_attention.errors import ConfigError
from nsmc_attention.systems.restore import correctors
from nsmc_attention.systems.restore import restorer as module
from nsmc_attention.systems.restore.engines import engine_beside
from nsmc_attention.systems.restore.restoration import BLANK, BREAK, REJECTED, pieces_of
from nsmc_attention.systems.restore.settings import EDITOR, LAYOUT, WRITER
from nsmc_attention.text.encoding import clean

SPACED = some.text("가나 다.!a😀", max_size=80).map(clean)


@pytest.fixture(scope="module")
def restorer(tiny_editor):
    return load_restorer(tiny_editor)


@given(some.lists(some.text(some.characters(), max_size=30), max_size=5))
@example(["0\n\xad"])
@example(["", " \n\t", "\0", "\ud800", "\u3164"])
@example(["😀👍🏽", "ㅋㅋㅋㅋ", "plain English", "a" * 10_000, "가" * 10_000, "가 " * 5_000])
@example([unicodedata.normalize("NFD", "정말 재미있는 영화였어요"), "ᄒ" * 100, "e" + "\u0301" * 100])
def test_any_text_comes_back_as_a_text_in_its_place(restorer, texts):
    restored = restorer.restore_many(texts)
    lines = (map(clean, BREAK.split(text)) for text in texts)
    assert [clean(each.source) for each in restored] == [" ".join(filter(None, own)) for own in lines]
    for each in restored:
        assert (each.error == BLANK) == (not each.source) == (not each.text)
        lines = each.text.split("\n")
        assert lines == [" ".join(line.split()) for line in lines], "no space twice or at an end"
        assert len(each.alignment) == len(each.text) and numpy.isfinite(each.score) and each.score <= 0
        assert all(0 <= place < len(each.source) for place in each.alignment)
        each.text.encode()


@given(some.lists(SPACED, max_size=6), some.integers(1, 40))
def test_texts_are_restored_alike_alone_together_and_in_small_windows(restorer, texts, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHARACTERS", size)
        windows = restorer.restore_many(texts)
    assert [each.text for each in windows] == [restorer(text).text for text in texts]
    assert [each.alignment for each in windows] == [each.alignment for each in restorer.restore_many(texts)]


@given(SPACED, some.integers(1, 12))
@example("가" * 4 + " 나", 4)
def test_pieces_are_the_whole_text_but_for_the_spaces_between_them(text, longest):
    pieces = list(pieces_of(text, longest))
    ends = [0, *(each.start + len(each.text) for each in pieces)]
    assert all(text[end : each.start] in ("", " ") for end, each in zip(ends, pieces))
    assert ends[-1] == len(text)
    for each in pieces:
        assert each.text == text[each.start :][: len(each.text)] == each.text.strip() != ""
        assert len(each.text) <= longest
        assert "".join(each.text[place] for place in each.places) == each.letters


@cache
def packaged(least):
    return load_restorer(min_probability=least)


@given(some.text("조앗다정말재밋엇햇배우연기넘 .aㅋ", max_size=60), some.sampled_from([0.5, 0.6, 0.75, 0.9, 0.97, 1]))
@example("정말조앗다", 1.0)
@example("기.기기", 1.0)
@example("기 .정앗조엇a", 0.6)
def test_a_change_below_the_least_probability_is_left_out_and_nothing_else_changes(text, least):
    changed, certain = (packaged(each)(text) for each in (0.5, least))
    assert all(least <= change.probability <= 1 for change in certain.changes)
    # where what is left is not to be believed, the text stays as typed
    if changed.error is None and certain.changes:
        assert places_of(certain) <= places_of(changed)
        assert all(change in certain.changes for change in changed.changes if change.probability >= least)


def places_of(restoration):
    """Return the places between and of the characters of a source that were changed."""
    starts = ((change.start, change.start + len(change.source)) for change in restoration.changes)
    return {place for start, end in starts for place in range(2 * start, 2 * end + 1)}


def test_no_more_texts_are_read_than_a_window_holds(restorer):
    read = []

    def texts():
        for number in range(10):
            read.append(number)
            yield "가" * 2**16

    stream = restorer.restore_stream(texts())
    assert next(stream).text and len(read) == 2
    stream.close()


@pytest.mark.parametrize(
    "bundle, least, message",
    [
        (WRITER, 0.7, "expected a restorer of kind editor, found writer"),
        (EDITOR, 0.4, "min_probability: expected a number from 0.5 to 1, found 0.4"),
        (EDITOR, float("nan"), "found nan"),
        (EDITOR, "0.7", "found '0.7'"),
    ],
)
def test_a_least_probability_is_an_editors_and_from_a_half_to_1(bundle, least, message):
    with pytest.raises(ConfigError, match=message):
        load_restorer(bundle, min_probability=least)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"beam": 4}, "beam 4: expected a restorer of kind writer, found editor"),
        ({"alpha": 0.5}, "alpha 0.5: expected a restorer of kind writer, found editor"),
        ({"device": "gpu", "engine": "onnx"}, "runs on the CPU"),
    ],
)
def test_what_an_editor_has_not_is_refused(tiny_editor, options, message):
    with pytest.raises(ConfigError, match=message):
        load_restorer(tiny_editor, **options)
    with pytest.raises(ConfigError, match="n_best: expected a writer's bundle"):
        load_restorer(tiny_editor).n_best("정말")


@pytest.mark.parametrize("beam", [None, 2], ids=["editor", "writer"])
@pytest.mark.parametrize(
    "source, restored",
    [
        ("This movie was great", "This movie was great"),
        ("Très bien 👍 映画!", "Très bien 👍 映画!"),
        ("여기서봤어요https://naver.me/abCD12 꼭보세요", "여기서 봤어요 https://naver.me/abCD12 꼭 보세요"),
        ("메일은 hong.gildong@example.com 으로보내주세요", "메일은 hong.gildong@example.com 으로 보내주세요"),
        ("#정말조앗다 #해시태그 @name 정말재미있다", "#정말조앗다 #해시태그 @name 정말 재미있다"),
        ("CGV에서 I told you 9.5점IMAX로보세요 꼭보세요", "CGV에서 I told you 9.5점 IMAX로 보세요 꼭 보세요"),
    ],
)
def test_what_is_not_korean_is_kept(beam, source, restored):
    found = load_restorer(beam=beam)(source)
    assert (found.text, found.error) == (restored, None) or beam and found.text == source and found.error


def test_beside_a_classifier_of_compiled_kernels_an_editor_has_them_too_and_a_writer_what_runs_it():
    editor, writer = (load_bundle(folder, LAYOUT) for folder in (EDITOR, WRITER))
    for name in PRECISIONS:
        assert (engine_beside(editor, name), engine_beside(writer, name)) == ("native", "auto")
    assert {engine_beside(each, "onnx") for each in (editor, writer)} == {"onnx"}


def test_an_editor_that_would_change_most_of_a_text_changes_nothing(restorer, monkeypatch):
    """The tags of a small training are arbitrary: here each character becomes the first that can be written."""
    run = type(restorer.engine).tag

    def hostile(engine, ids, lengths):
        tags, certainty, spaces = run(engine, ids, lengths)
        return numpy.full_like(tags, 5), numpy.ones_like(certainty), spaces

    monkeypatch.setattr(type(restorer.engine), "tag", hostile)
    # neither dictionary nor usage would allow it
    monkeypatch.setattr(correctors, "LETTERS", (9.0,))
    long, short = restorer.restore_many(["정말재미있는영화", "영화"])
    assert (long.text, long.error) == (long.source, REJECTED)
    assert short.error is None and short.text.replace(" ", "") == restorer.characters.character(5) * 2
