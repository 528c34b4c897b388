"""Corrections by `restore`, compared with kiwi: the tables of docs/restore.md.

    pip install kiwipiepy==0.24.1
    NSMC_ATTENTION_DATA=... python -m recipes.clean_reviews FOLDER
    NSMC_ATTENTION_DATA=... python -m benchmarks.restoration.restoring FOLDER/test.txt [--min-probability 0.5 0.7 0.9 | --hunspell 1000 | BUNDLE ...]

Without a bundle, the two packaged ones are evaluated, with one thread each. kiwi (LGPL) corrects only spaces, the purpose of its
`space`. --min-probability evaluates the packaged editor's changes with these least probabilities instead (this folder's
README.md). --hunspell evaluates only spelling, also of hunspell's first suggestions (Debian: apt install hunspell
hunspell-ko), on at most this number of misspelt sentences whose number of spaces is unchanged.
"""

import argparse
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.systems.restore.corrections import RestoringClassifier
from nsmc_attention.systems.restore.correctors import character_error, tags_of
from nsmc_attention.systems.restore.noise import typed
from nsmc_attention.systems.restore.restorer import Restorer, load_restorer
from nsmc_attention.systems.sequences.characters import KEEP, split_spaces
from nsmc_attention.text.encoding import clean
from recipes.sample import first_sample
from recipes.spelling import is_plain, sentences

from ..classification.robustness import WAYS, two_exchanged
from .noise import UNTRAINED

SHORT, LONG = (10, 60), (90, 140)
SEED = 1
HANGUL = "[가-힣]+"
# Texts of a part, every so many of them
MOST = 3000
Restore = Callable[[list[str]], list[str]]


def contestants(bundles: list[str]) -> dict[str, Restore]:
    # changes are judged without it
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1)
    found: dict[str, Restore] = {
        "untouched": lambda texts: texts,
        "kiwipiepy 0.24.1": lambda texts: [kiwi.space(text, reset_whitespace=True) for text in texts],
    }

    def add(name: str, bundle: str | None, beam: int | None) -> None:
        restorer = load_restorer(bundle, beam)
        found[name] = restoring(restorer)

    for bundle in bundles:
        is_editor = load_restorer(bundle).bundle.config.model.kind == "editor"
        for beam in [None] if is_editor else [1, 4]:
            add(f"{'editor' if is_editor else 'writer'} {bundle}" + (f", beam {beam}" if beam else ""), bundle, beam)
    if not bundles:
        add("editor", None, None)
        for beam in (1, 4):
            add(f"writer, beam {beam}", None, beam)
    return found


def hunspell(texts: list[str]) -> list[str]:
    """Return texts with hunspell's first suggestion for each word that it does not know."""
    words = sorted({word for text in texts for word in re.findall(HANGUL, text)})
    command = ["hunspell", "-a", "-d", "ko_KR", "-i", "utf-8"]
    output = subprocess.run(command, input="\n".join(words), capture_output=True, text=True, check=True).stdout
    # "& 재밋다 2 0: 재밌다, 재미다"; what it knows has another line, what it has no suggestion for, too
    lines = (line[2:].partition(": ") for line in output.splitlines() if line.startswith("& "))
    suggested = {head.split()[0]: suggestions.split(", ")[0] for head, _, suggestions in lines}
    return [re.sub(HANGUL, lambda word: suggested.get(word[0], word[0]), text) for text in texts]


def restoring(restorer: Restorer) -> Restore:
    restorer.engine.threads = 1
    return lambda texts: [each.text for each in restorer.restore_many(texts)]


