"""Content of a report's page, from its tables: key figures, findings, sections with charts, examples, remarks.

Charts are HTML with lengths in percent and styles in report.html, so that they fit phones, dark mode and paper.
"""

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Optional

import pandas

from ...classifier.attribution import Attribution
from ...classifier.domain_shift import DomainShift
from ...classifier.explain import Explainer
from ...classifier.settings import LAYOUT, ClassifierBundle
from ...corpora.stars import FEW_OF, MANY_OF, Stars
from ...measure.share import Tally
from ...version import __version__
from .statistics import Z95, Tables, clearest, shares_by

# Most groups, words, months (else years) and labels of months in a chart; the tables have all groups and words
GROUPS, WORDS, MONTHS, LABELS = 20, 12, 48, 6
# Reviews of a group on the page, and the labels of a chart's scale
SHOWN, PERCENT = 3, ("0", "50", "100 %")
STARS, SHARE = ["stars", "stars_low", "stars_high"], ["share", "low", "high"]


class Example(NamedTuple):
    """A review, its origin (group and date), and the start and end of the characters to mark."""

    attribution: Attribution
    origin: str
    marked: Sequence[int] = ()


class Section(NamedTuple):
    """A section: the key of its phrases, its chart (HTML), values for its phrases, and examples by heading."""

    key: str
    chart: str
    values: dict[str, Any] = {}
    reviews: dict[str, list[Example]] = {}


def rate_groups(rater: Any, pools: dict[Any, Any], groups: pandas.DataFrame) -> dict[str, Any]:
    """Add STARS to the rows of `groups`, from Pools of their labelled reviews; return Ratings of the first GROUPS."""
    rows = [pools[name] for name in groups.index]
    bounds = [(stars, low, high) for _, (low, stars, high) in rater.bounds(rows)]
    groups[STARS] = pandas.DataFrame(bounds, columns=STARS, index=groups.index, dtype="float64")
    return dict(zip(groups.index, rater.ratings(rows[:GROUPS])))


