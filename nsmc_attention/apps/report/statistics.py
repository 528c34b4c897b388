"""Statistics of scored reviews: estimated shares of positive reviews, content words and distinctive ones, extreme reviews."""

import datetime
import re
from collections import Counter
from typing import Any, Iterable, Optional, Sequence

import numpy
import pandas

from ...measure.share import NOTHING, Evidence, Share, shrunk
from ...text.tokenizers import Span, align, joined_morphemes, morphemes

# Quantiles of the normal distribution: 95 % within; 99.8 % within, beyond which a group is an outlier
Z95, Z998 = 1.96, 3.09
# Dates with the year first, whatever follows: eight digits; a whole year, a month and perhaps a day; three numbers
DATES = (
    re.compile(r"(\d{4})(\d\d)(\d\d)(?!\d)"),
    re.compile(r"(\d{4})\s*[./년-]\s*(\d{1,2})(?:\s*[./월-]\s*(\d{1,2}))?(?![\d:])"),
    re.compile(r"(\d\d)\s*[./-]\s*(\d{1,2})\s*[./-]\s*(\d{1,2})(?![\d:])"),
)
# What is no side; the middle of the stars, and the characters of a review that is long enough to read
NEITHER, MIDDLE, READABLE = ("neutral", "no_opinion"), 6, 15
# Verbs that say nothing by themselves
LIGHT = frozenset("하다 되다 있다 보다 같다 그렇다 이렇다 대하다".split())


def shares_by(keys: Any, frame: pandas.DataFrame, prior: float = 0.0, table: Evidence = NOTHING) -> pandas.DataFrame:
    """Return one row a key, sorted: count, positive, share, low, high and outlier; reviews without a key are left out.

    `frame` has label and probability (`prior` as in Evidence, which `table` is of the whole), and perhaps sentiment, stars
    and star_label (1 for many stars, 0 for few). positive counts labels; share, low and high are estimated (`measure.share.shrunk`), share is NaN
    where it is unknown. outlier is whether the labels differ from all by more than 99.8 % of groups of that size would
    if their reviews were drawn from all (a funnel plot's limits, Spiegelhalter 2005); above is the side. neutral and
    no_opinion count sentiments. With stars, mean_stars and share_by_stars are those of the table's own.
    """
    positive = (frame["label"] == "positive").groupby(keys)
    rows = pandas.DataFrame({"count": positive.size(), "positive": positive.sum().astype(int)})
    sample = Evidence(table.bins * [[0], [1], [1]])
    found = shrunk([Evidence.of(own, prior) + sample for _, own in frame["probability"].groupby(keys)])
    estimated = pandas.DataFrame(found, columns=Share._fields, index=rows.index).drop(columns="n").astype("float64")
    difference = rows["positive"] / rows["count"] - (whole := (frame["label"] == "positive").mean())
    limit = Z998 * numpy.sqrt(whole * (1 - whole) / rows["count"])
    counts = {kind: (frame["sentiment"] == kind).groupby(keys).sum() for kind in NEITHER if "sentiment" in frame}
    rows = rows.join(estimated).assign(outlier=difference.abs() > limit, above=difference > 0, **counts)
    own = {"mean_stars": "stars", "share_by_stars": "star_label"} if "stars" in frame else {}
    return rows.assign(**{name: frame[column].groupby(keys).mean() for name, column in own.items()})


def date_of(value: object) -> Optional[str]:
    """Return a date as "2019-04-01", or "2019-04" where it has no day; None where it is none.

    Years come first, as in Korea ("2019.04.01", "19. 4. 1.", "2019년 4월 1일", "20190401", "2019-04-01 12:30"). Time zones
    are ignored: the date is the one where the review was written.
    """
    if not (match := next(filter(None, (pattern.match(str(value).strip()) for pattern in DATES)), None)):
        return None
    year, month, day = match.groups()
    try:
        date = datetime.date(int(year) + 2000 * (len(year) == 2), int(month), int(day or 1)).isoformat()
    except ValueError:
        return None
    return date if day else date[:7]


