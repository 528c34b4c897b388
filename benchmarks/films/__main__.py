"""Errors of the film network on unseen films, compared with the calibrated mean of the classifier's predictions.

    python -m benchmarks.films [BUNDLE]
    python -m benchmarks.films --rate [BUNDLE]

For each film of the bundle's test part, a number of input reviews is drawn ten times; the target is the mean stars of the
others, at least ten. The baseline is the mean probability of positive, calibrated by an isotonic regression on the training
films for each number of input reviews. The second table shows the effect of the classifier's training on the stars of these
films: its inputs are reviews of the official test file, which are unseen, and as many other reviews with the same stars.

--rate measures the processor seconds of `film` for one film of 100,000 reviews, file to file, in turn with `predict` for the
same rows.
"""

import csv
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Optional

import numpy
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from nsmc_attention.classifier.predictor import Classifier, load_classifier
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.corpora.data import Labelled
from nsmc_attention.scoring.files import score_table
from nsmc_attention.systems.film.objective import MIN_OTHERS_EVAL, Case, FilmVectors
from nsmc_attention.systems.film.pooling import Pool
from nsmc_attention.systems.film.rater import FilmRater, load_film, rate_table
from nsmc_attention.systems.film.settings import FilmConfig
from nsmc_attention.systems.film.train import (
    FEWEST_REVIEWS,
    FilmReviews,
    reviews_by_film,
    split,
    train_films,
    vectors_of,
)
from nsmc_attention.text.encoding import clean
from nsmc_attention.training.runs import Run

GIVEN, DRAWS, SEED = (1, 5, 20, 64), 10, 7
# Input reviews of the official test file; few films have more
UNSEEN = 5
# Reviews of the film of --rate, and rounds of both commands
MANY, ROUNDS = 100_000, 5


def stars_of(rater: FilmRater, vectors: Any, groups: list[Any]) -> Any:
    """Return (N, 3) stars of N groups of places."""
    pools = []
    for own in groups:
        scores, values = rater.engine.reviews(vectors[own].astype("float32"))
        pools.append(Pool(0))
        pools[-1].add(scores, values, [])
    return rater.stars(pools)


def mean_probability(vectors: Any, groups: list[Any]) -> Any:
    """Return (N,): the mean probability of positive of N groups of places; the last column is its log-odds."""
    return numpy.array([expit(vectors[own, -1].astype("float64")).mean() for own in groups])


def baseline(train: FilmVectors, count: int) -> Any:
    """Fit mean probabilities of `count` reviews of the training films to the mean stars of their others."""
    cases = train.cases(count, numpy.random.RandomState(SEED), 3)
    given = mean_probability(train.vectors, [case.inputs for case in cases])
    return IsotonicRegression(out_of_bounds="clip").fit(given, [case.stars for case in cases])


def given_and_wanted(test: FilmVectors, count: int) -> tuple[list[Any], Any]:
    """Draw `count` reviews of each film; return groups of places, and the mean stars of the others (N,)."""
    cases: list[Case] = test.cases(count, numpy.random.RandomState(SEED), DRAWS)
    return [case.inputs for case in cases], numpy.array([case.stars for case in cases])


def judged(rater: FilmRater, test: FilmVectors, count: int) -> tuple[Any, float, float]:
    """Return the errors (N,) with `count` reviews given, the share of films inside their interval, and its width."""
    groups, wanted = given_and_wanted(test, count)
    low, stars, high = stars_of(rater, test.vectors, groups).T
    inside = (low <= wanted) & (wanted <= high)
    return abs(stars - wanted), float(inside.mean()), float((high - low).mean())


def lower(plain: Any, error: Any) -> str:
    """Return by how much errors (N,) are below others; of films, not of draws: those of one film are alike."""
    gain = (plain - error).reshape(-1, DRAWS).mean(axis=1)
    spread = 1.96 * gain.std() / numpy.sqrt(len(gain)) / plain.mean()
    return f"{100 * gain.mean() / plain.mean():.1f} ± {100 * spread:.1f} %"


def rows(rater: FilmRater, train: FilmVectors, test: FilmVectors) -> Iterator[str]:
    for count in GIVEN:
        groups, wanted = given_and_wanted(test, count)
        plain = abs(baseline(train, count).predict(mean_probability(test.vectors, groups)) - wanted)
        error, inside, width = judged(rater, test, count)
        films = len(error) // DRAWS
        yield f"| {count} | {films:,} | {plain.mean():.3f} | {error.mean():.3f} | {lower(plain, error)} | {100 * inside:.1f} % | {width:.2f} |"


