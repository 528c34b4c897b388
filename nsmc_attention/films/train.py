"""A whole training of `film` as one function: reviews with stars by film and a FilmConfig in, a run folder with a bundle out.

The words are read by a classifier whose parameters stay as they are; what is trained reads its vectors.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy
from numpy.typing import NDArray

from .._runtime.mxnet_shim import choose_device
from ..bundle.format import load_bundle, write_bundle
from ..classification.layout import LAYOUT as CLASSIFIER
from ..errors import DataError
from ..reviews import nsmc
from ..training.distributed.communicator import SINGLE
from ..training.run_folder import begun_run, check_run
from ..training.runs import command, describe, draw_curves, run_settings, say
from . import reviews as films
from .card import film_card
from .intervals import COUNTS, inside, margin
from .layout import LAYOUT, FilmBundle
from .scale import Scale
from .settings import FILM_PRESETS, FilmConfig
from .vectors import ReviewReader, cached_vectors

if TYPE_CHECKING:
    from .objective import FilmObjective, Films

FEWEST = 100
# Fewest reviews of a film: one that is given, and others whose mean is worth telling
SEVERAL = 4
# Numbers of reviews given that the figures are of
GIVEN = (1, 5, 20, 64)
# How often the reviews of a film are drawn, for the intervals and for the figures
DRAWS = 5
SIZES = "{:,} films to train on, {:,} to choose the epoch by (dev), {:,} to judge by (test)"


def train_films(
    data: Union[str, Path],
    config: FilmConfig,
    out: Union[str, Path],
    resume: bool = False,
    device: str = "auto",
    data_dir: Optional[Union[str, Path]] = None,
    quiet: bool = False,
    classifier: Optional[Union[str, Path]] = None,
    **columns: Optional[str],
) -> FilmBundle:
    """Train a film network and write it as a bundle; return it.

    Parameters
    ----------
    data : "nsmc" or a path
        Reviews with stars and films: the raw star reviews, without those of the official test file; else a table, whose
        `columns` are named as by `films.reviews.load`.
    out : path
        The run folder: settings.json, history.jsonl, curves.png, checkpoints, and at the end bundle/.
    classifier : path or None
        The classifier's bundle whose encoder reads the reviews; None is the packaged one.

    Raises
    ------
    DataError
        A file is missing or malformed, or has fewer than FEWEST films of SEVERAL reviews.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    out, reader = Path(out), ReviewReader(load_bundle(classifier, CLASSIFIER))
    reviews = films.load(data, data_dir, **columns)
    usable = usable_films(reviews)
    settings = run_settings(reviews.name, [reviews.sha256], "reviews", config, None)
    settings["classifier"] = reader.bundle.fingerprint
    check_run(out, settings, resume)
    say(
        f"settings: {command(reviews.name, config, FILM_PRESETS)}; {'continuing' if resume else 'writing'} in {out}",
        quiet,
    )
    parts = split(len(usable), config.training)
    say(f"data: {reviews.name}, {len(reviews.documents):,} reviews, {SIZES.format(*map(len, parts))}", quiet)
    vectors = cached_vectors(reviews.documents, reader, nsmc.cache_folder() / "prepared", quiet)
    # imports MXNet
    from .objective import Films, FilmTraining

    train, dev, test = map(Films(vectors, reviews.stars, usable).of, parts)
    with begun_run(out, settings, resume, SINGLE):
        training = FilmTraining(config, out, choose_device(device), draw_curves, quiet)
        network, progress, objective = training.run(train, dev)
        own = {**columns, "classifier": reader.bundle.name if classifier else None}
        manifest = described(reviews, parts, config, own)
        figures: dict[str, Any] = {"best_epoch": progress.best_epoch + 1}
        scale = Scale.of(reader, reviews.stars, calibrated(objective, network, dev))
        manifest["metrics"]["dev"] = {**figures, **objective.evaluate(network)}
        manifest["metrics"]["test"] = judged(objective, network, test, scale)
        return finish(out, scale, manifest, network, quiet)


def usable_films(reviews: films.FilmReviews) -> list[NDArray[numpy.int64]]:
    """Return the places of the reviews of each film that has SEVERAL; DataError where such films are fewer than FEWEST."""
    usable = [own for own in reviews.members if len(own) >= SEVERAL]
    if len(usable) < FEWEST:
        found = f"expected at least {FEWEST} films of {SEVERAL} reviews or more, found {len(usable)}"
        raise DataError(f"{reviews.name}: {found}")
    return usable


