"""The share of positive reviews in a table, estimated from calibrated probabilities, and the counts of a table.

    probabilities -> Evidence (a histogram of their log-odds) -> posterior over shares -> Share
    a sample's ten stars -> the shares of stars -> the shift of the log-odds --/

A count of labels is biased: a classifier that was calibrated on equal numbers of both labels, and errs on 10 % of each,
counts 82 % in a table with 90 % praise. The prior shift of Saerens, Latinne & Decaestecker 2002 (Neural Computation 14,
equation 2.4) corrects this. Its likelihood is

    L(s) = product over reviews of s q + (1 - s) (1 - q),    q = expit(log-odds + shift)

whose maximum is the fixed point of their EM. The shift stands for neutral reviews, and for the model's errors in this
table. With heads for stars, a sample estimates it. The posterior is the mean over several shifts around the estimate, so
that its interval does not shrink to nothing in a large table, where the model's own errors remain.
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

# Standard deviation of the shift of log-odds, chosen on films and comments (docs/share.md), and number of shifts averaged
SHARE_SHIFT, SHIFTS = 0.5, 5
COVERAGE = 0.95
# Fewest reviews and widest interval of an estimate
FEWEST_TEXTS, WIDEST_INTERVAL = 6, 0.65
# Largest distance of the mean from 0 or 1, as a share of the interval, if the posterior is densest there (exponential: 1/3)
SHARE_EDGE = 0.36
# Width of a bin of log-odds, bins on either side of 0, and number of shares in the posterior
GRID_WIDTH, SIDE_BINS, SHARE_GRID = 0.2, 75, 100
BINS = 2 * SIDE_BINS + 1
# Shifts of the log-odds, between which the shift that fits the stars is interpolated
SHIFT_GRID = numpy.linspace(-3, 3, 61)
# Mean probabilities of 1 to 10 stars for raw reviews; first index of each side's stars; EM steps, few against overfitting
RAW_STARS = numpy.array([82, 18, 19, 22, 47, 67, 95, 126, 104, 420]) / 1000
SIDES_OF_STARS, EM_STEPS = (0, 4, 7), 5
# Midpoints of equal parts of 0..1
SHARES = (numpy.arange(SHARE_GRID) + 0.5) / SHARE_GRID
# Candidate weights of the prior of groups, in reviews
CONCENTRATIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
# Smallest share and smallest number of a table's rows for which a repeated text counts once
REPEATED_SHARE, FEWEST_ROWS = 0.1, 4


class Share(NamedTuple):
    """An estimated share of positive reviews, 0..1: None for fewer than FEWEST_TEXTS or an interval wider than WIDEST_INTERVAL.

    low and high are the ends of the 95 % interval, which may reach 0 or 1; n is the number of reviews that are not blank.
    """

    share: Optional[float]
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        """Return it in words: "about 82 % (75 to 88)", "75 % or more", or "unknown (20 to 90 %)"."""
        low, high = math.floor(round(100 * self.low, 6)), math.ceil(round(100 * self.high, 6))
        if self.share is None:
            return f"unknown ({low} to {high} %)"
        bound = {None: f"about {100 * self.share:.0f} % ({low} to {high})", "low": f"{low} % or more"}
        return {**bound, "high": f"{high} % or less"}[self.bound]

    @property
    def bound(self) -> Optional[str]:
        """The known end of the interval, "low" or "high", if the likeliest share is 1 or 0, else None."""
        if self.share is None:
            return None
        if self.high >= 1 and 1 - self.share < max(SHARE_EDGE * (1 - self.low), 1 / SHARE_GRID):
            return "low"
        return "high" if self.low <= 0 and self.share < max(SHARE_EDGE * self.high, 1 / SHARE_GRID) else None


UNKNOWN = Share(None, 0.0, 1.0, 0)


@dataclass(frozen=True)
class Evidence:
    """A histogram of log-odds and a sample of predicted stars: small, and addable.

    `bins` (BINS,) are numbers of reviews. `sample` (S, 12) holds for each sampled review the number of the table's reviews
    that it stands for, its bin, and its probabilities of 1 to 10 stars.
    """

    bins: Floats
    sample: Floats = field(default_factory=lambda: numpy.zeros((0, 12)))

    @classmethod
    def of(cls, probabilities: ArrayLike = (), prior: float = 0.0) -> "Evidence":
        """Count probabilities (N,), 0..1, NaN if blank; `prior` are the log-odds of positive in the calibration data."""
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
        """The shift of the sample's log-odds that gives the share of its stars; 0 without a sample."""
        worth, places, stars = numpy.split(self.sample, [1, 2], axis=1)
        if not len(stars):
            return 0.0
        # weights that sum to the effective sample size (Kish 1965)
        worth = worth[:, 0] * worth.sum() / (worth**2).sum()
        counts, shares = numpy.bincount(places[:, 0].astype("int64"), worth, BINS), star_shares(stars, worth)
        estimates = [normalized(likelihood(counts, shift)) @ SHARES for shift in SHIFT_GRID]
        low, _, high = numpy.add.reduceat(shares, SIDES_OF_STARS)
        return float(numpy.interp(high / (low + high), estimates, SHIFT_GRID))

    @property
    def share(self) -> Share:
        """The estimated share, with a uniform prior."""
        return summary(posteriors(self.bins, self.shift), self.n)


