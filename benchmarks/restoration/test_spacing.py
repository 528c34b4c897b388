"""The sentences and scores of the spacing benchmark, without running a restorer."""

import re

from benchmarks.restoration import misplaced
from benchmarks.restoration.spacing import OPTIONAL, Sentence, f1, read
from benchmarks.restoration.spacing import SENTENCES as FIRST

SENTENCES = read() + read(FIRST.with_name("spacing_2.tsv"))


def test_sentences_are_many_short_different_and_well_formed():
    assert len(SENTENCES) >= 1000
    assert sum(sentence.kind == "plain" for sentence in SENTENCES) >= 225
    assert len({sentence.text("").replace(" ", "") for sentence in SENTENCES}) == len(SENTENCES)
    assert all(re.fullmatch("[0-9]*", sentence.rule) for sentence in SENTENCES)
    texts = [sentence.text() for sentence in SENTENCES]
    assert all(10 <= len(text) <= 60 and text == " ".join(text.split()) for text in texts)


def test_both_ways_are_right_where_the_rules_allow_both():
    assert all(sentence.is_right(sentence.text(optional)) for sentence in SENTENCES for optional in (" ", ""))


def test_an_optional_place_is_nobodys_loss_and_any_other_is():
    for sentence in SENTENCES:
        joined, decided = sentence.text().replace(" ", ""), sentence.marked.count(" ")
        _, places = sentence.spaces(joined)
        assert sum(wanted for _, wanted in places) == decided
        assert f1(places) == 0
        assert sentence.is_right(joined) == (decided == 0)
        assert len(places) == len(joined) - 1 - sentence.marked.count(OPTIONAL)


def test_changed_letters_are_aligned():
    sentence = Sentence("plain", "정말 재미있어요 그래도", "")
    same, places = sentence.spaces("정말 재밌어요 그래도")
    assert not same and f1(places) == 100
    assert not sentence.is_right("정말 재밌어요 그래도")


def test_half_of_the_spaces_are_misplaced(tmp_path):
    for typed, right in misplaced.misplaced():
        assert typed.replace(" ", "") == right.replace(" ", "") and typed == " ".join(typed.split())
        assert typed.count(" ") == right.count(" ")
        assert misplaced.f1(typed, right) <= 0.5 or right.count(" ") == 0
    marked = tmp_path / "marked.txt"
    marked.write_text("정▁말▔재미있다\n", encoding="utf-8")
    assert [*misplaced.read(marked)] == [("정 말재미있다", "정말 재미있다")]
