"""A whole training of `film`: reviews with stars by film and a FilmConfig in, a run folder with a bundle out.

The encoder of a classifier turns reviews into vectors and is not trained; the film network reads these vectors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy
from numpy.typing import NDArray

from ...bundle import load_bundle
from ...classifier.predictor import WINDOW
from ...classifier.settings import LAYOUT as CLASSIFIER
from ...corpora import nsmc, raw
from ...corpora.data import Labelled
from ...corpora.labelled import WholeTable
from ...corpora.stars import star_columns, stars_of
from ...errors import ConfigError, DataError
from ...machine.aliases import Network, Numbers, Record
from ...machine.progress import progress_bar
from ...tables.columns import STAR_COLUMNS, find_column
from ...text.encoding import clean
from ...training.runs import Run, warn_if_small
from ...training.task import TaskTraining, digest
from .pooling import COUNTS, Scale
from .rater import ReviewReader
from .settings import LAYOUT, FilmBundle, FilmConfig, FilmTrainingConfig

if TYPE_CHECKING:
    from .objective import FilmObjective, FilmVectors

# Names of a column of films, in lower case
FILM_COLUMNS = ("film", "movie", "movie_id", "title", "group", "영화", "영화제목", "제목", "작품")
FILM_HINT = "; name the one of the films by --group-by"
STAR_HINT = "; name the one of the stars by --stars-column"
# Fewest films, and fewest reviews of a film: one input, and three others whose mean is its target
FEWEST_FILMS, FEWEST_REVIEWS = 100, 4
# Numbers of input reviews in the test figures
TEST_COUNTS = (1, 5, 20, 64)
# Draws of input reviews per film, for margins and test figures
DRAWS = 5
# Share of films whose stars are inside their interval
COVERAGE = 0.9
SIZES = "{train:,} films to train on, {dev:,} to choose the epoch by (dev), {test:,} to judge by (test)"


@dataclass(frozen=True)
class FilmReviews:
    """M reviews with stars, of N films.

    Attributes
    ----------
    documents : list of str
        The clean texts, none blank.
    stars : (M,) float32
    members : {film: (n,) int64}
        Indices of each film's reviews.
    """

    name: str
    documents: list[str]
    stars: NDArray[numpy.float32]
    members: dict[str, NDArray[numpy.int64]]

    @property
    def sha256(self) -> str:
        """SHA-256 over films, stars and texts."""
        films = numpy.zeros(len(self.documents), dtype="int64")
        for number, indices in enumerate(self.members.values()):
            films[indices] = number
        content = sha256(films.tobytes() + self.stars.tobytes())
        content.update("\n".join(self.documents).encode())
        return content.hexdigest()


def train_films(
    source: Labelled,
    config: FilmConfig,
    run: Run,
    classifier: Union[str, Path, None] = None,
    group_by: Optional[str] = None,
) -> FilmBundle:
    """Train a film network and write it as a bundle; return it.

    Parameters
    ----------
    source : Labelled
        Reviews with stars and films: the raw star reviews for "nsmc", otherwise a table.
    classifier : path or None
        Bundle of the classifier whose encoder reads the reviews; None is the packaged one.
    group_by : str or None
        The table's column of films; None detects it by its name.

    Raises
    ------
    DataError
        A file is missing or malformed, or has fewer than FEWEST_FILMS films of FEWEST_REVIEWS reviews.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    training, verified = TaskTraining(run, LAYOUT, config), load_bundle(classifier, CLASSIFIER)
    reader = ReviewReader(verified)
    reviews = reviews_by_film(source, group_by)
    usable = [indices for indices in reviews.members.values() if len(indices) >= FEWEST_REVIEWS]
    if len(usable) < FEWEST_FILMS:
        expected = f"expected at least {FEWEST_FILMS} films of {FEWEST_REVIEWS} reviews or more"
        raise DataError(f"{reviews.name}: {expected}, found {len(usable)}")
    digests = {"reviews": digest([reviews.sha256]), "classifier": verified.fingerprint}
    training.check(reviews.name, digests, classifier=classifier)
    parts = split(len(usable), config.training)
    counts = dict(zip(("train", "dev", "test"), map(len, parts)))
    run.say(f"data: {reviews.name}, {len(reviews.documents):,} reviews, {SIZES.format(**counts)}")
    vectors = vectors_of(reviews.documents, reader, run.quiet)
    # imports MXNet
    from .objective import FilmVectors, train_network

    train, dev, test = map(FilmVectors(vectors, reviews.stars, usable).of, parts)
    training.begin()
    network, progress, objective = train_network(config, run, train, dev)
    columns = ("text_column", "stars_column", "encoding", "sheet", "header")
    options = {**{name: getattr(source, name) for name in columns}, "group_by": group_by}
    options["classifier"] = verified.name if classifier else None
    bounds = float(reviews.stars.min()), float(reviews.stars.max())
    scale = Scale(verified.name, verified.fingerprint, reader.width, *bounds, margins_of(objective, network, dev))
    data: dict[str, Record] = {name: {"films": count} for name, count in counts.items()}
    data["train"].update(name=reviews.name, reviews=len(reviews.documents), sha256=reviews.sha256)
    best = {"best_epoch": progress.best_epoch + 1, **objective.evaluate(network)}
    metrics = {"dev": best, "test": test_figures(objective, network, test, scale)}
    entries = {"metrics": metrics, "command": training.command(**options)}
    bundle = training.write(network, progress, best, data, scale.to_json().encode(), **entries)
    for count, figures in metrics["test"].items():
        errors = f"error {figures['absolute_error']:.3f} stars, {100 * figures['inside']:.1f} % inside the interval"
        run.say(f"test films, {count} reviews given: {errors}")
    run.say(f"bundle: {bundle.folder}")
    warn_if_small(counts["dev"], "film")
    return bundle


