"""The network of `read` behind plain calls, and its letters: a search by attention, and CTC's opinion of what it found.

The two err in different places: attention skips or repeats, CTC confuses letters that look alike. Of what each of them
reads, the text is taken that both together find likeliest (Hori et al. 2017, ACL P17-1048).
Shapes: S strips, T letters, V letters of the vocabulary, P parts of letters.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Optional

import numpy
from numpy.typing import NDArray

from ...engines.graphs import RunnableGraph, chosen_engine, load_graphs
from ...machine.aliases import Numbers
from ...machine.processes import cores
from ...text.hangul import FINALS, INITIALS, VOWELS, parts
from ..sequences.characters import BEGIN, END, PADDING, Characters
from ..sequences.search import Decoder, Hypothesis, State
from .settings import FINAL_PARTS, LOOKED_AT, VOWEL_PARTS, ReaderBundle

MOST_STRIPS = 2**13  # Strips of the longest line that is read: more than a thousand letters
NEVER = -1e30  # Log-probability of an id that is no letter and not the end
SURELY_BLANK = float(numpy.log(0.6))  # A strip whose blank is likelier than this is taken for one without further ado


@dataclass(frozen=True)
class Letters(Characters):
    """The letters that can be read, to numbers and back; of the ids that are none, PADDING is CTC's blank.

    A syllable is spelt by its initial, vowel and final. A network has three softmaxes in place of one over thousands of
    syllables: the first over the initials and all that is no syllable, the others over vowels and finals and "none".
    The log-probability of a letter is the sum of its three parts'.
    """

    @property
    def sizes(self) -> tuple[int, ...]:
        """The arguments of a config's `network`: ids (V) and parts (P)."""
        return len(self), self.count

    @property
    def count(self) -> int:
        """The number of parts (P) of all three kinds."""
        return self.firsts + VOWEL_PARTS + FINAL_PARTS

    @property
    def starts(self) -> tuple[int, int, int]:
        """The number of the first of each kind of parts."""
        return 0, self.firsts, self.firsts + VOWEL_PARTS

    @property
    def firsts(self) -> int:
        """The number of initials and of letters that have none, special ids included."""
        return len(INITIALS) + END + 1 + sum(not parts(letter)[0] for letter in self.known)

    @cached_property
    def table(self) -> NDArray[numpy.int64]:
        """The parts of each id, (V, 3), as numbers from 0 to P - 1."""
        (_, vowels, finals), sign = self.starts, len(INITIALS)
        rows = []
        for letter in [*[""] * (END + 1), *self.known]:
            initial, vowel, final = parts(letter) if letter else ("", "", "")
            if initial:
                own = INITIALS.index(initial), vowels + VOWELS.index(vowel), finals + FINALS.index(final)
            else:
                own = sign, finals - 1, self.count - 1
                sign += 1
            rows.append(own)
        return numpy.array(rows)

    def log_probability(self, of_parts: Numbers) -> Numbers:
        """(..., P) -> (..., V)."""
        first, second, third = (of_parts[..., column] for column in self.table.T)
        total: Numbers = first + second + third
        return total

    def text(self, ids: Iterable[int]) -> str:
        """Return the letters of ids; of those that are none, nothing."""
        return "".join(self.known[number - END - 1] for number in ids if number > END)


class ReaderEngine:
    """Runs the graphs of a reader; several batches at the same time, a thread each."""

    def __init__(self, graphs: Mapping[str, RunnableGraph], letters: Letters, state_size: int, threads: int = 1):
        self.encode, self.decode = graphs.values()
        self.name, self.letters, self.state_size, self.threads = self.encode.name, letters, state_size, threads

    def begin(self, strips: Numbers, source_length: Numbers) -> tuple[list[Numbers], list[Numbers], Numbers]:
        """Return the inputs of every step, [memory, keys, mask], the first state, and CTC's (N, S, P)."""
        memory, keys, mask, parts = self.encode(strips, source_length)
        zeros = numpy.zeros((len(mask), self.state_size), "float32")
        return [memory, keys, mask], [zeros, *(numpy.zeros_like(mask) for _ in LOOKED_AT)], parts

    def step(
        self, ids: Numbers, source: Sequence[Numbers], state: Sequence[Numbers]
    ) -> tuple[Numbers, Numbers, list[Numbers]]:
        """Return log-probabilities (N, V), weights (N, S) and the state after ids (N,)."""
        parts, weights, *after = self.decode(ids, *source, *state)
        log_probability = self.letters.log_probability(parts)
        log_probability[:, :END] = NEVER
        return log_probability, weights, after


def load_reader_engine(
    bundle: ReaderBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> ReaderEngine:
    """Load the engine called name for a reader's bundle; "auto" is onnx where the bundle has its models."""
    has_graphs = next(iter(bundle.config.graphs)) in bundle.manifest["files"]
    chosen = chosen_engine(name, device, has_graphs)
    graphs = load_graphs(bundle, chosen, device)
    several = (threads or cores()) if chosen == "onnx" else 1
    return ReaderEngine(graphs, bundle.codec, bundle.config.model.decoder_size, several)


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
    may_skip = numpy.zeros(len(spelling), dtype=bool)  # from a letter to another one, the blank between may be left out
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
    """Return the Hypothesis of one line whose letters are given: their score, and the weights of each."""
    before, weights, score = BEGIN, list[Numbers](), 0.0
    for letter in [*ids, END]:
        log_probability, row, state = decoder(numpy.array([before]), source, state)
        score += float(log_probability[0, letter])
        weights.append(row[0])
        before = letter
    return Hypothesis(tuple(ids), score, numpy.array(weights[:-1]), False)