NOTHING = Evidence(numpy.zeros(BINS))


@dataclass(frozen=True)
class Tally:
    """Numbers of rows, errors, labels, positive labels and texts with Hangul, and `evidence` of the share; addable.

    `repeated` counts the texts that make up a REPEATED_SHARE of the rows; each of them is in the evidence once.
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
        """Count texts with their probabilities of positive, None or NaN if blank; `prior` as in Evidence."""
        known = ~numpy.isnan(values := numpy.array(probabilities, dtype="float64"))
        positive, korean = int((values >= 0.5).sum()), len([*filter(HANGUL.search, texts)])
        repeated = repeated_texts(Counter(numpy.array(texts, dtype=object)[known].tolist()), labels := int(known.sum()))
        others = values[[text not in repeated for text in texts] if repeated else known].tolist()
        others += {text: p for text, p in zip(texts, values.tolist()) if text in repeated and p == p}.values()
        return cls(len(texts), errors, labels, positive, korean, Evidence.of(others, prior), repeated)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, name) + getattr(other, name) for name in vars(self)))

    @property
    def share(self) -> Share:
        """The estimated share of positive reviews; unknown if most texts have no Hangul."""
        is_foreign = 2 * self.korean < self.labels
        return UNKNOWN._replace(n=self.evidence.n) if is_foreign else self.evidence.share

    def in_words(self) -> str:
        """Return a line on the share, on the biased share of the labels, and on repeated texts."""
        (share, low, high, _), line = self.share, f"positive reviews: {self.share}"
        if self.labels:
            label_share = self.positive / self.labels
            within = ", within the interval" if share is not None and low <= label_share <= high else ""
            line += f"; {100 * label_share:.0f} % of the labels{within}"
        if repeated := repeated_texts(self.repeated, self.labels):
            text, *others = repeated
            more = f" or {len(others)} other text{'s' * (len(others) > 1)}" * bool(others)
            line += f"; {sum(repeated.values()):,} rows are {text[:40]!r}{more}, which count once"
        return line


def repeated_texts(counts: "Counter[str]", rows: int) -> "Counter[str]":
    """Return the texts that make up a REPEATED_SHARE of a table's rows, and at least FEWEST_ROWS."""
    return Counter({text: count for text, count in counts.items() if count >= max(FEWEST_ROWS, REPEATED_SHARE * rows)})


def bins_of(probabilities: Floats, prior: float) -> NDArray[numpy.int64]:
    """Return the bins (N,) of the log-odds of probabilities less `prior`."""
    odds = (log_odds(probabilities) - prior) / GRID_WIDTH
    return numpy.asarray(numpy.rint(odds).clip(-SIDE_BINS, SIDE_BINS) + SIDE_BINS, dtype="int64")


