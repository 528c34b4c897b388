"""Log-odds that a change to a text is correct: logistic regressions on the editor's probability and on usage.

usage.json describes 576,833 raw reviews: the log-odds of a space (`Junctions`, fitted to the spaces as they were typed) and the
counts of three consecutive letters. recipes/usage.py writes usage.json and prints WEIGHTS.
"""

import json
import math
from base64 import b85decode
from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from pathlib import Path

from ..sequences.characters import DELETE, END, SPACE, Characters
from .junctions import NEAREST, Junctions, hash_of, unpacked

# For each kind of change: a constant, and the weight of the log-odds of its probability. For a letter, then the weights of the
# minimum and mean log counts as typed, and as changed. For a space, the weights of whether the rules allow both forms, of the
# log-odds of this change in reviews, and (added spaces only) of whether the rules always require a space
WEIGHTS: dict[str, tuple[float, ...]] = {
    "letter": (-1.81, 0.97, 0.75, -0.45, -0.13, 0.47),
    "added": (0.14, 0.42, -2.86, 0.34, 1.46),
    "removed": (-1.48, 0.75, -5.14, 0.12),
}
# A text is changed if the log-odds of one change are at least LIKELY; spaces with log-odds below UNLIKELY never change
LIKELY, UNLIKELY = {"letter": 1.8, "added": 2.3, "removed": 1.0}, -2.0
# The maximum log-odds of a probability; the length of counted sequences; the factor of log(1 + count) in usage.json
LARGEST, TRIGRAM, SCALE = 7.0, 3, 10


@lru_cache(maxsize=1)
def usage() -> Junctions:
    """Return the log-odds of spaces in raw reviews; keys of three letters have SCALE * log(1 + count)."""
    values = json.loads(Path(__file__).with_name("usage.json").read_bytes())
    return Junctions(*unpacked(b85decode(values["keys"])), values["junction"], values["inside"])


def log_odds(kind: str, evidence: Sequence[float]) -> float:
    """Return the log-odds that a change is correct; `evidence` has a value for each weight after the constant."""
    constant, *weights = WEIGHTS[kind]
    return constant + sum(map(mul, weights, evidence))


def of_probability(probability: float) -> float:
    return min(math.log(max(probability, NEAREST) / max(1 - probability, NEAREST)), LARGEST)


def of_letters(letters: str, tags: Sequence[int], place: int, characters: Characters) -> list[float]:
    """Return the minimum and the mean of the log counts around a letter, as typed and then as changed by the tags."""
    units = [
        characters.character(tag) if tag > END else "" if tag == DELETE else letter
        for letter, tag in zip(letters, tags)
    ]
    found = list[float]()
    for each in (letters, units):
        before, after = SPACE + "".join(each[:place]), "".join(each[place + 1 :]) + SPACE
        around = before[1 - TRIGRAM :] + each[place] + after[: TRIGRAM - 1]
        keys = (around[start : start + TRIGRAM] for start in range(len(around) - TRIGRAM + 1))
        counts = [usage().by_hash.get(hash_of(key), 0) / SCALE for key in keys] or [0.0]
        found += [min(counts), sum(counts) / len(counts)]
    return found
