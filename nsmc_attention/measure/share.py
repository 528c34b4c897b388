"""The share of positive reviews in a table, estimated from calibrated probabilities, and the counts of a table.

    probabilities -> Evidence (a histogram of their log-odds) -> posterior over shares -> Share

Counting labels is biased: a classifier that was calibrated on as much praise as blame, and errs on 10 % of both, counts
82 % in a table with 90 % praise. The prior shift of Saerens, Latinne & Decaestecker 2002 (Neural Computation 14, equation
2.4) corrects this. Its likelihood is

    L(s) = product over reviews of (s q + (1 - s) (1 - q)) ^ c,    q = expit(log-odds + shift)

whose maximum is the fixed point of their EM for c = 1. Neutral reviews are on neither side: c is the chance to be on one, which
a sample of the table tells by the log-odds. The shift is not known for a table, so that the posterior is the mean over
several: its interval does not shrink to nothing in a large table, where the model's own errors remain.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

import numpy
from numpy.typing import ArrayLike, NDArray

from ..text.hangul import HANGUL
from .metrics import log_odds

Floats = NDArray[numpy.float64]

# Standard deviation of the shift of log-odds, chosen on films and comments (docs/share.md), and how many are averaged over
SHARE_SHIFT, SHIFTS = 0.5, 5
COVERAGE = 0.95
# Fewer reviews, or a wider interval, say too little for a number
FEWEST_TEXTS, WIDEST_INTERVAL = 6, 0.65
# Of an interval's length, how near 0 or 1 the mean is where the posterior is densest there: an exponential's has a third
SHARE_EDGE = 0.36
# Width of a bin of log-odds, bins on either side of 0, and shares that are weighed
GRID_WIDTH, SIDE, SHARE_GRID = 0.2, 75, 100
# The middles of equal parts of 0..1
SHARES = (numpy.arange(SHARE_GRID) + 0.5) / SHARE_GRID
# Numbers of reviews that the prior of groups may be worth
CONCENTRATIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
# The share of a table's rows that one text is for it to count once, and the number of them
OFTEN, FEWEST_ROWS = 0.1, 4
# The largest odds by which a label leans to the commoner side
MOST_ODDS = 4.0


class Share(NamedTuple):
    """An estimated share of positive reviews.

    Attributes
    ----------
    share : float in 0..1, or None
        None where the reviews say too little: fewer than FEWEST_TEXTS, or an interval wider than WIDEST_INTERVAL.
    low, high : float in 0..1
        The ends of the 95 % interval; 0 or 1 where the share may be as small or as large as it can be.
    n : int
        The number of reviews that the estimate is made from, without blank ones.
    """

    share: Optional[float]
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        """Return it in words: "about 82 % (75 to 88)", or what is known where that is no number."""
        low, high = math.floor(round(100 * self.low, 6)), math.ceil(round(100 * self.high, 6))
        if self.share is None:
            return f"unknown ({low} to {high} %)"
        bound = {None: f"about {100 * self.share:.0f} % ({low} to {high})", "low": f"{low} % or more"}
        return {**bound, "high": f"{high} % or less"}[self.bound]

    @property
    def bound(self) -> Optional[str]:
        """The known end of the interval, "low" or "high", where the likeliest share is 0 or 1; None of an estimate."""
        if self.share is None:
            return None
        if self.high >= 1 and 1 - self.share < max(SHARE_EDGE * (1 - self.low), 1 / SHARE_GRID):
            return "low"
        return "high" if self.low <= 0 and self.share < max(SHARE_EDGE * self.high, 1 / SHARE_GRID) else None


UNKNOWN = Share(None, 0.0, 1.0, 0)


@dataclass(frozen=True)
class Evidence:
    """Probabilities by bins of their log-odds: small, whatever their number, and addable.

    `bins` (3, 2 SIDE + 1): numbers of reviews; of a sample, their numbers and the sums of their chances to be on a side.
    """

    bins: Floats

    @classmethod
    def of(cls, probabilities: ArrayLike = (), prior: float = 0.0, chances: Optional[ArrayLike] = None) -> "Evidence":
        """Count (N,) probabilities of positive, each 0..1, NaN for a blank one; of a sample with its `chances` (N,).

        `prior` is the log-odds of positive labels in the data on which the probabilities were calibrated.
        """
        values, bins = numpy.asarray(probabilities, dtype="float64").ravel(), numpy.zeros((3, 2 * SIDE + 1))
        known = ~numpy.isnan(values)
        places = numpy.rint((log_odds(values[known]) - prior) / GRID_WIDTH).clip(-SIDE, SIDE).astype("int64") + SIDE
        numpy.add.at(bins[int(chances is not None)], places, 1)
        if chances is not None:
            numpy.add.at(bins[2], places, numpy.asarray(chances)[known])
        return cls(bins)

    def __add__(self, other: "Evidence") -> "Evidence":
        return Evidence(self.bins + other.bins)

    @property
    def n(self) -> int:
        return int(self.bins[0].sum())

    @property
    def counts(self) -> Floats:
        """The numbers of reviews, times their mean chance to be on a side by the sample there and one review as all of it."""
        _, seen, sided = self.bins
        return self.bins[0] * (sided + (sided.sum() / seen.sum() if seen.any() else 1)) / (seen + 1)

    @property
    def share(self) -> Share:
        """The estimated share, by a prior that holds all shares for equally likely."""
        return summary(posteriors(self.counts[None])[0], self.n)


# Shared by tallies of no probability
NOTHING = Evidence.of()


@dataclass(frozen=True)
class Tally:
    """Numbers of rows, errors, labels, positive ones and texts with Hangul, and `evidence` of the share, which add up.

    `repeated` counts the texts that OFTEN of the rows are, each of which is in the evidence once.
    """

    rows: int = 0
    errors: int = 0
    labels: int = 0
    positive: int = 0
    korean: int = 0
    evidence: Evidence = field(default=NOTHING)
    repeated: "Counter[str]" = field(default_factory=Counter)

    @classmethod
    def of(
        cls, texts: Sequence[str], probabilities: Sequence[Optional[float]], errors: int = 0, prior: float = 0.0
    ) -> "Tally":
        """Count texts with their probabilities of positive, None or NaN for a blank one; `prior` as in Evidence."""
        known = ~numpy.isnan(values := numpy.array(probabilities, dtype="float64"))
        positive, korean = int((values >= 0.5).sum()), sum(1 for text in texts if HANGUL.search(text))
        repeated = often(Counter(text for text, one in zip(texts, known.tolist()) if one), labels := int(known.sum()))
        others = values[[text not in repeated for text in texts]].tolist()
        others += {text: one for text, one in zip(texts, values.tolist()) if one == one and text in repeated}.values()
        return cls(len(texts), errors, labels, positive, korean, Evidence.of(others, prior), repeated)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, name) + getattr(other, name) for name in vars(self)))

    @property
    def share(self) -> Share:
        """The estimated share of positive reviews; unknown where most texts have no Hangul."""
        if 2 * self.korean < self.labels:
            return UNKNOWN._replace(n=self.evidence.n)
        return self.evidence.share

    def in_words(self) -> str:
        """Return a line about the share, beside that of the labels, which is biased, and about repeated texts."""
        (share, low, high, _), line = self.share, f"positive reviews: {self.share}"
        if self.labels:
            counted = self.positive / self.labels
            within = ", within the interval" if share is not None and low <= counted <= high else ""
            line += f"; {100 * counted:.0f} % of the labels{within}"
        if again := often(self.repeated, self.labels):
            text, more = next(iter(again)), f" or {len(again) - 1} other texts" * (len(again) > 1)
            line += f"; {sum(again.values()):,} rows are {text[:40]!r}{more}, which count once"
        return line


def often(counts: "Counter[str]", whole: int) -> "Counter[str]":
    """Return the texts that OFTEN of a whole table's rows are, and FEWEST_ROWS."""
    return Counter({text: count for text, count in counts.items() if count >= max(FEWEST_ROWS, OFTEN * whole)})


