"""Is a change of a text that may be right to be believed? Logistic regressions, also on how people type.

The editor learned standard Korean. usage.json says what writers of raw reviews do: the log-odds of a space (`Junctions` of
their reviews), and how often three letters follow each other. recipes/usage.py makes both it and WEIGHTS.
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

# Of a change of each kind: a constant, the weight of the log-odds of its probability; for a letter those of the least and the
# mean count of the letters as typed, then as changed; for a space those of whether the rules leave it open (allowed), of the
# log-odds that reviews have it, and of whether words are surely apart
WEIGHTS: dict[str, tuple[float, ...]] = {
    "letter": (-1.81, 0.97, 0.75, -0.45, -0.13, 0.47),
    "space": (0.14, 0.42, -2.86, 0.34, 1.46),
    "gap": (-1.48, 0.75, -5.14, 0.12),
}
# The least log-odds of a change by which a text is not right; below UNLIKELY no space changes in any text
BELIEVED, UNLIKELY = {"letter": 1.8, "space": 2.3, "gap": 1.0}, -2.0
# The largest log-odds of a probability; letters in a row, and how many times log(1 + their count) is stored
LARGEST, TRIGRAM, SCALE = 7.0, 3, 10


@lru_cache(maxsize=1)
def usage() -> Junctions:
    """Return the log-odds of spaces in raw reviews; its keys of three letters have their counts (`SCALE`)."""
    values = json.loads(Path(__file__).with_name("usage.json").read_bytes())
    return Junctions(*unpacked(b85decode(values["keys"])), values["junction"], values["inside"])


def log_odds(kind: str, evidence: Sequence[float]) -> float:
    """Return the log-odds that a change of a kind is right, by the values of its WEIGHTS but the constant."""
    constant, *weights = WEIGHTS[kind]
    return constant + sum(map(mul, weights, evidence))


def of_probability(probability: float) -> float:
    return min(math.log(max(probability, NEAREST) / max(1 - probability, NEAREST)), LARGEST)


def of_letters(letters: str, tags: Sequence[int], place: int, characters: Characters) -> list[float]:
    """Return the usage of the letters around a place of a text without spaces: as typed and as its tags write them."""
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
