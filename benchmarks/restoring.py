"""What `restore` restores, beside kiwi: the tables of docs/restore.md.

    pip install kiwipiepy==0.24.1
    NSMC_ATTENTION_DATA=... python -m benchmarks.clean_reviews FOLDER
    NSMC_ATTENTION_DATA=... python -m benchmarks.restoring FOLDER/test.txt [BUNDLE ...]

Without a bundle the two packaged ones are judged. One thread each. kiwi (LGPL) sets spaces alone, which is what its
`space` is for; everything else is left to those that correct spelling too.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy
from kiwipiepy import Kiwi

from benchmarks.robustness import WAYS, two_exchanged
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.restoration.characters import split_spaces
from nsmc_attention.restoration.restorer import load_restorer
from nsmc_attention.restoration.spelling import is_plain, sentences
from nsmc_attention.restoration.tags import character_error
from nsmc_attention.reviews import nsmc
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.noise import typed

SHORT, LONG = (10, 60), (90, 140)
SEED = 1
# Texts of a part, every so many of them
MOST = 3000
Restore = Callable[[list[str]], list[str]]


def contestants(bundles: list[str]) -> dict[str, Restore]:
    kiwi = Kiwi(num_workers=1)
    found: dict[str, Restore] = {
        "untouched": lambda texts: texts,
        "kiwipiepy 0.24.1": lambda texts: [kiwi.space(text, reset_whitespace=True) for text in texts],
    }

    def add(name: str, bundle: str | None, beam: int | None) -> None:
        restorer = load_restorer(bundle, beam)
        restorer.engine.pool = None
        found[name] = lambda texts: [each.text for each in restorer.restore_many(texts)]

    for bundle in bundles:
        is_editor = load_restorer(bundle).bundle.config.model.kind == "editor"
        for beam in [None] if is_editor else [1, 4]:
            add(f"{'editor' if is_editor else 'writer'} {bundle}" + (f", beam {beam}" if beam else ""), bundle, beam)
    if not bundles:
        add("editor", None, None)
        for beam in (1, 4):
            add(f"writer, beam {beam}", None, beam)
    return found


def parts(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (name, sources, targets) of each table row."""
    whole = path.read_text(encoding="utf-8").splitlines()
    short = [text for text in whole if SHORT[0] <= len(text) <= SHORT[1]]
    documents = (clean(text) for part in ("train", "test") for text in nsmc.load("sample", part).documents)
    sample = [each for text in documents for each in ([text] if is_plain(text) else sentences(text)) if is_plain(each)]
    for name, whole in (("test", short), ("long", list(joined(short))), ("sample", sample)):
        targets = whole[:: -(-len(whole) // MOST)]
        random = numpy.random.RandomState(SEED)
        yield f"{name}: trained noise", [typed(text, random) for text in targets], targets
        random = numpy.random.RandomState(SEED)
        yield f"{name}: other noise", [typed(text, random, unseen=True) for text in targets], targets
        yield f"{name}: no spaces", [WAYS["no spaces"](text) for text in targets], targets
        yield f"{name}: clean", targets, targets


def joined(texts: list[str]) -> Iterator[str]:
    """Yield texts of 90 to 140 characters, of neighbouring sentences."""
    text = ""
    for each in texts:
        text = f"{text} {each}".strip()
        if len(text) >= LONG[0]:
            if len(text) <= LONG[1]:
                yield text
            text = ""


def spacing_f1(found: list[str], targets: list[str]) -> float:
    """Return F1 of the places of spaces, where the characters between them are the same; others count as none found."""
    right = marked = wanted = 0
    for text, target in zip(found, targets):
        (letters, spaces), (others, expected) = split_spaces(text), split_spaces(target)
        wanted += sum(expected[:-1])
        if letters == others:
            marked += sum(spaces[:-1])
            right += sum(one and other for one, other in zip(spaces[:-1], expected))
    return 2 * right / max(1, marked + wanted)


def main(path: Path, bundles: list[str]) -> None:
    judged = contestants(bundles)
    print(
        "| part | texts | restorer | exact | character error | spacing F1 | texts a second |\n|---|---|---|---|---|---|---|"
    )
    for name, sources, targets in parts(path):
        for who, restored in judged.items():
            # what is loaded at its first text is not timed
            restored(sources[:1])
            begun = time.perf_counter()
            found = restored(sources)
            rate = len(sources) / (time.perf_counter() - begun)
            errors = numpy.mean([character_error(*pair) for pair in zip(found, targets)])
            exact = numpy.mean([one == other for one, other in zip(found, targets)])
            figures = f"{exact:.4f} | {errors:.5f} | {spacing_f1(found, targets):.4f} | {rate:,.0f}"
            print(f"| {name} | {len(sources):,} | {who} | {figures} |", flush=True)
    # the others would need hours for 150,000 reviews
    quick = ("untouched", "editor")
    classified({who: restored for who, restored in judged.items() if who.startswith(quick)})


def classified(judged: dict[str, Restore]) -> None:
    """Print what the packaged classifier makes of the official test file, misspelt and restored."""
    test, classifier = nsmc.load("nsmc", "test"), load_classifier()
    positive = test.labels == 1
    print("\n| official test file | " + " | ".join(judged) + " |\n|---|" + "---|" * len(judged))
    ways: dict[str, Callable[[str], str]] = {
        "as it is": str,
        "ㅐ and ㅔ exchanged": WAYS["other vowels"],
        "two neighbours exchanged": two_exchanged,
    }
    for name, way in ways.items():
        texts = [way(clean(text)) for text in test.documents]
        shares = [
            numpy.mean((classifier.probabilities(restored(texts)) > 0.5) == positive) for restored in judged.values()
        ]
        print(f"| {name} | " + " | ".join(f"{100 * share:.2f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
