"""Content of a report's page, from its tables: key figures, findings, sections with charts, examples, remarks."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Optional

import pandas

from ...classifier.attribution import Attribution
from ...classifier.domain_shift import DomainShift
from ...classifier.explain import Explainer
from ...classifier.prediction import Prediction
from ...classifier.settings import LAYOUT, ClassifierBundle
from ...corpora.stars import FEW_OF, MANY_OF, Stars
from ...machine.progress import progress_bar
from ...measure.share import Tally
from ...version import __version__
from .charts import bars, interval_columns, interval_rows, pair, parts, star_rows
from .statistics import Z95, shares_by

# Groups and words of a figure; the tables have all. More months than these are drawn as years
GROUPS, WORDS, MONTHS = 20, 12, 48
# Reviews of a group on the page
SHOWN = 3
# What a review may be by the heads of a classifier
SENTIMENTS = ["positive", "neutral", "negative", "no_opinion"]
STARS = ["stars", "stars_low", "stars_high"]
Tables = dict[str, pandas.DataFrame]


class Figure(NamedTuple):
    """A key figure: what, how much, and a line that says more."""

    name: str
    value: str
    more: str


class Example(NamedTuple):
    """A review to show, where it is from (its group and date), and the characters to mark, start to end."""

    attribution: Attribution
    origin: str
    marked: Sequence[int] = ()


class ExampleList(NamedTuple):
    """Reviews below a heading, `folded` ones to unfold."""

    heading: str
    examples: Sequence[Example]
    folded: bool = False


class Section(NamedTuple):
    """The key of a section's phrases, its chart (HTML), what fills the heading and the legend, and its reviews."""

    key: str
    chart: str
    values: dict[str, Any] = {}
    reviews: Sequence[ExampleList] = ()


def rate_groups(rater: Any, frame: pandas.DataFrame, groups: pandas.DataFrame) -> dict[str, Any]:
    """Add STARS to the rows of `groups`, of the reviews of a frame with `group` and `text`; rate the first GROUPS.

    What is kept of a group does not grow with its reviews. Rows of the frame without a group belong to none.
    """
    named = frame[frame["group"].notna()]
    pools = rater.pool(zip(named["group"], named["text"]), SHOWN)
    rows = [pools[name] for name in groups.index]
    bounds = [(stars, low, high) for _, (low, stars, high) in rater.bounds(rows)]
    groups[STARS] = pandas.DataFrame(bounds, columns=STARS, index=groups.index, dtype="float64")
    return dict(zip(groups.index, rater.ratings(rows[:GROUPS])))


