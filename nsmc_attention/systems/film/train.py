"""A whole training of `film`: reviews with stars by film and a FilmConfig in, a run folder with a bundle out.

The words are read by a classifier whose parameters stay as they are; what is trained reads its vectors.
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

# Names by which a column is found, in lower case
FILM_COLUMNS = ("film", "movie", "movie_id", "title", "group", "영화", "영화제목", "제목", "작품")
FILM_HINT = "; name the one of the films by --group-by"
STAR_HINT = "; name the one of the stars by --stars-column"
# Fewest films, and fewest reviews of one: one that is given, and others whose mean is worth telling
FEWEST_FILMS, SEVERAL_REVIEWS = 100, 4
# Numbers of reviews given that the figures are of
GIVEN = (1, 5, 20, 64)
# How often the reviews of a film are drawn, for the intervals and for the figures
DRAWS = 5
# Share of the films whose stars are inside their interval
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
        The places of each film's reviews.
    """

    name: str
    documents: list[str]
    stars: NDArray[numpy.float32]
    members: dict[str, NDArray[numpy.int64]]

    @property
    def sha256(self) -> str:
        """SHA-256 over films, stars and texts."""
        films = numpy.zeros(len(self.documents), dtype="int64")
        for number, places in enumerate(self.members.values()):
            films[places] = number
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
        Reviews with stars and films: for "nsmc" the raw star reviews, else a table.
    classifier : path or None
        The classifier's bundle whose encoder reads the reviews; None is the packaged one.
    group_by : str or None
        The table's column of films; None finds it by its name.

    Raises
    ------
    DataError
        A file is missing or malformed, or has fewer than FEWEST_FILMS films of SEVERAL_REVIEWS reviews.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    training, first = TaskTraining(run, LAYOUT, config), load_bundle(classifier, CLASSIFIER)
    reader = ReviewReader(first)
    reviews = reviews_by_film(source, group_by)
    usable = [own for own in reviews.members.values() if len(own) >= SEVERAL_REVIEWS]
    if len(usable) < FEWEST_FILMS:
        expected = f"expected at least {FEWEST_FILMS} films of {SEVERAL_REVIEWS} reviews or more"
        raise DataError(f"{reviews.name}: {expected}, found {len(usable)}")
    digests = {"reviews": digest([reviews.sha256]), "classifier": first.fingerprint}
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
    named = {**{name: getattr(source, name) for name in columns}, "group_by": group_by}
    named["classifier"] = first.name if classifier else None
    bounds = float(reviews.stars.min()), float(reviews.stars.max())
    scale = Scale(first.name, first.fingerprint, reader.width, *bounds, calibrated(objective, network, dev))
    data: dict[str, Record] = {part: {"films": count} for part, count in counts.items()}
    data["train"].update(name=reviews.name, reviews=len(reviews.documents), sha256=reviews.sha256)
    best = {"best_epoch": progress.best_epoch + 1, **objective.evaluate(network)}
    metrics = {"dev": best, "test": judged(objective, network, test, scale)}
    entries = {"metrics": metrics, "command": training.command(**named)}
    bundle = training.write(network, progress, best, data, scale.to_json().encode(), **entries)
    for count, figures in metrics["test"].items():
        errors = f"error {figures['absolute_error']:.3f} stars, {100 * figures['inside']:.1f} % inside the interval"
        run.say(f"test films, {count} reviews given: {errors}")
    run.say(f"bundle: {bundle.folder}")
    warn_if_small(counts["dev"], "film")
    return bundle


def reviews_by_film(source: Labelled, group_by: Optional[str] = None) -> FilmReviews:
    """Read "nsmc", the raw star reviews without those of the official test file, or a table, whose rows without a film
    or without stars are left out.

    ConfigError for other columns of "nsmc" and for "sample", which knows no films; DataError as `tables.open_table`,
    and for cells that are no stars, with their row.
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
    starred, _ = star_columns(table, [group_by])
    named = source.stars_column or (starred[0] if len(starred) == 1 else None)
    stars_column = find_column(table.names, named, path, STAR_COLUMNS, STAR_HINT)
    stars = stars_of(table[stars_column], stars_column, table.where(stars_column), open_scale=True).numbers
    return of_films(path.name, list(table.cells(table.text_column)), stars, list(map(str.strip, table[group_by])))


def of_films(name: str, documents: list[str], stars: list[Any], films: list[str]) -> FilmReviews:
    """Gather reviews by film, in the films' first order, without those that are blank or of no film or stars."""
    texts, known, members = list[str](), list[float](), dict[str, list[int]]()
    for text, star, film in zip(map(clean, documents), stars, films):
        if text and film and star is not None:
            members.setdefault(film, []).append(len(texts))
            texts.append(text)
            known.append(star)
    places = {film: numpy.array(own) for film, own in members.items()}
    return FilmReviews(name, texts, numpy.array(known, dtype="float32"), places)


def vectors_of(texts: Sequence[str], reader: ReviewReader, quiet: bool) -> NDArray[numpy.float16]:
    """(M, F) float16 of M texts, read window by window."""
    vectors = numpy.empty((len(texts), reader.width), dtype="float16")
    with progress_bar(shown=False if quiet else None, total=len(texts), desc="reading", unit=" reviews") as bar:
        for start in range(0, len(texts), WINDOW):
            part = texts[start : start + WINDOW]
            vectors[start : start + len(part)] = reader(part)
            bar.update(len(part))
    return vectors


def split(count: int, settings: FilmTrainingConfig) -> tuple[list[int], list[int], list[int]]:
    """Divide films into those to train on, the dev part and the test part; the seed alone decides."""
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


def calibrated(objective: "FilmObjective", network: Network, dev: "FilmVectors") -> list[float]:
    """Return for each of COUNTS the margin that widens the dev films' intervals; of too few films the last one's."""
    margins: list[float] = []
    for count in COUNTS:
        quantiles, stars = quantiles_of(objective, network, dev, count)
        width = margin(quantiles[:, 0], quantiles[:, 2], stars)
        margins.append(width if numpy.isfinite(width) else margins[-1] if margins else 0.0)
    return margins


def margin(low: Numbers, high: Numbers, stars: Numbers) -> float:
    """How much wider intervals have to be so that a share COVERAGE of new films is inside; below 0 narrower.

    Split-conformal prediction on quantiles, Romano et al. 2019 (arXiv:1905.03222), equations 6 to 8. low, high and
    stars are (N,), of N films that the quantiles were not trained on; infinite for too few of them.
    """
    scores = numpy.sort(numpy.maximum(low - stars, stars - high))
    rank = math.ceil((len(scores) + 1) * COVERAGE)
    return float(scores[rank - 1]) if rank <= len(scores) else math.inf


def inside(intervals: Numbers, stars: Numbers) -> float:
    """The share of stars (N,) within intervals (N, 3)."""
    return float(((intervals[:, 0] <= stars) & (stars <= intervals[:, 2])).mean())


def judged(objective: "FilmObjective", network: Network, test: "FilmVectors", scale: Scale) -> Record:
    """Return the figures of the test films by how many reviews are given."""
    figures: Record = {}
    for count in GIVEN:
        quantiles, stars = quantiles_of(objective, network, test, count)
        if len(stars):
            shown = scale.intervals(quantiles, numpy.full(len(stars), count))
            errors = abs(shown[:, 1] - stars)
            figures[str(count)] = {
                "films": len(stars) // DRAWS,
                "absolute_error": float(errors.mean()),
                "inside": inside(shown, stars),
                "width": float((shown[:, 2] - shown[:, 0]).mean()),
            }
    return figures
