"""What an editor keeps in a noun of the dictionary."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention.systems.restoration.foreign import CERTAIN_OF_NOUN, keep_foreign, keep_names
from nsmc_attention.systems.sequences.characters import KEEP
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.tokenizers import has_dictionary

TEXT, SIZE, NOUN = "또 해운대 나왔네", 7, slice(1, 4)
certainties = some.lists(some.floats(0, 1, width=32), min_size=SIZE, max_size=SIZE)


@given(certainties, some.lists(some.sampled_from([KEEP, 1, 5]), min_size=SIZE, max_size=SIZE))
@pytest.mark.skipif(not has_dictionary(), reason="needs MeCab's dictionary")
def test_a_letter_of_a_long_noun_changes_only_where_that_is_certain(certainty, tags):
    found = keep_names(TEXT, numpy.array(tags), numpy.array(certainty, "float32"))
    for place, (tag, one, own) in enumerate(zip(tags, certainty, found.tolist())):
        doubtful = place in range(*NOUN.indices(SIZE)) and one < CERTAIN_OF_NOUN
        assert own == (KEEP if doubtful else tag)


parts = some.sampled_from(["영화", "a", "B2", "#태그", "@이름", "http://가.b/c", "3", ".", "나", " "])
texts = some.lists(some.lists(parts, min_size=1).map("".join).map(clean).filter(bool), min_size=1, max_size=5)


@given(texts, some.data())
def test_what_is_kept_of_a_text_does_not_depend_on_those_beside_it(texts, data):
    sizes = [len(text.replace(" ", "")) for text in texts]
    tags = [data.draw(some.lists(some.integers(0, 3), min_size=size, max_size=size)) for size in sizes]
    follows = [data.draw(some.lists(some.booleans(), min_size=size, max_size=size)) for size in sizes]
    flat = [numpy.array([value for own in each for value in own]) for each in (tags, follows)]
    together = [each.tolist() for each in keep_foreign(texts, *flat)]
    alone = [keep_foreign([text], *map(numpy.array, own)) for text, *own in zip(texts, tags, follows)]
    assert together == [[value for own in each for value in own.tolist()] for each in zip(*alone)]
