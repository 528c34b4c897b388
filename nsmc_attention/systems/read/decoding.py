"""Decoding of `read`: the engine of its network, its letters, and the probabilities of CTC.

The decoder and CTC make different errors: attention skips or repeats letters, CTC confuses letters that look alike. The
result is the reading of either that has the higher joint score (Hori et al. 2017, ACL P17-1048).
Shapes: N lines, S strips, T letters, V letters of the vocabulary, P parts of letters.
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
NEVER = -1e30  # Log-probability of the special ids below the end
SURELY_BLANK = float(numpy.log(0.6))  # Strips with a likelier blank skip the costly argmax over all letters


@dataclass(frozen=True)
class Letters(Characters):
    """The vocabulary of letters, with PADDING as CTC's blank.

    The network has three softmaxes in place of one over thousands of syllables: the first over initials and all letters
    that are not syllables, the others over vowels and over finals, each with "none". The log-probability of a letter is
    the sum over its three parts.
    """

    @property
    def sizes(self) -> tuple[int, ...]:
        """The arguments of a config's `network`: ids (V) and parts (P)."""
        return len(self), self.count

    @property
    def count(self) -> int:
        """Number of parts (P) of all three kinds."""
        return self.firsts + VOWEL_PARTS + FINAL_PARTS

    @property
    def starts(self) -> tuple[int, int, int]:
        """Index of the first part of each kind."""
        return 0, self.firsts, self.firsts + VOWEL_PARTS

    @property
    def firsts(self) -> int:
        """Number of parts of the first kind: initials, letters that are not syllables, and special ids."""
        return len(INITIALS) + END + 1 + sum(not parts(letter)[0] for letter in self.known)

    @cached_property
    def table(self) -> NDArray[numpy.int64]:
        """Parts of each id, (V, 3), as indices from 0 to P - 1."""
        (_, vowels, finals), sign = self.starts, len(INITIALS)
        rows = []
        for letter in [*[""] * (END + 1), *self.known]:
            initial, vowel, final = parts(letter) if letter else ("", "", "")
            if initial:
                rows.append((INITIALS.index(initial), vowels + VOWELS.index(vowel), finals + FINALS.index(final)))
            else:
                rows.append((sign, finals - 1, self.count - 1))
                sign += 1
        return numpy.array(rows)

    def log_probability(self, part_logs: Numbers) -> Numbers:
        """Return the log-probabilities of letters (..., V) from those of parts (..., P)."""
        initials, vowels, finals = (part_logs[..., column] for column in self.table.T)
        total: Numbers = initials + vowels + finals
        return total

    def text(self, ids: Iterable[int]) -> str:
        """Return the letters of ids, without special ids."""
        return "".join(self.known[number - END - 1] for number in ids if number > END)


class ReaderEngine:
    """The graphs of a reader; `threads` batches may run at the same time."""

    def __init__(self, graphs: Mapping[str, RunnableGraph], letters: Letters, state_size: int, threads: int = 1):
        self.encode, self.decode = graphs.values()
        self.name, self.letters, self.state_size, self.threads = self.encode.name, letters, state_size, threads

    def begin(self, strips: Numbers, source_length: Numbers) -> tuple[list[Numbers], list[Numbers], Numbers]:
        """Return the constant inputs of steps, the initial state, and CTC's log-probabilities of parts (N, S, P)."""
        memory, keys, mask, parts = self.encode(strips, source_length)
        zeros = numpy.zeros((len(mask), self.state_size), "float32")
        return [memory, keys, mask], [zeros, *(numpy.zeros_like(mask) for _ in LOOKED_AT)], parts

    def step(
        self, ids: Numbers, source: Sequence[Numbers], state: Sequence[Numbers]
    ) -> tuple[Numbers, Numbers, list[Numbers]]:
        """Return the log-probabilities (N, V) of the letters after ids (N,), the weights (N, S) and the new state."""
        parts, weights, *next_state = self.decode(ids, *source, *state)
        log_probability = self.letters.log_probability(parts)
        log_probability[:, :END] = NEVER
        return log_probability, weights, next_state


def load_reader_engine(
    bundle: ReaderBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> ReaderEngine:
    """Load a reader's engine by name; "auto" is onnx if the bundle has ONNX models."""
    has_graphs = next(iter(bundle.config.graphs)) in bundle.manifest["files"]
    chosen = chosen_engine(name, device, has_graphs)
    graphs = load_graphs(bundle, chosen, device)
    engine_threads = (threads or cores()) if chosen == "onnx" else 1
    return ReaderEngine(graphs, bundle.codec, bundle.config.model.decoder_size, engine_threads)


def ctc_path(parts: Numbers, letters: Letters) -> list[int]:
    """Return the letter ids of CTC's likeliest path through log-probabilities of parts (S, P)."""
    path = numpy.full(len(parts), PADDING)
    unsure = parts[:, letters.table[PADDING]].sum(axis=1) < SURELY_BLANK
    path[unsure] = letters.log_probability(parts[unsure]).argmax(axis=1)
    return [letter for letter, _ in groupby(path.tolist()) if letter > END]


def ctc_log_probability(parts: Numbers, ids: Sequence[int], letters: Letters) -> float:
    """Return CTC's log-probability (nats) of letter ids: the sum over all their paths, Graves et al. 2006."""
    labels = numpy.full(2 * len(ids) + 1, PADDING)
    labels[1::2] = ids
    logs = parts[:, letters.table[labels]].sum(axis=2)  # (S, 2 T + 1)
    may_skip = numpy.zeros(len(labels), dtype=bool)  # the blank between two different letters is optional
    may_skip[3::2] = labels[3::2] != labels[1:-2:2]
    alphas = numpy.full(len(labels), NEVER)
    alphas[:2] = logs[0, :2]
    advanced, skipped = numpy.full(len(labels), NEVER), numpy.full(len(labels), NEVER)
    for row in logs[1:]:
        advanced[1:] = alphas[:-1]
        skipped[2:] = numpy.where(may_skip[2:], alphas[:-2], NEVER)
        alphas = numpy.logaddexp(numpy.logaddexp(alphas, advanced), skipped) + row
    return float(numpy.logaddexp.reduce(alphas[-2:]))


def forced(decoder: Decoder, source: State, state: State, ids: Sequence[int]) -> Hypothesis:
    """Return the Hypothesis of one line with given letter ids: the decoder's score for them, and their weights."""
    previous, weights, score = BEGIN, list[Numbers](), 0.0
    for letter in [*ids, END]:
        log_probability, row, state = decoder(numpy.array([previous]), source, state)
        score += float(log_probability[0, letter])
        weights.append(row[0])
        previous = letter
    return Hypothesis(tuple(ids), score, numpy.array(weights[:-1]), False)