@dataclass(frozen=True)
class Content:
    """The data of a report, the `page.phrases` of its language, and what explains its examples.

    `frame` has text, probability and label of each review, with `group_by` its group, and perhaps date and month;
    `ratings` are those of the largest groups by the rater, without which there are no stars; `unlike` says how the
    reviews are unlike those that the model was trained on, `tally` has their estimated share of positive ones, `stars`
    are the table's own, whose numbers are in the frame; `mentions` has a row for each aspect of each review.
    """

    frame: pandas.DataFrame
    predictions: list[Prediction]
    tables: Tables
    say: dict[str, str]
    explainer: Explainer
    group_by: Optional[str] = None
    rater: Any = None
    ratings: Optional[dict[str, Any]] = None
    unlike: Optional[DomainShift] = None
    tally: Tally = field(default_factory=Tally)
    stars: Optional[Stars] = None
    mentions: pandas.DataFrame = field(default_factory=pandas.DataFrame)

    def key_figures(self) -> list[Figure]:
        say, tally = self.say, self.tally
        share, counted = tally.share, 100 * tally.positive / max(1, tally.labels)
        bounds = {"low": 100 * share.low, "high": 100 * share.high, "counted": counted}
        key = "key_within" if share.share and bounds["low"] <= counted <= bounds["high"] else "key_interval"
        figures = [
            Figure(say["key_share"], self.share_in_words(), say[key].format(**bounds)),
            Figure(say["key_count"], f"{tally.labels:,}", say["key_positive"].format(count=tally.positive)),
        ]
        if self.stars:
            polar = self.frame["star_label"].dropna()
            mean, given = self.frame["stars"].mean(), 100 * polar.mean() if len(polar) else float("nan")
            few, many = (self.stars.scale * share for share in (FEW_OF, MANY_OF))
            more = say["key_stars_more"].format(share=given, few=few, many=many)
            figures.append(Figure(say["key_stars"], f"{mean:.2f} / {self.stars.scale}", more))
        if "groups" in self.tables:
            groups = self.tables["groups"]
            far = say["key_outliers"].format(count=int(groups["outlier"].sum()))
            figures.append(Figure(say["key_groups"].format(name=self.group_by), f"{len(groups):,}", far))
        if len(self.tables.get("months", ())):
            months = self.tables["months"].index
            period = "–".join(dict.fromkeys(month.replace("-", ".") for month in (months[0], months[-1])))
            figures.append(Figure(say["key_period"], period, say["key_months"].format(count=len(months))))
        return figures

    def sentiments(self) -> str:
        """Return a bar of SENTIMENTS, each with its count and share; nothing where the classifier has no heads."""
        rows = self.tables["sentiments"].itertuples(name=None) if "sentiments" in self.tables else ()
        value = "{:,} · {:.1f}\u00a0%".format
        return parts([(self.say[kind], share, value(count, 100 * share), kind) for kind, count, share in rows])

    def share_in_words(self) -> str:
        """Return the share as a key figure: a number, a bound, or that it is unknown."""
        share = self.tally.share
        phrases = {"low": ("at_least", share.low), "high": ("at_most", share.high), None: ("about", share.share)}
        key, value = phrases[share.bound]
        return self.say["share_unknown" if value is None else f"share_{key}"].format(share=100 * (value or 0))

    def shown_groups(self) -> pandas.DataFrame:
        """Return the groups of the figure, which are those that the findings name, too."""
        return self.tables["groups"].head(GROUPS).sort_values("share", ascending=False)

    def findings(self) -> list[tuple[str, str]]:
        """Return the lines at the page's head: groups and words that differ by more than chance."""
        lines = []
        if "groups" in self.tables:
            groups = self.shown_groups()
            far = groups[groups["outlier"] & groups["share"].notna()]
            for key, rows in (("found_above", far[far["above"]]), ("found_below", far[~far["above"]][::-1])):
                shares = rows["share"].head(5).items()
                lines.append((key, ", ".join(f"{name}\u00a0({100 * share:.0f}\u00a0%)" for name, share in shares)))
        clear = (words[words["z"].abs() >= Z95] for words in self.praise_and_blame(5))
        praise, blame = (", ".join(words["word"]) for words in clear)
        lines += [("found_praise", praise), ("found_blame", blame)]
        return [(self.say[key], text) for key, text in lines if text]

    def praise_and_blame(self, count: int) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        """Return the clearest words of either side."""
        words = self.tables["words_by_log_odds"]
        return words[words["z"] > 0].head(count), words[words["z"] < 0].tail(count)[::-1]

    def sections(self) -> Iterator[Section]:
        """Yield the figures of the page, then its examples."""
        scored = self.frame[self.frame["label"].notna()]
        whole = float("nan") if self.tally.share.share is None else self.tally.share.share
        values = {"name": self.group_by, "whole": self.share_in_words()}
        if len(self.tables.get("groups", ())):
            rows = self.shown_groups()
            chart = interval_rows(rows, whole, self.say["share_unknown"], self.say["stars_given"] if self.stars else "")
            yield Section("groups", chart, {**values, "which": self.which(len(rows))})
            if self.rater:
                yield self.films(self.rater.scale.lowest, self.rater.scale.highest)
        if len(self.tables.get("months", ())):
            rows = self.tables["months"]
            if len(rows) > MONTHS:
                # otherwise each has few reviews and a wide interval
                years, prior = scored["month"].dropna().str[:4], self.explainer.classifier.prior
                rows = shares_by(years, scored, prior, self.tally.evidence)
            yield Section("times", interval_columns(rows, whole, self.say["times"]), values)
        # few reviews have few words of which anything can be said
        most = min(WORDS, 2 + len(scored) // 20)
        yield Section("words", pair(*self.words(most)))
        if len(self.mentions):
            yield self.aspects(self.mentions)
        if not len(self.mentions) or len(self.tables["words_by_attention"]):
            yield Section("attention", pair(*self.attended_words(most)))
        yield Section("reviews", "", {"shades": self.say[f"shades_{self.explainer.default}"]}, self.examples())

    def films(self, lowest: float, highest: float) -> Section:
        """Return a line for each group with its stars, and below the reviews of each to unfold."""
        ratings = self.ratings or {}
        rows = self.tables["groups"].loc[list(ratings)].sort_values("stars", ascending=False, kind="stable")
        values = {"name": self.group_by, "which": self.which(len(rows)), "lowest": lowest, "highest": highest}
        weight, heading = self.say["films_weight"], self.say["films_reviews"]
        lists = []
        for name, rating in ((name, ratings[name]) for name in rows.index):
            shown = rating.representative
            examples = [Example(review.attribution, weight.format(share=100 * review.weight)) for review in shown]
            lists.append(ExampleList(heading.format(name=name, stars=rating.stars), examples, folded=True))
        return Section("films", star_rows(rows, lowest, highest), values, lists)

    def aspects(self, mentions: pandas.DataFrame) -> Section:
        """Return a line for each aspect, its share by group, and the reviews that praise and blame it most to unfold."""
        rows, lists = self.tables["aspects"], []
        chart = interval_rows(rows, float("nan"), self.say["share_unknown"])
        if "aspects_by_group" in self.tables:
            shares = self.tables["aspects_by_group"]["share"].unstack()
            # an aspect may be named beside blank groups alone
            shares = shares.reindex(index=self.shown_groups().index, columns=rows.index)
            chart += f'<div class="scroll">{shares.to_html(float_format="{:.0%}".format, na_rep="–", index_names=False)}</div>'
        for name in rows.index:
            own = mentions[mentions["aspect"] == name].sort_values("odds")
            chosen = own.iloc[[-1, 0] if len(own) > 1 else [0]].itertuples()
            examples = [self.example(each.row, (each.start, each.end)) for each in chosen]
            heading = self.say["aspects_reviews"].format(name=name, count=len(own))
            lists.append(ExampleList(heading, examples, folded=True))
        return Section("aspects", chart, {}, lists)

    def example(self, row: int, marked: Sequence[int] = ()) -> Example:
        """Return a review, explained, with its group and date."""
        review = self.frame.loc[row]
        origin = " · ".join(review[name] for name in ("group", "date") if review.get(name))
        return Example(self.explainer(self.predictions[row].text).without_matrix(), origin, marked)

    def which(self, shown: int) -> str:
        """Return in words how many of the groups are shown."""
        count = len(self.tables["groups"])
        return self.say["which_all" if shown == count else "which_some"].format(count=count, shown=shown)

    def words(self, most: int) -> Iterator[str]:
        counts = f"{self.say['positive']} {{:,}} · {self.say['negative']} {{:,}}".format
        for side, words in zip(("praise", "blame"), self.praise_and_blame(most)):
            shades = {True: side, False: f"{side} pale"}
            rows = zip(words["word"], words["z"].abs(), map(counts, words["positive"], words["negative"]))
            yield bars(self.say[side], [(*row, shades[row[1] >= Z95]) for row in rows])

    def attended_words(self, most: int) -> Iterator[str]:
        weights, times = self.tables["words_by_attention"], self.say["times_average"]
        for label in ("positive", "negative"):
            rows = weights[weights["label"] == label].head(most).itertuples(index=False, name="Word")
            items = [(row.word, row.weight, times.format(weight=row.weight, count=row.count), "plain") for row in rows]
            yield bars(self.say[f"attention_{label}"], items)

    def examples(self) -> list[ExampleList]:
        """Return the most positive, negative and neutral reviews, explained, each with its group and date."""
        lists: dict[str, list[Example]] = {"positive": [], "negative": []}
        for kind, row in progress_bar([*self.tables["reviews"].index], desc="explaining", unit=" reviews", delay=2):
            lists.setdefault(kind, []).append(self.example(row))
        return [ExampleList(self.say[f"most_{kind}"], examples) for kind, examples in lists.items()]

    def warnings(self) -> list[str]:
        """Return what stands at the top of the page: why the figures may be wrong."""
        return [self.say["unlike"].format(**asdict(self.unlike))] if self.unlike else []

    def remarks(self, bundle: ClassifierBundle) -> list[str]:
        """Return how the figures came about: what was left out, what the model and the intervals are."""
        say, frame = self.say, self.frame
        lines = [say["method_model"].format(version=__version__, bundle=bundle.name)]
        test = bundle.manifest["metrics"].get("test", {})
        if isinstance(test.get("accuracy"), float) and test.get("data") == "nsmc":
            lines.append(say["method_accuracy"].format(accuracy=100 * test["accuracy"]))
        if adapted := bundle.manifest.get("adapted"):
            after, low, high = (100 * share for share in (adapted["after"], *adapted["interval"]))
            rows = bundle.manifest["data"]["train"]["used"]
            lines.append(say["method_adapted"].format(rows=rows, after=after, low=low, high=high))
        neither = [say["method_neither"]] if "sentiments" in self.tables else []
        lines += [say["method_share"], *neither, say["method_writers"]]
        for key, column in (("left_out", "label"), ("undated", "month"), ("nameless", "group")):
            if column in frame and (count := int(frame[column].isna().sum())):
                lines.append(say[key].format(count=count, name=self.group_by))
        if self.group_by and self.unlike:
            lines.append(say["films_unlike"])
        elif self.group_by and not self.rater:
            lines.append(say["films_other"].format(classifier=LAYOUT.packaged[0].name))
        return lines
