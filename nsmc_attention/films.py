"""A whole training of `film` as one function: reviews with stars by film and a FilmConfig in, a run folder with a bundle out.

The words are read by a classifier whose parameters stay as they are; what is trained reads its vectors. With
`training.fine_tuning.epochs` the classifier is then trained along, and written as a bundle beside the film network's. The
counterpart of `recipe`, which trains the classifier.
"""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy
from numpy.typing import NDArray

from ._runtime.mxnet_shim import choose_device
from .bundle.card import film_card, model_card
from .bundle.format import Bundle, load_bundle, write_bundle
from .bundle.scale import Scale
from .config import FilmConfig
from .errors import DataError
from .evaluation.intervals import COUNTS, inside, margin
from .inference.engines import parameters_of
from .inference.vectors import ReviewReader, cached_vectors, read_vectors
from .recipe import draw_curves, say
from .reviews import films, nsmc
from .training.distributed.communicator import SINGLE
from .training.run_folder import begun_run, check_run
from .unlabelled import command, describe, run_settings

if TYPE_CHECKING:
    from .training.checkpoint import Progress
    from .training.film import FilmObjective, Films, FilmTraining

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
) -> Bundle:
    """Train a film network and write it as a bundle; return it.

    Parameters
    ----------
    data : "nsmc" or a path
        Reviews with stars and films: the raw star reviews, without those of the official test file; else a table, whose
        `columns` are named as by `reviews.films.load`.
    out : path
        The run folder: settings.json, history.jsonl, curves.png, checkpoints, and at the end bundle/; with fine-tuning
        also fine_tuning/ and classifier/, the bundle of the classifier that was trained along.
    classifier : path or None
        The classifier's bundle whose encoder reads the reviews; None is the packaged one.

    Raises
    ------
    DataError
        A file is missing or malformed, or has fewer than FEWEST films of SEVERAL reviews.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    out, reader = Path(out), ReviewReader(load_bundle(classifier))
    reviews = films.load(data, data_dir, **columns)
    usable = usable_films(reviews)
    settings = run_settings(reviews.name, [reviews.sha256], "reviews", config, None)
    settings["classifier"] = reader.bundle.fingerprint
    check_run(out, settings, resume)
    say(f"settings: {command(reviews.name, config)}; {'continuing' if resume else 'writing'} in {out}", quiet)
    parts = split(len(usable), config.training)
    say(f"data: {reviews.name}, {len(reviews.documents):,} reviews, {SIZES.format(*map(len, parts))}", quiet)
    vectors = cached_vectors(reviews.documents, reader, nsmc.cache_folder() / "prepared", quiet)
    # imports MXNet
    from .training.film import Films, FilmTraining

    train, dev, test = map(Films(vectors, reviews.stars, usable).of, parts)
    with begun_run(out, settings, resume, SINGLE):
        training = FilmTraining(config, out, choose_device(device), draw_curves, quiet)
        network, progress, objective = training.run(train, dev)
        own = {**columns, "classifier": reader.bundle.name if classifier else None}
        manifest = described(reviews, parts, config, own)
        figures: dict[str, Any] = {"best_epoch": progress.best_epoch + 1}
        if config.training.fine_tuning.epochs:
            reader, progress = fine_tuned(training, network, reader.bundle, reviews.documents, (train, dev), manifest)
            figures["best_fine_tuning_epoch"] = progress.best_epoch + 1
            dev, test = (read_again(part, reviews.documents, reader, quiet) for part in (dev, test))
            objective = training.objective(dev)
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
    manifest = describe(reviews.name, (train, dev), "films", config, None, {})
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


def fine_tuned(
    training: "FilmTraining",
    network: Any,
    first: Bundle,
    documents: list[str],
    parts: tuple["Films", "Films"],
    manifest: dict[str, Any],
) -> tuple[ReviewReader, "Progress"]:
    """Train the classifier `first` along with a film network on the training and dev part; return its reader."""
    from .training.fine_tuning import FineTuning

    stage, folder = FineTuning(training, documents, first.config, first.encoder), training.out / "classifier"
    classifier, progress = stage.run(parameters_of(first)[1], network, *parts)
    reader = ReviewReader(write_classifier(folder, classifier, first, manifest))
    say(f"classifier: {folder}, whose encoder reads the reviews for this film network", training.quiet)
    return reader, progress


def write_classifier(folder: Path, network: Any, first: Bundle, film: dict[str, Any]) -> Bundle:
    """Write the bundle of a classifier that began as `first` and was trained along, with the manifest of a film network."""
    from .export import export_bundle
    from .model.parameters import gluon_file

    manifest = {name: value for name, value in first.manifest.items() if name not in ("calibration", "parity")}
    train = film["data"]["train"]
    begun = {"name": first.name, "fingerprint": first.fingerprint, "films": train["films"], "of": train["name"]}
    manifest.update(
        package_version=film["package_version"],
        data={**first.manifest["data"], "fine_tuning": begun},
        command=film["command"],
        metrics={},
    )
    contents = {"vocab.json": first.read("vocab.json"), "weights.params": gluon_file(network)}
    contents["README.md"] = model_card(manifest).encode(errors="replace")
    write_bundle(folder, manifest, contents)
    export_bundle(folder)
    return load_bundle(folder)


def read_again(films: "Films", documents: list[str], reader: ReviewReader, quiet: bool) -> "Films":
    """Return the same films with their reviews alone, and the vectors of another reader."""
    own, ends = numpy.concatenate(films.members), numpy.cumsum([len(each) for each in films.members])
    vectors = read_vectors([documents[place] for place in own], reader, quiet)
    return replace(
        films, vectors=vectors, stars=films.stars[own], members=numpy.split(numpy.arange(len(own)), ends[:-1])
    )


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


def finish(out: Path, scale: Scale, manifest: dict[str, Any], network: Any, quiet: bool) -> Bundle:
    """Write the bundle and load it back, so that a run ends with a bundle known to be whole."""
    from .model.onnx.film import lower_film
    from .model.parameters import gluon_file

    models = {name: model.SerializeToString() for name, model in lower_film(network).items()}
    contents = {"scale.json": scale.to_json().encode(), "weights.params": gluon_file(network), **models}
    contents["README.md"] = film_card(manifest).encode(errors="replace")
    write_bundle(out / "bundle", manifest, contents)
    for count, figures in manifest["metrics"]["test"].items():
        told = f"error {figures['absolute_error']:.3f} stars, {100 * figures['inside']:.1f} % inside the interval"
        say(f"test films, {count} reviews given: {told}", quiet)
    say(f"bundle: {out / 'bundle'}", quiet)
    return load_bundle(out / "bundle", "film")
