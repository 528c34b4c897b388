"""The share of positive reviews in a table, estimated from calibrated probabilities, and the counts of a table.

    probabilities -> Evidence (a histogram of their log-odds) -> posterior over shares -> Share
    a sample's ten stars -> the shares of stars -> the shift of the log-odds --/

Counting labels is biased: a classifier that was calibrated on as much praise as blame, and errs on 10 % of both, counts
82 % in a table with 90 % praise. The prior shift of Saerens, Latinne & Decaestecker 2002 (Neural Computation 14,
equation 2.4) corrects this. Its likelihood is

    L(s) = product over reviews of s q + (1 - s) (1 - q),    q = expit(log-odds + shift)

whose maximum is the fixed point of their EM. The shift stands for neutral reviews, and for what the model errs on in
this table. A sample tells it where heads know stars; the posterior is the mean over several shifts around it, so that
its interval does not shrink to nothing in a large table, where the model's own errors remain.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Optional

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
BINS = 2 * SIDE + 1
# Shifts of the log-odds that stars may ask for
SHIFTED = numpy.linspace(-3, 3, 61)
# Mean probabilities of 1 to 10 stars for raw reviews; where each side's stars begin; few steps, or EM fits single reviews
RAW_STARS = numpy.array([82, 18, 19, 22, 47, 67, 95, 126, 104, 420]) / 1000
SIDES_OF_STARS, STEPS = (0, 4, 7), 5
# The middles of equal parts of 0..1
SHARES = (numpy.arange(SHARE_GRID) + 0.5) / SHARE_GRID
# Numbers of reviews that the prior of groups may be worth
CONCENTRATIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
# The share of a table's rows that one text is for it to count once, and the number of them
OFTEN, FEWEST_ROWS = 0.1, 4


class Share(NamedTuple):
    """An estimated share of positive reviews, 0..1: None for fewer than FEWEST_TEXTS or an interval wider than WIDEST_INTERVAL.

    low and high are the ends of the 95 % interval, 0 or 1 where the share may be as small or as large as it can be; n
    is the number of reviews without blank ones.
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
    """Probabilities by bins of their log-odds, and what a sample says of its stars: small, and addable.

    `bins` (BINS,): numbers of reviews. `sample` (S, 12): how many reviews of the table one stands for, its bin, and its
    probabilities of 1 to 10 stars.
    """

    bins: Floats
    sample: Floats = field(default_factory=lambda: numpy.zeros((0, 12)))

    @classmethod
    def of(cls, probabilities: ArrayLike = (), prior: float = 0.0) -> "Evidence":
        """Count (N,) probabilities, 0..1, NaN if blank; `prior`: log-odds of positive where they were calibrated."""
        values = numpy.asarray(probabilities, dtype="float64").ravel()
        places = bins_of(values[~numpy.isnan(values)], prior)
        return cls(numpy.bincount(places, minlength=BINS).astype("float64"))

    def __add__(self, other: "Evidence") -> "Evidence":
        return Evidence(self.bins + other.bins, numpy.concatenate([self.sample, other.sample]))

    @property
    def n(self) -> int:
        return int(self.bins.sum())

    @property
    def shift(self) -> float:
        """The shift by which the log-odds of the sample say the share that its stars say; 0 without a sample."""
        worth, places, stars = numpy.split(self.sample, [1, 2], axis=1)
        if not len(stars):
            return 0.0
        # as many reviews as would tell as much if each stood for the same number (Kish 1965)
        worth = worth[:, 0] * worth.sum() / (worth**2).sum()
        counts, shares = numpy.bincount(places[:, 0].astype("int64"), worth, BINS), star_shares(stars, worth)
        said = [normalized(likelihood(counts, shift)) @ SHARES for shift in SHIFTED]
        low, _, high = numpy.add.reduceat(shares, SIDES_OF_STARS)
        return float(numpy.interp(high / (low + high), said, SHIFTED))

    @property
    def share(self) -> Share:
        """The estimated share, by a prior that holds all shares for equally likely."""
        return summary(posteriors(self.bins, self.shift), self.n)


NOTHING = Evidence(numpy.zeros(BINS))


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
        positive, korean = int((values >= 0.5).sum()), len([*filter(HANGUL.search, texts)])
        repeated = often(Counter(numpy.array(texts, dtype=object)[known].tolist()), labels := int(known.sum()))
        others = values[[text not in repeated for text in texts] if repeated else known].tolist()
        others += {text: one for text, one in zip(texts, values.tolist()) if text in repeated and one == one}.values()
        return cls(len(texts), errors, labels, positive, korean, Evidence.of(others, prior), repeated)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, name) + getattr(other, name) for name in vars(self)))

    @property
    def share(self) -> Share:
        """The estimated share of positive reviews; unknown where most texts have no Hangul."""
        foreign = 2 * self.korean < self.labels
        return UNKNOWN._replace(n=self.evidence.n) if foreign else self.evidence.share

    def in_words(self) -> str:
        """Return a line about the share, beside that of the labels, which is biased, and about repeated texts."""
        (share, low, high, _), line = self.share, f"positive reviews: {self.share}"
        if self.labels:
            counted = self.positive / self.labels
            within = ", within the interval" if share is not None and low <= counted <= high else ""
            line += f"; {100 * counted:.0f} % of the labels{within}"
        if again := often(self.repeated, self.labels):
            text, *others = again
            more = f" or {len(others)} other text{'s' * (len(others) > 1)}" * bool(others)
            line += f"; {sum(again.values()):,} rows are {text[:40]!r}{more}, which count once"
        return line


