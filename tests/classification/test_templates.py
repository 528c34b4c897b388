import re

import pandas
import pytest
from numpy.random import RandomState

from nsmc_attention.bundle.card import model_card
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.classification import templates
from nsmc_attention.classification.settings import preset
from nsmc_attention.classification.task import LAYOUT
from nsmc_attention.classification.templates import SLOTS, TEMPLATES, WORDS, letters, sentence, sentences
from nsmc_attention.classification.train import tokenized, with_templates
from nsmc_attention.evaluation.behaviour import SENTENCES, cases
from nsmc_attention.reviews.tables import load_reviews
from nsmc_attention.text.hangul import parts

HELD_OUT = "지겹 지겨 허접 식상 뭉클 통쾌 쫄깃 졸작 수작 탄탄 산만 밋밋 설레 설렌 설렜 짜증".split()
# A noun of the tables with a particle, as a word of its own
NOUNS = {each for name in ("main", "side", "work", "part", "virtue", "cost", "mind") for each in SLOTS[name]}
PARTICLE = re.compile(rf"(?:^| )({'|'.join(sorted(NOUNS))})(이|가|은|는)(?= )")


@pytest.fixture(scope="module")
def many():
    return sentences(20_000, seed=0)


def test_the_seed_decides():
    first = sentences(200, seed=3)
    pandas.testing.assert_frame_equal(first, sentences(200, seed=3))
    pandas.testing.assert_frame_equal(first.iloc[:50], sentences(50, seed=3))
    assert first["document"].tolist() != sentences(200, seed=4)["document"].tolist()


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_there_are_as_many_as_asked_for_and_half_of_each_label(count):
    found = sentences(count, seed=1)
    assert list(found.columns) == ["document", "label"] and len(found) == count
    assert (found["label"] == 1).sum() == count // 2


def test_none_comes_twice_and_none_is_of_the_behavioural_suite(many):
    assert not many["document"].duplicated().any()
    known = {letters(text) for case in cases() for text in (case.text, case.other or "")}
    assert known.isdisjoint(map(letters, many["document"]))
    assert many["document"].map(letters).nunique() > 10_000


def test_no_sentence_has_both_labels(many):
    bare = many["document"].map(letters)
    assert set(bare[many["label"] == 0]).isdisjoint(bare[many["label"] == 1])


def test_held_out_words_are_in_the_suite_and_not_in_the_templates(many):
    text = "\n".join(many["document"])
    assert not [word for word in HELD_OUT if word in text]
    assert not [word for word in HELD_OUT if word not in SENTENCES.read_text(encoding="utf-8")]


def test_particles_agree_with_the_final_consonant(many):
    found = [match.groups() for text in many["document"] for match in PARTICLE.finditer(text)]
    assert len(found) > 5000 and {particle for _, particle in found} == set("이가은는")
    assert not [noun + particle for noun, particle in found if bool(parts(noun[-1])[2]) != (particle in "이은")]


@pytest.mark.parametrize("category", TEMPLATES)
def test_each_category_has_both_labels_and_no_open_slot(category):
    random = RandomState(0)
    texts = [{sentence(category, label, random) for _ in range(500)} for label in (0, 1)]
    assert min(map(len, texts)) > 400 and texts[0].isdisjoint(texts[1])
    assert not [text for text in texts[0] | texts[1] if re.search("[^가-힣0-9ㅋㅎㅠ!.~ ]", text)]


def test_words_have_all_their_forms():
    for words in WORDS:
        assert all(len(forms) > len(templates.COLUMNS) + 4 and len(set(forms)) == len(forms) for forms in words)
        assert all(forms[0].endswith("지") for forms in words)


@pytest.mark.parametrize(
    "text, bare", [("안 지루해요 ㅋㅋ", "안지루해요"), ("1편보다 낫다...", "1편보다낫다"), ("ㅠㅠ", "")]
)
def test_spaces_and_punctuation_tell_no_sentences_apart(text, bare):
    assert letters(text) == bare


def test_a_training_has_the_sentences_behind_its_reviews_and_its_card_says_so(run_folder):
    config = preset("default").with_fields(templates=12)
    part = tokenized(load_reviews("sample", "train"), config)
    joined = with_templates(part, config)
    assert joined.reviews[: len(part.reviews)] == part.reviews and len(joined.reviews) == len(part.reviews) + 12
    assert joined.labels[-12:].mean() == 0.5 and len(joined.frame) == len(joined.labels)
    assert with_templates(part, preset("default")) is part
    manifest = load_bundle(run_folder / "bundle", LAYOUT).manifest
    changed = {**manifest, "config": config.to_dict()}
    assert "12 sentences of negation" in model_card(LAYOUT, changed) and "templates" not in model_card(LAYOUT, manifest)
