"""A whole training of `film` as one function: reviews with stars by film and a FilmConfig in, a run folder with a bundle out.

The words are read by a classifier whose parameters stay as they are; what is trained reads its vectors.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Optional, Union

import numpy
from numpy.typing import NDArray

from ..._runtime.aliases import Network, Numbers, Record
from ...bundle import load_bundle
from ...classification.system import LAYOUT as CLASSIFIER
from ...errors import DataError
from ...tables import nsmc
from ...tables.data import Labelled
from ...training.description import command, digest, manifest_of, run_settings
from ...training.runs import Run, network_files, warn_if_small
from . import reviews as films
from .scale import COUNTS, Scale, inside, margin
from .settings import FILM_PRESETS, FilmConfig, FilmTrainingConfig
from .system import LAYOUT, FilmBundle
from .vectors import ReviewReader, cached_vectors

if TYPE_CHECKING:
    from .objective import FilmObjective, FilmVectors

FEWEST = 100
# Fewest reviews of a film: one that is given, and others whose mean is worth telling
SEVERAL = 4
# Numbers of reviews given that the figures are of
GIVEN = (1, 5, 20, 64)
# How often the reviews of a film are drawn, for the intervals and for the figures
DRAWS = 5
SIZES = "{:,} films to train on, {:,} to choose the epoch by (dev), {:,} to judge by (test)"


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
        A file is missing or malformed, or has fewer than FEWEST films of SEVERAL reviews.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    first = load_bundle(classifier, CLASSIFIER)
    reader = ReviewReader(first)
    reviews = films.load(source, group_by)
    usable = usable_films(reviews)
    settings = run_settings(config, reviews.name, None, reviews=digest([reviews.sha256]))
    settings["classifier"] = reader.bundle.fingerprint
    run.check(settings)
    again = partial(command, config, FILM_PRESETS, {"task": config.task, "data": reviews.name})
    run.say_settings(again(classifier=classifier))
    parts = split(len(usable), config.training)
    counts = [len(part) for part in parts]
    run.say(f"data: {reviews.name}, {len(reviews.documents):,} reviews, {SIZES.format(*counts)}")
    vectors = cached_vectors(reviews.documents, reader, nsmc.cache_folder() / "prepared", run.quiet)
    # imports MXNet
    from .objective import FilmBatches, FilmObjective, FilmVectors, train_network

    train, dev, test = map(FilmVectors(vectors, reviews.stars, usable).of, parts)
    run.begin(settings)
    network, progress = train_network(config, run, train, dev)
    columns = ("text_column", "stars_column", "encoding", "sheet", "header")
    named = {**{name: getattr(source, name) for name in columns}, "group_by": group_by}
    named["classifier"] = first.name if classifier else None
    batches = FilmBatches(dev, config.training.batch_size, config.training.given)
    objective = FilmObjective(batches, run.context, config.training.seed)
    scale = Scale.of(reader, reviews.stars, calibrated(objective, network, dev))
    best = {"best_epoch": progress.best_epoch + 1, **objective.evaluate(network)}
    manifest = manifest_of(config, described(reviews, counts), best, again(**named))
    manifest["metrics"]["test"] = judged(objective, network, test, scale)
    contents = {"scale.json": scale.to_json().encode(), **network_files(network, config)}
    bundle = run.write(LAYOUT, manifest, contents)
    say_figures(run, bundle)
    return bundle


def say_figures(run: Run, bundle: FilmBundle) -> None:
    for count, figures in bundle.manifest["metrics"]["test"].items():
        errors = f"error {figures['absolute_error']:.3f} stars, {100 * figures['inside']:.1f} % inside the interval"
        run.say(f"test films, {count} reviews given: {errors}")
    run.say(f"bundle: {bundle.folder}")
    warn_if_small(bundle.manifest["data"]["dev"]["films"], "film")


def usable_films(reviews: films.FilmReviews) -> list[NDArray[numpy.int64]]:
    """Return the places of the reviews of each film that has SEVERAL; DataError where such films are fewer than FEWEST."""
    usable = [own for own in reviews.members if len(own) >= SEVERAL]
    if len(usable) < FEWEST:
        expected = f"expected at least {FEWEST} films of {SEVERAL} reviews or more"
        raise DataError(f"{reviews.name}: {expected}, found {len(usable)}")
    return usable


def described(reviews: films.FilmReviews, counts: Sequence[int]) -> Record:
    """Return the manifest's `data` of a training on films in three parts (`split`) of so many films."""
    train, dev, test = counts
    read = {"name": reviews.name, "films": train, "reviews": len(reviews.documents), "sha256": reviews.sha256}
    return {"train": read, "dev": {"films": dev}, "test": {"films": test}}


def split(count: int, settings: FilmTrainingConfig) -> tuple[list[int], list[int], list[int]]:
    """Divide films into those to train on, the dev part and the test part; the seed alone decides."""
    order = numpy.random.RandomState(settings.seed).permutation(count).tolist()
    test, dev = (max(1, round(count * share)) for share in (settings.test_fraction, settings.dev_fraction))
    return sorted(order[test + dev :]), order[test : test + dev], order[:test]


def quantiles_of(
    objective: "FilmObjective", network: Network, films: "FilmVectors", count: int
) -> tuple[Numbers, Numbers]:
    """Draw `count` reviews of each film; return the network's quantiles (N, 3) and the stars of the others (N,)."""
    batches = objective.dev_batches
    cases = films.cases(count, numpy.random.RandomState([objective.seed, count]), DRAWS)
    size, drawn = batches.batch_size, type(batches)(films, batches.batch_size, count)
    quantiles = [numpy.zeros((0, 3), dtype="float32")]
    for start in range(0, len(cases), size):
        quantiles.append(objective.quantiles(network, drawn.batch(cases[start : start + size])).asnumpy())
    return numpy.concatenate(quantiles), numpy.array([case.stars for case in cases])


def calibrated(objective: "FilmObjective", network: Network, dev: "FilmVectors") -> list[float]:
    """Return for each of COUNTS the margin by which the dev films' intervals are widened; of too few films the last one's."""
    margins: list[float] = []
    for count in COUNTS:
        quantiles, stars = quantiles_of(objective, network, dev, count)
        width = margin(quantiles[:, 0], quantiles[:, 2], stars)
        margins.append(width if numpy.isfinite(width) else margins[-1] if margins else 0.0)
    return margins


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