def shrunk(groups: Sequence[Evidence]) -> list[Share]:
    """Return the share of each of the groups of a table, pulled towards the table's own, the more the smaller they are.

    The prior is a beta distribution around the table's share (empirical Bayes); how many reviews it is worth is what
    makes the groups' probabilities most likely.
    """
    if not groups:
        return []
    counts = numpy.stack([group.counts for group in groups])
    return [summary(row, group.n) for row, group in zip(posteriors(counts, pooled=True), groups)]


def posteriors(counts: Floats, pooled: bool = False) -> Floats:
    """Return (G, SHARE_GRID), how likely each share is in each group of (G, bins) log-odds; rows sum to 1.

    The mean over several shifts of the log-odds. `pooled` takes the groups for parts of one table, which is the prior of
    each.
    """
    total, used = numpy.zeros((len(counts), SHARE_GRID)), counts.any(axis=0)
    odds, counts = (numpy.arange(-SIDE, SIDE + 1) * GRID_WIDTH)[used], counts[:, used]
    nodes, weights = numpy.polynomial.hermite_e.hermegauss(SHIFTS)  # type: ignore[no-untyped-call]
    for weight, shift in zip(weights / weights.sum(), nodes * SHARE_SHIFT):
        positive = 1 / (1 + numpy.exp(-odds - shift))
        # of a review with each of these log-odds, for each share
        logs = counts @ numpy.log(numpy.outer(positive, SHARES) + numpy.outer(1 - positive, 1 - SHARES))
        total += weight * normalized(logs + group_prior(logs) if pooled else logs)
    return total


