"""Statistics of scored reviews: shares of positive reviews, dates, distinctive words, extreme reviews."""

import re
from collections import Counter, defaultdict
from functools import partial, reduce
from typing import Any, Iterable, Sequence

import numpy
import pandas

from ...measure.share import BINS, FEWEST_TEXTS, NOTHING, UNKNOWN, WIDEST_INTERVAL, Evidence, Share, bins_of, shrunk

Tables = dict[str, pandas.DataFrame]
# Normal quantiles: of 95 % intervals, and of the 99.8 % interval outside which a group is an outlier
Z95, Z998 = 1.96, 3.09
MONTHS = dict(zip("jan feb mar apr may jun jul aug sep oct nov dec".split(), map(str, range(1, 13))))
END = "(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?"
MONTH, DAY = rf"(?P<month>{'|'.join(MONTHS)}){END}(?![a-z])", r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
# Dates at the start of a cell: digits; a year, a month and an optional day; three numbers; 01-Oct-25; October 1, 2025
DATES = (
    re.compile(r"^(?P<year>\d{4}|\d\d)(?P<month>\d\d)(?P<day>\d\d)(?!\d)"),
    re.compile(r"^(?P<year>\d{4})\s*[./년-]\s*(?P<month>\d{1,2})(?:\s*[./월-]\s*(?P<day>\d{1,2}))?(?![\d:])"),
    re.compile(r"^(?P<year>\d\d)\s*[./-]\s*(?P<month>\d{1,2})\s*[./-]\s*(?P<day>\d{1,2})(?![\d:])"),
    re.compile(rf"(?i)\b{DAY}[\s.-]*{MONTH}[\s.,-]*(?P<year>\d{{4}}|\d\d)(?![\d:])"),
    re.compile(rf"(?i)\b{MONTH}[\s.-]+(?:{DAY}[\s,]+)?(?P<year>\d{{4}})(?![\d:])"),
)
# {pattern: (unit, origin)} of numbers for 1954 to 2091: days in Excel; seconds and milliseconds in Korean time
COUNTED = {r"[2-6]\d{4}": ("D", "1899-12-30"), r"1\d{9}": ("s", "1970-01-01T09"), r"1\d{12}": ("ms", "1970-01-01T09")}
# A date with the day of the week in place of the year, which websites use for the current year: 3.12.목
WEEKDAYS = dict(zip("월화수목금토일", range(7)))
THIS_YEAR = re.compile(r"^(?P<month>\d{1,2})\s*[./월-]\s*(?P<day>\d{1,2})[\s.일(]*(?P<weekday>\w)(?:요일)?\)?$")
SENTIMENTS = ["positive", "neutral", "negative", "no_opinion"]  # classes of a classifier with heads
# Middle of the stars, least characters of an example, least reviews of a word
MIDDLE, READABLE, FEWEST_REVIEWS = 6, 15, 5


def shares_by(keys: Any, frame: pandas.DataFrame, prior: float = 0.0, table: Evidence = NOTHING) -> pandas.DataFrame:
    """Return count, positive, share, low, high and outlier for each key, sorted; reviews without a key are left out.

    `frame` has label (None: undecided), probability, and perhaps sentiment, stars and star_label (1: many, 0: few); `prior`
    is that of Evidence, `table` the whole table's Evidence. positive counts labels; share, low and high are by `shrunk`,
    below FEWEST_TEXTS labels NaN, 0 and 1; outliers are outside 99.8 % of groups of their size (Spiegelhalter 2005).
    """
    positive, undecided, probability = frame["label"] == "positive", frame["label"].isna(), frame["probability"]
    by = partial(pandas.Series.groupby, by=keys, observed=True)
    rows = by(positive).agg(["size", "sum"]).set_axis(["count", "positive"], axis="columns")
    decided = by(probability.mask(undecided))
    enough, known = decided.count() >= FEWEST_TEXTS, decided.obj[decided.transform("count") >= FEWEST_TEXTS].dropna()
    bins = by(known).ngroup() * BINS + bins_of(known.to_numpy(), prior)
    estimates = iter(shrunk(numpy.bincount(bins, numpy.ones(len(bins)), BINS * enough.sum()).reshape(-1, BINS), table))
    shares = [next(estimates) if is_enough else UNKNOWN for is_enough in enough]
    estimated = pandas.DataFrame(shares, columns=Share._fields, index=rows.index).drop(columns="n").astype("float64")
    # undecided reviews widen the interval, because they may be on either side (Manski 1989)
    rate, weak = by(undecided).mean(), by(probability.where(undecided)).mean().fillna(0)
    estimated = estimated.mul(1 - rate, axis="index").assign(high=lambda table: table["high"] + rate)
    estimated["share"] = (estimated["share"] + weak * rate).mask(estimated["high"] - estimated["low"] > WIDEST_INTERVAL)
    sides = frame.get("star_label", positive)
    difference, whole = by(sides).mean() - sides.mean(), sides.mean()
    limit = Z998 * numpy.sqrt(whole * (1 - whole) / by(sides).count())
    counts = {kind: by(frame["sentiment"] == kind).sum() for kind in SENTIMENTS[1::2] if "sentiment" in frame}
    counts |= {"undecided": by(undecided).sum()} if undecided.any() else {}
    star_columns = {"mean_stars": "stars", "share_by_stars": "star_label"}.items()
    means = {name: by(frame[column]).mean() for name, column in star_columns if column in frame}
    rows = rows.join(estimated).assign(outlier=difference.abs() > limit, above=difference > 0, **counts, **means)
    return rows.set_axis(rows.index.astype(object))


