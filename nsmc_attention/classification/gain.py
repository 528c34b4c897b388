"""The gain from adapting: predictions of held-out reviews before and after, and whether to use the adapted bundle.

    held-out log-odds -> calibration, with a threshold that skewed labels do not move too far -> Judgement -> objection

Accuracy alone misleads where most labels are the same: always answering with the commoner one is often right.
"""

from dataclasses import dataclass
from typing import Optional

import numpy
from numpy.typing import NDArray
from scipy.special import expit

from .._runtime.aliases import Record
from ..errors import DataError
from ..evaluation.calibration import temperature
from ..evaluation.metrics import headline, share_interval
from .settings import KEPT_ODDS, LABELS

# Fewest labelled reviews, and of each label: each fold has one
FEWEST, FEWEST_OF_LABEL = 40, 5
# The probability by chance below which something is shown, and that of a loss by which a bundle is refused
CHANCE, LOSS = 0.025, 0.05
# A rarer label with fewer reviews says little
ENOUGH = 20


@dataclass(frozen=True)
class Judgement:
    """Two classifiers on N labelled reviews: log-odds (N,) of models that have not seen them, and of the bundle as it was.

    `baseline` is the accuracy of another model; `shift` is the `threshold_shift` in `adapted`; `seen` is how many of the
    reviews the bundle as it was had been trained on, 0 where these are few.
    """

    labels: NDArray[numpy.int64]
    adapted: NDArray[numpy.float64]
    unchanged: NDArray[numpy.float64]
    baseline: float
    shift: float = 0.0
    seen: int = 0

    @property
    def after(self) -> float:
        return accuracy(self.adapted, self.labels)

    @property
    def before(self) -> float:
        return accuracy(self.unchanged, self.labels)

    @property
    def balanced_after(self) -> float:
        return balanced_accuracy(self.adapted, self.labels)

    @property
    def balanced_before(self) -> float:
        return balanced_accuracy(self.unchanged, self.labels)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of `after`."""
        return share_interval(self.after, len(self.labels))

    @property
    def figures(self) -> Record:
        """The values of `adapted` in the manifest."""
        names = ("before", "after", "interval", "balanced_before", "balanced_after", "baseline")
        seen = {"seen": self.seen} if self.seen else {}
        return {**{name: getattr(self, name) for name in names}, "positive": float(self.labels.mean()), **seen}

    def in_words(self) -> list[str]:
        low, high = (f"{100 * bound:.1f}" for bound in self.interval)
        after, before, other = map(percent, (self.after, self.before, self.baseline))
        balanced, balanced_before = map(percent, (self.balanced_after, self.balanced_before))
        return [
            f"accuracy, each review predicted by networks that have not seen it: adapted {after} ({low} to {high}), "
            f"as it was {before}, logistic regression on TF-IDF {other}",
            f"balanced accuracy, the mean of the shares of both labels: adapted {balanced}, as it was {balanced_before}",
        ]

    @property
    def rarer(self) -> tuple[str, int]:
        """The rarer label and how many reviews have it."""
        counts = numpy.bincount(self.labels, minlength=2)
        return LABELS[int(counts.argmin())], int(counts.min())

    def objection(self) -> Optional[str]:
        """Return why the adapted bundle should not be used, None if it should.

        Its log-odds have to be higher for positive reviews than for negative ones (Mann-Whitney, one-sided), and its log
        loss, before the threshold is shifted, must not be larger than that of the bundle as it was, whose temperature is
        fitted too (paired t test, one-sided).
        """
        label, count = self.rarer
        if not above_chance(self.adapted, self.labels):
            more = f"label {ENOUGH - count} more {label} one{'s' * (count < ENOUGH - 1)}" if count < ENOUGH else ""
            if above_chance(self.unchanged, self.labels):
                return f"no better than chance with {count} {label} reviews: {more or 'label more'}"
            return "no better than chance, nor is the bundle as it was: are the labels right" + f"; or {more}" * bool(
                more
            )
        if self.larger_loss < LOSS:
            return "worse than the bundle as it was: use that, or label more"
        return None

    @property
    def larger_loss(self) -> float:
        """The probability of a gain of log loss as small as this one by chance, if there were neither gain nor loss."""
        from scipy.stats import ttest_1samp

        unchanged = self.unchanged / temperature(self.unchanged, self.labels)
        gains = losses(unchanged, self.labels) - losses(self.adapted - self.shift, self.labels)
        return float(ttest_1samp(gains, 0, alternative="less").pvalue) if gains.std() else 0.0

    def warning(self) -> Optional[str]:
        """Return what to do where the gain is not shown yet, None where it is."""
        label, count = self.rarer
        if self.after < self.before and self.balanced_after < self.balanced_before:
            return "neither accuracy is higher than as it was, though it may be chance: label more, or use that bundle"
        if self.balanced_after < self.balanced_before and count < ENOUGH:
            return f"there are few {label} reviews, {count}: label more of them to find them as often as before"
        if self.larger_loss < 1 - LOSS:
            return "the gain may be chance: label more to be sure of it"
        return None


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def accuracy(odds: NDArray[numpy.float64], labels: NDArray[numpy.int64]) -> float:
    return float(numpy.mean((odds > 0) == labels))


def balanced_accuracy(odds: NDArray[numpy.float64], labels: NDArray[numpy.int64]) -> float:
    """Return the mean of the shares that are right of the negative reviews and of the positive ones."""
    return float(numpy.mean([numpy.mean((odds[labels == side] > 0) == side) for side in (0, 1)]))


def losses(odds: NDArray[numpy.float64], labels: NDArray[numpy.int64]) -> NDArray[numpy.float64]:
    """Return the log loss of each review, nats."""
    return numpy.logaddexp(0, numpy.where(labels == 1, -odds, odds))


def above_chance(odds: NDArray[numpy.float64], labels: NDArray[numpy.int64]) -> bool:
    from scipy.stats import mannwhitneyu

    test = mannwhitneyu(odds[labels == 1], odds[labels == 0], alternative="greater")
    return bool(test.pvalue < CHANCE)


def threshold_shift(labels: NDArray[numpy.int64], mix: float = 1.0) -> float:
    """Return what is added to log-odds of a model that learnt the odds of the labels, so that at most KEPT_ODDS are left.

    A model that learns that 90 % are positive finds few of the others. Of what it learnt, the share `mix` was kept.
    """
    positive = numpy.sum(labels == 1)
    learnt = mix * numpy.log((positive + 0.5) / (len(labels) - positive + 0.5))
    return float(-numpy.sign(learnt) * max(abs(learnt) - numpy.log(KEPT_ODDS), 0))


def held_out_calibration(odds: NDArray[numpy.float64], labels: NDArray[numpy.int64], mix: float = 1.0) -> Record:
    """Return the `calibration` of held-out log-odds (N,): a temperature, then `threshold_shift` as the bias."""
    scale, bias = 1 / temperature(odds, labels), threshold_shift(labels, mix)
    before, after = (headline(labels, expit(logit)) for logit in (odds, scale * odds + bias))
    return {"scale": scale, "wide_scale": 0.0, "bias": bias, "before": before, "after": after}


def check_counts(labels: NDArray[numpy.float64], name: str) -> None:
    """Raise DataError, with how many more to label, where labels (N,) are too few."""
    counts = numpy.bincount(labels.astype(int), minlength=2)
    lacking = numpy.maximum(FEWEST_OF_LABEL - counts, 0)
    if len(labels) >= FEWEST and not lacking.any():
        return
    more = [f"{count} more {label} one{'s' * (count > 1)}" for label, count in zip(LABELS, lacking) if count]
    if (rest := FEWEST - len(labels) - int(lacking.sum())) > 0:
        more.append(f"{rest} other{'s' * (rest > 1)}" if more else f"{rest} more")
    raise DataError(
        f"{name}: expected {FEWEST} labelled reviews that differ, and {FEWEST_OF_LABEL} of each label, found {counts[0]} "
        f"negative and {counts[1]} positive ones; label {' and '.join(more)}"
    )
