"""A classifier before and after adapting, compared on held-out reviews: whether to use the adapted one.

    held-out log-odds -> calibration, with a threshold that skewed labels do not move too far -> Comparison -> objection

Accuracy alone misleads where most labels are the same: always answering with the commoner one is often right.
"""

from dataclasses import dataclass
from typing import Optional

import numpy
from numpy.typing import NDArray
from scipy.special import expit

from ..errors import DataError
from ..machine.aliases import Record
from ..measure.calibration import temperature
from ..measure.metrics import headline, share_interval
from .settings import KEPT_ODDS, LABELS

# Fewest labelled reviews, and of each label: each fold has one
FEWEST_LABELLED, FEWEST_OF_LABEL = 40, 5
# The probability by chance below which something is shown, and that of a loss by which a bundle is refused
CHANCE, LOSS = 0.025, 0.05
# A rarer label with fewer reviews says little
ENOUGH_OF_LABEL = 20
Odds = NDArray[numpy.float64]
Labels = NDArray[numpy.int64]


@dataclass(frozen=True)
class Comparison:
    """Log-odds (N,) of labelled reviews: `adapted`, by networks that have not seen them, and by the bundle as it was.

    `baseline` is the accuracy of another model; `shift` is the `threshold_shift` in `adapted`; `seen` is how many of the
    reviews the bundle as it was had been trained on, 0 where these are few.
    """

    labels: Labels
    adapted: Odds
    unchanged: Odds
    baseline: float
    shift: float = 0.0
    seen: int = 0

    @property
    def figures(self) -> Record:
        """The values of `adapted` in the manifest, with the 95 % interval of `after`."""
        after = accuracy(self.adapted, self.labels)
        return {
            "before": accuracy(self.unchanged, self.labels),
            "after": after,
            "interval": share_interval(after, len(self.labels)),
            "balanced_before": balanced_accuracy(self.unchanged, self.labels),
            "balanced_after": balanced_accuracy(self.adapted, self.labels),
            "baseline": self.baseline,
            "positive": float(self.labels.mean()),
            **({"seen": self.seen} if self.seen else {}),
        }

    def in_words(self) -> list[str]:
        figures = self.figures
        low, high = (f"{100 * bound:.1f}" for bound in figures["interval"])
        after, before, balanced, balanced_before, other = (
            f"{100 * figures[name]:.1f} %"
            for name in ("after", "before", "balanced_after", "balanced_before", "baseline")
        )
        lines = [
            f"accuracy, each review predicted by networks that have not seen it: adapted {after} ({low} to {high}), "
            f"as it was {before}, logistic regression on TF-IDF {other}",
            f"balanced accuracy, the mean of the shares of both labels: adapted {balanced}, as it was {balanced_before}",
        ]
        if self.seen:
            known = (
                f"{self.seen:,} of {len(self.labels):,} reviews are in the training data of the bundle it began with"
            )
            lines.append(f"{known}: these accuracies are too good, the gain too small")
        return lines

    @property
    def rarer(self) -> tuple[str, int]:
        """The rarer label and how many reviews have it."""
        counts = numpy.bincount(self.labels, minlength=2)
        return LABELS[int(counts.argmin())], int(counts.min())

    def objection(self) -> Optional[str]:
        """Say why the adapted bundle should not be used; None if it should.

        Its log-odds have to be higher for positive reviews than for negative ones (Mann-Whitney, one-sided), and its log
        loss, before the threshold is shifted, must not be larger than that of the bundle as it was, whose temperature is
        fitted too (paired t test, one-sided).
        """
        if not above_chance(self.adapted, self.labels):
            label, count = self.rarer
            return f"no better than chance with {count} {label} reviews: check the labels, or label more"
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
        """Say what to do where the gain is not shown yet; None where it is."""
        (label, count), figures = self.rarer, self.figures
        found_less = figures["balanced_after"] < figures["balanced_before"]
        if found_less and figures["after"] >= figures["before"] and count < ENOUGH_OF_LABEL:
            return f"there are few {label} reviews, {count}: label more of them to find them as often as before"
        if self.larger_loss < 1 - LOSS or (found_less and figures["after"] < figures["before"]):
            return "the gain may be chance: label more to be sure of it"
        return None


def accuracy(odds: Odds, labels: Labels) -> float:
    return float(numpy.mean((odds > 0) == labels))


def balanced_accuracy(odds: Odds, labels: Labels) -> float:
    """Return the mean of the shares that are right of the negative reviews and of the positive ones."""
    return float(numpy.mean([accuracy(odds[chosen], labels[chosen]) for chosen in (labels == 0, labels == 1)]))


def losses(odds: Odds, labels: Labels) -> Odds:
    """Return the log loss of each review, nats."""
    return numpy.logaddexp(0, numpy.where(labels == 1, -odds, odds))


def above_chance(odds: Odds, labels: Labels) -> bool:
    from scipy.stats import mannwhitneyu

    return bool(mannwhitneyu(odds[labels == 1], odds[labels == 0], alternative="greater").pvalue < CHANCE)


def threshold_shift(labels: Labels, mix: float = 1.0) -> float:
    """The shift of a model's log-odds that leaves at most KEPT_ODDS of the odds of the labels, which it learnt.

    A model that learns that 90 % are positive finds few of the others. Of what it learnt, the share `mix` was kept.
    """
    positive = numpy.sum(labels == 1)
    learnt = mix * numpy.log((positive + 0.5) / (len(labels) - positive + 0.5))
    return float(-numpy.sign(learnt) * max(abs(learnt) - numpy.log(KEPT_ODDS), 0))


def held_out_calibration(odds: Odds, labels: Labels, mix: float = 1.0) -> Record:
    """Return the `calibration` of held-out log-odds (N,): a temperature, then `threshold_shift` as the bias."""
    scale, bias = 1 / temperature(odds, labels), threshold_shift(labels, mix)
    before, after = (headline(labels, expit(logit)) for logit in (odds, scale * odds + bias))
    return {"scale": scale, "wide_scale": 0.0, "bias": bias, "before": before, "after": after}


def check_counts(labels: NDArray[numpy.float64], name: str) -> None:
    """Raise DataError where labels (N,) are too few."""
    negative, positive = numpy.bincount(labels.astype(int), minlength=2).tolist()
    if len(labels) < FEWEST_LABELLED or min(negative, positive) < FEWEST_OF_LABEL:
        raise DataError(
            f"{name}: expected {FEWEST_LABELLED} labelled reviews that differ, and {FEWEST_OF_LABEL} of each label, found "
            f"{negative} negative and {positive} positive ones; label more"
        )
