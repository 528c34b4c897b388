"""Where a text without its spaces may have one, by what MeCab finds in it: a logistic regression on neighbouring morphemes.

    letters -> morphemes (mecab-ko) -> keys of each junction of two -> their weights added: log-odds of a space

An editor knows the words of its training sentences, the dictionary those of other texts too. Half of these log-odds are
added to the editor's, as of two experts (Hinton 2002): the share was chosen on the packaged editor's dev part and on
comments that are no film reviews (benchmarks/RESULTS.md).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import islice
from math import log
from typing import TYPE_CHECKING, Any, Optional

import numpy
from numpy.typing import NDArray

from ..native.dictionary import installed_decoder
from ..text.tokenizers import morphemes

if TYPE_CHECKING:
    from ..native._text import Junctions as Compiled

# Sentences that the weights are fitted to, and in how many junctions a key must be; smaller weights are left out
SENTENCES, FEWEST, SMALLEST = 100_000, 10, 0.2
# What of the log-odds is added to an editor's
SHARE = 0.5
# The strength of the penalty, as scikit-learn's C
PENALTY = 0.3
# A probability of 0 or 1 has finite log-odds; a weight of a foreign bundle may be this large, whose sums do not overflow
NEAREST, LARGEST = 1e-6, 50

# A function that returns keys, and its arguments
Keys = tuple[Any, ...]


@dataclass(frozen=True)
class Junctions:
    """What each key of a junction adds to an editor's log-odds of a space, to `junction`; `inside` a morpheme is added that."""

    weights: Mapping[str, float]
    junction: float
    inside: float

    def log_odds(self, texts: Sequence[str]) -> NDArray[numpy.float64]:
        """Return (S,), the log-odds of a space after each character of texts of S together, which have none."""
        decoder = installed_decoder()
        if not decoder:
            return numpy.concatenate([self.in_python(text) for text in texts])
        found = numpy.empty(sum(map(len, texts)))
        decoder.log_odds(list(texts), self.compiled, found)
        return found

    def in_python(self, letters: str) -> NDArray[numpy.float64]:
        """Return the same of one text, to the bit; for where nothing is compiled, and to read."""
        found = numpy.full(len(letters), self.inside)
        for place, by_surface, by_tags in junctions_of(letters):
            found[place] = self.junction + self.sum_of(by_surface) + self.sum_of(by_tags)
        return found

    def sum_of(self, keys: Keys) -> float:
        """Return the sum of the weights of keys, term by term: since Python 3.12 `sum` rounds otherwise."""
        total = 0.0
        for key in keys_of(keys):
            total += self.weights.get(key, 0.0)
        return total

    @cached_property
    def compiled(self) -> "Compiled":
        """The weights in compiled form; a key that is added below is added to `Junctions` of native/text.cpp too."""
        from ..native._text import Junctions as Compiled

        return Compiled(dict(self.weights), self.junction, self.inside)

    def __getstate__(self) -> dict[str, object]:
        # compiled objects are not pickled
        return {name: value for name, value in self.__dict__.items() if name != "compiled"}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "weights": dict(sorted(self.weights.items()))}

    @classmethod
    def from_dict(cls, values: Any) -> "Optional[Junctions]":
        """Return what `to_dict` made; None if it is something else."""
        if not isinstance(values, dict) or values.keys() != {each.name for each in fields(cls)}:
            return None
        weights = values["weights"]
        numbers = [*weights.values(), values["junction"], values["inside"]] if isinstance(weights, dict) else [None]
        right = all(isinstance(number, (int, float)) and abs(number) <= LARGEST for number in numbers)
        return cls(**values) if right else None


def with_log_odds(spaces: NDArray[Any], found: NDArray[Any]) -> NDArray[numpy.float64]:
    """Return an editor's probabilities of a space (S,) with log-odds added to them; NaN adds nothing."""
    near = numpy.clip(spaces.astype("float64"), NEAREST, 1 - NEAREST)
    odds = numpy.log(near / (1 - near)) + numpy.nan_to_num(found)
    return 1 / (1 + numpy.exp(-odds))


def junctions_of(letters: str) -> Iterator[tuple[int, Keys, Keys]]:
    """Yield (place of the character before, keys by surface, keys by tags) of each junction of two morphemes of a text."""
    pairs = [(surface, features.partition(",")[0]) for surface, features in morphemes(letters)]
    tags = ["", *(tag for _, tag in pairs), ""]
    place = -1
    for number, (one, other) in enumerate(zip(pairs, pairs[1:])):
        place += len(one[0])
        yield place, (keys_by_surface, *one, *other), (keys_by_tags, *tags[number : number + 4])


def keys_of(keys: Keys) -> list[str]:
    """Return keys themselves."""
    made_by, *arguments = keys
    found: list[str] = made_by(*arguments)
    return found


def keys_by_surface(left: str, before: str, right: str, after: str) -> list[str]:
    """Return the keys of two morphemes with their tags: the tags, each surface or the lengths with them, both surfaces."""
    both = f"{before}|{after}"
    lengths = f"{min(len(left), 3)}{both}{min(len(right), 3)}"
    return [both, f"{left}/{both}", f"{both}/{right}", f"{left}+{right}", lengths]


def keys_by_tags(first: str, before: str, after: str, last: str) -> list[str]:
    """Return the keys of two tags with the one on either side."""
    return [f"{first} {before}|{after}", f"{before}|{after} {last}"]


def fitted(sentences: Iterable[tuple[str, list[bool]]]) -> Junctions:
    """Return the weights that tell where sentences have their spaces, from the first SENTENCES of them.

    A sentence is its characters without the spaces, and of each whether a space follows.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    keys, spaces, inside, split = list[list[str]](), list[bool](), 0, 1
    for letters, follows in islice(sentences, SENTENCES):
        before = len(keys)
        for place, by_surface, by_tags in junctions_of(letters):
            keys.append(keys_of(by_surface) + keys_of(by_tags))
            spaces.append(follows[place])
        inside += len(letters) - (len(keys) - before)
        split += sum(follows) - sum(spaces[before:])
    table = CountVectorizer(analyzer=list, min_df=FEWEST, binary=True, dtype=numpy.float64)
    model = LogisticRegression(C=PENALTY, max_iter=200).fit(table.fit_transform(keys), spaces)
    found = zip(table.get_feature_names_out().tolist(), model.coef_[0].tolist())
    weights = {key: round(SHARE * weight, 2) for key, weight in found if SHARE * abs(weight) >= SMALLEST}
    junction, within = float(model.intercept_[0]), log(split / max(1, inside - split))
    return Junctions(weights, round(SHARE * junction, 2), round(SHARE * within, 2))
