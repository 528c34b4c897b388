"""Differences between film reviews and tables of other texts: tables of benchmarks/classification/README.md.

    python -m benchmarks.classification.domain_shift FOLDER/val.tsv

The file is KOTE's, see `adapting.py`. Film reviews are the raw reviews by year and, for accuracies, the dev part of NSMC's
training file. The limit of a measure is its 99th percentile in tables of 100 reviews from all years. The correlation is
Spearman's with the errors in tables of film reviews mixed with comments. The last lines count the warnings of
`classifier.domain_shift` by the number of rows.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy
from scipy.stats import spearmanr
from sklearn.model_selection import train_test_split

from nsmc_attention import load_classifier
from nsmc_attention.classifier.domain_shift import SHIFT_LIMIT, SHIFT_SPREAD, word_ranks
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.network.parameters import NGRAM_TABLE
from nsmc_attention.systems.film.rater import ReviewReader
from nsmc_attention.text.ngrams import ngram_ids
from recipes.sample import first_sample

from .adapting import comments

TABLES, EACH = 500, 5000
MEASURES = """
    unknown words, single characters, rank, n-grams without weight, texts without 영화, small log-odds, pooled states,
    strangeness
"""
JUNK = ("0123456789", "qwertyuiop;'[]", "ㅋ", ".")
RANDOM = numpy.random.RandomState(0)


def reading(bundle, films):
    """Return a function from texts to (N, 7 + F): number of words, parts of MEASURES, states in standard deviations."""
    encoder, reader, weights = bundle.codec, ReviewReader(bundle, 1), parameters_of(bundle)[1][NGRAM_TABLE].any(axis=1)
    known = reader(films)
    mean, spread, ranks_of_words = known.mean(axis=0), known.std(axis=0) + 1e-6, word_ranks(encoder)

    def row(review, vector):
        ids, unknown = numpy.array(review.ids), numpy.equal(review.ids, encoder.unknown)
        grams = ngram_ids([review.tokens], len(weights), len(review))
        empty = 1 - weights[grams[grams > 0]].mean() if grams.any() else 1
        single = sum(len(token) == 1 for token in review.tokens)
        states = ((vector - mean) / spread)[:-1]
        own = ranks_of_words[ids]
        ranks = numpy.log(own[own > 0]).sum()
        return len(ids), unknown.sum(), single, ranks, empty, "영화" not in review.tokens, -abs(vector[-1]), *states

    def read(texts):
        reviews = encoder.encode_many(texts)
        return numpy.array([row(*pair) for pair in zip(reviews, reader.read(reviews)) if len(pair[0])])

    return read


def values(rows):
    """The measures of a table: by word the first three, by text the others; larger is less like films."""
    total, means = rows.sum(axis=0), rows.mean(axis=0)
    pooled, strangeness = numpy.square(means[7:]).mean(), total[3] / total[0] + 2 * means[6]
    return numpy.array([*total[1:4] / total[0], *means[4:7], pooled, strangeness])


def tables(rows, size=100):
    return numpy.array([values(rows[RANDOM.choice(len(rows), size, False)]) for _ in range(TABLES)])


def sentences(paths):
    text = " ".join(re.sub(r"```.*?```|^[|#].*?$", " ", path.read_text(), flags=re.S | re.M) for path in paths)
    return [one for one in re.split(r"(?<=\w[.])\s+", " ".join(text.split())) if len(one) > 10]


def kinds(comments):
    """Return texts by kind: the comments, pages in two languages, junk, and the invented reviews of the sample."""
    docs = {*Path("docs").glob("*.md"), Path("README.md"), Path("README.ko.md")}
    korean = {path for path in docs if ".ko" in path.name or path.name == "ko.md"}
    junk = ["".join(RANDOM.choice([*letters], RANDOM.randint(1, 15))) for letters in 1000 * JUNK]
    sample = [text for part in first_sample().values() for text in part["document"]]
    pages = {"Korean pages": sentences(korean), "English pages": sentences(docs - korean)}
    return {"comments": comments, **pages, "junk": junk, "sample": sample}


def film_reviews():
    """Return the raw reviews by year and by film, without those of the official test file."""
    tests, years, films = set(nsmc.load("nsmc", "test").frame["id"].astype(str)), defaultdict(list), defaultdict(list)
    for number, text, _, film, date in raw.stream(raw.find()):
        if number not in tests:
            years[f"20{date[:2]}"].append(text)
            films[film].append(text)
    return years, films


def dev_part():
    official = nsmc.load("nsmc", "train").frame
    official = official[official["document"].str.strip() != ""]
    return train_test_split(official, test_size=0.05, stratify=official["label"], random_state=0)[1]


def correlations(predict, read, *sides):
    """Return Spearman's of each measure with the errors in tables that mix two sides, each (texts, labels)."""
    wrong = [(predict(texts) >= 0.5) != (labels == 1) for texts, labels in sides]
    rows, found = [read(texts) for texts, _ in sides], []
    for count in RANDOM.randint(101, size=2 * TABLES):
        chosen = [RANDOM.choice(len(each), size) for each, size in zip(rows, (100 - count, count))]
        table = numpy.concatenate([each[places] for each, places in zip(rows, chosen)])
        found.append([sum(each[places].sum() for each, places in zip(wrong, chosen)), *values(table)])
    errors, *columns = numpy.transpose(found)
    return [spearmanr(errors, column)[0] for column in columns]


def print_measures(rows, years, rho):
    found = {name: tables(each) for name, each in rows.items()}
    limits = numpy.quantile(numpy.concatenate([found[year] for year in years]), 0.99, axis=0)
    beyond = {name: 100 * (each > limits).mean(axis=0) for name, each in found.items()}
    for place, name in enumerate(MEASURES.split(",")):
        cells = [f"{beyond[kind][place]:.0f}" for kind in rows if kind not in years]
        worst = max(beyond[year][place] for year in years)
        print(f"| {name.strip()} | {limits[place]:.3f} | {worst:.1f} | {' | '.join(cells)} | {rho[place]:.2f} |")


def print_warnings(rows, years, size):
    beyond = {
        name: 100 * (tables(each, size)[:, -1] > SHIFT_LIMIT + SHIFT_SPREAD / size**0.5).mean()
        for name, each in rows.items()
        if len(each) > size
    }
    own = [beyond[year] for year in years if year in beyond]
    cells = [f"{beyond[kind]:.1f}" if kind in beyond else "" for kind in rows if kind not in years]
    print(f"| {size:,} | {numpy.mean(own):.2f} | {max(own):.1f} | {' | '.join(cells)} |")


def main(path):
    classifier, (years, films), dev, kote = load_classifier(), film_reviews(), dev_part(), comments(path)
    years = {year: [texts[row] for row in RANDOM.permutation(len(texts))[:EACH]] for year, texts in years.items()}
    read = reading(classifier.bundle, [text for text in years["2015"] if text.strip()])
    rows = {name: read(texts) for name, texts in {**years, **kinds([*kote["review"]])}.items()}
    sides = [([*dev["document"]], dev["label"].to_numpy()), ([*kote["review"]], kote["label"].to_numpy())]
    print_measures(rows, years, correlations(classifier.probabilities, read, *sides))
    print("film reviews:", values(numpy.concatenate([rows[year] for year in years])))
    for size in (20, 50, 100, 300, 1000):
        print_warnings(rows, years, size)
    strange = numpy.array([values(read(texts))[-1] for texts in films.values() if len(texts) >= 90])
    print(
        f"tables of one film, 90 to 100: {100 * (strange > SHIFT_LIMIT + SHIFT_SPREAD / 10).mean():.1f} of {len(strange):,}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
