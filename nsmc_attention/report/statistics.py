"""What viewers think, in numbers: shares of positive reviews with intervals, telling words, telling reviews.

Takes a table of scored reviews, never a network. `report_page` makes the page of it.
"""

import datetime
import re
from collections import Counter

import numpy
import pandas

# Of the normal distribution: 95 % within, and 99.8 % within, beyond which a group is called an outlier
Z95, Z998 = 1.96, 3.09
# A date, the year first, whatever stands between its numbers and whatever follows them: eight digits; a whole year,
# a month and perhaps a day; or three numbers
DATES = tuple(
    map(
        re.compile,
        (
            r"(\d{4})(\d\d)(\d\d)(?!\d)",
            r"(\d{4})\s*[./년-]\s*(\d{1,2})(?:\s*[./월-]\s*(\d{1,2}))?(?![\d:])",
            r"(\d\d)\s*[./-]\s*(\d{1,2})\s*[./-]\s*(\d{1,2})(?![\d:])",
        ),
    )
)


def share(positive, count):
    """Answer share, low and high: positive of count, with Wilson's 95 % interval (Wilson 1927), each in 0..1.

    Takes numbers or arrays; NaN where count is 0.
    """
    positive, count = numpy.asarray(positive, dtype="float64"), numpy.asarray(count, dtype="float64")
    with numpy.errstate(invalid="ignore", divide="ignore"):
        found = positive / count
        middle = (found + Z95**2 / (2 * count)) / (1 + Z95**2 / count)
        half = Z95 / (1 + Z95**2 / count) * numpy.sqrt(found * (1 - found) / count + Z95**2 / (4 * count**2))
    # none or all of them: rounding would put the bound beyond the share
    return {"share": found, "low": numpy.clip(middle - half, 0, found), "high": numpy.clip(middle + half, found, 1)}


def shares_by(keys, label):
    """Answer one row a key: count, positive, share, low, high and outlier.

    Parameters
    ----------
    keys : Series
        Of each review its group; reviews without (missing) are left out.
    label : Series of "positive", "negative"

    Returns
    -------
    DataFrame
        Indexed by key, as sorted. outlier tells whether the share lies beyond what 99.8 % of groups of that
        size would have, did their viewers think as all together do (a funnel plot's limits, Spiegelhalter 2005).
    """
    positive = (label == "positive").groupby(keys)
    rows = pandas.DataFrame({"count": positive.size(), "positive": positive.sum().astype(int)})
    rows = rows.assign(**share(rows["positive"], rows["count"]))
    whole = (label == "positive").mean()
    limit = Z998 * numpy.sqrt(whole * (1 - whole) / rows["count"])
    return rows.assign(outlier=(rows["share"] - whole).abs() > limit)


def months(dates):
    """Answer the month of each date as "2019-04", None where it is none.

    Years come first ("2019.04.01", "19. 4. 1.", "2019년 4월 1일", "20190401", "2019-04-01 12:30"), as they are written
    in Korea. A time's zone is not looked at: the month is that of where the review was written.
    """
    return pandas.Series([month_of(str(date).strip()) for date in dates], index=dates.index, dtype=object)


def month_of(text):
    match = next(filter(None, (pattern.match(text) for pattern in DATES)), None)
    if not match:
        return None
    year, month, day = (int(number or 1) for number in match.groups())
    try:
        return datetime.date(year if year > 99 else 2000 + year, month, day).strftime("%Y-%m")
    except ValueError:
        return None


def telling_words(token_lists, labels, fewest=5):
    """Answer which words stand in reviews of one label more than in those of the other.

    Log-odds ratio with an informative Dirichlet prior, divided by its deviation (Monroe, Colaresi & Quinn 2008,
    equation 22); a word counts once a review. The prior is the words of all reviews.

    Parameters
    ----------
    token_lists : list of lists of str
    labels : list of "positive", "negative"
    fewest : int
        Reviews that a word must stand in.

    Returns
    -------
    DataFrame
        word, positive and negative (reviews with it), z: above 0 praise, below 0 blame; most praising first.
    """
    counts: dict[str, Counter[str]] = {"positive": Counter(), "negative": Counter()}
    for tokens, label in zip(token_lists, labels):
        counts[label].update(set(tokens))
    words = sorted(
        {
            word
            for each in counts.values()
            for word in each
            if counts["positive"][word] + counts["negative"][word] >= fewest
        }
    )
    rows = pandas.DataFrame({"word": words, **{label: [counts[label][word] for word in words] for label in counts}})
    if len(rows) < 2:
        # one word alone is all that either label says
        return rows.assign(z=numpy.zeros(len(rows)))
    prior = rows["positive"] + rows["negative"]
    total = {label: rows[label].sum() + prior.sum() for label in counts}
    inside = {label: rows[label] + prior for label in counts}
    odds = {label: numpy.log(inside[label] / (total[label] - inside[label])) for label in counts}
    deviation = numpy.sqrt(1 / inside["positive"] + 1 / inside["negative"])
    rows["z"] = (odds["positive"] - odds["negative"]) / deviation
    return rows.sort_values(["z", "word"], ascending=[False, True], ignore_index=True)


def telling_reviews(probability, count=8):
    """Answer the places of the most positive, the most negative and the most uncertain reviews, in this order.

    No review is the most positive that is negative, or the other way round, however few there are.

    Parameters
    ----------
    probability : (N,) float
        Of positive; NaN for what was not scored.

    Returns
    -------
    dict of name to list of int
    """
    probability = numpy.asarray(probability, dtype="float64")
    scored = numpy.flatnonzero(~numpy.isnan(probability))
    order = scored[numpy.argsort(probability[scored], kind="stable")]
    doubt = scored[numpy.argsort(numpy.abs(probability[scored] - 0.5), kind="stable")]
    positive, negative = order[probability[order] >= 0.5], order[probability[order] < 0.5]
    return {
        "positive": positive[::-1][:count].tolist(),
        "negative": negative[:count].tolist(),
        "uncertain": doubt[:count].tolist(),
    }