def agreement(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Return the number of reviews by the side of their stars (rows, neutral for the middle) and by prediction."""
    sides = frame["star_label"].fillna(0.5).where(frame["stars"].notna()).rename("stars")
    predicted = frame.get("sentiment", frame["label"]).rename("model")
    counts = frame.groupby([sides, predicted], observed=True).size().unstack(fill_value=0)
    sides = counts.rename({1: "positive", 0.5: "neutral", 0: "negative"})
    return sides.reindex(index=SENTIMENTS[:3], columns=SENTIMENTS, fill_value=0)


def dates_of(cells: Iterable[object]) -> "pandas.Series[str]":
    """Return each date as "2019-04-01", or "2019-04" without a day; NaN for other cells and relative dates (3일 전).

    The year is first, as in Korea ("19. 4. 1.", "2019년 4월 1일"), or the month is an English name. Time zones are ignored.
    A date without a year is in the latest year of the others, or the year after, depending on its day of the week.
    """
    written = pandas.Series([str(cell).strip() for cell in cells], dtype="category").cat
    texts = pandas.Series(written.categories, dtype=object).str
    parts = reduce(pandas.DataFrame.fillna, map(texts.extract, DATES))
    years = parts["year"].str.replace(r"^(..)$", r"20\1", regex=True)
    parts = parts.assign(year=years, month=parts["month"].str.lower().map(lambda name: MONTHS.get(name, name)))
    dates = pandas.to_datetime(parts.fillna({"day": "1"}).astype("float64"), errors="coerce")
    for number, (unit, beginning) in COUNTED.items():
        # without NaN, because pandas rounds uninitialized memory for it
        numbers = pandas.to_numeric(texts.extract(rf"^({number}(?:\.\d+)?)$")[0].dropna())
        dates = dates.fillna(pandas.to_datetime(numbers, unit=unit, origin=beginning))
    others, newest = texts.extract(THIS_YEAR), dates.dt.year.max()
    for year in (newest, newest + 1):
        dated = pandas.to_datetime(others[["month", "day"]].astype("float64").assign(year=year), errors="coerce")
        dates = dates.fillna(dated.where(dated.dt.dayofweek == others["weekday"].map(WEEKDAYS)))
    strings = dates.dt.strftime("%Y-%m-%d")
    strings = strings.where(parts["day"].notna() | parts["year"].isna(), strings.str[:7]).astype("category")
    return strings.iloc[written.codes].reset_index(drop=True)


def count(frame: Any, shown: Any, words: Any, mentions: pandas.DataFrame, prior: float, whole: Evidence) -> Tables:
    """Return the tables of a report, from rows with a label, candidates for examples, words and mentions of aspects."""
    tables = Tables()
    if "sentiment" in frame:
        counts = frame["sentiment"].value_counts().reindex(SENTIMENTS, fill_value=0)
        tables["sentiments"] = pandas.DataFrame({"count": counts, "share": counts / len(frame)})
    if "group" in frame:
        tables["groups"] = shares_by(frame["group"], frame, prior, whole).sort_values("count", ascending=False)
    if "month" in frame:
        tables["months"] = shares_by(frame["month"], frame, prior, whole)
    if "stars" in frame:
        tables["agreement"] = agreement(frame)
    if len(mentions):
        tables["aspects"] = shares_by(mentions["aspect"], mentions, prior).sort_values("count", ascending=False)
    if len(mentions) and "group" in mentions:
        tables["aspects_by_group"] = shares_by([mentions["group"], mentions["aspect"]], mentions, prior)
    tables["words_by_log_odds"] = distinctive_words(words["reviews"])
    tables["words_by_attention"] = attended_words(words)
    return {**tables, "reviews": pandas.concat(extreme_reviews(shown), names=["kind", "row"])}


def count_words(reviews: Iterable[tuple[str, Iterable[str], Sequence[str], Sequence[float]]]) -> pandas.DataFrame:
    """Return "reviews", "tokens" and summed "weights" by label and word ("" for all words)."""
    columns = defaultdict[tuple[str, str], Any](Counter)
    for label, words, tokens, weights in reviews:
        columns["reviews", label].update({"", *words})
        columns["tokens", label].update(tokens)
        sums = columns["weights", label]
        for token, weight in zip(tokens, weights):
            sums[token] += weight
    return pandas.DataFrame(columns).fillna(0.0)


def distinctive_words(reviews: pandas.DataFrame) -> pandas.DataFrame:
    """Return the words that differ most between positive and negative reviews: word, positive, negative, z.

    z is the log-odds ratio with all words as the Dirichlet prior, divided by its deviation (Monroe, Colaresi & Quinn
    2008, equation 22), in descending order: above 0 for praise, 0 if the shares of reviews with the word disagree.
    positive and negative count the reviews with the word. Words in fewer than FEWEST_REVIEWS reviews are left out.
    """
    counts = reviews.reindex(columns=["positive", "negative"]).fillna(0.0)
    sides, counts = counts.loc[""], counts.drop(index="")
    smoothed = counts.add(whole := counts.sum(axis="columns"), axis="index")
    # the odds of a single word, without any others, are 1
    others = counts.sum() + whole.sum() - smoothed if len(counts) > 1 else smoothed
    odds, larger = numpy.log(smoothed / others) @ [1, -1], (counts / sides.clip(lower=1)) @ [1, -1]
    z = (odds / numpy.sqrt((1 / smoothed).sum(axis="columns"))).where(numpy.sign(odds) == numpy.sign(larger), 0.0)
    rows = counts.astype("int64").assign(z=z)[whole >= FEWEST_REVIEWS].rename_axis("word").reset_index()
    return rows.sort_values(["z", "word"], ascending=[False, True], ignore_index=True)


def attended_words(words: pandas.DataFrame) -> pandas.DataFrame:
    """Return label, word, count and mean weight of frequent words, by label in descending order of weight."""
    counts = pandas.concat({label: words.xs(label, axis="columns", level=1) for label in words.columns.unique(1)})
    counts = counts.rename_axis(["label", "word"]).reset_index()
    fewest = max(FEWEST_REVIEWS, counts.loc[counts["word"] == "", "reviews"].sum() // 500)
    rows = counts[(counts["word"] != "") & (counts["tokens"] >= fewest)].astype({"tokens": "int64"})
    rows = rows[["label", "word"]].assign(count=rows["tokens"], weight=rows["weights"] / rows["tokens"])
    return rows.sort_values(["label", "weight"], ascending=[True, False], ignore_index=True)


def clearest(mentions: pandas.DataFrame) -> pandas.DataFrame:
    """Return for each aspect the mention with the highest odds of praise and the one with the highest odds of blame."""
    odds = mentions[mentions["label"].notna()].groupby("aspect", observed=True)["odds"]
    return mentions.loc[[*odds.idxmax()[odds.max() > 0], *odds.idxmin()[odds.min() <= 0]]]


def extreme_reviews(frame: pandas.DataFrame, count: int = 8) -> dict[str, pandas.DataFrame]:
    """Return the most positive, most negative and most neutral reviews, long ones first, without duplicates."""
    sides, texts = frame.get("sentiment", frame["label"]), frame["text"]
    evidence, middle = abs(frame["probability"] - 0.5), abs(frame.get("expected_stars", MIDDLE) - MIDDLE)
    distance = -evidence.where(sides != "neutral", -middle)
    ordered = sides.iloc[numpy.lexsort((distance, texts.map(len) < READABLE))]
    kinds = {kind: texts[ordered.index[ordered == kind]] for kind in ("positive", "negative", "neutral")}
    return {kind: frame.loc[ranked.drop_duplicates().index[:count]] for kind, ranked in kinds.items()}
