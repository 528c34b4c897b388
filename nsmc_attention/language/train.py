"""A whole training of a language model as one function: reviews and a LanguageConfig in, a run folder with a bundle out.

Masked words, Devlin et al. 2019 (arXiv:1810.04805): what reviews teach that nobody has labelled. The counterpart of
`recipe`, which trains the classifier.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from .._runtime.mxnet_shim import choose_device
from ..bundle.format import load_bundle, write_bundle
from ..errors import DataError
from ..reviews import nsmc, raw
from ..text.encoding import ReviewEncoder, clean
from ..text.token_cache import cached_tokens
from ..text.tokenizers import mecab_tags, tokenizer, tokenizer_version
from ..training.distributed.communicator import SINGLE
from ..training.run_folder import begun_run, check_run
from ..training.runs import command, describe, draw_curves, hold_out, read_texts, run_settings, say
from .card import language_card
from .layout import LAYOUT, LanguageBundle
from .masking import MASK, Masker, Tokens
from .settings import LANGUAGE_PRESETS, LanguageConfig

# Reviews that the epoch is chosen by, at most
DEV = 5000
FEWEST = 100
# Parts of speech by the first letter of mecab-ko-dic's tags
SPEECH = {"N": "nouns", "V": "verbs and adjectives", "M": "adverbs", "J": "particles", "E": "endings"}


def train_language(
    data: Union[str, Path],
    config: LanguageConfig,
    out: Union[str, Path],
    resume: bool = False,
    device: str = "auto",
    data_dir: Optional[Union[str, Path]] = None,
    quiet: bool = False,
    text_column: Optional[str] = None,
    encoding: Optional[str] = None,
    init_from: Optional[Union[str, Path]] = None,
    sheet: Optional[str] = None,
) -> LanguageBundle:
    """Train a language model and write it as a bundle; return it.

    Parameters
    ----------
    data : "nsmc", "sample" or a path
        Reviews, no labels: for "nsmc" those of the training file and the raw star reviews, without any of the official
        test file; for "sample" those of its training file; else of a table, or of a txt file with one a line.
    out : path
        The run folder: settings.json, history.jsonl, curves.png, checkpoints, and at the end bundle/.
    init_from : path or None
        A language model's bundle of the same settings, whose parameters and vocabulary the training begins with.

    Raises
    ------
    DataError
        A file is missing or malformed, or has fewer than FEWEST reviews with words.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    out = Path(out)
    tokenizer(config.text.tokenizer)
    first = load_bundle(init_from, LAYOUT) if init_from else None
    name, read = read_reviews(data, data_dir, text_column, encoding, sheet)
    texts = list(dict.fromkeys(filter(None, map(clean, read))))
    if len(texts) < FEWEST:
        raise DataError(f"{name}: expected at least {FEWEST} different reviews, found {len(texts)}")
    settings = run_settings(name, texts, "reviews", config, first)
    check_run(out, settings, resume)
    say(f"settings: {command(name, config, LANGUAGE_PRESETS)}; {'continuing' if resume else 'writing'} in {out}", quiet)
    words = cached_tokens(texts, config.text.tokenizer, nsmc.cache_folder() / "prepared")
    train, dev = hold_out(len(texts), config.training, DEV)
    vocabulary = first.read("vocab.json") if first else new_vocabulary((words[place] for place in train), config)
    encoder = ReviewEncoder.from_json(vocabulary, config.text)
    sizes = f"{len(train):,} reviews to train on, {len(dev):,} to choose the epoch by (dev)"
    say(f"data: {name}, {sizes}, a vocabulary of {len(encoder):,}", quiet)
    # imports MXNet
    from ..inference.sessions import parameters_of
    from ..training.initial import begin_same
    from .objective import LanguageModelTraining

    whole = bool(config.training.whole_words)
    parts = [Tokens.of((words[place] for place in part), encoder, whole) for part in (train, dev)]
    masker = Masker.of(config.training.masked, encoder)
    training = LanguageModelTraining(config, masker, out, choose_device(device), draw_curves, quiet)
    if first:
        training = replace(training, begin=partial(begin_same, arrays=parameters_of(first)[1]))
    with begun_run(out, settings, resume, SINGLE):
        network, progress, objective = training.run(*parts)
        figures: dict[str, Any] = {"best_epoch": progress.best_epoch + 1, **objective.evaluate(network)}
        figures["perplexity"] = math.exp(figures["loss"])
        if config.text.tokenizer == "mecab":
            spoken = accuracy_by_speech(objective, network, [texts[place] for place in dev], encoder)
            figures["accuracy_by_speech"] = spoken
        manifest = describe(name, (len(train), len(dev)), "reviews", config, LANGUAGE_PRESETS, first, figures)
        manifest.update(tokenizer_version=tokenizer_version(config.text.tokenizer), vocabulary=len(encoder))
        return finish(out, vocabulary, manifest, network, quiet)


