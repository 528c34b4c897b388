"""Accuracy on the official test file with original and with changed spelling.

NSMC_ATTENTION_DATA=... python -m benchmarks.classification.robustness [BUNDLE]
"""

import re
import sys
import unicodedata
from collections.abc import Callable

import numpy

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.measure.metrics import metrics
from nsmc_attention.systems.restore.noise import KINDS, edited, edits

# Initials, finals and vowels that need the shift key, and what is typed without it
SHIFTED = {
    "\u1101": "\u1100",
    "\u1104": "\u1103",
    "\u1108": "\u1107",
    "\u110a": "\u1109",
    "\u110d": "\u110c",
    "\u11a9": "\u11a8",
    "\u11bb": "\u11ba",
    "\u1164": "\u1162",
    "\u1168": "\u1166",
}


def changed(name):
    """The function that makes all misspellings of a kind: 정말재미있는영화, 재미잇엇다, 제미."""
    return lambda text: edited(text, edits(text, KINDS[name]))


def longer_ends(text):
    """Laughter, crying and punctuation five times as long."""
    return re.sub("[ㅋㅎㅠㅜ!?.~]", lambda found: 5 * found[0], text)


WAYS: dict[str, Callable[[str], str]] = {
    "no spaces": changed("lost_spaces"),
    "longer ends": longer_ends,
    "simpler finals": changed("finals"),
    "other vowels": changed("vowels"),
}


def decomposed(text):
    return unicodedata.normalize("NFD", text)


def without_shift(text):
    """진짜 as 진자, 아까워 as 아가워."""
    replaced = "".join(SHIFTED.get(letter, letter) for letter in unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", replaced)


def spaces_within(text):
    """A space after every second character of a word: 재미있는 as 재미 있는, 영화를 as 영화 를."""
    return " ".join(word[start : start + 2] for word in text.split() for start in range(0, len(word), 2))


def two_exchanged(text):
    """In one word of the review, drawn by its length, two neighbours: 재미있는 as 재있미는."""
    words = text.split()
    long = [place for place, word in enumerate(words) if len(word) > 2]
    if not long:
        return text
    place = long[len(text) % len(long)]
    word = words[place]
    words[place] = word[0] + word[2] + word[1] + word[3:]
    return " ".join(words)


CHANGES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "decomposed": decomposed,
    **WAYS,
    "without shift": without_shift,
    "spaces within": spaces_within,
    "two exchanged": two_exchanged,
}


def main():
    classifier = load_classifier(sys.argv[1] if len(sys.argv) > 1 else None)
    reviews = nsmc.load("nsmc", "test")
    print("| the test reviews | accuracy | against as it is | labels that change |\n|---|---|---|---|")
    first = None
    for name, change in CHANGES.items():
        texts = [change(text) for text in reviews.documents]
        probability = numpy.nan_to_num(classifier.probabilities(texts), nan=0.5)
        accuracy, labels = metrics(reviews.labels, probability)["accuracy"], probability >= 0.5
        first = first or (accuracy, labels)
        print(
            f"| {name} | {100 * accuracy:.2f} % | {100 * (accuracy - first[0]):+.2f} | "
            f"{100 * (labels != first[1]).mean():.2f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
