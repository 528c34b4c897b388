"""Search against every sequence that there is, with a small decoder whose next character depends on the last two."""

from itertools import product

import numpy
import pytest

from nsmc_attention.systems.sequences.search import length_penalty, search

BEGIN, END, SIZE = 0, 1, 5


class Table:
    """A decoder that looks its log-probabilities up by the last two characters; the source is which table."""

    def __init__(self, tables=3, seed=0, never_ends=False):
        logits = 2 * numpy.random.RandomState(seed).randn(tables, SIZE, SIZE, SIZE)
        logits[..., BEGIN] = -1e9
        if never_ends:
            logits[..., END] = -1e9
        self.log_probability = logits - numpy.log(numpy.exp(logits).sum(axis=-1, keepdims=True))

    def __call__(self, ids, source, state):
        (table,), (last,) = source, state
        weights = numpy.eye(SIZE)[ids] * 0.5 + 0.1
        return self.log_probability[table, last, ids], weights, [ids]


def run(decoder, tables, longest, **options):
    source, state = [numpy.array(tables)], [numpy.full(len(tables), BEGIN)]
    return search(decoder, source, state, BEGIN, END, [longest] * len(tables), **options)


def every_sequence(decoder, table, longest, alpha):
    found = []
    for length in range(longest + 1):
        for ids in product(range(2, SIZE), repeat=length):
            steps = [BEGIN, BEGIN, *ids, END]
            total = sum(decoder.log_probability[table, a, b, c] for a, b, c in zip(steps, steps[1:], steps[2:]))
            found.append((total / length_penalty(length + 1, alpha), ids))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_finds_the_best_of_all_sequences(seed, alpha):
    decoder = Table(seed=seed)
    for table, found in enumerate(run(decoder, [0, 1, 2], 5, beam=120, alpha=alpha)):
        expected = every_sequence(decoder, table, 4, alpha)[:5]
        whole = [each for each in found if not each.truncated][:5]
        assert [each.ids for each in whole] == [ids for _, ids in expected]
        assert [each.score for each in whole] == pytest.approx([score for score, _ in expected])


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_a_review_is_searched_as_if_alone(beam):
    decoder = Table(seed=7)
    together = run(decoder, [0, 1, 2, 1], 9, beam=beam)
    for table, found in zip([0, 1, 2, 1], together):
        (alone,) = run(decoder, [table], 9, beam=beam)
        one, other = ([(each.ids, each.score, each.truncated) for each in many] for many in (alone, found))
        assert one == other


def test_a_beam_of_one_takes_the_likeliest_character_at_each_step():
    decoder = Table(seed=3)
    for table, (found,) in enumerate(run(decoder, [0, 1, 2], 20, beam=1)):
        ids, before, last = [], BEGIN, BEGIN
        while len(ids) < 20:
            following = int(decoder.log_probability[table, before, last].argmax())
            if following == END:
                break
            ids.append(following)
            before, last = last, following
        assert found.ids == tuple(ids) and found.truncated == (len(ids) == 20)


@pytest.mark.parametrize("beam", [1, 3])
def test_what_never_ends_is_returned_as_truncated(beam):
    for found in run(Table(never_ends=True), [0, 1], 6, beam=beam):
        assert len(found) == beam and all(each.truncated and len(each.ids) == 6 for each in found)


def test_weights_are_those_of_the_steps_that_wrote_each_character():
    for found, *_ in run(Table(seed=5), [0, 1, 2], 8, beam=3):
        assert found.weights.shape[0] == len(found.ids)
        # of this decoder the weights show the character before
        for row, before in zip(found.weights, (BEGIN, *found.ids)):
            assert row.argmax() == before
