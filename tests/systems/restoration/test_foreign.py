"""What an editor keeps of a text that is not Korean."""

import numpy
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention.systems.restoration.conventions import keep_foreign
from nsmc_attention.systems.restoration.decisions import Decisions
from nsmc_attention.text.encoding import clean

parts = some.sampled_from(["영화", "a", "B2", "#태그", "@이름", "http://가.b/c", "3", ".", "나", " "])
texts = some.lists(some.lists(parts, min_size=1).map("".join).map(clean).filter(bool), min_size=1, max_size=5)


def kept(texts, tags, follows):
    tags, follows = numpy.array(tags, "int32"), numpy.array(follows, bool)
    ones = numpy.ones(len(tags))
    decided = keep_foreign(Decisions(tags, follows, follows, ones, ones, ones), texts)
    return list(zip(decided.tags.tolist(), decided.has_space.tolist()))


@given(texts, some.data())
def test_what_is_kept_of_a_text_does_not_depend_on_those_beside_it(texts, data):
    sizes = [len(text.replace(" ", "")) for text in texts]
    tags = [data.draw(some.lists(some.integers(0, 3), min_size=size, max_size=size)) for size in sizes]
    follows = [data.draw(some.lists(some.booleans(), min_size=size, max_size=size)) for size in sizes]
    together = kept(texts, sum(tags, []), sum(follows, []))
    assert together == [pair for text, *own in zip(texts, tags, follows) for pair in kept([text], *own)]
