"""Training sentences of negation: their overlap with the behavioural suite, and the places of their signs."""

import re

import pytest

from benchmarks.classification.behaviour import cases
from nsmc_attention.corpora import nsmc
from recipes.negations import IDIOM, NEGATED, Sentence, letters, runs, sentences

COUNT = 700


REVIEWS = nsmc.load("sample", "train")


@pytest.fixture(scope="module")
def found():
    return sentences(COUNT, 0, REVIEWS)


def test_sentences_differ_and_half_of_them_are_positive(found):
    assert len({sentence.text for sentence in found}) == len(found) > 0.98 * COUNT
    assert abs(sum(sentence.label for sentence in found) - len(found) / 2) < 0.02 * COUNT


def test_no_sentence_is_of_the_suite_and_no_idiom_shares_five_letters_with_its_negations(found):
    suite = {letters(text) for case in cases() for text in (case.text, case.other or "")}
    assert not suite & {letters(sentence.text) for sentence in found}
    known = runs([letters(case.text) for case in cases() if case.category in NEGATED], IDIOM)
    idioms = [letters(sentence.text) for sentence in found if sentence.category == "idioms"]
    assert len(idioms) > 50 and not known & runs(idioms, IDIOM)


def test_signs_lie_inside_the_text_apart_from_each_other_and_on_words(found):
    for sentence in found:
        spans = sorted(sentence.spans)
        assert str(sentence) == " ".join(f"{start}:{end}:{sign}" for start, end, sign in spans)
        assert all(one[1] <= other[0] for one, other in zip(spans, spans[1:]))
        for start, end, sign in spans:
            assert sign in (-1, 0, 1) and re.fullmatch("[가-힣]+", sentence.text[start:end])


def test_negators_of_negated_words_are_silent_in_positive_sentences_alone(found):
    silent = {(each.label, each.category) for each in found if any(sign == 0 for *_, sign in each.spans)}
    assert silent and silent <= {(1, "negation"), (1, "idioms")}


def test_another_word_moves_the_spans_behind_it():
    sentence = Sentence("안 좋은 영화, 좋아", 0, "negation", ((2, 4, -1), (9, 11, 1)))
    changed = sentence.with_word(2, 4, "감동적")
    assert [changed.text[start:end] for start, end, _ in changed.spans] == ["감동적", "좋아"]


def test_same_seed_gives_the_same_sentences(found):
    assert sentences(COUNT, 0, REVIEWS) == found != sentences(COUNT, 1, REVIEWS)
