"""From what a network makes of a line to its letters: a search by attention, and CTC's opinion of what it found.

The two err in different places: attention skips or repeats, CTC confuses letters that look alike. Of what each of them
reads, the text is taken that both together find likeliest (Kim et al. 2017, arXiv:1609.06773, section 2.3).
Shapes: S strips, T letters, V letters of the vocabulary, P parts of letters.
"""

from collections.abc import Sequence
from itertools import groupby

import numpy

from ..._runtime.aliases import Numbers
from ..sequences.characters import BEGIN, END, PADDING
from ..sequences.search import Decoder, Hypothesis, State
from .engines import NEVER
from .letters import Letters

# A strip whose blank is likelier than this is taken for one without further ado
SURELY_BLANK = float(numpy.log(0.6))


def ctc_path(parts: Numbers, letters: Letters) -> list[int]:
    """Return the letters of CTC's likeliest path through log-probabilities (S, P)."""
    path = numpy.full(len(parts), PADDING)
    unsure = parts[:, letters.table[PADDING]].sum(axis=1) < SURELY_BLANK
    path[unsure] = letters.log_probability(parts[unsure]).argmax(axis=1)
    return [letter for letter, _ in groupby(path.tolist()) if letter > END]


def ctc_log_probability(parts: Numbers, ids: Sequence[int], letters: Letters) -> float:
    """Return the log-probability (nats) that CTC gives letters, of all paths that spell them; Graves et al. 2006."""
    spelling = numpy.full(2 * len(ids) + 1, PADDING)
    spelling[1::2] = ids
    logs = parts[:, letters.table[spelling]].sum(axis=2)  # (S, 2 T + 1)
    # from a letter to another one, the blank between may be left out
    may_skip = numpy.zeros(len(spelling), dtype=bool)
    may_skip[3::2] = spelling[3::2] != spelling[1:-2:2]
    alphas = numpy.full(len(spelling), NEVER)
    alphas[:2] = logs[0, :2]
    ones, twos = numpy.full(len(spelling), NEVER), numpy.full(len(spelling), NEVER)
    for row in logs[1:]:
        ones[1:] = alphas[:-1]
        twos[2:] = numpy.where(may_skip[2:], alphas[:-2], NEVER)
        alphas = numpy.logaddexp(numpy.logaddexp(alphas, ones), twos) + row
    return float(numpy.logaddexp.reduce(alphas[-2:]))


def forced(decoder: Decoder, source: State, state: State, ids: Sequence[int]) -> Hypothesis:
    """Return what the decoder thinks of letters it is made to write: their score and the weights of each; one line."""
    before, weights, score = BEGIN, list[Numbers](), 0.0
    for letter in [*ids, END]:
        log_probability, row, state = decoder(numpy.array([before]), source, state)
        score += float(log_probability[0, letter])
        weights.append(row[0])
        before = letter
    return Hypothesis(tuple(ids), score, numpy.array(weights[:-1]), False)
