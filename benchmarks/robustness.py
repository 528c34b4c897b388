"""What spelling costs: accuracy on the official test file as it is, and with every review spelled otherwise.

    NSMC_ATTENTION_DATA=... python benchmarks/robustness.py [BUNDLE]
"""
import re
import sys
import unicodedata

import numpy

from nsmc_attention.inference.predictor import load_classifier
from nsmc_attention.metrics import metrics
from nsmc_attention.reviews import nsmc

# Finals and vowels that are often taken for each other: 있 for 잇, 재 for 제
FINALS = {"\u11bb": "\u11ba", "\u11bd": "\u11ba", "\u11c0": "\u11ba", "\u11b6": "\u11af", "\u11ad": "\u11ab"}
VOWELS = {"\u1162": "\u1166", "\u1166": "\u1162", "\u116c": "\u116b", "\u116b": "\u116c"}


def as_it_is(text):
    return text


def no_spaces(text):
    return "".join(text.split())


def decomposed(text):
    return unicodedata.normalize("NFD", text)


def longer_ends(text):
    """Laughter, crying and punctuation five times as long."""
    return re.sub(r"([ㅋㅎㅠㅜ!?.~])", r"\1\1\1\1\1", text)


def simpler_finals(text):
    """재미있었다 as 재미잇엇다."""
    return respelled(text, FINALS)


def other_vowels(text):
    """ㅐ for ㅔ and ㅔ for ㅐ, ㅚ for ㅙ and ㅙ for ㅚ: 재미 as 제미."""
    return respelled(text, VOWELS)


def respelled(text, letters):
    swapped = "".join(letters.get(letter, letter) for letter in unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", swapped)


def main():
    classifier = load_classifier(sys.argv[1] if len(sys.argv) > 1 else None)
    reviews = nsmc.load("nsmc", "test")
    print("| the test reviews | accuracy | against as it is | labels that change |\n|---|---|---|---|")
    first = None
    for change in (as_it_is, no_spaces, decomposed, longer_ends, simpler_finals, other_vowels):
        texts = [change(text) for text in reviews.documents]
        probability = numpy.nan_to_num(classifier.probabilities(texts), nan=0.5)
        accuracy, labels = metrics(reviews.labels, probability)["accuracy"], probability >= 0.5
        first = first or (accuracy, labels)
        print(f"| {change.__name__.replace('_', ' ')} | {100 * accuracy:.2f} % | {100 * (accuracy - first[0]):+.2f} | "
              f"{100 * (labels != first[1]).mean():.2f} % |", flush=True)


if __name__ == "__main__":
    main()