def normalized(logs: Floats) -> Floats:
    """Return the numbers of rows of logarithms, which sum to 1."""
    return numpy.asarray(numpy.exp(logs - numpy.logaddexp.reduce(logs, axis=1, keepdims=True)))


def group_prior(logs: Floats) -> Floats:
    """Return (SHARE_GRID,), the logarithm of the prior by which (G, SHARE_GRID) log-likelihoods of groups are likeliest."""
    middle = float(normalized(logs.sum(axis=0)[None])[0] @ SHARES)
    priors = [log_beta(middle, concentration) for concentration in CONCENTRATIONS]
    return max(priors, key=lambda prior: float(numpy.logaddexp.reduce(logs + prior, axis=1).sum()))


def log_beta(mean: float, concentration: float) -> Floats:
    """Return the logarithm of a beta distribution over the shares, normalized."""
    alpha, beta = mean * concentration, (1 - mean) * concentration
    logs = (alpha - 1) * numpy.log(SHARES) + (beta - 1) * numpy.log1p(-SHARES)
    return numpy.asarray(logs - numpy.logaddexp.reduce(logs))


def summary(posterior: Floats, n: int) -> Share:
    """Return the mean of a posterior (SHARE_GRID,) and its shortest interval of COVERAGE."""
    if not n:
        return UNKNOWN
    low, high = shortest(posterior)
    share = float(posterior @ SHARES) if n >= FEWEST_TEXTS and high - low <= WIDEST_INTERVAL else None
    return Share(share, low, high, n)


def shortest(posterior: Floats) -> tuple[float, float]:
    """Return the ends of the shortest interval that holds COVERAGE, which reaches 0 or 1 where the density is there."""
    below = numpy.concatenate([[0.0], numpy.cumsum(posterior)])
    ends = numpy.searchsorted(below, below + COVERAGE)
    starts = numpy.flatnonzero(ends <= SHARE_GRID)
    first = int(starts[numpy.argmin((ends - numpy.arange(SHARE_GRID + 1))[starts])]) if len(starts) else 0
    last = int(ends[first]) if len(starts) else SHARE_GRID
    return first / SHARE_GRID, last / SHARE_GRID


def odds_of(share: float) -> float:
    """Return the odds by which labels lean in a table of this share, at most MOST_ODDS to 1 either way."""
    return float(numpy.clip(share / max(1 - share, 1e-9), 1 / MOST_ODDS, MOST_ODDS))


def by_odds(probability: float, odds: float) -> float:
    """Return the probability of positive, calibrated on as much praise as blame, where praise has these odds."""
    return probability * odds / (probability * odds + 1 - probability)
