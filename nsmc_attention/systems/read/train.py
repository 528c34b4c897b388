"""A whole training of `read`: reviews, fonts and a ReadConfig in, a run folder with a bundle out."""

from pathlib import Path
from typing import Union

from ...corpora.data import Texts
from ...errors import ConfigError, DataError
from ...text.encoding import clean
from ...training.runs import Run, warn, warn_if_small
from ...training.stage import hold_out
from ...training.task import TaskTraining, digest
from .decoding import Letters
from .drawing import ASCII, common_syllables, korean_faces
from .settings import LAYOUT, ReadConfig, ReaderBundle

MOST_DEV, FEWEST_REVIEWS = 2000, 20  # Most reviews in the dev part, and fewest for a training
USELESS = 0.3  # Least character error of a warning


def train_reader(source: Texts, config: ReadConfig, run: Run, init_from: Union[str, Path, None] = None) -> ReaderBundle:
    """Train a reader of pictures and write it as a bundle; return it.

    Parameters
    ----------
    source : Texts
        Reviews, whose lines are drawn in the Korean fonts of `training.fonts`.
    init_from : path or None
        Bundle of a reader with the same sizes; its parameters and letters are the initial ones.

    DataError if a file is missing or malformed, fewer than FEWEST_REVIEWS of its reviews have text, or there are no Korean
    fonts. ConfigError if the run folder is taken or of another run, the loss is not finite, or there is no such device.
    """
    name, reviews = source.read()
    texts = [text for text in map(clean, reviews) if text]
    if len(texts) < FEWEST_REVIEWS:
        raise DataError(f"{name}: expected at least {FEWEST_REVIEWS} reviews with text, found {len(texts)}")
    path, share = config.training.others, config.training.signs
    if bool(path) != bool(share):
        raise ConfigError(f"training.signs: expected a share with a file in training.others, found {share:g}, {path!r}")
    others = [text for text in map(clean, Texts(path).read()[1]) if text] if path else []
    faces = korean_faces(config.training.fonts, config.training.unused_fonts)
    training = TaskTraining(run, LAYOUT, config, init_from)
    files = sorted({face.path.name for face in faces})
    training.check(name, {"reviews": digest([*texts, *others]), "fonts": digest(files)})
    train, dev = ([texts[i] for i in part] for part in hold_out(len(texts), config.training, MOST_DEV))
    always_known = [*common_syllables(), *ASCII] * config.text.min_count
    first = training.first
    letters = first.codec if first else Letters.of([*train, *always_known], config.text.min_count)
    sizes = f"{len(train):,} reviews to draw lines of, {len(dev):,} to choose the epoch by (dev)"
    run.say(f"data: {name}, {sizes}, {len(letters):,} letters, {len(faces)} faces of {len(files)} font files")
    from .objective import train_network

    network, progress, figures = train_network(config, letters, run, train, others, dev, faces, training.begin())
    counts = {"train": {"name": name, "reviews": len(train), "fonts": len(files)}, "dev": {"reviews": len(dev)}}
    bundle = training.write(network, progress, figures, counts, letters.to_json().encode(), vocabulary=len(letters))
    best = bundle.manifest["metrics"]["dev"]
    errors = f"character error {best['character_error']:.4f}, {best['ctc_error']:.4f} by CTC"
    run.say(f"dev: {errors} (epoch {best['best_epoch']}); bundle: {bundle.folder}")
    if best["character_error"] > USELESS:
        found = f"most lines are read wrong (character error {best['character_error']:.2f})"
        warn(f"{found}; draw more lines (--epochs, training.lines), or begin with --init-from")
    warn_if_small(len(dev), "review")
    return bundle