def parts(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (name, sources, targets) of each table row."""
    whole = path.read_text(encoding="utf-8").splitlines()
    short = [text for text in whole if SHORT[0] <= len(text) <= SHORT[1]]
    documents = (clean(text) for part in first_sample().values() for text in part["document"])
    sample = [each for text in documents for each in ([text] if is_plain(text) else sentences(text)) if is_plain(each)]
    for name, whole in (("test", short), ("long", list(joined(short))), ("sample", sample)):
        targets = whole[:: -(-len(whole) // MOST)]
        random = numpy.random.RandomState(SEED)
        yield f"{name}: trained noise", [typed(text, random) for text in targets], targets
        random = numpy.random.RandomState(SEED)
        yield f"{name}: other noise", [typed(text, random, UNTRAINED) for text in targets], targets
        yield f"{name}: no spaces", [WAYS["no spaces"](text) for text in targets], targets
        yield f"{name}: clean", targets, targets


def misspelt(path: Path, most: int) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the first two parts, by their sentences that differ from their targets and not in the number of spaces."""
    for name, *texts in islice(parts(path), 2):
        pairs = [pair for pair in zip(*texts) if pair[0] != pair[1] and len({each.count(" ") for each in pair}) == 1]
        sources, targets = zip(*pairs[:most])
        yield f"{name}, spaces kept", list(sources), list(targets)


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


def judge_changes(path: Path, probabilities: list[float]) -> None:
    """Print what is right of the letters and spaces that an editor changes, and how many of the wrong ones it rights."""
    print("| part | least probability | letters: precision | recall | spaces: precision | recall | exact |")
    print("|---|---|---|---|---|---|---|")
    for name, sources, targets in parts(path):
        if name.startswith("sample"):
            continue
        for least in (None, *probabilities):
            restorer = load_restorer(min_probability=least)
            found = restoring(restorer)(sources)
            letters, spaces = Counter[tuple[bool, bool, bool]](), Counter[tuple[bool, bool, bool]]()
            for source, text, target in zip(sources, found, targets):
                (tags, after), (right, wanted) = (tags_of(source, each, restorer.characters) for each in (text, target))
                _, before = split_spaces(source)
                letters.update((one != KEEP, other != KEEP, one == other) for one, other in zip(tags, right))
                spaces.update(
                    (one != was, other != was, one == other) for was, one, other in zip(before, after, wanted)
                )
            exact = numpy.mean([one == other for one, other in zip(found, targets)])
            figures = " | ".join(map(precision_and_recall, (letters, spaces)))
            print(f"| {name} | {least or 'default'} | {figures} | {100 * exact:.1f} |", flush=True)


def precision_and_recall(decisions: Counter[tuple[bool, bool, bool]]) -> str:
    """Return both in percent, from the numbers of (was changed, was to be changed, is right)."""
    right = decisions[True, True, True]
    made, wanted = (sum(count for key, count in decisions.items() if key[place]) for place in (0, 1))
    return " | ".join(f"{100 * right / whole:.1f}" if whole and wanted else "" for whole in (made, wanted))


def main(path: Path, bundles: list[str], misspelt_ones: int) -> None:
    judged = contestants(bundles)
    if misspelt_ones:
        judged["hunspell 1.7.1"] = hunspell
    print(
        "| part | texts | restorer | exact | character error | spacing F1 | texts a second |\n|---|---|---|---|---|---|---|"
    )
    for name, sources, targets in misspelt(path, misspelt_ones) if misspelt_ones else parts(path):
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
    if misspelt_ones:
        return
    # the others would need hours for 150,000 reviews
    quick = ("untouched", "editor")
    classified({who: restored for who, restored in judged.items() if who.startswith(quick)})


def classified(judged: dict[str, Restore]) -> None:
    """Print what the packaged classifier makes of the official test file, misspelt and restored."""
    test, classifier = nsmc.load("nsmc", "test"), load_classifier()
    in_doubt, positive = RestoringClassifier(load_restorer(), classifier), test.labels == 1
    print(
        "\n| official test file | "
        + " | ".join([*judged, "predict --restore"])
        + " |\n|---|"
        + "---|" * (1 + len(judged))
    )
    ways: dict[str, Callable[[str], str]] = {
        "as it is": str,
        "ㅐ and ㅔ exchanged": WAYS["other vowels"],
        "two neighbours exchanged": two_exchanged,
    }
    for name, way in ways.items():
        texts = [way(clean(text)) for text in test.documents]
        found = [classifier.probabilities(restored(texts)) for restored in judged.values()]
        found.append(numpy.array([probability for *_, probability, _ in in_doubt.rows(texts)], dtype="float64"))
        shares = [numpy.mean((probability > 0.5) == positive) for probability in found]
        print(f"| {name} | " + " | ".join(f"{100 * share:.2f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("bundles", nargs="*")
    parser.add_argument("--min-probability", nargs="+", type=float)
    parser.add_argument("--hunspell", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.min_probability:
        judge_changes(arguments.path, arguments.min_probability)
    else:
        main(arguments.path, arguments.bundles, arguments.hunspell)
