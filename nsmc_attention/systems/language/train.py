"""A whole training of a language model: reviews and a LanguageConfig in, a run folder with a bundle out.

Masked language model, Devlin et al. 2019 (arXiv:1810.04805), which learns from reviews without labels.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Union

from ...corpora import nsmc, raw
from ...corpora.data import Texts
from ...errors import DataError
from ...text.encoding import ReviewEncoder, clean, tokenize_many
from ...text.tokenizers import tokenizer, tokenizer_version
from ...training.runs import Run, warn_if_small
from ...training.stage import hold_out
from ...training.task import TaskTraining, digest
from .model import MASK, Masker, Tokens
from .settings import LAYOUT, LanguageBundle, LanguageConfig

# Most reviews in the dev part, and fewest for a training
MOST_DEV, FEWEST_REVIEWS = 5000, 100


def train_language(
    source: Texts, config: LanguageConfig, run: Run, init_from: Union[str, Path, None] = None
) -> LanguageBundle:
    """Train a language model and write it as a bundle; return it.

    Parameters
    ----------
    source : Texts
        Reviews; "nsmc" includes the raw star reviews, but none of the official test file.
    init_from : path or None
        Bundle of a language model with the same settings; its parameters and vocabulary are the initial ones.

    Raises
    ------
    DataError
        A file is missing or malformed, or has fewer than FEWEST_REVIEWS reviews with words.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    tokenizer(config.text.tokenizer)
    training = TaskTraining(run, LAYOUT, config, init_from)
    name, reviews = read_reviews(source)
    texts = list(dict.fromkeys(filter(None, map(clean, reviews))))
    if len(texts) < FEWEST_REVIEWS:
        raise DataError(f"{name}: expected at least {FEWEST_REVIEWS} different reviews, found {len(texts)}")
    training.check(name, {"reviews": digest(texts)})
    words = tokenize_many(texts, config.text.tokenizer)
    train, dev = hold_out(len(texts), config.training, MOST_DEV)
    if training.first:
        vocabulary = training.first.read("vocab.json")
    else:
        from ...text.preprocessing import build_vocab, vocabulary_file

        vocabulary = vocabulary_file(build_vocab((words[i] for i in train), config.text, reserved=[MASK]))
    encoder = ReviewEncoder.from_json(vocabulary, config.text)
    sizes = f"{len(train):,} reviews to train on, {len(dev):,} to choose the epoch by (dev)"
    run.say(f"data: {name}, {sizes}, a vocabulary of {len(encoder):,}")
    # imports MXNet
    from .objective import train_network

    train_tokens, dev_tokens = (Tokens.of((words[i] for i in part), encoder) for part in (train, dev))
    masker = Masker.of(config.training.masked, encoder)
    network, progress, figures = train_network(config, masker, run, train_tokens, dev_tokens, training.begin())
    figures["perplexity"] = math.exp(figures["loss"])
    counts = {"train": {"name": name, "reviews": len(train)}, "dev": {"reviews": len(dev)}}
    entries = {"tokenizer_version": tokenizer_version(config.text.tokenizer), "vocabulary": len(encoder)}
    bundle = training.write(network, progress, figures, counts, vocabulary, **entries)
    best = bundle.manifest["metrics"]["dev"]
    guesses = f"{100 * best['accuracy']:.2f} % of the hidden tokens guessed, {100 * best['among_five']:.2f} %"
    run.say(f"dev: {guesses} in five guesses, perplexity {best['perplexity']:.1f}; bundle: {bundle.folder}")
    warn_if_small(len(dev), "review")
    return bundle


def read_reviews(source: Texts) -> tuple[str, Iterable[str]]:
    """Return the name and the reviews of the data: for "nsmc" with raw star reviews, without the official test file."""
    name, train = source.read()
    if source.data != "nsmc":
        return name, train
    test = nsmc.load("nsmc", "test", source.data_dir).frame
    excluded = set(map(raw.folded, test["document"]))
    star_reviews = raw.load(raw.find(source.data_dir), [test]).frame["document"]
    return name, [*star_reviews, *(text for text in train if raw.folded(text) not in excluded)]