def reviews_by_film(source: Labelled, group_by: Optional[str] = None) -> FilmReviews:
    """Read "nsmc" (the raw star reviews except those of the official test file) or a table with films and stars.

    Rows without a film or without stars are left out. ConfigError for column options with "nsmc", and for "sample",
    which has no films; DataError as in `tables.open_table`, and for a cell that is not a number of stars, with its row.
    """
    data = source.data
    if data == "sample":
        raise ConfigError("train --task film: expected nsmc or a table with columns of films and stars, found sample")
    if data == "nsmc":
        if group_by is not None:
            raise ConfigError(f"nsmc: has films of its own; leave --group-by out, found {group_by!r}")
        nsmc.refuse_options(source)
        frame = raw.load(raw.find(source.data_dir), [nsmc.load("nsmc", "test", source.data_dir).frame]).frame
        return of_films(str(data), frame["document"].tolist(), frame["stars"].tolist(), frame["film"].tolist())
    table, path = WholeTable(source.open()), Path(data)
    group_by = find_column(table.names, group_by, path, FILM_COLUMNS, FILM_HINT)
    candidates, _ = star_columns(table, [group_by])
    stars_column = source.stars_column or (candidates[0] if len(candidates) == 1 else None)
    stars_column = find_column(table.names, stars_column, path, STAR_COLUMNS, STAR_HINT)
    stars = stars_of(table[stars_column], stars_column, table.where(stars_column), open_scale=True).numbers
    return of_films(path.name, list(table.cells(table.text_column)), stars, list(map(str.strip, table[group_by])))


def of_films(name: str, documents: list[str], stars: list[Any], films: list[str]) -> FilmReviews:
    """Group reviews by film in order of appearance, without blank texts and without rows that lack a film or stars."""
    texts, ratings, members = list[str](), list[float](), dict[str, list[int]]()
    for text, rating, film in zip(map(clean, documents), stars, films):
        if text and film and rating is not None:
            members.setdefault(film, []).append(len(texts))
            texts.append(text)
            ratings.append(rating)
    indices = {film: numpy.array(reviews) for film, reviews in members.items()}
    return FilmReviews(name, texts, numpy.array(ratings, dtype="float32"), indices)


