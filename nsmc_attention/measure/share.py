"""The share of positive reviews in a table, estimated from calibrated probabilities, and the counts of a table.

    probabilities -> Evidence (a histogram of their log-odds) -> posterior over shares -> Share

Counting labels is biased: a classifier that was calibrated on as much praise as blame, and errs on 10 % of both, counts
82 % in a table with 90 % praise. The prior shift of Saerens, Latinne & Decaestecker 2002 (Neural Computation 14, equation
2.4) corrects this. Its likelihood is

    L(s) = product over reviews of s q + (1 - s) (1 - q),    q = expit((log-odds + shift) / temperature)

whose maximum is the fixed point of their EM. Probabilities are softened, because texts of another kind are judged too
surely. The temperature and the shift are not known for a table, so that the posterior is the mean over several of both:
its interval does not shrink to nothing in a large table, where the model's own errors remain.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

import numpy
from numpy.typing import ArrayLike, NDArray

from ..text.hangul import HANGUL
from .metrics import log_odds

Floats = NDArray[numpy.float64]

# Chosen on films in their natural shares and on comments: docs/share.md
TEMPERATURES = (1.0, 1.25, 1.5)
# Standard deviation of the shift of log-odds, and how many shifts are averaged over
SHARE_SHIFT, SHIFTS = 0.4, 5
COVERAGE = 0.95
# Fewer reviews, or a wider interval, say too little for a number
FEWEST_TEXTS, WIDEST_INTERVAL = 6, 0.65
# Of an interval's length, how near 0 or 1 the mean is where the posterior is densest there: an exponential's has a third
SHARE_EDGE = 0.36
# Width of a bin of log-odds, bins on either side of 0, and shares that are weighed
GRID_WIDTH, SIDE, SHARE_GRID = 0.2, 75, 100
# Numbers of reviews that the prior of groups may be worth
CONCENTRATIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
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
        """The known end of the interval, "low" or "high"; None if the share is an estimate.

        It is a bound where reviews of the other side may be missing altogether: the likeliest share is 0 or 1.
        """
        if self.share is None:
            return None
        if self.high >= 1 and 1 - self.share < max(SHARE_EDGE * (1 - self.low), 1 / SHARE_GRID):
            return "low"
        return "high" if self.low <= 0 and self.share < max(SHARE_EDGE * self.high, 1 / SHARE_GRID) else None


UNKNOWN = Share(None, 0.0, 1.0, 0)


@dataclass(frozen=True)
class Evidence:
    """Probabilities as `counts` of log-odds (2 SIDE + 1 bins of GRID_WIDTH): small, whatever their number, and addable."""

    counts: NDArray[numpy.int64]

    @classmethod
    def of(cls, probabilities: ArrayLike = (), prior: float = 0.0) -> "Evidence":
        """Count (N,) probabilities of positive, each 0..1; NaN is a blank review and left out.

        `prior` is the log-odds of positive labels in the data on which the probabilities were calibrated.
        """
        values = numpy.asarray(probabilities, dtype="float64").ravel()
        values = values[~numpy.isnan(values)]
        bins = numpy.rint((log_odds(values) - prior) / GRID_WIDTH).clip(-SIDE, SIDE)
        return cls(numpy.bincount(bins.astype("int64") + SIDE, minlength=2 * SIDE + 1))

    def __add__(self, other: "Evidence") -> "Evidence":
        return Evidence(self.counts + other.counts)

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def share(self) -> Share:
        """The estimated share, by a prior that holds all shares for equally likely."""
        return summary(posteriors(self.counts[None])[0], self.n)


# Shared by tallies of no probability
NOTHING = Evidence.of()


@dataclass(frozen=True)
class Tally:
    """Numbers of rows, of those with an error, of positive labels and of texts with Hangul; `evidence` of the share.

    Tallies of parts add up to that of the whole, in any order.
    """

    rows: int = 0
    errors: int = 0
    positive: int = 0
    korean: int = 0
    evidence: Evidence = field(default=NOTHING)

    @classmethod
    def of(
        cls, texts: Sequence[str], probabilities: Sequence[Optional[float]], errors: int = 0, prior: float = 0.0
    ) -> "Tally":
        """Count texts with their probabilities of positive, None or NaN for a blank one; `prior` as in Evidence."""
        known = [value for value in probabilities if value is not None and value == value]
        korean = sum(1 for text in texts if HANGUL.search(text))
        return cls(len(texts), errors, sum(value >= 0.5 for value in known), korean, Evidence.of(known, prior))

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, name) + getattr(other, name) for name in FIELDS))

    @property
    def share(self) -> Share:
        """The estimated share of positive reviews; unknown where most texts have no Hangul."""
        if 2 * self.korean < self.evidence.n:
            return UNKNOWN._replace(n=self.evidence.n)
        return self.evidence.share

    def in_words(self) -> str:
        """Return a line about the share, beside that of the labels, which is biased."""
        labels = f"; {100 * self.positive / self.evidence.n:.0f} % of the labels" if self.evidence.n else ""
        return f"positive reviews: {self.share}{labels}"


FIELDS = tuple(Tally.__dataclass_fields__)


def shrunk(groups: Sequence[Evidence]) -> list[Share]:
    """Return the share of each of the groups of a table, pulled towards the table's own, the more the smaller they are.

    The prior is a beta distribution around the table's share (empirical Bayes); how many reviews it is worth is what
    makes the groups' probabilities most likely.
    """
    if not groups:
        return []
    counts = numpy.stack([group.counts for group in groups])
    return [summary(row, int(group.sum())) for row, group in zip(posteriors(counts, pooled=True), counts)]


def posteriors(counts: NDArray[numpy.int64], pooled: bool = False) -> Floats:
    """Return (G, SHARE_GRID), how likely each share is in each group of (G, bins) log-odds; rows sum to 1.

    `pooled` takes the groups for parts of one table, which is the prior of each.
    """
    total, used = numpy.zeros((len(counts), SHARE_GRID)), counts.any(axis=0)
    odds, counts = (numpy.arange(-SIDE, SIDE + 1) * GRID_WIDTH)[used], counts[:, used]
    for weight, temperature, shift in assumptions():
        logs = counts @ log_likelihood(odds, temperature, shift)
        total += weight * normalized(logs + group_prior(logs) if pooled else logs)
    return total


def assumptions() -> list[tuple[float, float, float]]:
    """Return (weight, temperature, shift of log-odds) of each assumption about the texts; weights sum to 1."""
    nodes, weights = numpy.polynomial.hermite_e.hermegauss(SHIFTS)  # type: ignore[no-untyped-call]
    weights = weights / weights.sum() / len(TEMPERATURES)
    return [(w, t, s * SHARE_SHIFT) for t in TEMPERATURES for s, w in zip(nodes, weights)]


def log_likelihood(odds: Floats, temperature: float, shift: float) -> Floats:
    """Return (B, SHARE_GRID), the logarithm of how likely a review with each of B log-odds is for each share."""
    positive = 1 / (1 + numpy.exp(-(odds + shift) / temperature))
    return numpy.asarray(numpy.log(numpy.outer(positive, shares()) + numpy.outer(1 - positive, 1 - shares())))


def shares() -> Floats:
    """Return (SHARE_GRID,), the middles of equal parts of 0..1."""
    return (numpy.arange(SHARE_GRID) + 0.5) / SHARE_GRID


def normalized(logs: Floats) -> Floats:
    """Return rows of logarithms as rows that sum to 1."""
    return numpy.asarray(numpy.exp(logs - numpy.logaddexp.reduce(logs, axis=1, keepdims=True)))


def group_prior(logs: Floats) -> Floats:
    """Return (SHARE_GRID,), the logarithm of the prior by which (G, SHARE_GRID) log-likelihoods of groups are likeliest."""
    middle = float(normalized(logs.sum(axis=0)[None])[0] @ shares())
    priors = [log_beta(middle, concentration) for concentration in CONCENTRATIONS]
    return max(priors, key=lambda prior: float(numpy.logaddexp.reduce(logs + prior, axis=1).sum()))


def log_beta(mean: float, concentration: float) -> Floats:
    """Return the logarithm of a beta distribution over the shares, normalized."""
    alpha, beta = mean * concentration, (1 - mean) * concentration
    logs = (alpha - 1) * numpy.log(shares()) + (beta - 1) * numpy.log1p(-shares())
    return numpy.asarray(logs - numpy.logaddexp.reduce(logs))


def summary(posterior: Floats, n: int) -> Share:
    """Return the mean of a posterior (SHARE_GRID,) and its shortest interval of COVERAGE."""
    if not n:
        return UNKNOWN
    low, high = shortest(posterior)
    share = float(posterior @ shares()) if n >= FEWEST_TEXTS and high - low <= WIDEST_INTERVAL else None
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
