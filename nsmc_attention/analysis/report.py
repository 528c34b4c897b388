"""What viewers think, in numbers: shares of positive reviews with intervals, telling words, telling reviews.

Takes a table of scored reviews, never a network. `report_page` makes the page of it.
"""
from collections import Counter

import numpy
import pandas

# Of the normal distribution: 95 % within, and 99.8 % within, beyond which a group is called an outlier
Z95, Z998 = 1.96, 3.09
# pandas 1 guesses a format for each value by itself, pandas 2 only if told so
MIXED = int(pandas.__version__.split(".")[0]) >= 2


def share(positive, count):
    """Answer share, low and high: positive of count, with Wilson's 95 % interval (Wilson 1927), each in 0..1.

    Takes numbers or arrays; NaN where count is 0.
    """
    positive, count = numpy.asarray(positive, dtype="float64"), numpy.asarray(count, dtype="float64")
    with numpy.errstate(invalid="ignore", divide="ignore"):
        found = positive / count
        middle = (found + Z95 ** 2 / (2 * count)) / (1 + Z95 ** 2 / count)
        half = Z95 / (1 + Z95 ** 2 / count) * numpy.sqrt(found * (1 - found) / count + Z95 ** 2 / (4 * count ** 2))
    return {"share": found, "low": middle - half, "high": middle + half}


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

    Years come first ("2019.04.01", "19.04.01", "2019-04-01 12:30"), as they are written in Korea.
    """
    text = dates.astype("string").str.strip().str.replace(r"[./]", "-", regex=True).str.rstrip("-")
    short = text.str.match(r"^\d{2}-\d{1,2}-\d{1,2}\b").fillna(False).astype(bool)
    text = text.mask(short, "20" + text)
    parsed = pandas.to_datetime(text, errors="coerce", format="mixed" if MIXED else None)
    found = parsed.dt.strftime("%Y-%m")
    return found.where(found.notna(), None)


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
    words = sorted({word for each in counts.values() for word in each
                    if counts["positive"][word] + counts["negative"][word] >= fewest})
    rows = pandas.DataFrame({"word": words, **{label: [counts[label][word] for word in words] for label in counts}})
    if rows.empty:
        return rows.assign(z=[])
    prior = rows["positive"] + rows["negative"]
    total = {label: rows[label].sum() + prior.sum() for label in counts}
    inside = {label: rows[label] + prior for label in counts}
    odds = {label: numpy.log(inside[label] / (total[label] - inside[label])) for label in counts}
    deviation = numpy.sqrt(1 / inside["positive"] + 1 / inside["negative"])
    rows["z"] = (odds["positive"] - odds["negative"]) / deviation
    return rows.sort_values(["z", "word"], ascending=[False, True], ignore_index=True)


def telling_reviews(probability, count=8):
    """Answer the places of the most positive, the most negative and the most uncertain reviews.

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
    return {"positive": order[::-1][:count].tolist(), "negative": order[:count].tolist(),
            "uncertain": doubt[:count].tolist()}