def content_words(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, word) of each morpheme of a clean text; word is "" where it is part of no content word.

    Content words are nouns, verbs and adjectives by their stem with 다 (아까워 -> 아깝다), and roots with what makes them
    a verb (지루 하 -> 지루하다); no endings, particles, pronouns, numerals, auxiliaries or punctuation.
    """
    pairs = morphemes(text)
    spans = align(text, [surface for surface, _ in pairs])
    stems = [joined_morphemes(surface, features)[0] for surface, features in pairs]
    words = [dictionary_form(*stem, *after) for stem, after in zip(stems, [*stems[1:], ("", "")])]
    join_pieces(spans, [tag for _, tag in stems], words, text)
    return [(start, end, word) for (start, end), word in zip(spans, words)]


def dictionary_form(form: str, tag: str, next_form: str, next_tag: str) -> str:
    """Return a content word as a dictionary lists it, "" for other morphemes."""
    if tag in ("VV", "VA"):
        return "" if f"{form}다" in LIGHT else f"{form}다"
    if tag == "XR" and next_tag in ("XSA", "XSV"):
        return f"{form}{next_form}다"
    return form if tag in ("NNG", "NNP", "XR") else ""


def join_pieces(spans: Sequence[Span], tags: Sequence[str], words: list[str], text: str) -> None:
    """Join touching nouns of which one has a single syllable, pieces of what the dictionary lacks (노 잼 -> 노잼).

    Beside a pronoun, counter or prefix (짜증 나, 컨 저 링) they are no word together, and the single syllables are dropped.
    """
    first = 0
    for end in range(1, len(tags) + 1):
        touching = end < len(tags) and spans[end][0] == spans[end - 1][1]
        if touching and all(tag[:1] == "N" or tag in ("MM", "XPN") for tag in tags[end - 1 : end + 1]):
            continue
        run, whole = words[first:end], text[spans[first][0] : spans[end - 1][1]]
        if len(run) > 1 and any(len(word) == 1 for word in run):
            words[first:end] = [whole] * len(run) if all(run) else [word if len(word) > 1 else "" for word in run]
        first = end


def distinctive_words(token_lists: Iterable[Sequence[str]], labels: Iterable[str], fewest: int = 5) -> pandas.DataFrame:
    """Return which words occur more in reviews of one label than in those of the other.

    Log-odds ratio with the words of all reviews as the Dirichlet prior, divided by its deviation (Monroe, Colaresi &
    Quinn 2008, equation 22). Returns word, positive and negative (reviews with it; words in fewer than `fewest` are left
    out), z: above 0 praise, below 0 blame; largest first. 0 where the word is in no larger share of that side's reviews.
    """
    counts: dict[str, Counter[str]] = {"positive": Counter(), "negative": Counter()}
    reviews = Counter[str]()
    for tokens, label in zip(token_lists, labels):
        counts[label].update(set(tokens))
        reviews[label] += 1
    whole = counts["positive"] + counts["negative"]
    words = sorted(word for word, count in whole.items() if count >= fewest)
    rows = pandas.DataFrame({"word": words, **{label: [counts[label][word] for word in words] for label in counts}})
    if len(whole) < 2:
        # the only word is all that either label has
        return rows.assign(z=numpy.zeros(len(rows)))
    odds, variance = numpy.zeros(len(rows)), numpy.zeros(len(rows))
    for label, sign in (("positive", 1), ("negative", -1)):
        smoothed = rows[label] + rows["positive"] + rows["negative"]
        odds += sign * numpy.log(smoothed / (sum(counts[label].values()) + sum(whole.values()) - smoothed))
        variance += 1 / smoothed
    shares = [rows[label] / max(1, reviews[label]) for label in counts]
    z = numpy.where(numpy.sign(odds) == numpy.sign(shares[0] - shares[1]), odds / numpy.sqrt(variance), 0.0)
    return rows.assign(z=z).sort_values(["z", "word"], ascending=[False, True], ignore_index=True)


def extreme_reviews(frame: pandas.DataFrame, count: int = 8) -> dict[str, pandas.DataFrame]:
    """Return the most positive and negative rows of a frame, of that side alone, and neutral ones, short ones last."""
    ordered = frame.sort_values("probability", kind="stable")
    sides = ordered.get("sentiment", ordered["label"])
    chosen = {"positive": ordered[sides == "positive"][::-1], "negative": ordered[sides == "negative"]}
    if len(neutral := ordered[sides == "neutral"]):
        keys = (neutral["expected_stars"] - MIDDLE).abs(), neutral["text"].str.len() < READABLE
        chosen["neutral"] = neutral.iloc[numpy.lexsort(keys)]
    return {kind: rows.head(count) for kind, rows in chosen.items()}