def trained(folder: Path, config: FilmConfig) -> float:
    """Train in a folder that is not there yet; return the processor seconds, of an earlier training those it took."""
    kept = folder.with_name(f"{folder.name}.seconds")
    if not kept.exists():
        seconds = processor_seconds(lambda: train_films(Labelled("nsmc"), config, Run(folder)))
        kept.write_text(str(seconds), encoding="ascii")
    return float(kept.read_text(encoding="ascii"))


def unseen_rows(rater: FilmRater, reviews: FilmReviews, chosen: set[str]) -> Iterator[str]:
    """Judge some films on reviews of the official test file, and on others of the film with the same stars."""
    random = numpy.random.RandomState(SEED)
    tested = set(nsmc.load("nsmc", "test").frame["id"].astype(str))
    official: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for identity, text, star, name, _ in raw.stream(raw.find()):
        if identity in tested and name in chosen and clean(text):
            official[name].append((text, star))
    unseen, seen, wanted = {}, {}, {}
    for film, own in official.items():
        drawn = [own[place] for place in random.permutation(len(own))[:UNSEEN]]
        left = random.permutation(reviews.members[film]).tolist()
        alike = list(take_alike(left, [star for _, star in drawn], reviews.stars))
        if len(alike) == UNSEEN and len(left) >= MIN_OTHERS_EVAL:
            unseen[film], seen[film] = [text for text, _ in drawn], [reviews.documents[place] for place in alike]
            wanted[film] = reviews.stars[left].mean()
    for name, given in (("of the official test file", unseen), ("that the classifier has learnt from", seen)):
        found = dict(rater.rate(((film, text) for film, own in given.items() for text in own), shown=0))
        errors = [abs(float(found[film].stars or 0) - stars) for film, stars in wanted.items()]
        yield f"| {name} | {len(errors):,} | {numpy.mean(errors):.3f} |"


def take_alike(places: list[int], wanted: list[int], stars: Any) -> Iterator[int]:
    """Take from places, and yield, one with each number of stars, as far as there are some."""
    for star in wanted:
        place = next((each for each in places if stars[each] == star), None)
        if place is not None:
            places.remove(place)
            yield place


def main(bundle: Optional[Path]) -> None:
    rater, reviews = load_film(bundle), reviews_by_film(Labelled("nsmc"))
    vectors = vectors_of(reviews.documents, rater.reader, quiet=False)
    several = [film for film, own in reviews.members.items() if len(own) >= FEWEST_REVIEWS]
    whole = FilmVectors(vectors, reviews.stars, [reviews.members[film] for film in several])
    places = split(len(several), rater.bundle.config.training)
    train, test = whole.of(places[0]), whole.of(places[2])
    print("| reviews given | films | baseline | film | lower by | inside | width |\n|---|---|---|---|---|---|---|")
    for row in rows(rater, train, test):
        print(row, flush=True)
    print("\n| five reviews | films | error |\n|---|---|---|")
    for row in unseen_rows(rater, reviews, {several[place] for place in places[2]}):
        print(row, flush=True)


def rate(bundle: Optional[Path]) -> None:
    """Print the processor seconds of `film` and `predict` for one film of MANY reviews, and their ratio by round."""
    rater = load_film(bundle)
    classifier: Classifier = load_classifier(rater.classifier.folder)
    texts = nsmc.load("nsmc", "train").documents[:MANY]
    with TemporaryDirectory() as folder:
        source, output = Path(folder) / "reviews.csv", Path(folder) / "out.csv"
        with open(source, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("film", "review"), *(("가", text) for text in texts)])
        contestants: dict[str, Callable[[], object]] = {
            "predict": lambda: score_table(classifier, source, output, processes=1),
            "film": lambda: rate_table(rater, source, "film", output),
        }
        print("| round | " + " s | ".join(contestants) + " s | film / predict |\n|---|---|---|---|")
        rounds = []
        for number in range(1, ROUNDS + 1):
            predict, film = map(processor_seconds, contestants.values())
            rounds.append((predict, film, film / predict))
            print(f"| {number} | {predict:.2f} | {film:.2f} | {film / predict:.3f} |", flush=True)
    predict, film, ratio = map(statistics.median, zip(*rounds))
    print(f"| median | {predict:.2f} | {film:.2f} | {ratio:.3f} |")
    print(f"{len(texts) / predict:,.0f} and {len(texts) / film:,.0f} reviews/s")


def processor_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    given = sys.argv[1:]
    named = [each for each in given if not each.startswith("--")]
    (rate if "--rate" in given else main)(Path(named[0]) if named else None)