def often(counts: "Counter[str]", whole: int) -> "Counter[str]":
    """Return the texts that OFTEN of a whole table's rows are, and FEWEST_ROWS."""
    return Counter({text: count for text, count in counts.items() if count >= max(FEWEST_ROWS, OFTEN * whole)})


def bins_of(probabilities: Floats, prior: float) -> NDArray[numpy.int64]:
    """Return the bins (N,) of the log-odds of probabilities, less `prior`."""
    odds = (log_odds(probabilities) - prior) / GRID_WIDTH
    return numpy.asarray(numpy.rint(odds).clip(-SIDE, SIDE) + SIDE, dtype="int64")


def star_shares(stars: Floats, worth: Floats) -> Floats:
    """Return the shares of 1 to 10 stars in a table (10,), by the probabilities of each for its reviews, (S, 10).

    By the EM of Saerens et al. 2002 for ten classes; beside the reviews, each of which counts `worth` (S,), are as many
    of RAW_STARS as the root of their number (Steinhaus 1957).
    """
    ratios, shares = stars / RAW_STARS, RAW_STARS
    for _ in range(STEPS):
        chances = ratios * shares
        shares = (worth / chances.sum(axis=1)) @ chances + math.sqrt(worth.sum()) * RAW_STARS
        shares = shares / shares.sum()
    return shares


def shrunk(groups: NDArray[Any], table: Evidence = NOTHING) -> list[Share]:
    """Return the share of each of the groups of a table (G, BINS), pulled towards the table's own, the more the smaller they are.

    The prior is a beta distribution around the table's share (empirical Bayes); how many reviews it is worth is what
    makes the groups' probabilities most likely. The sample of the `table` speaks for all groups.
    """
    found = posteriors(groups, table.shift, pooled=True)
    return [summary(row, int(n)) for row, n in zip(found, groups.sum(axis=1))]


def posteriors(counts: NDArray[Any], middle: float = 0.0, pooled: bool = False) -> Floats:
    """Return (..., SHARE_GRID), how likely each share is for (..., BINS) log-odds; rows sum to 1.

    The mean over several shifts of the log-odds around the `middle` one. `pooled` takes rows for groups of one table,
    which is the prior of each.
    """
    total = numpy.zeros((*counts.shape[:-1], SHARE_GRID))
    nodes, weights = numpy.polynomial.hermite_e.hermegauss(SHIFTS)  # type: ignore[no-untyped-call]
    for weight, shift in zip(weights / weights.sum(), middle + nodes * SHARE_SHIFT):
        logs = likelihood(counts, shift)
        logs += group_prior(logs) if pooled else 0.0
        total += numpy.multiply(normalized(logs), weight, out=logs)
    return total


def likelihood(counts: NDArray[Any], shift: float) -> Floats:
    """Return the logarithm of L of each share, (..., SHARE_GRID), for (..., BINS) log-odds."""
    positive = 1 / (1 + numpy.exp(-(numpy.arange(-SIDE, SIDE + 1) * GRID_WIDTH) - shift))
    # of a review with each of these log-odds, for each share
    return numpy.asarray(counts @ numpy.log(numpy.outer(positive, SHARES) + numpy.outer(1 - positive, 1 - SHARES)))


def normalized(logs: NDArray[Any]) -> NDArray[Any]:
    """Turn rows of logarithms into their numbers, which sum to 1, in place: there may be 10,000 groups."""
    logs -= numpy.logaddexp.reduce(logs, axis=-1, keepdims=True)
    return numpy.asarray(numpy.exp(logs, out=logs))


def group_prior(logs: Floats) -> Floats:
    """Return (SHARE_GRID,), the logarithm of the beta distribution around the share of a table that makes its groups likeliest.

    Of those that are worth one of CONCENTRATIONS, by the groups' (G, SHARE_GRID) log-likelihoods.
    """
    middle, sizes = normalized(logs.sum(axis=0)) @ SHARES, numpy.array(CONCENTRATIONS)[:, None]
    priors = (sizes * middle - 1) * numpy.log(SHARES) + (sizes * (1 - middle) - 1) * numpy.log1p(-SHARES)
    priors -= numpy.logaddexp.reduce(priors, axis=1, keepdims=True)
    return numpy.asarray(max(priors, key=lambda prior: float(numpy.logaddexp.reduce(logs + prior, axis=1).sum())))


def summary(posterior: Floats, n: int) -> Share:
    """Return the mean of a posterior (SHARE_GRID,), and the ends of the likeliest shares that hold COVERAGE."""
    if not n:
        return UNKNOWN
    order = numpy.argsort(-posterior, kind="stable")
    likeliest = order[: numpy.searchsorted(numpy.cumsum(posterior[order]), COVERAGE) + 1]
    low, high = float(likeliest.min() / SHARE_GRID), float((likeliest.max() + 1) / SHARE_GRID)
    share = float(posterior @ SHARES) if n >= FEWEST_TEXTS and high - low <= WIDEST_INTERVAL else None
    return Share(share, low, high, n)