def vectors_of(texts: Sequence[str], reader: ReviewReader, quiet: bool) -> NDArray[numpy.float16]:
    """Return the vectors (M, F) float16 of M texts, read window by window."""
    vectors = numpy.empty((len(texts), reader.width), dtype="float16")
    with progress_bar(shown=False if quiet else None, total=len(texts), desc="reading", unit=" reviews") as bar:
        for start in range(0, len(texts), WINDOW):
            window = texts[start : start + WINDOW]
            vectors[start : start + len(window)] = reader(window)
            bar.update(len(window))
    return vectors


def split(count: int, settings: FilmTrainingConfig) -> tuple[list[int], list[int], list[int]]:
    """Divide the indices of films into training, dev and test part, depending only on the seed."""
    order = numpy.random.RandomState(settings.seed).permutation(count).tolist()
    test, dev = (max(1, round(count * share)) for share in (settings.test_fraction, settings.dev_fraction))
    return sorted(order[test + dev :]), order[test : test + dev], order[:test]


def quantiles_of(
    objective: "FilmObjective", network: Network, films: "FilmVectors", count: int
) -> tuple[Numbers, Numbers]:
    """Draw `count` reviews of each film; return the network's quantiles (N, 3) and the stars of the others (N,)."""
    cases = films.cases(count, numpy.random.RandomState([objective.seed, count]), DRAWS)
    size, quantiles = objective.dev_batches.batch_size, [numpy.zeros((0, 3), dtype="float32")]
    for start in range(0, len(cases), size):
        quantiles.append(objective.quantiles(network, films.batch(cases[start : start + size])).asnumpy())
    return numpy.concatenate(quantiles), numpy.array([case.stars for case in cases])


def margins_of(objective: "FilmObjective", network: Network, dev: "FilmVectors") -> list[float]:
    """Return the margin of the dev films' intervals for each of COUNTS; with too few films, the previous margin."""
    margins: list[float] = []
    for count in COUNTS:
        quantiles, stars = quantiles_of(objective, network, dev, count)
        width = margin(quantiles[:, 0], quantiles[:, 2], stars)
        margins.append(width if numpy.isfinite(width) else margins[-1] if margins else 0.0)
    return margins


def margin(low: Numbers, high: Numbers, stars: Numbers) -> float:
    """Return the margin in stars that puts a share COVERAGE of new films inside their intervals; negative narrows them.

    Split-conformal prediction on quantiles, Romano et al. 2019 (arXiv:1905.03222), equations 6 to 8. low, high and
    stars are (N,), from N films outside the training part; infinite if N is too small.
    """
    scores = numpy.sort(numpy.maximum(low - stars, stars - high))
    rank = math.ceil((len(scores) + 1) * COVERAGE)
    return float(scores[rank - 1]) if rank <= len(scores) else math.inf


def inside(intervals: Numbers, stars: Numbers) -> float:
    """Return the share of stars (N,) within intervals (N, 3)."""
    return float(((intervals[:, 0] <= stars) & (stars <= intervals[:, 2])).mean())


def test_figures(objective: "FilmObjective", network: Network, test: "FilmVectors", scale: Scale) -> Record:
    """Return errors and intervals of the test films for each number of input reviews in TEST_COUNTS."""
    figures: Record = {}
    for count in TEST_COUNTS:
        quantiles, stars = quantiles_of(objective, network, test, count)
        if len(stars):
            intervals = scale.intervals(quantiles, numpy.full(len(stars), count))
            errors = abs(intervals[:, 1] - stars)
            figures[str(count)] = {
                "films": len(stars) // DRAWS,
                "absolute_error": float(errors.mean()),
                "inside": inside(intervals, stars),
                "width": float((intervals[:, 2] - intervals[:, 0]).mean()),
            }
    return figures