def star_shares(stars: Floats, worth: Floats) -> Floats:
    """Estimate the shares of 1 to 10 stars in a table (10,) from the probabilities of stars of its reviews, (S, 10).

    The EM of Saerens et al. 2002 for ten classes. Each review counts `worth` (S,); pseudo-counts with the shares
    RAW_STARS, as many as the root of the number of reviews, are added (Steinhaus 1957).
    """
    ratios, shares = stars / RAW_STARS, RAW_STARS
    for _ in range(EM_STEPS):
        chances = ratios * shares
        shares = (worth / chances.sum(axis=1)) @ chances + math.sqrt(worth.sum()) * RAW_STARS
        shares = shares / shares.sum()
    return shares


def shrunk(groups: NDArray[Any], table: Evidence = NOTHING) -> list[Share]:
    """Return the share of each group of a table (G, BINS), shrunk towards the table's share, small groups the most.

    The prior is a beta distribution around the table's share (empirical Bayes); its weight maximizes the likelihood of the
    groups. The sample of the `table` counts for all groups.
    """
    rows = posteriors(groups, table.shift, pooled=True)
    return [summary(row, int(n)) for row, n in zip(rows, groups.sum(axis=1))]


def posteriors(counts: NDArray[Any], middle: float = 0.0, pooled: bool = False) -> Floats:
    """Return the posterior over shares (..., SHARE_GRID) for log-odds (..., BINS); rows sum to 1.

    It is averaged over several shifts of the log-odds around `middle`. `pooled` treats rows as groups of one table, whose
    share is their prior.
    """
    total = numpy.zeros((*counts.shape[:-1], SHARE_GRID))
    nodes, weights = numpy.polynomial.hermite_e.hermegauss(SHIFTS)  # type: ignore[no-untyped-call]
    for weight, shift in zip(weights / weights.sum(), middle + nodes * SHARE_SHIFT):
        logs = likelihood(counts, shift)
        logs += group_prior(logs) if pooled else 0.0
        total += numpy.multiply(normalized(logs), weight, out=logs)
    return total


def likelihood(counts: NDArray[Any], shift: float) -> Floats:
    """Return log L of each share, (..., SHARE_GRID), for log-odds (..., BINS)."""
    positive = 1 / (1 + numpy.exp(-(numpy.arange(-SIDE_BINS, SIDE_BINS + 1) * GRID_WIDTH) - shift))
    # (BINS, SHARE_GRID): log-likelihood of one review in each bin, for each share
    return numpy.asarray(counts @ numpy.log(numpy.outer(positive, SHARES) + numpy.outer(1 - positive, 1 - SHARES)))


def normalized(logs: NDArray[Any]) -> NDArray[Any]:
    """Turn rows of log-likelihoods into probabilities that sum to 1, in place: there may be 10,000 groups."""
    logs -= numpy.logaddexp.reduce(logs, axis=-1, keepdims=True)
    return numpy.asarray(numpy.exp(logs, out=logs))


def group_prior(logs: Floats) -> Floats:
    """Return the log prior of groups (SHARE_GRID,), the beta distribution around the table's share that fits them best.

    Its weight is one of CONCENTRATIONS; `logs` (G, SHARE_GRID) are the groups' log-likelihoods.
    """
    middle, sizes = normalized(logs.sum(axis=0)) @ SHARES, numpy.array(CONCENTRATIONS)[:, None]
    priors = (sizes * middle - 1) * numpy.log(SHARES) + (sizes * (1 - middle) - 1) * numpy.log1p(-SHARES)
    priors -= numpy.logaddexp.reduce(priors, axis=1, keepdims=True)
    return numpy.asarray(max(priors, key=lambda prior: float(numpy.logaddexp.reduce(logs + prior, axis=1).sum())))


def summary(posterior: Floats, n: int) -> Share:
    """Return the mean of a posterior (SHARE_GRID,), and the highest-density interval with COVERAGE."""
    if not n:
        return UNKNOWN
    order = numpy.argsort(-posterior, kind="stable")
    likeliest = order[: numpy.searchsorted(numpy.cumsum(posterior[order]), COVERAGE) + 1]
    low, high = float(likeliest.min() / SHARE_GRID), float((likeliest.max() + 1) / SHARE_GRID)
    share = float(posterior @ SHARES) if n >= FEWEST_TEXTS and high - low <= WIDEST_INTERVAL else None
    return Share(share, low, high, n)