@dataclass(frozen=True)
class Content:
    """Data of a report: a row for each review, candidates for examples, tables, phrases, mentions and options."""

    frame: pandas.DataFrame
    shown: pandas.DataFrame
    tables: Tables
    say: dict[str, str]
    explainer: Explainer
    tally: Tally
    mentions: pandas.DataFrame
    words_file: Optional[str] = None
    group_by: Optional[str] = None
    rater: Any = None
    ratings: Optional[dict[str, Any]] = None
    unlike: Optional[DomainShift] = None
    stars: Optional[Stars] = None

    def key_figures(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, value and remark of each key figure: share by stars, estimated share, agreement, counts."""
        say, tally, share = self.say, self.tally, self.tally.share
        label_share = tally.positive / max(1, tally.labels)
        bounds = {"low": 100 * share.low, "high": 100 * share.high, "counted": 100 * label_share}
        interval = "key_within" if share.share and share.low <= label_share <= share.high else "key_interval"
        rated = [self.figure(key, self.rated[key], self.rated) for key in ("stars", "agreed") if self.stars]
        estimate = (say["key_share"], self.share_in_words(), say[interval].format(**bounds))
        yield from (*rated[:1], estimate, *rated[1:])
        yield self.figure("count", tally.labels, {"count": tally.positive})
        if "groups" in self.tables:
            groups = self.tables["groups"]
            name, count, more = self.figure("groups", len(groups), {"count": groups["outlier"].sum()})
            blank = self.missing("nameless", self.frame["group"].isna().sum())
            yield name.format(name=self.group_by), count, " · ".join([more, *blank])
        if len(self.tables.get("months", ())):
            months = self.tables["months"].index
            period = "–".join(dict.fromkeys(months[[0, -1]])).replace("-", ".")
            yield self.figure("months", period, {"count": len(months)})

    def figure(self, kind: str, value: Any, more: dict[str, Any]) -> tuple[str, str, str]:
        string = value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else self.percent(value)
        return self.say[f"key_{kind}"], string, self.say[f"key_{kind}_more"].format(**more)

    def percent(self, share: float) -> str:
        return f"{100 * share:.0f}\u00a0%" if share == share else self.say["share_unknown"]

    @cached_property
    def rated(self) -> dict[str, float]:
        """Shares of many stars and of agreeing labels among reviews with few or many stars; other values of stars."""
        frame, scale = self.frame, self.stars.scale if self.stars else 0
        sides = frame.loc[frame["star_label"].notna(), ["label", "star_label"]]
        agreed = (sides["label"] == "positive") == (sides["star_label"] == 1)
        shares = {"stars": sides["star_label"].mean(), "agreed": agreed.mean(), "mean": frame["stars"].mean()}
        return {**shares, "count": len(sides), "few": FEW_OF * scale, "many": MANY_OF * scale, "scale": scale}

    def missing(self, key: str, count: int) -> list[str]:
        """Return a line with the number of rows that lack something, [] if there are none."""
        return [self.say[key].format(count=count, name=self.group_by)] if count else []

    def sentiments(self) -> str:
        """Return a bar of SENTIMENTS with their counts and shares, empty for a classifier without heads."""
        bar = names = ""
        for kind, count, share in self.tables.get("sentiments", pandas.DataFrame()).itertuples(name=None):
            bar += f'<i class="{kind}" {style(width=share)}></i>'
            name, value = html.escape(self.say[kind]), f"{count:,} · {100 * share:.1f}\u00a0%"
            names += f'<div><dt><i class="{kind}"></i>{name}</dt><dd>{value}</dd></div>'
        return f'<div class="parts" aria-hidden="true">{bar}</div><dl class="parts">{names}</dl>' if names else ""

    def share_in_words(self) -> str:
        """Return the share in words: a number, a bound or "unknown"."""
        share = self.tally.share
        phrases = {"low": ("at_least", share.low), "high": ("at_most", share.high), None: ("about", share.share)}
        key, value = phrases[share.bound]
        return self.say["share_unknown" if value is None else f"share_{key}"].format(share=100 * (value or 0))

    def shown_groups(self) -> pandas.DataFrame:
        """Return the groups in charts and findings, in descending order of the share, by stars if there are any."""
        groups = self.tables["groups"].head(GROUPS)
        leading = groups["share_by_stars" if self.stars else "share"]
        return groups.assign(leading=leading).sort_values("leading", ascending=False)

    def findings(self) -> list[tuple[str, str]]:
        """Return the findings at the top of the page: groups and words with significant differences."""
        lines = []
        if "groups" in self.tables:
            groups = self.shown_groups()
            far = groups[groups["outlier"] & groups["leading"].notna()]
            for key, rows in (("found_above", far[far["above"]]), ("found_below", far[~far["above"]][::-1])):
                shares = rows["leading"].head(5).items()
                lines.append((key, ", ".join(f"{name}\u00a0({self.percent(share)})" for name, share in shares)))
        clear = (words[words["z"].abs() >= Z95] for words in self.praise_and_blame(5))
        lines += zip(("found_praise", "found_blame"), (", ".join(words["word"]) for words in clear))
        return [(self.say[key], text) for key, text in lines if text]

    def praise_and_blame(self, count: int) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        words = self.tables["words_by_log_odds"]
        return words[words["z"] > 0].head(count), words[words["z"] < 0].tail(count)[::-1]

    def sections(self) -> Iterator[Section]:
        """Yield the sections of the page with their charts, and last the examples."""
        frame, say = self.frame, self.say
        whole = self.rated["stars"] if self.stars else self.tally.share.share or math.nan
        in_words = self.percent(whole) if self.stars else self.share_in_words()
        values = {"name": self.group_by, "whole": in_words, "stars": say["stars_legend"] if self.stars else ""}
        if count := len(self.tables.get("groups", ())):
            rows = self.shown_groups()
            phrase = say["which_some" if count > len(rows) else "which_all"]
            values["which"] = phrase.format(count=count, shown=len(rows))
            yield Section("groups", interval_rows(rows, self.shares(rows), PERCENT, whole), values)
            if self.ratings:
                yield self.films(self.rater.scale.lowest, self.rater.scale.highest, values)
        if len(self.tables.get("months", ())):
            rows = self.tables["months"]
            if len(rows) > MONTHS:
                years = frame["month"].str[:4].astype("category")
                rows = shares_by(years, frame, self.explainer.classifier.prior, self.tally.evidence)
            yield Section("times", interval_columns(rows, whole, say["times"]), values)
        if self.stars:
            yield self.agreement(self.tables["agreement"])
        # few reviews have few significant words
        most = min(WORDS, 2 + len(frame) // 20)
        yield Section("words", f'<div class="pair">{"".join(self.words(most))}</div>')
        if len(self.mentions):
            yield self.aspects(self.mentions)
        if not len(self.mentions) or len(self.tables["words_by_attention"]):
            yield Section("attention", f'<div class="pair">{"".join(self.attended_words(most))}</div>')
        yield Section("reviews", "", {"shades": say[f"shades_{self.explainer.methods[0]}"]}, self.examples())

    def shares(self, rows: pandas.DataFrame) -> Iterator[str]:
        """Yield values for rows of `shares_by`: share by stars, estimated share with its interval, number of reviews."""
        for row in rows.itertuples():
            star_share = getattr(row, "share_by_stars", math.nan)
            stars = self.say["stars_share"].format(share=100 * star_share) if star_share == star_share else ""
            interval = f" <small>({100 * row.low:.0f}–{100 * row.high:.0f})</small>" if row.share == row.share else ""
            undecided = self.say["undecided"].format(count=row.undecided) if getattr(row, "undecided", 0) else ""
            yield f"{stars}{self.percent(row.share)}{interval} · {row.count:,}{undecided}"

    def films(self, lowest: float, highest: float, values: dict[str, Any]) -> Section:
        """Return the section of groups by predicted stars, with their representative reviews."""
        ratings, examples, weight = self.ratings or {}, {}, self.say["films_weight"].format
        rows = self.tables["groups"].loc[list(ratings)].sort_values("stars", ascending=False, kind="stable")
        shares = (rows[STARS] - lowest) / max(highest - lowest, 1e-9)
        cells = map("{:.2f} <small>({:.1f}–{:.1f})</small> · {:,}".format, *(rows[name] for name in (*STARS, "count")))
        labels = map("{:g}".format, (lowest, (lowest + highest) / 2, highest))
        chart = interval_rows(shares.set_axis(SHARE, axis="columns"), cells, labels)
        for name, rating in zip(rows.index, map(ratings.__getitem__, rows.index)):
            reviews = [Example(each.attribution, weight(share=100 * each.weight)) for each in rating.representative]
            examples[self.say["films_reviews"].format(name=name, stars=rating.stars)] = reviews
        return Section("films", chart, values, examples)

    def agreement(self, counts: pandas.DataFrame) -> Section:
        """Return the section with reviews by stars and by prediction, in bold on the diagonal."""
        whole = counts.to_numpy().sum()
        cells = counts.T.apply(lambda side: side.map(lambda n: f"{n:,} ({self.percent(n / max(1, side.sum()))})")).T
        names = {side: self.say[f"stars_{side}"].format(**self.rated) for side in counts.index}
        chart = cells.rename(index=names, columns=self.say).to_html(index_names=False)
        same = self.percent(counts.to_numpy().trace() / max(1, whole))
        return Section("agreement", f'<div class="scroll diagonal">{chart}</div>', {"count": whole, "same": same})

    def aspects(self, mentions: pandas.DataFrame) -> Section:
        """Return the section of aspects: shares, shares by group, and for each the clearest praise and blame."""
        rows, examples, clear = self.tables["aspects"], {}, clearest(mentions)
        chart = interval_rows(rows, self.shares(rows), PERCENT)
        if "aspects_by_group" in self.tables:
            shares = self.tables["aspects_by_group"]["share"].unstack()
            # an aspect may occur only in reviews without a group
            shares = shares.reindex(index=self.shown_groups().index, columns=rows.index)
            if shares.notna().any(axis=None):
                table = shares.to_html(float_format="{:.0%}".format, na_rep="–", index_names=False)
                chart += f'<div class="scroll">{table}</div>'
        for name in rows.index:
            heading = self.say["aspects_reviews"].format(name=name, count=rows["count"][name])
            pair = clear[clear["aspect"] == name].itertuples()
            examples[heading] = [self.example(mention.row, (mention.start, mention.end)) for mention in pair]
        words = self.say["aspects_own" if self.words_file else "aspects_of_films"].format(file=self.words_file)
        return Section("aspects", chart, {"list": words}, examples)

    def example(self, row: Any, marked: Sequence[int] = ()) -> Example:
        """Return a review as an Example with its attribution, group and date."""
        review = self.shown.loc[row].dropna()
        origin = " · ".join(review[name] for name in ("group", "date") if name in review)
        return Example(self.explainer(review["text"]).without_matrix(), origin, marked)

    def words(self, most: int) -> Iterator[str]:
        counts = f"{self.say['positive']} {{:,}} · {self.say['negative']} {{:,}}".format
        for side, words in zip(("praise", "blame"), self.praise_and_blame(most)):
            rows = zip(words["word"], words["z"].abs(), map(counts, words["positive"], words["negative"]))
            yield bars(self.say[side], [(*row, side if row[1] >= Z95 else f"{side} pale") for row in rows])

    def attended_words(self, most: int) -> Iterator[str]:
        weights, times = self.tables["words_by_attention"], self.say["times_average"]
        for label in ("positive", "negative"):
            rows = weights[weights["label"] == label].head(most).itertuples(index=False, name="Word")
            items = [(row.word, row.weight, times.format(weight=row.weight, count=row.count), "plain") for row in rows]
            yield bars(self.say[f"attention_{label}"], items)

    def examples(self) -> dict[str, list[Example]]:
        """Return Examples of the most positive, negative and neutral reviews, by heading."""
        lists: dict[str, list[Example]] = {self.say[f"most_{kind}"]: [] for kind in ("positive", "negative")}
        for kind, row in self.tables["reviews"].index:
            lists.setdefault(self.say[f"most_{kind}"], []).append(self.example(row))
        return lists

    def remarks(self, bundle: ClassifierBundle) -> Iterable[str]:
        """Yield remarks on the method: model, accuracy, intervals and omitted reviews."""
        say, test = self.say, bundle.manifest["metrics"].get("test", {})
        yield say["method_model"].format(version=__version__, bundle=bundle.name)
        if isinstance(test.get("accuracy"), float) and test.get("data") == "nsmc":
            yield say["method_accuracy"].format(accuracy=100 * test["accuracy"])
        if adapted := bundle.manifest.get("adapted"):
            after, low, high = (100 * share for share in (adapted["after"], *adapted["interval"]))
            rows = bundle.manifest["data"]["train"]["used"]
            yield say["method_adapted"].format(rows=rows, after=after, low=low, high=high)
        yield from [say["method_share"], *([say["method_neither"]] if "sentiments" in self.tables else [])]
        yield from [say["method_writers"], *self.missing("left_out", self.tally.rows - self.tally.labels)]
        if self.stars:
            rated = sum(number is not None for number in self.stars.numbers)
            yield from self.missing("stars_alone", rated - self.frame["stars"].count())
        yield from self.missing("undated", self.frame["month"].isna().sum() if "month" in self.frame else 0)
        if self.unlike and not self.words_file:
            yield say["aspects_unlike"]
        if self.group_by and self.unlike:
            yield say["films_unlike"]
        elif self.group_by and not self.rater:
            yield say["films_other"].format(classifier=LAYOUT.packaged[0].name)


def style(**lengths: float) -> str:
    """Return a style attribute with lengths (0 to 1) in percent."""
    return 'style="' + ";".join(f"{name}:{100 * value:.2f}%" for name, value in lengths.items()) + '"'


def interval_rows(rows: pandas.DataFrame, values: Iterable[str], ends: Iterable[str], whole: float = math.nan) -> str:
    """Return a line for each row of `shares_by` with name, marks and value (HTML), and the scale's labels `ends`."""
    items = zip(rows.iterrows(), values)
    lines = [line(str(name), value, mark("mean", whole) + marks_of(row)) for (name, row), value in items]
    axis = "".join(f"<b>{end}</b>" for end in ends)
    return f'<ol class="lines wide">{"".join(lines)}</ol><div class="axis">{axis}</div>'


def marks_of(row: "pandas.Series[Any]", start: str = "left", size: str = "width") -> str:
    """Return the marks of a row of `shares_by`: interval, share and share by stars, which shows outliers if present."""
    by_stars, far = row.get("share_by_stars", math.nan), " far" * bool(row.get("outlier"))
    bar = f'<i class="range" {style(**{start: row["low"], size: row["high"] - row["low"]})}></i>'
    return bar + mark("dot" + far * (by_stars != by_stars), row["share"], start) + mark("own" + far, by_stars, start)


def mark(kind: str, at: float, start: str = "left") -> str:
    """Return the mark of a share, empty for NaN."""
    return f'<i class="{kind}" {style(**{start: at})}></i>' if at == at else ""


def line(name: str, value: str, marks: str) -> str:
    name = f'<span class="name" lang="ko">{html.escape(name)}</span>'
    return f'<li>{name}<span class="value">{value}</span><span class="track">{marks}</span></li>'


def bars(title: str, items: Sequence[tuple[str, float, str, str]]) -> str:
    """Return a list of bars; items are name, length (relative to the longest), value and class of the bar."""
    longest = max((n for _, n, *_ in items), default=1) or 1
    fill = '<i class="fill {}" {}></i>'.format
    lines = [line(name, html.escape(value), fill(kind, style(width=n / longest))) for name, n, value, kind in items]
    return f'<div><h3>{html.escape(title)}</h3><ol class="lines">{"".join(lines) or "<li>–</li>"}</ol></div>'


def interval_columns(rows: pandas.DataFrame, whole: float, label: str) -> str:
    """Return a chart of `shares_by` over time, with a column for each row and at most LABELS names below."""
    width, step = 1 / len(rows), -(-len(rows) // LABELS)
    columns = mark("mean", whole, "bottom")
    for number, (name, row) in enumerate(rows.iterrows()):
        marks = marks_of(row, "bottom", "height") + f"<b>{name}</b>" * (number % step == 0)
        columns += f'<i class="column" {style(left=width * number, width=width)}>{marks}</i>'
    scale = "".join(f'<b class="scale" {style(bottom=share)}>{100 * share:.0f}</b>' for share in (0, 0.5, 1))
    return f'<div class="columns" role="img" aria-label="{html.escape(label)}">{scale}{columns}</div>'
