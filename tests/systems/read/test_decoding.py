"""CTC's probabilities against all paths written out, and a decoder that is made to write."""

from itertools import groupby, product

import numpy
import pytest

from nsmc_attention.systems.read.decoding import Letters, ctc_log_probability, ctc_path, forced
from nsmc_attention.systems.sequences.characters import BEGIN, END, PADDING
from nsmc_attention.systems.sequences.search import search
from nsmc_attention.text.hangul import parts

LETTERS = Letters((" ", *"가각나!a"))


def log_parts(*shape, seed=0):
    """Log-probabilities of parts, each kind of them by itself."""
    logits = numpy.random.RandomState(seed).normal(0, 2, (*shape, LETTERS.count))
    first, second = LETTERS.starts[1:]
    kinds = numpy.split(logits, [first, second], axis=-1)
    return numpy.concatenate([kind - numpy.logaddexp.reduce(kind, axis=-1)[..., None] for kind in kinds], axis=-1)


def test_a_letter_is_as_likely_as_its_parts_together():
    own = log_parts()
    table = LETTERS.log_probability(own)
    assert len(table) == len(LETTERS) == END + 1 + 6
    # two syllables that differ in the final alone
    one, other = (LETTERS.ids[letter] for letter in "가각")
    assert (LETTERS.table[one] == LETTERS.table[other]).tolist() == [True, True, False]
    assert table[one] == pytest.approx(own[LETTERS.table[one]].sum())
    # all letters, known or not, have a probability of 1 together; so those that are known have less
    assert numpy.exp(table).sum() < 1


def test_parts_tell_all_letters_apart():
    rows = {tuple(row) for row in LETTERS.table.tolist()}
    assert len(rows) == len(LETTERS)
    assert [bool(parts(letter)[0]) for letter in LETTERS.known] == [row[0] < 19 for row in LETTERS.table[END + 1 :]]


def spelt_by_all_paths(own, ids):
    """The probability that CTC gives letters, of every path that spells them."""
    table, total = numpy.exp(LETTERS.log_probability(own)), 0.0
    for path in product([PADDING, *sorted(set(ids))], repeat=len(own)):
        if [letter for letter, _ in groupby(path) if letter != PADDING] == list(ids):
            total += numpy.prod([table[place, letter] for place, letter in enumerate(path)])
    return numpy.log(total)


@pytest.mark.parametrize("text", ["", "가", "가나", "가가", "나가나"])
def test_ctc_sums_over_all_paths(text):
    own, ids = log_parts(5, seed=len(text)), [LETTERS.ids[letter] for letter in text]
    assert ctc_log_probability(own, ids, LETTERS) == pytest.approx(spelt_by_all_paths(own, ids))


def test_a_repeated_letter_needs_a_blank_between():
    ids = [LETTERS.ids["가"]] * 2
    assert ctc_log_probability(log_parts(2), ids, LETTERS) < -1e20
    assert ctc_log_probability(log_parts(3), ids, LETTERS) > -1e3


def test_the_likeliest_path_without_repetitions_and_blanks():
    own = log_parts(40)
    path = LETTERS.log_probability(own)
    surely_blank = path[:, PADDING] > numpy.log(0.6)
    likeliest = numpy.where(surely_blank, PADDING, path.argmax(axis=1))
    assert ctc_path(own, LETTERS) == [letter for letter, _ in groupby(likeliest.tolist()) if letter > END]


def decoder(ids, source, state):
    """A decoder whose next letter depends on the last one and on how many there were."""
    (counts,) = state
    rows = [numpy.random.RandomState([letter, count]).normal(0, 1, 8) for letter, count in zip(ids, counts[:, 0])]
    logs = numpy.array([row - numpy.logaddexp.reduce(row) for row in rows])
    return logs, numpy.tile(counts, (1, 3)) / 100, [counts + 1]


def test_what_is_forced_scores_as_the_search_that_found_it():
    state = [numpy.zeros((1, 1), dtype="int64")]
    for best in search(decoder, [], state, BEGIN, END, [6], beam=3, alpha=0.0)[0]:
        if not best.truncated:
            again = forced(decoder, [], state, best.ids)
            assert again.score == pytest.approx(best.score)
            assert again.weights.tolist() == best.weights.tolist()
