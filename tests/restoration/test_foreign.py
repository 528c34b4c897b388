"""What an editor keeps in a noun of the dictionary."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention.restoration.characters import KEEP
from nsmc_attention.restoration.foreign import CERTAIN_OF_NOUN, keep_names
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
