"""A whole training of a language model as one function: reviews and a LanguageConfig in, a run folder with a bundle out.

Masked words, Devlin et al. 2019 (arXiv:1810.04805): what reviews teach that nobody has labelled.
"""

import math
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Union

from ...corpora import nsmc, raw
from ...corpora.data import Texts
from ...errors import DataError
from ...machine.aliases import Record
from ...network.parameters import set_parameters
from ...text.encoding import ReviewEncoder, clean
from ...text.token_cache import cached_tokens
from ...text.tokenizers import tokenizer, tokenizer_version
from ...training.description import command, digest, manifest_of, run_settings
from ...training.initial import check_sizes, first_bundle
from ...training.runs import Run, network_files, warn_if_small
from ..sequences.batches import hold_out
from .masking import MASK, Masker, Tokens
from .settings import LANGUAGE_PRESETS, LanguageConfig
from .system import LAYOUT, LanguageBundle

# Most reviews that the epoch is chosen by, and fewest to train on
MOST_DEV, FEWEST = 5000, 100


def train_language(
    source: Texts, config: LanguageConfig, run: Run, init_from: Union[str, Path, None] = None
) -> LanguageBundle:
    """Train a language model and write it as a bundle; return it.

    Parameters
    ----------
    source : Texts
        Reviews; for "nsmc" the raw star reviews too, and none of the official test file.
    init_from : path or None
        A language model's bundle of the same settings, whose parameters and vocabulary the training begins with.

    Raises
    ------
    DataError
        A file is missing or malformed, or has fewer than FEWEST reviews with words.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    tokenizer(config.text.tokenizer)
    first = first_bundle(init_from, LAYOUT)
    if first:
        check_sizes(config, first, LANGUAGE_PRESETS)
    name, reviews = read_reviews(source)
    texts = list(dict.fromkeys(filter(None, map(clean, reviews))))
    if len(texts) < FEWEST:
        raise DataError(f"{name}: expected at least {FEWEST} different reviews, found {len(texts)}")
    settings = run_settings(config, name, first, reviews=digest(texts))
    run.check(settings)
    again = partial(command, config, LANGUAGE_PRESETS, {"task": config.task, "data": name})
    run.say_settings(again(init_from=init_from))
    words = cached_tokens(texts, config.text.tokenizer, nsmc.cache_folder() / "prepared")
    train, dev = hold_out(len(texts), config.training, MOST_DEV)
    if first:
        vocabulary = first.read("vocab.json")
    else:
        from ...text.preprocessing import build_vocab

        vocabulary = build_vocab((words[i] for i in train), config.text, reserved=[MASK]).to_json().encode()
    encoder = ReviewEncoder.from_json(vocabulary, config.text)
    sizes = f"{len(train):,} reviews to train on, {len(dev):,} to choose the epoch by (dev)"
    run.say(f"data: {name}, {sizes}, a vocabulary of {len(encoder):,}")
    # imports MXNet
    from ...engines.graphs import parameters_of
    from .objective import train_network

    shown, held_out = (Tokens.of((words[i] for i in part), encoder) for part in (train, dev))
    masker = Masker.of(config.training.masked, encoder)
    begin = partial(set_parameters, arrays=parameters_of(first)[1]) if first else None
    run.begin(settings)
    network, progress, objective = train_network(config, masker, run, shown, held_out, begin)
    best: Record = {"best_epoch": progress.best_epoch + 1, **objective.evaluate(network)}
    best["perplexity"] = math.exp(best["loss"])
    counts = {"train": {"name": name, "reviews": len(train)}, "dev": {"reviews": len(dev)}}
    manifest = manifest_of(config, counts, best, again(init_from=first and first.name), first)
    manifest.update(tokenizer_version=tokenizer_version(config.text.tokenizer), vocabulary=len(encoder))
    contents = {"vocab.json": vocabulary, **network_files(network, config)}
    bundle = run.write(LAYOUT, manifest, contents)
    guesses = f"{100 * best['accuracy']:.2f} % of the hidden tokens guessed, {100 * best['among_five']:.2f} %"
    run.say(f"dev: {guesses} in five guesses, perplexity {best['perplexity']:.1f}; bundle: {bundle.folder}")
    warn_if_small(len(dev), "review")
    return bundle


def read_reviews(source: Texts) -> tuple[str, Iterable[str]]:
    """Return the name of the data and its reviews; of nsmc the raw star reviews too, none of the official test file."""
    name, train = source.read()
    if source.data != "nsmc":
        return name, train
    test = nsmc.load("nsmc", "test", source.data_dir).frame
    tested = set(map(raw.folded, test["document"]))
    stars = raw.load(raw.find(source.data_dir), [test]).frame["document"]
    return name, [*stars, *(text for text in train if raw.folded(text) not in tested)]