def read_reviews(
    data: Union[str, Path],
    data_dir: Optional[Union[str, Path]],
    text_column: Optional[str],
    encoding: Optional[str],
    sheet: Optional[str] = None,
) -> tuple[str, Iterable[str]]:
    """Return the name of the data and its reviews; of nsmc the raw star reviews too, none of the official test file."""
    name, train = read_texts(data, data_dir, text_column, encoding, sheet)
    if data != "nsmc":
        return name, train
    test = nsmc.load("nsmc", "test", data_dir).frame
    tested = set(map(raw.folded, test["document"]))
    stars = raw.load(raw.find(data_dir), [test]).frame["document"]
    return name, [*stars, *(each for each in train if raw.folded(each) not in tested)]


def new_vocabulary(word_lists: Iterable[list[str]], config: LanguageConfig) -> bytes:
    from ..text.vocabulary import build_vocab

    content: str = build_vocab(word_lists, config.text, reserved=[MASK]).to_json()
    return content.encode()


def accuracy_by_speech(objective: Any, network: Any, texts: list[str], encoder: ReviewEncoder) -> dict[str, float]:
    """Return the share of hidden tokens that are guessed right, by the part of speech that Mecab gives the dev texts."""
    right: dict[str, list[bool]] = defaultdict(list)
    batches = objective.dev_batches.in_order(objective.seed)
    for (members, batch), (_, ranks) in zip(batches, objective.judged(network)):
        spoken = [parts_of_speech(texts[member], encoder) for member in members]
        columns, rows = numpy.divmod(batch.places[: len(ranks)], len(members))
        for row, column, rank in zip(rows.tolist(), columns.tolist(), ranks.tolist()):
            right[spoken[row][column]].append(rank < 1)
    return {speech: sum(found) / len(found) for speech, found in sorted(right.items())}


def parts_of_speech(text: str, encoder: ReviewEncoder) -> list[str]:
    """Return the part of speech of each token of a clean text; of the pieces of a word that of the word."""
    return [
        SPEECH.get(tag[:1], "others") for start, end, tag in mecab_tags(text) for _ in encoder.units([text[start:end]])
    ]


def finish(out: Path, vocabulary: bytes, manifest: dict[str, Any], network: Any, quiet: bool) -> LanguageBundle:
    """Write the bundle and load it back, so that a run ends with a bundle known to be whole."""
    from ..model.parameters import gluon_file
    from .lowering import lower_language

    contents = {"vocab.json": vocabulary, "weights.params": gluon_file(network)}
    contents["model.onnx"] = lower_language(network).SerializeToString()
    contents["README.md"] = language_card(manifest).encode(errors="replace")
    write_bundle(out / "bundle", manifest, contents)
    best = manifest["metrics"]["dev"]
    guessed = (
        f"{100 * best['accuracy']:.2f} % of the hidden tokens guessed, {100 * best['among_five']:.2f} % in five guesses"
    )
    say(f"dev: {guessed}, perplexity {best['perplexity']:.1f}; bundle: {out / 'bundle'}", quiet)
    return load_bundle(out / "bundle", LAYOUT)