def described(
    reviews: films.FilmReviews, parts: Sequence[list[int]], config: FilmConfig, named: dict[str, Optional[str]]
) -> dict[str, Any]:
    """Return the manifest of a training on films in three parts (`split`), whose command has some named options."""
    train, dev, test = map(len, parts)
    manifest = describe(reviews.name, (train, dev), "films", config, FILM_PRESETS, None, {})
    manifest["data"]["train"].update(reviews=len(reviews.documents), sha256=reviews.sha256)
    manifest["data"]["test"] = {"films": test}
    manifest["command"] += options(named)
    return manifest


def options(given: dict[str, Optional[str]]) -> str:
    """Return the part of a command line that names what is given."""
    named = ((f"--{name.replace('_', '-')}", value) for name, value in given.items() if value is not None)
    return "".join(f" {flag} {shlex.quote(value)}" for flag, value in named)


def split(count: int, training: Any) -> tuple[list[int], list[int], list[int]]:
    """Divide films into those to train on, the dev part and the test part; the seed alone decides."""
    order = numpy.random.RandomState(training.seed).permutation(count).tolist()
    test, dev = (max(1, round(count * share)) for share in (training.test_fraction, training.dev_fraction))
    return sorted(order[test + dev :]), order[test : test + dev], order[:test]


def quantiles_of(
    objective: "FilmObjective", network: Any, films: "Films", count: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Draw `count` reviews of each film; return the network's quantiles (N, 3) and the stars of the others (N,)."""
    batches = objective.dev_batches
    cases = films.cases(count, numpy.random.RandomState([objective.seed, count]), DRAWS)
    size = batches.batch_size
    found = [
        type(batches)(films, size, count).batch(cases[start : start + size]) for start in range(0, len(cases), size)
    ]
    return (
        numpy.concatenate([objective.quantiles(network, batch).asnumpy() for batch in found] or [numpy.zeros((0, 3))]),
        numpy.array([case.stars for case in cases]),
    )


def calibrated(objective: "FilmObjective", network: Any, dev: "Films") -> list[float]:
    """Return for each of COUNTS the margin by which the dev films' intervals are widened; of too few films the last one's."""
    margins: list[float] = []
    for count in COUNTS:
        quantiles, stars = quantiles_of(objective, network, dev, count)
        found = margin(quantiles[:, 0], quantiles[:, 2], stars)
        margins.append(found if numpy.isfinite(found) else margins[-1] if margins else 0.0)
    return margins


def judged(objective: "FilmObjective", network: Any, test: "Films", scale: Scale) -> dict[str, Any]:
    """Return the figures of the test films by how many reviews are given."""
    found: dict[str, Any] = {}
    for count in GIVEN:
        quantiles, stars = quantiles_of(objective, network, test, count)
        if len(stars):
            shown = scale.intervals(quantiles, numpy.full(len(stars), count))
            errors = abs(shown[:, 1] - stars)
            found[str(count)] = {
                "films": len(stars) // DRAWS,
                "absolute_error": float(errors.mean()),
                "inside": inside(shown, stars),
                "width": float((shown[:, 2] - shown[:, 0]).mean()),
            }
    return found


def finish(out: Path, scale: Scale, manifest: dict[str, Any], network: Any, quiet: bool) -> FilmBundle:
    """Write the bundle and load it back, so that a run ends with a bundle known to be whole."""
    from ..model.parameters import gluon_file
    from .lowering import lower_film

    models = {name: model.SerializeToString() for name, model in lower_film(network).items()}
    contents = {"scale.json": scale.to_json().encode(), "weights.params": gluon_file(network), **models}
    contents["README.md"] = film_card(manifest).encode(errors="replace")
    write_bundle(out / "bundle", manifest, contents)
    for count, figures in manifest["metrics"]["test"].items():
        told = f"error {figures['absolute_error']:.3f} stars, {100 * figures['inside']:.1f} % inside the interval"
        say(f"test films, {count} reviews given: {told}", quiet)
    say(f"bundle: {out / 'bundle'}", quiet)
    return load_bundle(out / "bundle", LAYOUT)
